package testrocks

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Cases is the number of cases of discovery.
const Cases = 23

// page is what one case serves. GOOD stands for the path of the right endpoint,
// BAD for one that must get nothing, HOST for the server's address.
type page struct {
	links      []string // values of Link
	name       string   // of that header field, if not Link
	head, body string
}

// pages are the cases 1 to 22, each with one way to advertise an endpoint.
var pages = map[int]page{
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

// heads are the cases whose address tells whether it was found by HEAD.
var heads = map[int]bool{1: true, 2: true, 3: true, 4: true, 7: true, 8: true, 10: true, 18: true, 19: true}

// Target returns the address of a case of discovery, 1 to [Cases].
func (s *Server) Target(n int) string {
	if n == Cases {
		return s.url + "/test/23/page"
	}
	return fmt.Sprintf("%s/test/%d", s.url, n)
}

// discovery serves /test/N and what lies below.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	number, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/test/"), "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > Cases {
		http.NotFound(w, r)
		return
	}
	test := fmt.Sprintf("discovery %d", n)
	switch {
	case n == Cases:
		s.redirected(w, r, test, rest)
	case r.Method != http.MethodPost && rest == "":
		s.advertise(w, r, n)
	default:
		s.take(w, r, n, test, rest)
	}
}

// advertise serves the page of a case.
func (s *Server) advertise(w http.ResponseWriter, r *http.Request, n int) {
	p := pages[n]
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

// take judges a notice of the cases 1 to 22.
func (s *Server) take(w http.ResponseWriter, r *http.Request, n int, test, rest string) {
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

// redirected is case 23: the page redirects to another, whose endpoint is
// relative to that one; both are good for one use.
func (s *Server) redirected(w http.ResponseWriter, r *http.Request, test, rest string) {
	if rest == "page" {
		key := s.key()
		s.issue(key, "")
		http.Redirect(w, r, "page/"+key, http.StatusFound)
		return
	}
	if key, ok := strings.CutPrefix(rest, "page/webmention-endpoint/"); ok {
		_, err := s.spend(key)
		if err == nil {
			err = s.notice(r, s.Target(Cases), false)
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

// answer records a result and tells the sender.
func (s *Server) answer(w http.ResponseWriter, test string, err error) {
	s.record(test, err)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, "success")
}
