package webmention

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestRocksServer: each kind of wrong notice is detected. A server that accepts
// everything would prove nothing.
func TestRocksServer(t *testing.T) {
	var links []string
	status := http.StatusOK
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		for _, link := range links {
			fmt.Fprintf(w, "<a href=%q>x</a>", link)
		}
	}))
	defer page.Close()
	source := withHostName(page.URL)
	post := func(endpoint, source, target string) int {
		t.Helper()
		resp, err := http.PostForm(endpoint, url.Values{"source": {source}, "target": {target}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	fault := func(s *rocksServer, test, want string) {
		t.Helper()
		if err := s.Result(test); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", test, err, want)
		}
	}

	s := newRocksServer(t)
	fault(s, "discovery 1", "no notice arrived")
	links = []string{s.Target(1), s.Target(2), s.Target(11), s.Target(21)}
	post(s.URL("/test/11/webmention/error"), source, s.Target(11))
	fault(s, "discovery 11", "is not the endpoint")
	post(s.URL("/test/11/webmention"), source, s.Target(11))
	fault(s, "discovery 11", "is not the endpoint") // a failure stays
	post(s.URL("/test/1/webmention"), page.URL, s.Target(1))
	fault(s, "discovery 1", "not on a host with a name")
	post(s.URL("/test/2/webmention"), source, s.Target(1))
	fault(s, "discovery 2", "target")
	post(s.URL("/test/3/webmention"), source, s.Target(3))
	fault(s, "discovery 3", "has no link")
	post(s.URL("/test/21/webmention"), source, s.Target(21))
	fault(s, "discovery 21", "query")
	links = append(links, s.Target(20), s.Target(15), s.Target(23))
	post(s.Target(20), source, s.Target(20))
	fault(s, "discovery 20", "is not the endpoint")
	post(s.URL("/test/15/webmention"), source, s.Target(15))
	fault(s, "discovery 15", "is not the endpoint")
	post(s.URL("/test/23/webmention-endpoint/k1"), source, s.Target(23))
	post(s.URL("/test/23/page/webmention-endpoint/k1"), source, s.Target(23))
	fault(s, "discovery 23", "discover it again")

	// Endpoints are valid once, and stages have an order.
	first, second := s.URL("/update/1"), s.URL("/update/1/part/2")
	endpoint := func(page string) string {
		t.Helper()
		resp, err := http.Get(page)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		return fmt.Sprintf("%s/keyed?key=k%d", s.url, s.serial)
	}
	links = []string{first, second}
	post(endpoint(first), source, first)
	fault(s, "update/1", "first notice")
	links = []string{s.URL("/delete/1")}
	once := endpoint(links[0])
	if post(once, source, links[0]) != 202 || post(once, source, links[0]) != 400 {
		t.Error("an endpoint accepted two notices")
	}
	post(endpoint(links[0]), source, links[0])
	fault(s, "delete/1", "deleted: false")
	links = []string{s.URL("/update/2")}
	post(endpoint(links[0]), source, links[0])
	fault(s, "update/2", "second link exists: false")
}

// TestReceiverCases: a correct receiver passes both cases, and each fault is
// detected.
func TestReceiverCases(t *testing.T) {
	valid := func(r *http.Request) bool {
		return strings.HasPrefix(r.FormValue("source"), "http") && strings.HasPrefix(r.FormValue("target"), "http")
	}
	for _, test := range []struct {
		name, want string
		status     int
		location   string
		junk       int
	}{
		{"accepted", "", 202, "", 400},
		{"created", "", 201, "/status/1", 400},
		{"created without location", "receive 1: 201 without Location", 201, "", 400},
		{"accepted with location", "receive 1: 202 Accepted with Location", 202, "/x", 400},
		{"refused", "receive 1: 403 Forbidden", 403, "", 400},
		{"takes junk", "receive 2: 202 Accepted", 202, "", 202},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !valid(r) {
				w.WriteHeader(test.junk)
				return
			}
			if test.location != "" {
				w.Header().Set("Location", test.location)
			}
			w.WriteHeader(test.status)
		}))
		err := receiverCases(server.URL, "http://a.example/", "http://b.example/")
		server.Close()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
