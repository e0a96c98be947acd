package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRedirectMethod(t *testing.T) {
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		if n, _ := fmt.Sscanf(r.URL.Path, "/%d", &status); n == 1 {
			w.Header().Set("Location", "../to?x")
			w.WriteHeader(status)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Content-Type"), body)
	})
	for _, c := range []struct {
		status int
		method string
		want   string
	}{
		{301, "POST", "POST /to?x text/xml <a/>"}, // notifiers 5.1: net/http would make it GET
		{302, "POST", "POST /to?x text/xml <a/>"},
		{303, "POST", "GET /to?x  "},
		{307, "POST", "POST /to?x text/xml <a/>"},
		{308, "POST", "POST /to?x text/xml <a/>"},
		{301, "GET", "GET /to?x text/xml <a/>"},
		{302, "UNLINK", "UNLINK /to?x text/xml <a/>"},
		{303, "HEAD", ""},
	} {
		resp, err := local(Options{}).Do(t.Context(), Request{
			Method: c.method, URL: fmt.Sprintf("%s/%d#f", base, c.status),
			Header: http.Header{"Content-Type": {"text/xml"}}, Body: []byte("<a/>"),
		})
		if err != nil {
			t.Errorf("%d %s: %v", c.status, c.method, err)
			continue
		}
		want := Hop{Status: c.status, From: fmt.Sprintf("%s/%d", base, c.status), To: base + "/to?x"}
		if string(resp.Body) != c.want || resp.URL != base+"/to?x" || len(resp.Hops) != 1 || resp.Hops[0] != want {
			t.Errorf("%d %s: got %+v, body %s", c.status, c.method, resp, resp.Body)
		}
	}
	for _, r := range []Request{
		{URL: base + "/302", NoRedirect: true},
		{URL: base + "/302", Method: "LINK", RequestTarget: "/302"},
		{URL: base + "/304"},
		{URL: base + "/300"},
	} {
		if resp, err := local(Options{}).Do(t.Context(), r); err != nil || resp.Status/100 != 3 || resp.Hops != nil {
			t.Errorf("%+v: got %+v, %v", r, resp, err)
		}
	}
}

func TestRedirectFailures(t *testing.T) {
	var asked int
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		var n int
		fmt.Sscanf(r.URL.Path, "/count/%d", &n)
		to := map[string]string{
			"/file":     "file:///etc/passwd",
			"/js":       "javascript:alert(1)",
			"/user":     "http://u:secret@127.0.0.1/",
			"/bad":      "http://[/",
			"/metadata": "http://169.254.169.254/latest/meta-data/",
			"/mapped":   "http://[::ffff:10.0.0.1]/",
			"/number":   "http://2852039166/", // 169.254.169.254
			"/port":     "http://8.8.8.8:25/",
			"/self":     "/self#again",
			"/a":        "/b",
			"/b":        "/a",
		}[r.URL.Path]
		if n > 0 {
			to = fmt.Sprintf("/count/%d", n-1)
		}
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(302)
	})
	for _, c := range []struct {
		path  string
		want  Kind // "" for an answer
		asked int
	}{
		{"/file", BadRedirect, 1},
		{"/js", BadRedirect, 1},
		{"/user", BadRedirect, 1},
		{"/bad", BadRedirect, 1},
		{"/metadata", RefusedAddress, 1},
		{"/mapped", RefusedAddress, 1},
		{"/number", RefusedAddress, 1},
		{"/port", RefusedAddress, 1},
		{"/self", RedirectLoop, 1},
		{"/a", RedirectLoop, 2},
		{"/count/6", TooManyHops, 6},
		{"/count/5", "", 6},
		{"/no-location", "", 1},
	} {
		asked = 0
		resp, err := get(t, local(Options{}), base+c.path)
		if asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", c.path, asked, c.asked)
		}
		if c.want == "" {
			if err != nil || resp.Status != 302 {
				t.Errorf("%s: got %+v, %v", c.path, resp, err)
			}
			continue
		}
		if e := wantKind(t, err, c.want); strings.Contains(e.Error(), "secret") || e.Kind.Retry() {
			t.Errorf("%s: %v", c.path, e)
		}
	}
	if _, err := get(t, local(Options{MaxRedirects: -1}), base+"/count/1"); err == nil {
		t.Error("a redirect was followed")
	}
}

// Credentials are only sent to the first host.
func TestRedirectCredentials(t *testing.T) {
	var got []string
	show := func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("X-Kept"))
		w.Header().Set("Set-Cookie", "a=b")
	}
	other := handler(t, show)
	base := handler(t, func(w http.ResponseWriter, r *http.Request) {
		show(w, r)
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other, http.StatusTemporaryRedirect)
		} else if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		}
	})
	header := http.Header{"Authorization": {"A"}, "Cookie": {"C"}, "X-Kept": {"K"}}
	for _, path := range []string{"/here", "/away"} {
		if _, err := local(Options{}).Do(t.Context(), Request{URL: base + path, Header: header}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[ACK ACK ACK K]"; fmt.Sprint(got) != want {
		t.Errorf("the hosts saw %s, want %s", got, want)
	}
	if len(header) != 3 {
		t.Error("the caller's header was changed")
	}
}
