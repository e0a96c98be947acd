//go:build integration && linux

package main_test

import (
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// charsetFiles declare an encoding that they do not have.
var charsetFiles = map[string]string{
	"index.html": "<!doctype html><meta charset=iso-8859-1><title>t</title><p id=é><a href=\"#%C3%A9\">x</a>",
	"a.css":      "@charset \"iso-8859-1\"; p {}",
	"a.xhtml":    "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"/>",
}

// TestHostCharsets: the encoding that a profile says the Content-Type header
// gives is the one that the host's software sends, and Chromium reads the page as
// sitelink does.
func TestHostCharsets(t *testing.T) {
	t.Parallel()
	starts := map[string]func(t *testing.T, docroot string) (addr, hostName string){}
	for _, s := range servers {
		starts[s.profile] = func(t *testing.T, docroot string) (string, string) {
			openToAll(t, docroot)
			return s.start(t, site{docroot: docroot, types: true}).addr, ""
		}
	}
	for _, h := range webHosts {
		if h.profile != "" && h.without != "404.html" {
			starts[h.profile] = func(t *testing.T, docroot string) (string, string) {
				npmFolder(t)
				s := h.start(t, docroot)
				return s.addr, s.host
			}
		}
	}
	starts["vercel"] = func(t *testing.T, docroot string) (string, string) {
		npmFolder(t)
		return startNode(t, "vercel.mjs", docroot, "").addr, ""
	}
	b := testkit.StartBrowser(t, false)
	for _, p := range host.Profiles() {
		start := starts[p.Name]
		if start == nil {
			continue // generic and linklint are no hosts; GitHub publishes no software
		}
		t.Run(p.Name, func(t *testing.T) {
			docroot := writeFixtures(t, charsetFiles)
			addr, hostName := start(t, docroot)
			for name, want := range map[string]string{"index.html": p.Charset, "a.css": p.Charset, "a.xhtml": ""} {
				request := testkit.Must(http.NewRequest("GET", "http://"+addr+"/"+name, nil))(t)
				request.Host = hostName
				answer := testkit.Must(http.DefaultClient.Do(request))(t)
				answer.Body.Close()
				kind, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
				if err != nil && kind != "" || name == "index.html" && kind != "text/html" {
					t.Errorf("%s: the type is %q, %v", name, answer.Header.Get("Content-Type"), err)
				}
				if p.Name == "lighttpd" && name == "a.css" {
					want = "utf-8" // Debian's package, for all text but HTML
				}
				if !strings.EqualFold(params["charset"], want) {
					t.Errorf("%s: the server's type is %q, the profile says charset %q", name, answer.Header.Get("Content-Type"), want)
				}
			}
			verdict := ""
			eachLink(t, docroot, []string{"--profile", p.Name}, func(r *row) {
				if r.Page == "index.html" {
					verdict = r.Verdict
				}
			})
			if hostName != "" {
				return // its name leads nowhere
			}
			b.Load("http://" + addr + "/")
			var charset string
			if b.Eval(`document.characterSet`, &charset); (charset == "UTF-8") != (verdict == "ok") {
				t.Errorf("Chromium reads the page as %s, sitelink says %q to a link that only UTF-8 serves", charset, verdict)
			}
		})
	}
}
