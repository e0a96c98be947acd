//go:build integration && linux

package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

var updateHosts = flag.Bool("update-hosts", false, "rewrite the measured tables")

// webHost is a table of answers: who was asked, on which docroot.
type webHost struct {
	table   string // its file
	profile string // of sitelink
	by      func(t *testing.T) string
	start   func(t *testing.T, docroot string) *webServer
	without string // file names, or symbolicLinks, that are left out of the docroot
	final   bool   // the end of the redirects is written, not the first answer
}

// symbolicLinks cannot be published by hugo: one in static/ ends the copying.
const symbolicLinks = "symbolic links"

func npmPackage(name, mode string) func(*testing.T) string {
	return func(t *testing.T) string { return strings.TrimSpace(name + " " + npmVersion(t, name) + " " + mode) }
}

func node(script, settings string) func(*testing.T, string) *webServer {
	return func(t *testing.T, docroot string) *webServer { return startNode(t, script, docroot, settings) }
}

var webHosts = []webHost{
	{table: "cloudflare-pages", profile: "cloudflare-pages", by: npmPackage("wrangler", "(pages dev)"), start: startWrangler},
	{table: "cloudflare-pages-app", profile: "cloudflare-pages", by: npmPackage("wrangler", "(pages dev)"), start: startWrangler, without: "404.html"},
	{table: "netlify", profile: "netlify", by: npmPackage("@netlify/static", ""), start: node("netlify.mjs", "")},
	{table: "vercel-clean", final: true, by: npmPackage("serve-handler", `{"cleanUrls":true}`), start: node("vercel.mjs", `{"cleanUrls":true}`)},
	{table: "vercel-clean-slash", final: true, by: npmPackage("serve-handler", `{"cleanUrls":true,"trailingSlash":true}`), start: node("vercel.mjs", `{"cleanUrls":true,"trailingSlash":true}`)},
	{table: "vercel-clean-noslash", final: true, by: npmPackage("serve-handler", `{"cleanUrls":true,"trailingSlash":false}`), start: node("vercel.mjs", `{"cleanUrls":true,"trailingSlash":false}`)},
	{table: "firebase", profile: "firebase", by: npmPackage("superstatic", ""), start: node("firebase.mjs", "")},
	{table: "firebase-clean", final: true, by: npmPackage("superstatic", `{"cleanUrls":true}`), start: node("firebase.mjs", `{"cleanUrls":true}`)},
	{table: "firebase-clean-slash", final: true, by: npmPackage("superstatic", `{"cleanUrls":true,"trailingSlash":true}`), start: node("firebase.mjs", `{"cleanUrls":true,"trailingSlash":true}`)},
	{table: "firebase-clean-noslash", final: true, by: npmPackage("superstatic", `{"cleanUrls":true,"trailingSlash":false}`), start: node("firebase.mjs", `{"cleanUrls":true,"trailingSlash":false}`)},
	{table: "hugo-server", profile: "hugo-server", by: hugoVersion, start: startHugo, without: symbolicLinks},
	{table: "s3", profile: "s3", by: npmPackage("s3rver", "(website endpoint)"), start: startS3},
}

// TestWebHostsMeasured: the tables of internal/host/testdata/hosts are what
// the hosts' own software answers. With -update-hosts they are written.
func TestWebHostsMeasured(t *testing.T) {
	t.Parallel()
	npmFolder(t)
	requests := hostRequests(t)
	for _, h := range webHosts {
		t.Run(h.table, func(t *testing.T) {
			t.Parallel()
			docroot := makeHostDocroot(t, h.without)
			server := h.start(t, docroot)
			var b strings.Builder
			fmt.Fprintf(&b, "# What %s answered on docroot.txt", h.by(t))
			if h.without != "" {
				fmt.Fprintf(&b, " without %s", h.without)
			}
			if h.final {
				b.WriteString(":\n# request -> status at the end of the redirects, after \"=\" the file that was sent, after \"at\" the last address.\n")
			} else {
				b.WriteString(":\n# request -> status, then where a redirect leads, or after \"=\" the file that was sent.\n")
			}
			b.WriteString("# Made by: go test -tags integration -run TestWebHostsMeasured -update-hosts ./cmd/sitelink\n\n")
			for _, request := range requests {
				if h.final {
					fmt.Fprintf(&b, "%s -> %s\n", request, server.end(t, request))
				} else {
					fmt.Fprintf(&b, "%s -> %s\n", request, describe(server.once(t, request)))
				}
			}
			name := filepath.Join(hostData, h.table+".txt")
			if *updateHosts {
				testkit.Check(t, os.WriteFile(name, []byte(b.String()), 0o644))
				return
			}
			want := testkit.Read(t, name)
			got := strings.Split(b.String(), "\n")
			for i, line := range strings.Split(string(want), "\n") {
				if i >= len(got) || got[i] != line {
					t.Errorf("%s: line %d: the server says %q, the table %q", name, i+1, at(got, i), line)
				}
			}
		})
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// end follows redirects and writes the last answer as the tables do.
func (s *webServer) end(t *testing.T, request string) string {
	t.Helper()
	at := request
	for range 20 {
		h := s.once(t, at)
		switch {
		case h.isRedirect() && strings.HasPrefix(h.location, "/"):
			at = h.location
		case at != request:
			return describe(h) + " at " + at
		default:
			return describe(h)
		}
	}
	return "508" // RFC 5842: loop detected
}

// describe writes an answer as the tables do.
func describe(h hop) string {
	switch {
	case h.isRedirect():
		return fmt.Sprintf("%d %s", h.status, h.location)
	case h.status == 200 && h.body == "":
		return "200 = (empty)"
	case h.status == 200 && strings.HasSuffix(h.body, "\n") && strings.Count(h.body, "\n") == 1:
		return "200 = " + testkit.EscapePath(strings.TrimSuffix(h.body, "\n"))
	case h.status == 200:
		return "200 = (made by the server)"
	}
	return fmt.Sprint(h.status)
}
