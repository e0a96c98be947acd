package main

import (
	"net/http"
	"slices"
	"testing"
)

// The web answers as its table says, to a client like any other.
func TestWeb(t *testing.T) {
	w, err := newWeb(classes)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	want := map[string][]int{
		"200": {200, 200}, "404": {404, 404}, "410": {410, 410}, "503 once": {503, 200}, "301 to 404": {404, 404}, "10 redirects": {0, 0},
		"refused connection": {0, 0}, "redirect between two": {0, 0}, "certificate expired": {0, 0}, "HTTP/2": {0, 0}, // its authority is unknown here
		"302 home": {200, 200}, "gzip": {200, 200}, "an empty answer": {0, 0},
	}
	for _, l := range w.all {
		var statuses []int
		for range len(want[l.kind.name]) {
			status := 0
			if resp, err := client.Get(l.url); err == nil {
				resp.Body.Close()
				status = resp.StatusCode
			}
			statuses = append(statuses, status)
		}
		if !slices.Equal(statuses, want[l.kind.name]) {
			t.Errorf("%s: %d, want %d", l.kind.name, statuses, want[l.kind.name])
		}
		delete(want, l.kind.name)
	}
	if requests, most := w.load(); len(want) > 0 || requests < 20 || most == 0 {
		t.Errorf("%d requests, %d to a host in a second, kinds not found: %v", requests, most, want)
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
