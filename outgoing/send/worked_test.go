package send

import (
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// TestWorkedExample is the client's part of the example in section 5 (PB-62). For each link
// of a post, the client fetches the target once and calls its server once, without any
// action by the user (PB-1, PB-2). It calls the address that it found (PB-30), which may be
// on another host (PB-5). It skips a target without an endpoint silently (PB-6, PB-31), and
// no link waits for another (PB-67).
func TestWorkedExample(t *testing.T) {
	var mu sync.Mutex
	var trace []string
	log := func(host string, h http.HandlerFunc) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			trace = append(trace, r.Method+" "+host+r.URL.Path)
			mu.Unlock()
			h(w, r)
		}))
		t.Cleanup(server.Close)
		return server
	}
	var calls []string
	gateway := log("charlie", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls = append(calls, string(body))
		io.WriteString(w, successBody("<string>thanks</string>"))
	})
	empty := httptest.NewServer(http.NotFoundHandler())
	empty.Close()
	bob := log("bob", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/header":
			w.Header().Set("X-Pingback", gateway.URL+"/header")
		case "/element": // within the first 5 kB
			fmt.Fprintf(w, "<!DOCTYPE html>%s<link rel=\"pingback\" href=%q>", strings.Repeat(" ", 4800), gateway.URL+"/element")
		case "/dead":
			fmt.Fprintf(w, "<link rel=\"pingback\" href=%q>", empty.URL)
		case "/none":
			fmt.Fprint(w, "<!DOCTYPE html><p>nothing here")
		}
	})

	c := client()
	s := NewPingback(c, PingbackOptions{})
	const post = "http://alice.example.org/#p123"
	var states []ledger.State
	for _, path := range []string{"/dead", "/none", "/element", "/header"} {
		target := bob.URL + path + "#foo"
		e := testkit.Must(s.Discover(t.Context(), outgoing.NewTarget(c, target)))(t)
		if e.URL == "" {
			states = append(states, ledger.NoService)
			continue
		}
		states = append(states, s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: post, Target: target}, Event: ledger.Added}, e).State)
	}
	if want := []ledger.State{ledger.Retry, ledger.NoService, ledger.Done, ledger.Done}; !slices.Equal(states, want) {
		t.Errorf("%v, want %v", states, want)
	}
	want := []string{"GET bob/dead", "GET bob/none", "GET bob/element", "POST charlie/element", "GET bob/header", "POST charlie/header"}
	if !slices.Equal(trace, want) {
		t.Errorf("requests\n%q, want\n%q", trace, want)
	}
	for i, path := range []string{"/element", "/header"} {
		// PB-4: the source, then the target, with its fragment (PB-69).
		order := "<param><value><string>" + post + "</string></value></param><param><value><string>" + bob.URL + path + "#foo</string></value></param>"
		if i >= len(calls) || !strings.Contains(calls[i], order) {
			t.Errorf("call %d: %q", i, calls)
		}
	}
}

// TestNoParser: PB-3, discovery needs no parser of HTML.
func TestNoParser(t *testing.T) {
	file := testkit.Must(parser.ParseFile(token.NewFileSet(), "pingback.go", nil, parser.ImportsOnly))(t)
	for _, spec := range file.Imports {
		if strings.Contains(spec.Path.Value, "html") || strings.Contains(spec.Path.Value, "xml") {
			t.Errorf("pingback.go imports %s", spec.Path.Value)
		}
	}
}
