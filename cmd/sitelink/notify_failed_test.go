//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pingbackServer is a target that takes pingbacks as WordPress does: it refuses pages
// without title, with a fault that does not say so. A path with "closed" refuses all.
type pingbackServer struct {
	*httptest.Server
	mu   sync.Mutex
	came []string // "/page -> /target"
}

func newPingbackServer(t *testing.T) *pingbackServer {
	t.Helper()
	s := &pingbackServer{}
	called := regexp.MustCompile(`<string>(http://[^/]*)(/[^<]*)</string>.*<string>http://[^/]*(/[^<]*)</string>`)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Pingback", s.URL+"/xmlrpc")
		if r.Method != http.MethodPost {
			return
		}
		body, _ := io.ReadAll(r.Body)
		call := called.FindStringSubmatch(string(body))
		s.mu.Lock()
		s.came = append(s.came, call[2]+" -> "+call[3])
		s.mu.Unlock()
		code := -1
		if page, err := http.Get(call[1] + call[2]); err != nil || strings.Contains(call[3], "closed") {
			code = 33
		} else {
			text, _ := io.ReadAll(page.Body)
			page.Body.Close()
			if !strings.Contains(string(text), "<title>") {
				code = 0
			}
		}
		if code < 0 {
			fmt.Fprint(w, `<?xml version="1.0"?><methodResponse><params><param><value><string>ok</string></value></param></params></methodResponse>`)
			return
		}
		fmt.Fprintf(w, `<?xml version="1.0"?><methodResponse><fault><value><struct><member><name>faultCode</name><value><int>%d</int></value></member>`+
			`<member><name>faultString</name><value><string></string></value></member></struct></value></fault></methodResponse>`, code)
	}))
	t.Cleanup(s.Close)
	return s
}

// want compares the notices that came since the last call, in any order, with
// these, which are sorted.
func (s *pingbackServer) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.came)
	if got, want := strings.Join(s.came, ", "), strings.Join(want, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.came = nil
}

// TestNotifyFailed: a notice that failed because of its page is sent again when the
// page no longer has the problem, and not before; --retry sends failed notices again.
func TestNotifyFailed(t *testing.T) {
	b, target := newBlog(t), newPingbackServer(t)
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in:\n%s", part, text)
			}
		}
	}
	page := func(name, head, path string) {
		b.write("public/"+name+"/index.html", "<!doctype html>"+head+"<article>post <a href=\""+target.URL+path+"\">link</a></article>")
		b.publish()
	}
	b.run(0, "notify", "public", "--send")
	out, _ := b.run(0, "ledger", "show", "--failed")
	has(out, "no failed notices\n")

	page("a", "", "/one")
	page("b", "<title>b</title>", "/closed")
	out, _ = b.run(4, "notify", "public", "--send")
	target.want(t, "/a/ -> /one", "/b/ -> /closed")
	has(out, "the page has no <title> with text", "give the page a title", "2 failed\n")
	out, _ = b.run(0, "ledger", "show", "--failed")
	has(out, "cause: the server refused without a reason, as WordPress does (fault 0); ", "the page has no <title> with text, and WordPress refuses such pages (fault 32)\ncure: ",
		"give the page a title; sitelink notify --send then sends the notice again\n  pingback added  "+b.site+"a/ -> "+target.URL+"/one\n\n",
		"cause: the target does not accept pingbacks (fault 33)\ncure: correct the link, or ask the owner of the target; sitelink notify --send --retry="+target.URL+"/closed sends it again\n",
		"\n2 failed notices, 2 causes\n")

	// The cause is still there.
	_, said := b.run(0, "notify", "public")
	if strings.Contains(said, "failed notice") {
		t.Errorf("the dry run wants to repeat it:\n%s", said)
	}
	b.run(0, "notify", "public", "--send")
	b.run(0, "notify", "--due", "--send")
	target.want(t)

	// A title is no part of the content, so the page has not changed for the plan.
	page("a", "<title>a</title>", "/one")
	out, said = b.run(0, "notify", "public")
	has(out+said, "nothing to send", "1 failed notice will be sent again if the cause is gone from the live page")
	_, said = b.run(0, "notify", "public", "--send", "--max-notices", "1")
	if said != "" {
		t.Errorf("said %s", said)
	}
	target.want(t, "/a/ -> /one")
	b.run(0, "notify", "public", "--send")
	target.want(t)

	// All failed notices, and those with an address.
	out, _ = b.run(0, "notify", "--retry")
	has(out, b.site+"b/", "/closed", "1 failed for now\n")
	target.want(t)
	b.run(4, "notify", "--retry", "--send")
	target.want(t, "/b/ -> /closed")
	page("c", "<title>c</title>", "/closed/2")
	b.run(4, "notify", "public", "--send")
	target.want(t, "/c/ -> /closed/2")
	_, said = b.run(0, "notify", "public", "--retry")
	has(said, "2 failed notices will be sent again")
	_, said = b.run(3, "notify", "--retry", "--send", "--max-notices", "1")
	has(said, "2 notices are due, more than max-notices, 1: nothing was sent")
	b.run(4, "notify", "public", "--send", "--retry")
	target.want(t, "/b/ -> /closed", "/c/ -> /closed/2")
	for address, want := range map[string]string{target.URL + "/closed/2": "/c/ -> /closed/2", b.site + "b/": "/b/ -> /closed", "/c/": "/c/ -> /closed/2"} {
		b.run(4, "notify", "--send", "--retry="+address)
		target.want(t, want)
	}
	_, said = b.run(3, "notify", "--send", "--retry=https://other.example/")
	has(said, "error: no failed notice has the source or target https://other.example/", "hint: sitelink ledger show --failed lists them")
	_, said = b.run(2, "notify", "--send", "--retry", "https://other.example/")
	has(said, "hint: write it with an equals sign: --retry=https://other.example/")
	_, said = b.run(2, "notify", "--status", "--retry")
	has(said, "--retry and --status cannot be combined")

	// A failed notice about a link that is gone no longer matters.
	b.write("public/c/index.html", "<!doctype html><title>c</title><article>post</article>")
	b.publish()
	b.run(0, "notify", "public", "--send")
	out, _ = b.run(0, "ledger", "show", "--failed")
	has(out, "1 failed notice, 1 cause\n")
	b.run(4, "notify", "public", "--send", "--retry")
	target.want(t, "/b/ -> /closed")
}
