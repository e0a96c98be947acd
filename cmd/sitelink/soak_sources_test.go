//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// soakHosts is the number of other sites. Each has an address of its own, so that the
// receiver takes them for different ones.
const soakHosts = 40

// soakSources are the other sites: good, slow, huge, broken and vanishing pages, and
// pages that lead where a receiver must not go.
type soakSources struct {
	hosts []string // addresses with ports
	// inside is a server that the receiver must not connect to.
	inside  string
	entered atomic.Int64

	released  chan struct{} // closed when slow pages end at once
	bomb      []byte        // compressed
	all       []*http.Server
	mu        sync.Mutex
	fetched   map[string]int // by path
	malformed map[string]bool
}

// soakKinds are the kinds of pages with their frequency. The first word of a path
// names one.
var soakKinds = strings.Fields(strings.Repeat("good ", 24) + "xss xss none none text xhtml gone meta refused slow hang huge bomb cut reset empty " +
	"vanish vanish moved loop inside metadata file binary deep headers 503 401 charset")

func newSoakSources(t *testing.T) *soakSources {
	s := &soakSources{released: make(chan struct{}), fetched: map[string]int{}, malformed: map[string]bool{}}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		testkit.Must(z.Write(make([]byte, 1<<20)))(t)
	}
	testkit.Check(t, z.Close())
	s.bomb = bomb.Bytes()
	for n := range soakHosts {
		s.hosts = append(s.hosts, s.serve(t, fmt.Sprintf("127.1.0.%d:0", n+1), http.HandlerFunc(s.page)))
	}
	s.inside = s.serve(t, "127.200.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.entered.Add(1) }))
	t.Cleanup(s.close)
	return s
}

func (s *soakSources) serve(t *testing.T, address string, h http.Handler) string {
	l := testkit.Must(net.Listen("tcp", address))(t)
	server := &http.Server{Handler: h}
	s.all = append(s.all, server)
	go server.Serve(l)
	return l.Addr().String()
}

// release ends all slow answers.
func (s *soakSources) release() { close(s.released) }

func (s *soakSources) close() {
	for _, server := range s.all {
		server.Close()
	}
}

// wait waits, and reports false if the request or the run has ended.
func (s *soakSources) wait(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
	case <-s.released:
	}
	return false
}

// page answers for a page of another site: /KIND/NUMBER?to=PATH links to a path of
// our site.
func (s *soakSources) page(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	link := fmt.Sprintf(`<p>I read <a href="%s">this page</a> today.`, strings.TrimSuffix(servedBase, "/")+r.URL.Query().Get("to"))
	s.mu.Lock()
	s.fetched[r.URL.Path]++
	times := s.fetched[r.URL.Path]
	// The receiver says who asked for the request: never what a stranger wrote into
	// a header field.
	if agent := r.UserAgent(); strings.Contains(agent, soakForged) || r.Method == http.MethodGet && !strings.Contains(agent, "sitelink") || r.Header.Get("Cookie")+r.Header.Get("Referer") != "" {
		s.malformed[fmt.Sprintf("%s %v", agent, r.Header)] = true
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	head := "<!doctype html><html lang=en><title>Page " + r.URL.Path + "</title>"
	switch kind {
	case "good", "refused":
		io.WriteString(w, head+link)
	case "xss":
		io.WriteString(w, `<!doctype html><html lang='"><script>'><title>`+soakXSS+`</title><div class="h-entry"><p class="p-name">`+soakXSS+`</p><a class="p-author h-card" href="javascript:alert(1)">`+
			soakXSS+`</a><div class="e-content">`+soakXSS+link+`</div></div>`)
	case "none":
		io.WriteString(w, head+"<!-- "+link+" --><script>'"+link+"'</script>")
	case "out": // linked from our pages
		s.out(w, r)
	case "moved":
		http.Redirect(w, r, strings.Replace(r.URL.RequestURI(), "/moved/", "/good/", 1), http.StatusMovedPermanently)
	case "loop":
		http.Redirect(w, r, r.URL.RequestURI(), http.StatusFound)
	case "inside":
		http.Redirect(w, r, "http://"+s.inside+"/", http.StatusFound)
	case "metadata":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	case "file":
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	case "vanish":
		if times > 1 {
			http.Error(w, link, http.StatusGone)
			return
		}
		io.WriteString(w, head+link)
	case "gone":
		http.NotFound(w, r)
	case "503", "401":
		w.Header().Set("Retry-After", "99999999999")
		w.WriteHeader(map[string]int{"503": 503, "401": 401}[kind])
	default:
		s.hostile(w, r, kind, head, link)
	}
}

// out answers for pages that our pages link to, in three ways.
func (s *soakSources) out(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path[len(r.URL.Path)-1] % 3 {
	case 0:
		http.NotFound(w, r)
	case 1:
		http.Redirect(w, r, "/good/out", http.StatusMovedPermanently)
	default:
		io.WriteString(w, "<!doctype html><title>There</title>")
	}
}

// hostile answers slowly, without end, or not in HTTP.
func (s *soakSources) hostile(w http.ResponseWriter, r *http.Request, kind, head, link string) {
	switch kind {
	case "text":
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, link)
	case "xhtml":
		w.Header().Set("Content-Type", "application/xhtml+xml")
		io.WriteString(w, `<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><html xmlns="http://www.w3.org/1999/xhtml"><p>&c;&c;&c;</p>`+link+`</p></html>`)
	case "meta":
		io.WriteString(w, head+`<meta http-equiv="Status" content="410 Gone">`+link)
	case "slow":
		io.WriteString(w, head)
		for s.wait(r, 100*time.Millisecond) {
			io.WriteString(w, " ")
			w.(http.Flusher).Flush()
		}
	case "hang":
		s.wait(r, time.Hour)
	case "huge":
		for part := []byte(strings.Repeat("<b>", 4096)); r.Context().Err() == nil; {
			if _, err := w.Write(part); err != nil || !s.wait(r, time.Millisecond) {
				return
			}
		}
	case "bomb":
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(s.bomb)
	case "empty":
	case "binary":
		w.Write([]byte("\x00\x01\xff\xfe\x7fELF" + link))
	case "deep":
		io.WriteString(w, head+strings.Repeat("<div><table><a>", 20_000)+link)
	case "charset":
		w.Header().Set("Content-Type", "text/html; charset=utf-16be")
		io.WriteString(w, head+link)
	case "headers":
		for n := range 2000 {
			w.Header().Set(fmt.Sprintf("X-Field-%d", n), strings.Repeat("x", 1000))
		}
		io.WriteString(w, head+link)
	case "cut", "reset":
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n"+head+link)
		if kind == "reset" {
			c.(*net.TCPConn).SetLinger(0)
		}
		c.Close()
	}
}

// source returns the URL of a page that links to a path of our site.
func (s *soakSources) source(host int, kind string, number int64, to string) string {
	return fmt.Sprintf("http://%s/%s/%d?to=%s", s.hosts[host%len(s.hosts)], kind, number, url.QueryEscape(to))
}

// outside returns the page that a page of ours links to.
func (s *soakSources) outside(page int) string {
	return fmt.Sprintf("http://%s/out/%d", s.hosts[page%len(s.hosts)], page)
}
