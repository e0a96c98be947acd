//go:build integration && linux

package templates

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/endpoint"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/testkit"
)

var discovered = Endpoints{Pingback: "https://h.example/xmlrpc", Webmention: "https://h.example/wm"}

// build is one way to make a site and to name its endpoints.
type build struct {
	name     string
	template bool   // the template holds the elements
	minify   bool   // hugo --minify
	config   string // more of Hugo's configuration
	inject   bool   // Docroot afterwards
	headers  bool   // the server's rules
	// found reports whether the two clients find the endpoints; fault is the
	// result of inspecting a content page.
	pingback, webmention bool
	fault                string
}

var builds = []build{
	{name: "no element", fault: "endpoint-missing"},
	{name: "element in the template", template: true, pingback: true, webmention: true},
	{name: "element in the template, `--minify`", template: true, minify: true, webmention: true, fault: "endpoint-unquoted"},
	{name: "element in the template, `--minify`, `keepQuotes`", template: true, minify: true, config: "\n[minify.tdewolff.html]\nkeepQuotes = true\n", pingback: true, webmention: true},
	{name: "`inject --docroot`", inject: true, pingback: true, webmention: true},
	{name: "`inject --docroot` after `--minify`", minify: true, inject: true, pingback: true, webmention: true},
	{name: "header rules", headers: true, pingback: true, webmention: true, fault: "endpoint-missing"},
	{name: "header rules, `--minify`", minify: true, headers: true, pingback: true, webmention: true, fault: "endpoint-missing"},
}

// discoveryPages are pages of the site by their kinds, and whether they are chosen.
var discoveryPages = []struct {
	kind, path, file string
	chosen           bool
}{
	{"home", "/", "index.html", true},
	{"page", "/post/a/", "post/a/index.html", true},
	{"list", "/post/", "post/index.html", false},
	{"tag", "/tags/go/", "tags/go/index.html", false},
	{"404", "/nosuch", "404.html", false},
	{"image", "/i.png", "i.png", false}, // PB-12: a header needs no page
}

// Discovery of the endpoints by clients of others (PB-8, PB-18,
// PB-20, PB-65): WordPress's own code, and the webmention client ronkyuu,
// against pages that Hugo built and nginx serves; a client finds nothing on
// pages that name no endpoint (PB-6).
func TestDiscovery(t *testing.T) {
	for _, name := range []string{"hugo", "nginx", "php"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed; .ci/run installs it")
		}
	}
	wordpress, python := os.Getenv("SITELINK_WORDPRESS"), os.Getenv("SITELINK_RONKYUU")
	if _, err := os.Stat(wordpress + "/wp-includes/comment.php"); err != nil || python == "" {
		t.Skip("SITELINK_WORDPRESS names no WordPress, or SITELINK_RONKYUU no Python with ronkyuu; .ci/run has both")
	}
	work := t.TempDir()
	docroots := make([]string, len(builds))
	for i, b := range builds {
		docroots[i] = buildSite(t, filepath.Join(work, fmt.Sprint(i)), b)
	}
	hosts := startNginx(t, work, docroots)
	var urls []string
	for _, host := range hosts {
		for _, p := range discoveryPages {
			urls = append(urls, "http://"+host+p.path)
		}
	}
	pingbacks := ask(t, urls, "php", "testdata/pingback_discover.php", wordpress)
	webmentions := ask(t, urls, python, "testdata/webmention_discover.py")

	for i, b := range builds {
		var kinds []string // on which a client finds something
		for j, p := range discoveryPages {
			n := i*len(discoveryPages) + j
			gotPB, gotWM := pingbacks[n] == discovered.Pingback, webmentions[n] == discovered.Webmention
			// nginx sends its headers with all pages but errors.
			named := b.headers && p.kind != "404" || p.chosen && (b.template || b.inject)
			if gotPB != (named && b.pingback) || gotWM != (named && b.webmention) {
				t.Errorf("%s, %s: WordPress finds %q, ronkyuu %q", b.name, p.kind, pingbacks[n], webmentions[n])
			}
			if gotPB || gotWM {
				kinds = append(kinds, p.kind)
			}
			if p.kind == "page" {
				if got := inspectFile(t, filepath.Join(docroots[i], p.file)); got != b.fault {
					t.Errorf("%s: an inspection says %q, want %q", b.name, got, b.fault)
				}
				if gotPB != (b.headers || b.fault == "") {
					t.Errorf("%s: WordPress finds it: %v, an inspection says %q", b.name, gotPB, b.fault)
				}
			}
		}
		t.Logf("%s: a client finds something on %q", b.name, kinds)
	}
}

// inspectFile returns the code of the first fault of a page.
func inspectFile(t *testing.T, name string) string {
	t.Helper()
	text := testkit.Read(t, name)
	var s html.Scanner
	has, faults := endpoint.NewInspector(discovered.Pingback, discovered.Webmention).Page(s.Scan(text, scan.Options{}), false)
	switch {
	case has == 0:
		return "endpoint-missing"
	case len(faults) > 0:
		return "endpoint-" + faults[0].Fault().String()
	}
	return ""
}

// buildSite builds a small site with Hugo and returns its docroot.
func buildSite(t *testing.T, dir string, b build) string {
	t.Helper()
	element := ""
	if b.template {
		element = "{{ if or .IsHome .IsPage }}" + discovered.HTML(false) + "{{ end }}"
	}
	writeTree(t, dir, map[string]string{
		"config.toml": "baseURL = 'http://h.example/'\ntitle = 't'\n" + b.config,
		"layouts/_default/baseof.html": "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  " + element +
			"\n  <title>{{ .Title }}</title>\n</head>\n<body>{{ block \"main\" . }}{{ end }}</body>\n</html>\n",
		"layouts/_default/single.html": "{{ define \"main\" }}{{ .Content }}{{ end }}",
		"layouts/_default/list.html":   "{{ define \"main\" }}{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">{{ .Title }}</a>{{ end }}{{ end }}",
		"layouts/404.html":             "{{ define \"main\" }}Not found{{ end }}",
		"static/i.png":                 "\x89PNG",
		"content/post/a.md":            "---\ntitle: a\ntags: [go]\naliases: [/old/]\n---\nText\n",
	})
	args := []string{"--quiet", "--source", dir, "--destination", filepath.Join(dir, "public")}
	if b.minify {
		args = append(args, "--minify")
	}
	cmd := exec.Command("hugo", args...)
	cmd.Env = append(os.Environ(), "HUGO_CACHEDIR="+filepath.Join(dir, "cache"))
	testkit.Run(t, cmd)
	docroot := filepath.Join(dir, "public")
	if b.inject {
		result, err := Docroot(context.Background(), docroot, DocrootOptions{Endpoints: discovered})
		if err != nil || !slices.Equal(result.Changed, []string{"index.html", "post/a/index.html"}) {
			t.Fatalf("inject: %+v, %v", result, err)
		}
	}
	return docroot
}

// startNginx serves each docroot at an address of its own until the test ends.
func startNginx(t *testing.T, work string, docroots []string) []string {
	t.Helper()
	var hosts []string
	var servers strings.Builder
	for i, docroot := range docroots {
		address := testkit.FreePort(t)
		for slices.Contains(hosts, address) {
			address = testkit.FreePort(t)
		}
		hosts = append(hosts, address)
		rules := ""
		if builds[i].headers {
			rules = HeaderRules("nginx", discovered)[0].Text
		}
		fmt.Fprintf(&servers, "server {\nlisten %s;\nroot %q;\nerror_page 404 /404.html;\n%s}\n", hosts[i], docroot, rules)
	}
	conf := filepath.Join(work, "nginx.conf")
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // the directory is for its owner alone
	}
	text := fmt.Sprintf("%sdaemon off;\nworker_processes 1;\npid %[2]s/nginx.pid;\nerror_log %[2]s/error.log;\nevents {}\nhttp {\naccess_log off;\nlog_not_found off;\ntypes { text/html html; image/png png; }\n"+
		"client_body_temp_path %[2]s/b;\nproxy_temp_path %[2]s/p;\nfastcgi_temp_path %[2]s/f;\nuwsgi_temp_path %[2]s/u;\nscgi_temp_path %[2]s/s;\n%[3]s}\n", user, work, servers.String())
	testkit.Check(t, os.WriteFile(conf, []byte(text), 0o644))
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(work, "error.log"))
			t.Logf("nginx: %s", log)
		}
	})
	cmd := exec.Command("nginx", "-p", work, "-c", conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	testkit.Check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	for range 1200 {
		if c, err := net.Dial("tcp", hosts[len(hosts)-1]); err == nil {
			c.Close()
			return hosts
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("nginx does not listen")
	return nil
}

// ask hands the addresses to a client and returns what it finds for each.
func ask(t *testing.T, urls []string, name string, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(strings.Join(urls, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(urls) {
		t.Fatalf("%s answers %d of %d:\n%s%s", name, len(lines), len(urls), out, stderr.String())
	}
	return lines
}
