package send

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"
)

// rocksServer is a server with the test cases of https://webmention.rocks, rebuilt
// from their description: 23 cases of discovery and 3 of updates and deletions. It
// serves pages that advertise an endpoint in every way that a sender must understand,
// and reports whether each notice came to the right endpoint. Its methods are safe for
// concurrent use.
type rocksServer struct {
	url string

	mu      sync.Mutex
	results map[string]error  // by test, such as "discovery 3"
	keys    map[string]string // endpoints that accept one notice -> page
	stages  map[string][]string
	serial  int
}

// newRocksServer starts a server on the loopback interface. It ends with the test.
func newRocksServer(t testing.TB) *rocksServer {
	s := &rocksServer{results: map[string]error{}, keys: map[string]string{}, stages: map[string][]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/test/", s.discovery)
	mux.HandleFunc("/update/", s.single)
	mux.HandleFunc("/delete/", s.single)
	mux.HandleFunc("/keyed", s.keyed)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = withHostName(server.URL)
	return s
}

// withHostName returns the URL of a test server with a host name, because the suite
// does not accept IP addresses.
func withHostName(serverURL string) string {
	return strings.Replace(serverURL, "127.0.0.1", "localhost", 1)
}

// Result returns the result of a test: nil if the right notice arrived, and
// otherwise an error that says what went wrong or that no notice arrived.
func (s *rocksServer) Result(test string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err, came := s.results[test]; came {
		return err
	}
	return fmt.Errorf("%s: no notice arrived", test)
}

// record records the result of a test. A failure is never replaced.
func (s *rocksServer) record(test string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results[test] == nil {
		s.results[test] = err
	}
}

// key returns a unique name.
func (s *rocksServer) key() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	return fmt.Sprintf("k%d", s.serial)
}

// notice checks a notice against the rules of all cases: it is a POST of a form,
// and its source has a host name and links to target byte by byte. If gone, the
// source must be deleted instead.
func (s *rocksServer) notice(r *http.Request, target string, gone bool) error {
	if r.Method != http.MethodPost {
		return fmt.Errorf("got %s %s instead of a POST", r.Method, r.URL)
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
	links, deleted, err := linksOfSource(r.PostForm.Get("source"))
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

// linksOfSource fetches a source as the suite does. It returns the values of its
// <a href>, and whether it is deleted: with status 410, or with an element
// <meta http-equiv="Status" content="410 ...">.
func linksOfSource(source string) (links map[string]bool, deleted bool, err error) {
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

// discoveryCases is the number of discovery cases.
const discoveryCases = 23

// discoveryCase is the page of one case. In it, GOOD is replaced by the path of the
// right endpoint, BAD by that of an endpoint that must get nothing, and HOST by the
// URL of the server.
type discoveryCase struct {
	links      []string // values of Link
	name       string   // of that header field, if not Link
	head, body string
}

// discoveryPages are the cases 1 to 22, each with one way to advertise an endpoint.
var discoveryPages = map[int]discoveryCase{
	1:  {links: []string{`<GOOD>; rel=webmention`}},
	2:  {links: []string{`<HOSTGOOD>; rel=webmention`}},
	3:  {head: `<link rel="webmention" href="GOOD">`},
	4:  {head: `<link href="HOSTGOOD" rel="webmention">`},
	5:  {body: `<a rel="webmention" href="GOOD">endpoint</a>`},
	6:  {body: `<a href="HOSTGOOD" rel="webmention">endpoint</a>`},
	7:  {name: "LinK", links: []string{`<HOSTGOOD>; rel=webmention`}},
	8:  {links: []string{`<HOSTGOOD>; rel="webmention"`}},
	9:  {head: `<link rel="webmention somethingelse" href="HOSTGOOD">`},
	10: {links: []string{`<HOSTGOOD>; rel="webmention somethingelse"`}},
	11: {links: []string{`<GOOD>; rel=webmention`}, head: `<link rel="webmention" href="BAD">`, body: `<a rel="webmention" href="BAD">other</a>`},
	12: {head: `<link rel="not-webmention" href="BAD">`, body: `<a rel="webmention" href="GOOD">endpoint</a>`},
	13: {body: `<!-- <a rel="webmention" href="BAD">hidden</a> --><a rel="webmention" href="GOOD">endpoint</a>`},
	14: {body: `<code>&lt;a href="BAD" rel="webmention"&gt;&lt;/a&gt;</code><a rel="webmention" href="GOOD">endpoint</a>`},
	15: {head: `<link rel="webmention" href="">`},
	16: {body: `<a rel="webmention" href="GOOD">first</a><link rel="webmention" href="BAD">`},
	17: {body: `<link rel="webmention" href="GOOD"><a rel="webmention" href="BAD">second</a>`},
	18: {links: []string{`<BAD>; rel="other"`, `<HOSTGOOD>; rel="webmention"`}},
	19: {links: []string{`<BAD>; rel="other", <HOSTGOOD>; rel="webmention"`}},
	20: {head: `<link rel="webmention">`, body: `<a rel="webmention" href="GOOD">endpoint</a>`},
	21: {head: `<link rel="webmention" href="GOOD?query=yes">`},
	22: {head: `<link rel="webmention" href="22/webmention">`},
}

// heads are the cases in which the endpoint shows whether it was found with HEAD.
var heads = map[int]bool{1: true, 2: true, 3: true, 4: true, 7: true, 8: true, 10: true, 18: true, 19: true}

// Target returns the URL of a discovery case, 1 to [discoveryCases].
func (s *rocksServer) Target(n int) string {
	if n == discoveryCases {
		return s.url + "/test/23/page"
	}
	return fmt.Sprintf("%s/test/%d", s.url, n)
}

// discovery serves /test/N and the paths below it.
func (s *rocksServer) discovery(w http.ResponseWriter, r *http.Request) {
	number, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/test/"), "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > discoveryCases {
		http.NotFound(w, r)
		return
	}
	test := fmt.Sprintf("discovery %d", n)
	switch {
	case n == discoveryCases:
		s.redirected(w, r, test, rest)
	case r.Method != http.MethodPost && rest == "":
		s.advertise(w, r, n)
	default:
		s.take(w, r, n, test, rest)
	}
}

// advertise serves the page of a case.
func (s *rocksServer) advertise(w http.ResponseWriter, r *http.Request, n int) {
	p := discoveryPages[n]
	path := fmt.Sprintf("/test/%d/webmention", n)
	good := path
	if r.Method == http.MethodHead && heads[n] {
		good += "?head=true"
	}
	fill := strings.NewReplacer("HOST", s.url, "GOOD", good, "BAD", path+"/error").Replace
	name := p.name
	if name == "" {
		name = "Link"
	}
	for _, link := range p.links {
		w.Header()[name] = append(w.Header()[name], fill(link))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html><html><head><title>%d</title>%s</head><body>%s</body></html>", n, fill(p.head), fill(p.body))
}

// take checks a notice of the cases 1 to 22.
func (s *rocksServer) take(w http.ResponseWriter, r *http.Request, n int, test, rest string) {
	want := "webmention"
	if n == 15 {
		want = ""
	}
	err := s.notice(r, s.Target(n), false)
	switch {
	case rest != want:
		err = fmt.Errorf("%s %s is not the endpoint", r.Method, r.URL)
	case err == nil && n == 21 && (r.URL.Query().Get("query") != "yes" || r.PostForm.Has("query")):
		err = fmt.Errorf("the query is not in the address alone: %s, %v", r.URL, r.PostForm)
	}
	s.answer(w, test, err)
}

// redirected is case 23: the page redirects to another page, and the endpoint is
// relative to that one. Both can be used once.
func (s *rocksServer) redirected(w http.ResponseWriter, r *http.Request, test, rest string) {
	if rest == "page" {
		key := s.key()
		s.issue(key, "")
		http.Redirect(w, r, "page/"+key, http.StatusFound)
		return
	}
	if key, ok := strings.CutPrefix(rest, "page/webmention-endpoint/"); ok {
		_, err := s.spend(key)
		if err == nil {
			err = s.notice(r, s.Target(discoveryCases), false)
		}
		s.answer(w, test, err)
		return
	}
	key, ok := strings.CutPrefix(rest, "page/")
	if _, err := s.spend(key); !ok || err != nil {
		http.Error(w, "fetched before", http.StatusGone)
		return
	}
	endpoint := s.key()
	s.issue(endpoint, "")
	w.Header().Set("Link", "<webmention-endpoint/"+endpoint+">; rel=webmention")
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<title>23</title><a rel="webmention" href="webmention-endpoint/%s">endpoint</a>`, endpoint)
}

// answer records a result and sends it to the sender.
func (s *rocksServer) answer(w http.ResponseWriter, test string, err error) {
	s.record(test, err)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, "success")
}

// issue makes a key valid for one use, for the page with that path.
func (s *rocksServer) issue(key, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = path
}

// spend invalidates a key and returns its page.
func (s *rocksServer) spend(key string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, good := s.keys[key]
	if !good {
		return "", fmt.Errorf("the endpoint was used before: discover it again")
	}
	delete(s.keys, key)
	return path, nil
}

// URL returns the URL of a path: /update/1, /update/1/part/2, /update/2,
// /update/2/part/2 or /delete/1.
func (s *rocksServer) URL(path string) string { return s.url + path }

// single serves a page with an endpoint that accepts one notice, so that a cached
// endpoint fails.
func (s *rocksServer) single(w http.ResponseWriter, r *http.Request) {
	key := s.key()
	s.issue(key, r.URL.Path)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<title>%s</title><link rel="webmention" href="/keyed?key=%s">`, r.URL.Path, key)
}

// keyed takes the notices of the update and delete cases, one stage after the
// other.
func (s *rocksServer) keyed(w http.ResponseWriter, r *http.Request) {
	path, err := s.spend(r.URL.Query().Get("key"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	test := strings.TrimSuffix(strings.Trim(path, "/"), "/part/2")
	s.mu.Lock()
	before := s.stages[test]
	s.mu.Unlock()
	if err = s.stage(r, test, path, before); err == nil {
		s.mu.Lock()
		s.stages[test] = append(s.stages[test], path)
		s.mu.Unlock()
	}
	switch {
	case err != nil:
		s.record(test, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case complete(test, append(before, path)):
		s.record(test, nil)
	}
	w.WriteHeader(http.StatusAccepted)
}

// stage checks a notice against what its case expects next.
func (s *rocksServer) stage(r *http.Request, test, path string, before []string) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	links, deleted, err := linksOfSource(r.PostForm.Get("source"))
	if err != nil {
		return err
	}
	first, second := links[s.url+"/"+test], links[s.url+"/"+test+"/part/2"]
	switch test {
	case "update/1":
		// One link; then two, with a notice to each.
		if len(before) == 0 {
			if path != "/update/1" || !first || second {
				return fmt.Errorf("the first notice of %s is of a page with its link alone", test)
			}
		} else if !first || !second {
			return fmt.Errorf("the second notices of %s are of a page with both links", test)
		}
	case "update/2":
		// Two links, with a notice to each; then one, with a notice to each.
		if wantBoth := len(before) < 2; !first || second != wantBoth {
			return fmt.Errorf("notice %d of %s: second link exists: %v", len(before)+1, test, second)
		}
	case "delete/1":
		if wantGone := len(before) > 0; deleted != wantGone {
			return fmt.Errorf("notice %d of %s: page is deleted: %v", len(before)+1, test, deleted)
		}
		return s.notice(r, s.url+path, deleted)
	default:
		return fmt.Errorf("there is no test %s", test)
	}
	if got := r.PostForm.Get("target"); got != s.url+path {
		return fmt.Errorf("the notice of target %q arrived at the endpoint of %s", got, path)
	}
	return nil
}

// complete reports whether all notices of a case arrived.
func complete(test string, came []string) bool {
	if test == "delete/1" {
		return len(came) >= 2
	}
	// The last stage has a notice to each of the two pages.
	stage := came
	if test == "update/2" {
		stage = came[min(2, len(came)):]
	} else {
		stage = came[min(1, len(came)):]
	}
	var first, second bool
	for _, path := range stage {
		first = first || path == "/"+test
		second = second || path == "/"+test+"/part/2"
	}
	return first && second
}
