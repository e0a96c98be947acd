package project

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// detectHost finds out where a site is published, by the files in the project and
// in its docroot: the name of a profile, and for a person the file that identifies
// it. Both are empty when there is no such file. When files contradict each other,
// profile is empty, because names the files, and candidates the profiles.
//
// Either tree may be nil. At most maxMarkerBytes of a file are read; a file that
// cannot be read counts as missing. Files that only one host reads count first, then
// the workflow that deploys, then the files in the docroot;
// docs/reference/profiles.md has the order.
func detectHost(project, docroot fs.FS) (profile, because string, candidates []string) {
	d := detector{project, docroot}
	// These are the files that only one host reads. Those of the docroot count too: some
	// projects deploy it as it is.
	var own []marker
	add := func(profile, because string) {
		if !slices.ContainsFunc(own, func(m marker) bool { return m.profile == profile }) {
			own = append(own, marker{profile, because})
		}
	}
	for _, tree := range []fs.FS{d.project, d.docroot} {
		if exists(tree, "netlify.toml") {
			add("netlify", "netlify.toml")
		}
		for _, name := range []string{"vercel.json", ".vercel/project.json"} {
			if exists(tree, name) {
				add("vercel", name)
			}
		}
		if data, ok := readMarker(tree, "firebase.json"); ok && hostingKey().Match(data) {
			add("firebase", "firebase.json")
		}
		if exists(tree, "staticwebapp.config.json") {
			add("azure-static-web-apps", "staticwebapp.config.json")
		}
		for _, name := range []string{"wrangler.toml", "wrangler.json", "wrangler.jsonc"} {
			data, ok := readMarker(tree, name)
			if ok && (pagesKey().Match(data) || assetsKey().Match(data)) { // else a Worker without files
				add("cloudflare-pages", name)
			}
		}
	}
	for _, name := range []string{"_worker.js", "_routes.json"} {
		if exists(d.docroot, name) {
			add("cloudflare-pages", name)
		}
	}
	deploys := d.workflows()
	switch hosts := hostsOf(own); {
	case len(hosts) == 1:
		return own[0].profile, own[0].because, nil
	case len(hosts) > 1:
		// Several hosts are configured: the workflow knows the one in use.
		for _, m := range deploys {
			if slices.Contains(hosts, m.profile) && len(hostsOf(deploys)) == 1 {
				return m.profile, m.because, nil
			}
		}
		return "", contradiction(own), hosts
	}
	if len(hostsOf(deploys)) == 1 {
		return deploys[0].profile, deploys[0].because, nil
	}
	if m, ok := d.published(); ok {
		return m.profile, m.because, nil
	}
	if len(deploys) > 1 {
		return "", contradiction(deploys), hostsOf(deploys)
	}
	return "", "", nil
}

// maxMarkerBytes is how much of a file is looked at; maxWorkflows how many
// workflows are.
const (
	maxMarkerBytes = 256 << 10
	maxWorkflows   = 50
)

// marker is a fact that identifies the host.
type marker struct{ profile, because string }

type detector struct{ project, docroot fs.FS }

// hostsOf returns the distinct profiles of markers, in order.
func hostsOf(markers []marker) []string {
	var hosts []string
	for _, m := range markers {
		if !slices.Contains(hosts, m.profile) {
			hosts = append(hosts, m.profile)
		}
	}
	return hosts
}

func contradiction(markers []marker) string {
	var claims []string
	for _, m := range markers {
		claims = append(claims, fmt.Sprintf("%s says %s", m.because, m.profile))
	}
	return strings.Join(claims, ", ")
}

// readMarker returns the beginning of a file; ok is false when there is none.
func readMarker(tree fs.FS, name string) (data []byte, ok bool) {
	if tree == nil {
		return nil, false
	}
	// Asked before it is opened: opening a pipe would wait for its writer.
	if info, err := fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxMarkerBytes))
	return data, err == nil
}

func exists(tree fs.FS, name string) bool {
	if tree == nil {
		return false
	}
	_, err := fs.Stat(tree, name)
	return err == nil
}

// Keys at the start of a line, so that comments do not count. wrangler.json
// and its relatives take the same words as wrangler.toml.
var (
	pagesKey   = text.Regexp(`(?m)^[\s{,]*"?pages_build_output_dir"?\s*[=:]`)
	assetsKey  = text.Regexp(`(?m)^[\s{,]*(\[assets\]|"?assets"?\s*[=:])`)
	hostingKey = text.Regexp(`"hosting"\s*:`)
	bucketURL  = text.Regexp(`(?mi)^\s*"?url"?\s*[=:]\s*["']?s3://`)
)

// deployers are what workflows use to publish, and where.
var deployers = []struct{ text, profile string }{
	{"actions/deploy-pages@", "github-pages"},
	{"peaceiris/actions-gh-pages@", "github-pages"},
	{"JamesIves/github-pages-deploy-action@", "github-pages"},
	{"cloudflare/pages-action@", "cloudflare-pages"},
	{"pages deploy", "cloudflare-pages"},
	{"nwtgck/actions-netlify@", "netlify"},
	{"netlify deploy", "netlify"},
	{"FirebaseExtended/action-hosting-deploy@", "firebase"},
	{"firebase deploy", "firebase"},
	{"Azure/static-web-apps-deploy@", "azure-static-web-apps"},
	{"swa deploy", "azure-static-web-apps"},
	{"amondnet/vercel-action@", "vercel"},
	{"vercel deploy", "vercel"},
	{"jakejarvis/s3-sync-action@", "s3"},
	{"aws s3 sync", "s3"},
}

// workflows looks for the steps that publish, in the order of file names, one
// marker for each host.
func (d *detector) workflows() []marker {
	var found []marker
	add := func(profile, because string) {
		if !slices.ContainsFunc(found, func(m marker) bool { return m.profile == profile }) {
			found = append(found, marker{profile, because})
		}
	}
	if d.project == nil {
		return nil
	}
	const dir = ".github/workflows"
	files, _ := fs.ReadDir(d.project, dir)
	for i, f := range files {
		if ext := path.Ext(f.Name()); i >= maxWorkflows || ext != ".yml" && ext != ".yaml" {
			continue
		}
		name := path.Join(dir, f.Name())
		data, _ := readMarker(d.project, name)
		for line := range bytes.Lines(data) {
			code, _, _ := strings.Cut(string(line), "#")
			for _, by := range deployers {
				if strings.Contains(code, by.text) {
					add(by.profile, fmt.Sprintf("%q in %s", strings.TrimSuffix(by.text, "@"), name))
				}
			}
		}
	}
	for _, name := range []string{"hugo.toml", "hugo.yaml", "config.toml", "config.yaml"} { // hugo deploy
		if data, ok := readMarker(d.project, name); ok && bucketURL().Match(data) {
			add("s3", "an s3:// target in "+name)
		}
	}
	return found
}

// published examines the files of the docroot itself, the surest first.
func (d *detector) published() (marker, bool) {
	if m, ok := d.redirects(); ok {
		return m, true
	}
	if exists(d.docroot, ".htaccess") {
		return marker{"apache", ".htaccess"}, true
	}
	if pagesHost(d.docroot) != "" {
		return marker{"github-pages", "CNAME"}, true
	}
	// Some generators always write .nojekyll: it means nothing in a project that is
	// not on GitHub.
	if exists(d.docroot, ".nojekyll") && exists(d.project, ".github") {
		return marker{"github-pages", ".nojekyll"}, true
	}
	return marker{}, false
}

// pagesHost returns the host name that the file CNAME of a docroot gives a site
// on GitHub Pages; empty when there is no such file, or no host name in it.
func pagesHost(docroot fs.FS) string {
	data, _ := readMarker(docroot, "CNAME")
	host := strings.TrimSpace(string(data))
	if !strings.Contains(host, ".") || len(host) > 253 || strings.ContainsAny(host, " \t\r\n/:") {
		return ""
	}
	return host
}

// redirects judges _redirects and _headers, which Netlify and Cloudflare Pages
// both read: by the first line that only one of them understands. When there
// is none it is Netlify, which reports what Cloudflare's fallback for
// single-page applications would hide.
func (d *detector) redirects() (marker, bool) {
	name := ""
	for _, f := range []struct {
		name  string
		judge func(line string) string
	}{{"_redirects", redirectDialect}, {"_headers", headerDialect}} {
		data, ok := readMarker(d.docroot, f.name)
		if !ok {
			continue
		}
		if name == "" {
			name = f.name
		}
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if profile := f.judge(string(line)); profile != "" {
				return marker{profile, fmt.Sprintf("line %d of %s", n, f.name)}, true
			}
		}
	}
	if name == "" {
		return marker{}, false
	}
	return marker{"netlify", name + ", which Cloudflare Pages reads too"}, true
}

// redirectDialect names the one host that understands a line of _redirects;
// empty when both do, or neither.
func redirectDialect(line string) string {
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0][0] == '#' {
		return ""
	}
	from := fields[0]
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		return "netlify" // rules for one domain
	}
	if star := strings.IndexByte(from, '*'); star >= 0 && star < len(from)-1 {
		return "cloudflare-pages" // Netlify takes "*" at the end only
	}
	for i, f := range fields[1:] {
		if !strings.HasPrefix(f, "/") && !strings.Contains(f, "://") && strings.Contains(f, "=") {
			return "netlify" // a query parameter or a condition
		}
		status, force := strings.CutSuffix(f, "!")
		if n, err := strconv.Atoi(status); err == nil && i > 0 && (force || n >= 400) {
			return "netlify"
		}
	}
	return ""
}

// headerDialect does the same for a line of _headers.
func headerDialect(line string) string {
	switch text := strings.TrimSpace(line); {
	case strings.HasPrefix(text, "! "):
		return "cloudflare-pages" // takes a header away
	case len(text) >= 11 && strings.EqualFold(text[:11], "Basic-Auth:"):
		return "netlify"
	}
	return ""
}
