// Package testrocks is a server for tests: the cases of webmention.rocks,
// rebuilt on the loopback from their description. Pages that advertise an
// endpoint leave, in every way that a sender must understand; notices enter, and
// the server says whether each came to the right place.
//
// https://webmention.rocks: 23 cases of discovery, 3 of updates and deletes for
// senders, and 2 for receivers ([Receive]).
package testrocks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"
)

// Server has the pages and endpoints. Its methods are safe for concurrent use.
type Server struct {
	url string

	mu      sync.Mutex
	results map[string]error  // by test, such as "discovery 3"
	keys    map[string]string // endpoints that are good for one notice -> page
	stages  map[string][]string
	serial  int
}

// New starts a server on the loopback, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{results: map[string]error{}, keys: map[string]string{}, stages: map[string][]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/test/", s.discovery)
	mux.HandleFunc("/update/", s.single)
	mux.HandleFunc("/delete/", s.single)
	mux.HandleFunc("/keyed", s.keyed)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = Named(server.URL)
	return s
}

// Named returns the address of a test server with a host name: the suite takes
// no numbers for hosts.
func Named(serverURL string) string {
	return strings.Replace(serverURL, "127.0.0.1", "localhost", 1)
}

// Result says how a test went: nil if the right notice came, an error with what
// went wrong, or that none came.
func (s *Server) Result(test string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err, came := s.results[test]; came {
		return err
	}
	return fmt.Errorf("%s: no notice came", test)
}

// record keeps the result of a test; a failure stays.
func (s *Server) record(test string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results[test] == nil {
		s.results[test] = err
	}
}

// key makes a name that was not used before.
func (s *Server) key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	return fmt.Sprintf("k%d", s.serial)
}

// notice reads a notice and holds it to the rules that all cases share: a POST
// of a form, a source with a host name, that links to target byte by byte. With
// gone, the source may also say that it is deleted.
func (s *Server) notice(r *http.Request, target string, gone bool) error {
	if r.Method != http.MethodPost {
		return fmt.Errorf("%s %s in place of a POST", r.Method, r.URL)
	}
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); media != "application/x-www-form-urlencoded" {
		return fmt.Errorf("content type %q", media)
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	if got := r.PostForm.Get("target"); got != target {
		return fmt.Errorf("target %q, want %q", got, target)
	}
	links, deleted, err := Links(r.PostForm.Get("source"))
	switch {
	case err != nil:
		return err
	case deleted && gone, !deleted && links[target] && !gone:
		return nil
	case deleted:
		return fmt.Errorf("source %s is deleted", r.PostForm.Get("source"))
	case gone:
		return fmt.Errorf("source %s is not deleted", r.PostForm.Get("source"))
	}
	return fmt.Errorf("source %s has no link to %s", r.PostForm.Get("source"), target)
}

// Links fetches a source as the suite does and returns what its <a href> say,
// and whether it is deleted: by status 410, or by an element
// <meta http-equiv="Status" content="410 ...">.
func Links(source string) (links map[string]bool, deleted bool, err error) {
	u, err := url.Parse(source)
	if err != nil {
		return nil, false, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Hostname(), "0123456789.") == "" {
		return nil, false, fmt.Errorf("source %q is not on a host with a name", source)
	}
	resp, err := http.Get(source)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusGone {
		return nil, true, nil
	}
	if resp.StatusCode != http.StatusOK {
		return nil, false, fmt.Errorf("source %s answers %s", source, resp.Status)
	}
	links = map[string]bool{}
	z := html.NewTokenizer(resp.Body)
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		attributes := map[string]string{}
		for _, a := range token.Attr {
			attributes[a.Key] = a.Val
		}
		switch token.Data {
		case "a":
			if href, has := attributes["href"]; has {
				links[href] = true
			}
		case "meta":
			deleted = deleted || strings.EqualFold(attributes["http-equiv"], "Status") && strings.HasPrefix(attributes["content"], "410")
		}
	}
	return links, deleted, nil
}
