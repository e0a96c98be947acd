package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The web answers as its table says, to a client like any other.
func TestWeb(t *testing.T) {
	w, err := newWeb(1, kinds)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.begin(0)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	seen := map[string]bool{}
	for _, l := range w.all {
		if seen[l.kind.name] || l.kind.name == "answers after 3 s" || strings.HasPrefix(l.kind.name, "HEAD") {
			continue
		}
		seen[l.kind.name] = true
		var statuses []int
		for range 2 {
			status := 0
			if resp, err := client.Get(l.url); err == nil {
				resp.Body.Close()
				status = resp.StatusCode
			}
			statuses = append(statuses, status)
		}
		want := map[string][]int{
			"404": {404, 404}, "410": {410, 410}, "500": {500, 500}, "chain to a 404": {404, 404}, "503 once, then 200": {503, 200},
			"429 with Retry-After, then 200": {429, 200}, "403 with a page for programs": {403, 403}, "reset": {0, 0},
			"refused connection": {0, 0}, "redirects in a loop": {0, 0}, "HTTP/2": {0, 0}, // its authority is unknown here
		}[l.kind.name]
		switch {
		case strings.HasPrefix(l.kind.name, "certificate"):
			want = []int{0, 0}
		case l.kind.name == "503 during one run of three":
			want = []int{200, 200}
			if l.seed%3 == 0 {
				want = []int{503, 503}
			}
		case l.kind.name == "reset once, then 200": // net/http tries again
			continue
		case want == nil:
			want = []int{200, 200}
		}
		if !slices.Equal(statuses, want) {
			t.Errorf("%s: %d, want %d", l.kind.name, statuses, want)
		}
	}
	if requests, most := w.load(); requests < 2*len(seen)-20 || most == 0 {
		t.Errorf("%d requests, %d to a host in a second", requests, most)
	}
}

func TestBroken(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(string, []byte) ([]string, error)
		out  string
	}{
		{"sitelink", brokenSitelink, `{"code":"dead-link","target":"http://a/"}` + "\n" + `{"code":"doubtful","target":"http://b/"}` + "\n"},
		{"lychee", brokenLychee, `{"total":2,"error_map":{"index.html":[{"url":"http://a/","status":{"code":404}}]},"timeout_map":{}}`},
		{"linkinator", brokenLinkinator, `{"links":[{"url":"http://a/","state":"BROKEN"},{"url":"http://b/","state":"OK"}],"passed":false}`},
		{"muffet", brokenMuffet, `[{"url":"http://x/","links":[{"url":"http://a/","error":"404"}]}]`},
		{"linkchecker", brokenLinkchecker, "# head\nurlname;parentname;base;result;warningstring;infostring;valid;url\nhttp://a/;p;;404;\"Redirected\nto b\";;False;http://b/\n" +
			"http://b/;p;;200;w;;True;http://b/\n# end\n"},
	} {
		if got, err := c.read("", []byte(c.out)); err != nil || !slices.Equal(got, []string{"http://a/"}) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
