//go:build integration && linux

package main_test

import (
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

// webParity is a host whose software is compared with a profile.
type webParity struct {
	name    string
	profile func() host.Profile
	start   func(t *testing.T, docroot string) *webServer
	without string // left out of the docroot of edge cases
	// differ are the requests for edge cases on which the two are known to
	// differ: docs/reference/profiles.md says why.
	differ *regexp.Regexp
	// sameFile: the software makes none of the real host's redirects, so the
	// address that we say answers must send the same file.
	sameFile bool
	// small: the software takes too long to load a large docroot.
	small bool
	// tires is the number of targets after which the software is restarted, 0 for
	// never: superstatic answers 500 to everything after some 40,000 requests.
	tires int
}

func profileNamed(name string, settings ...bool) func() host.Profile {
	return func() host.Profile {
		p, ok := host.ProfileByName(name)
		switch {
		case !ok:
			panic("no profile " + name)
		case len(settings) > 0:
			p = p.WithURLs(settings[0], nil)
		}
		return p
	}
}

// netlifyAtHome is the profile on a file system that knows letter case.
func netlifyAtHome() host.Profile {
	p := profileNamed("netlify")()
	p.AnyCase = false
	return p
}

// Names that only the docroot of edge cases has.
const (
	nonASCII  = `%(E[0-9]|e[0-9]|C3|c3|CC|cc)`
	dotsAtEnd = `^/dir%2F\.`
)

var webParities = []webParity{
	{name: "cloudflare-pages", profile: profileNamed("cloudflare-pages"), start: startWrangler,
		differ: regexp.MustCompile(nonASCII + `|^/+link(\.html|-index|[/?]|$)|^/dir//|` + dotsAtEnd)},
	{name: "cloudflare-pages-app", profile: profileNamed("cloudflare-pages"), start: startWrangler, without: "404.html",
		differ: regexp.MustCompile(nonASCII + `|^/+link(\.html|-index|[/?]|$)|^/dir//|` + dotsAtEnd)},
	{name: "netlify", profile: netlifyAtHome, start: node("netlify.mjs", ""), sameFile: true,
		differ: regexp.MustCompile(`%|\^|asset\.css|index-is-dir/index\.html|named\.html`)},
	{name: "vercel-clean", profile: profileNamed("vercel", true), start: node("vercel.mjs", `{"cleanUrls":true}`), sameFile: true,
		differ: regexp.MustCompile(nonASCII + `|%00|%23|%3F|^/+twin|double\.html|\.hidden|^/\.\.\.|named\.html|index-is-dir|/\.html|//$|nnnn`)},
	{name: "firebase", profile: profileNamed("firebase"), start: node("firebase.mjs", ""),
		differ: regexp.MustCompile(`^/%64ir$|%e6|%zz|%$|%2$|%FF|%C0|%ED|%E9|percent%\.|^/dir\?$|nnnn`)},
	{name: "firebase-clean", profile: profileNamed("firebase", true), start: node("firebase.mjs", `{"cleanUrls":true}`), sameFile: true, tires: 8000,
		differ: regexp.MustCompile(`%zz|%$|%2$|%FF|%C0|%ED|%E9|percent%\.|dir/%69ndex|nnnn|^/+twin|double\.html|\.hidden|^/\.\.\.|^/+index|dir/index|beside/index`)},
	{name: "hugo-server", profile: profileNamed("hugo-server"), start: startHugo, without: symbolicLinks, small: true,
		differ: regexp.MustCompile(`index-is-dir|^/space%20|caf%E9|^/[^?]*%2F`)},
	{name: "s3", profile: profileNamed("s3"), start: startS3, small: true,
		differ: regexp.MustCompile(nonASCII + `|^/%2F|%00|nnnn|` + dotsAtEnd)},
}

// TestWebParityPaths: on the docroot of path edge cases, status and final
// address of every link are what the host's software answers.
func TestWebParityPaths(t *testing.T) {
	t.Parallel()
	npmFolder(t)
	for _, h := range webParities {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel() // requests wait for one another
			docroot := makeHostDocroot(t, h.without)
			var page strings.Builder
			page.WriteString("<!doctype html><meta charset=utf-8><title>links</title>\n")
			excused := 0
			for _, request := range hostRequests(t) {
				// The browser takes an authority from two slashes at the start.
				if h.differ.MatchString(request) || strings.HasPrefix(request, "//") {
					excused++
					continue
				}
				fmt.Fprintf(&page, "<a href=\"%s\">x</a>\n", html.EscapeString(request))
			}
			if err := os.WriteFile(filepath.Join(docroot, "links.html"), []byte(page.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			predicted := webPredictions(t, docroot, h.profile())
			h.compare(t, docroot, predicted)
			t.Logf("%d requests left out, as docs/reference/profiles.md tells", excused)
			if len(predicted) < 500 {
				t.Errorf("compared %d targets only", len(predicted))
			}
		})
	}
}

// maxParityTargets bounds the requests for one corpus: some of these servers
// answer fewer than a hundred a second. SITELINK_PARITY=all lifts it, and asks
// every server on every corpus: that takes an hour.
const maxParityTargets = 1500

func allParity() bool { return os.Getenv("SITELINK_PARITY") == "all" }

// TestWebParityCorpora: the same on the documentation of Python, and of what
// else SITELINK_CORPORA holds.
func TestWebParityCorpora(t *testing.T) {
	t.Parallel()
	npmFolder(t)
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds python3.11-doc/ as unpacked by dpkg -x")
	}
	for _, c := range corpora {
		docroot := filepath.Join(dir, c.pkg, filepath.FromSlash(c.docroot))
		if _, err := os.Stat(docroot); err != nil {
			t.Logf("%s is not there", c.pkg)
			continue
		}
		for _, h := range webParities {
			if h.small && c.pkg != "python3.11-doc" && !allParity() || h.without == "404.html" {
				continue // no corpus has a 404.html to leave out
			}
			t.Run(c.pkg+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				h.compare(t, docroot, webPredictions(t, docroot, h.profile()))
			})
		}
	}
}

// webPredictions are sitelink's answers for every internal target.
func webPredictions(t *testing.T, docroot string, p host.Profile) map[string]prediction {
	t.Helper()
	config := filepath.Join(t.TempDir(), "sitelink.toml")
	if err := os.WriteFile(config, []byte(p.Describe()), 0o644); err != nil {
		t.Fatal(err)
	}
	predicted := map[string]prediction{}
	eachLink(t, docroot, []string{"--config", config}, func(r *row) {
		if r.isInternal() && !r.isFault() && r.Status != 0 {
			predicted[r.Target] = prediction{r.Status, r.answeringPath()}
		}
	})
	return predicted
}

// compare asks the software for every target, evenly chosen if they are many.
func (h *webParity) compare(t *testing.T, docroot string, predicted map[string]prediction) {
	t.Helper()
	server := h.start(t, docroot)
	targets := slices.Sorted(maps.Keys(predicted))
	step := (len(targets) + maxParityTargets - 1) / maxParityTargets
	if allParity() {
		step = 1
	}
	compared, differ, worked := 0, 0, 0
	for i := 0; i < len(targets); i += max(step, 1) {
		target, want := targets[i], predicted[targets[i]]
		if compared++; h.tires > 0 && compared%h.tires == 0 {
			server = h.start(t, docroot)
		}
		a := server.ask(t, target)
		same := a.status == want.status && a.final == want.final
		if h.sameFile || want.status >= 400 {
			// Of what is missing only the status counts, not where it is.
			same = a.status == want.status
			if same && a.status == 200 && a.final != want.final {
				same = server.once(t, want.final).body == server.once(t, a.final).body
			}
		}
		if a.status == 200 {
			worked++
		}
		if !same {
			if differ++; differ <= 20 {
				t.Errorf("%s: got %d %s, %s says %v", clip(target), want.status, clip(want.final), h.name, a)
			}
		}
	}
	t.Logf("compared %d of %d targets, %d of them answered with 200: %d differ", compared, len(targets), worked, differ)
	if worked*4 < compared && !strings.Contains(docroot, "public") || worked == 0 {
		t.Errorf("only %d of %d targets answered: the server does not serve this docroot", worked, compared)
	}
}
