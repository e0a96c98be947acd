package testrocks

import (
	"fmt"
	"net/http"
	"strings"
)

// issue makes a key good for one use, for the page of that path.
func (s *Server) issue(key, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = path
}

// spend uses a key up and returns its page.
func (s *Server) spend(key string) (path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, good := s.keys[key]
	if !good {
		return "", fmt.Errorf("the endpoint was used before: discover it again")
	}
	delete(s.keys, key)
	return path, nil
}

// URL returns the address of a path: /update/1, /update/1/part/2, /update/2,
// /update/2/part/2 or /delete/1.
func (s *Server) URL(path string) string { return s.url + path }

// single serves a page whose endpoint takes one notice: an endpoint from memory
// fails.
func (s *Server) single(w http.ResponseWriter, r *http.Request) {
	key := s.key()
	s.issue(key, r.URL.Path)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<title>%s</title><link rel="webmention" href="/keyed?key=%s">`, r.URL.Path, key)
}

// keyed takes the notices of the update and delete cases, stage after stage.
func (s *Server) keyed(w http.ResponseWriter, r *http.Request) {
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

// stage holds a notice to what its case expects next.
func (s *Server) stage(r *http.Request, test, path string, before []string) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	links, deleted, err := Links(r.PostForm.Get("source"))
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
			return fmt.Errorf("notice %d of %s: second link is there: %v", len(before)+1, test, second)
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
		return fmt.Errorf("target %q came to the endpoint of %s", got, path)
	}
	return nil
}

// complete tells whether all notices of a case came.
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
