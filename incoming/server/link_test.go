package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/incoming"
)

// serve calls a handler with a body that is a form.
func serve(h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", formType)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const ourPage, theirPage = "http://b.example/", "http://a.example/post.html"

// TestRawReplies: status, reason phrase and side at fault, for each method and
// outcome.
func TestRawReplies(t *testing.T) {
	receiver, address := start(t, Options{})
	for _, c := range []struct {
		id, line string // OURS/ and THEIRS are replaced
		status   string
		side     string
	}{
		{"LK-26", "LINK THEIRS OURS/doc", "200 Ok", ""},
		{"LK-26 again", "LINK THEIRS OURS/known", "200 Ok", ""},
		{"LK-27", "LINK THEIRS OURS/missing", "417 Invalid target URI", "target"},
		{"LK-27 closed", "LINK THEIRS OURS/closed", "417 Invalid target URI", "target"},
		{"A-LK-8", "LINK THEIRS OURS/elsewhere", "404 Not Found", "target"},
		{"LK-28", "LINK THEIRS OURS/doc LINKMOD", "207 No Linkmod", ""},
		{"LK-15", "LINK THEIRS OURS/linkmod LINKMOD", "200 Ok", ""},
		{"LK-47 same page", "LINK OURS/invalid OURS/invalid", "400 Bad Request", ""},
		{"LK-37 blocked", "LINK THEIRS OURS/denied", "400 Bad Request", ""},
		{"LK-37 too many", "LINK THEIRS OURS/limited", "500 Internal Server Error", ""},
		{"LK-30", "UNLINK THEIRS OURS/doc", "200 Ok", ""},
		{"LK-30 unknown source", "UNLINK THEIRS OURS/unlinked", "416 Invalid source URI", "source"},
		{"LK-30 unknown target", "UNLINK THEIRS OURS/missing", "417 Invalid target URI", "target"},
		{"LK-17", "UNLINK THEIRS OURS/doc http://a.example/new.html", "200 Ok", ""},
		{"LK-32", "UNLINKR OURS/doc THEIRS", "200 Ok", ""},
		{"LK-32 no such link", "UNLINKR OURS/unlinked THEIRS", "416 Invalid target URI", "target"},
		{"LK-32 not ours", "UNLINKR OURS/missing THEIRS", "417 Invalid source URI", "source"},
		{"A-LK-8 source", "UNLINKR OURS/elsewhere THEIRS", "404 Not Found", "source"},
		{"LK-19", "UNLINKR OURS/doc THEIRS http://a.example/new.html", "200 Ok", ""},
		{"LK-34", "LINKMOD OURS/doc THEIRS", "200 Ok", ""},
		{"LK-34 no such link", "LINKMOD OURS/unlinked THEIRS", "416 Invalid target URI", "target"},
		{"LK-34 not ours", "LINKMOD OURS/missing THEIRS", "417 Invalid source URI", "source"},
		{"LK-20", "LINKMOD OURS/doc THEIRS extra", "400 Bad Request", ""},
		{"LK-15 another word", "LINK THEIRS OURS/doc linkmod", "400 Bad Request", ""},
		{"LK-1 mailto", "LINK mailto:x@y OURS/doc", "400 Bad Request", ""},
		{"LK-22 relative", "LINK /post.html OURS/doc", "400 Bad Request", ""},
		{"LK-22 relative target", "LINK THEIRS /doc", "400 Bad Request", ""},
		{"hostile scheme", "LINK javascript:alert(1) OURS/doc", "400 Bad Request", ""},
		{"hostile host", "LINK http://[::1 OURS/doc", "400 Bad Request", ""},
		{"hostile replacement", "UNLINK THEIRS OURS/doc file:///etc/passwd", "400 Bad Request", ""},
	} {
		receiver.taken()
		line := strings.NewReplacer("OURS/", ourPage, "THEIRS", theirPage).Replace(c.line)
		a := ask(t, address, line+" HTTP/1.1\r\nHost: b.example\r\nDate: x\r\n\r\n")
		if a.line != c.status || a.Header.Get(sideHeader) != c.side || (a.StatusCode == 200) != (a.text == "") || a.ProtoMinor != 1 {
			t.Errorf("%s: %s: %q, side %q, text %q", c.id, line, a.line, a.Header.Get(sideHeader), a.text)
		}
		if a.Header.Get("Cache-Control") != "no-store" || a.StatusCode != 200 && a.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %v", c.id, a.Header)
		}
		if retry := a.Header.Get("Retry-After"); (retry == "2") != strings.Contains(line, "limited") {
			t.Errorf("%s: Retry-After %q", c.id, retry)
		}
	}
}

// TestRawNotices: what the receiver gets from a call.
func TestRawNotices(t *testing.T) {
	receiver, address := start(t, Options{})
	n := func(action incoming.Action, source, target, replacement string, subscribe bool) incoming.Notice {
		return incoming.Notice{Protocol: incoming.LinkMethod, Action: action, Source: source, Target: target, Replacement: replacement, Subscribe: subscribe}
	}
	const s, u, v = "http://a.example/s", "http://b.example/t", "http://a.example/v"
	for _, c := range []struct {
		line string
		want incoming.Notice
	}{
		{"LINK " + s + " " + u, n(incoming.Link, s, u, "", false)},
		{"LINK " + s + " " + u + " LINKMOD", n(incoming.Link, s, u, "", true)},
		{"UNLINK " + s + " " + u, n(incoming.Unlink, s, u, "", false)},
		{"UNLINK " + s + " " + u + " " + v, n(incoming.Unlink, s, u, v, false)},
		{"UNLINKR " + s + " " + u + " " + v, n(incoming.UnlinkR, s, u, v, false)},
		{"LINKMOD " + s + " " + u, n(incoming.LinkMod, s, u, "", false)},
		// LK-22, A-LK-9
		{"UNLINK " + s + "#x " + u + "#y " + v + "#z", n(incoming.Unlink, s, u, v, false)},
	} {
		ask(t, address, c.line+"\r\n\r\n")
		got := receiver.taken()
		if len(got) != 1 || got[0].Peer.String() != "127.0.0.1" {
			t.Fatalf("%s: %+v", c.line, got)
		}
		c.want.Peer = got[0].Peer
		if !reflect.DeepEqual(got[0], c.want) {
			t.Errorf("%s: %+v", c.line, got[0])
		}
	}
	receiver.fail(errors.New("secret"))
	if a := ask(t, address, "LINK "+s+" "+u+"\r\n\r\n"); a.StatusCode != 500 || strings.Contains(a.text, "secret") {
		t.Errorf("a store that fails: %s %s", a.line, a.text)
	}
}

// TestLinkFields: the form with Link fields (LK-58 to LK-60).
func TestLinkFields(t *testing.T) {
	receiver, address := start(t, Options{BaseURLs: []string{"https://b.example/", "mailto:x"}})
	const rel = `; rel="https://github.com/sitelink/sitelink#linked-from"`
	for _, c := range []struct {
		name, method, path string
		fields             []string
		status             int
		want               string // the notices: action source target
	}{
		{"LK-58", "LINK", "/doc", []string{"Link: <http://a.example/post>" + rel}, 202, "link http://a.example/post https://b.example/doc"},
		{"known", "LINK", "/known", []string{"Link: <http://a.example/post>" + rel}, 204, "link http://a.example/post https://b.example/known"},
		{"any relation", "LINK", "/doc?q=1", []string{"Link: <http://a.example/post>; rel=x"}, 202, "link http://a.example/post https://b.example/doc?q=1"},
		{"no relation", "LINK", "/doc", []string{"Link: <http://a.example/post>"}, 202, "link http://a.example/post https://b.example/doc"},
		{"several fields", "LINK", "/doc", []string{"Link: <http://a.example/1>, <http://a.example/2>;rel=x", "Link: <http://a.example/3>"}, 202,
			"link http://a.example/1 https://b.example/doc, link http://a.example/2 https://b.example/doc, link http://a.example/3 https://b.example/doc"},
		{"absolute address", "LINK", "http://c.example/doc", []string{"Link: <http://a.example/post#x>"}, 202, "link http://a.example/post http://c.example/doc"},
		{"anchor of the page", "LINK", "/doc", []string{"Link: <http://a.example/post>; anchor=\"#x\""}, 202, "link http://a.example/post https://b.example/doc"},
		{"UNLINK", "UNLINK", "/doc", []string{"Link: <http://a.example/post>" + rel}, 202, "unlink http://a.example/post https://b.example/doc"},
		{"UNLINKR", "UNLINKR", "/doc", []string{"Link: <http://a.example/post>"}, 202, "unlinkr https://b.example/doc http://a.example/post"},
		{"LINKMOD", "LINKMOD", "/doc", []string{"Link: <http://a.example/post>"}, 202, "linkmod https://b.example/doc http://a.example/post"},
		{"LK-60 unknown pair", "UNLINK", "/unlinked", []string{"Link: <http://a.example/post>"}, 422, "unlink http://a.example/post https://b.example/unlinked"},
		{"LK-60 unknown target", "LINK", "/missing", []string{"Link: <http://a.example/post>"}, 404, "link http://a.example/post https://b.example/missing"},
		{"foreign host", "LINK", "/elsewhere", []string{"Link: <http://a.example/post>"}, 404, "link http://a.example/post https://b.example/elsewhere"},
		{"closed", "LINK", "/closed", []string{"Link: <http://a.example/post>"}, 403, "link http://a.example/post https://b.example/closed"},
		{"blocked", "LINK", "/denied", []string{"Link: <http://a.example/post>"}, 403, "link http://a.example/post https://b.example/denied"},
		{"too many", "LINK", "/limited", []string{"Link: <http://a.example/post>"}, 429, "link http://a.example/post https://b.example/limited"},
		{"bad pair", "LINK", "/invalid", []string{"Link: </invalid>"}, 422, "link https://b.example/invalid https://b.example/invalid"},
		{"LK-7 no Link field", "LINK", "/doc", nil, 400, ""},
		{"LK-7 absolute address, no Link field", "LINK", "http://b.example/doc", nil, 400, ""},
		{"malformed field", "LINK", "/doc", []string{"Link: http://a.example/post"}, 400, ""},
		{"one of two fields is malformed", "LINK", "/doc", []string{"Link: <http://a.example/post>", "Link: <http://a.example/2"}, 400, ""},
		{"another scheme", "LINK", "/doc", []string{"Link: <http://a.example/post>, <mailto:x@y>"}, 422, ""},
		{"anchor of another page", "LINK", "/doc", []string{"Link: <http://a.example/post>; anchor=\"/other\""}, 422, ""},
		{"asterisk", "LINK", "*", []string{"Link: <http://a.example/post>"}, 400, ""},
		{"another scheme of the address", "LINK", "mailto:x", []string{"Link: <http://a.example/post>"}, 400, ""},
		{"LK-25", "link", "/doc", []string{"Link: <http://a.example/post>"}, 501, ""},
	} {
		a := get(t, address, c.method, c.path, c.fields...)
		var got []string
		for _, n := range receiver.taken() {
			got = append(got, string(n.Action)+" "+n.Source+" "+n.Target)
			if n.Protocol != incoming.LinkMethod || n.Peer.String() != "127.0.0.1" {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
		if a.StatusCode != c.status || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, %q, want %d, %q", c.name, a.line, got, c.status, c.want)
		}
		if retry := a.Header.Get("Retry-After"); (retry == "2") != (c.status == 429) {
			t.Errorf("%s: Retry-After %q", c.name, retry)
		}
		if c.status != 501 && a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", c.name, a.Header)
		}
	}
	receiver.fail(errors.New("secret"))
	if a := get(t, address, "LINK", "/doc", "Link: <http://a.example/>"); a.StatusCode != 500 || strings.Contains(a.text, "secret") {
		t.Errorf("a store that fails: %s %s", a.line, a.text)
	}
}

// TestLinkScheme: the scheme of our page is that of the site, else what a trusted
// proxy says, else that of the connection.
func TestLinkScheme(t *testing.T) {
	for _, c := range []struct {
		name  string
		opt   Options
		proto string
		want  string
	}{
		{"plain", Options{}, "", "http://b.example/doc"},
		{"of the site", Options{BaseURLs: []string{"https://B.example/blog/"}}, "", "https://b.example/doc"},
		{"forged", Options{}, "https", "http://b.example/doc"},
		{"from a proxy", Options{Proxies: prefixes("127.0.0.1/32")}, "http, HTTPS", "https://b.example/doc"},
		{"odd", Options{Proxies: prefixes("127.0.0.1/32")}, "gopher", "http://b.example/doc"},
	} {
		receiver, address := start(t, c.opt)
		get(t, address, "LINK", "/doc", "Link: <http://a.example/>", "X-Forwarded-Proto: "+c.proto)
		if n := receiver.taken(); len(n) != 1 || n[0].Target != c.want {
			t.Errorf("%s: %+v", c.name, n)
		}
	}
}

// TestLinkHosts: spellings of the host of a site.
func TestLinkHosts(t *testing.T) {
	s := New(Options{Receiver: &script{}, BaseURLs: []string{"https://b.example/", "http://c.example:8080/"}})
	for host, want := range map[string]string{
		"b.example": "https://b.example", "B.Example": "https://b.example", "b.example:443": "https://b.example", "b.example.": "https://b.example",
		"c.example:8080": "http://c.example:8080", "c.example": "http://c.example", "d.example": "http://d.example", "b.example:8443": "http://b.example:8443",
	} {
		r := httptest.NewRequest("LINK", "/", nil)
		r.Host = host
		if got := s.origin(r); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// TestForgedCall: nothing that a stranger can send makes a request line with one
// URL into a call with two.
func TestForgedCall(t *testing.T) {
	receiver, address := start(t, Options{})
	for _, field := range []string{"Call: x", "callKey: x", "X-Request-Line: LINK http://a.example/ http://b.example/doc", "Source: x"} {
		if a := get(t, address, "LINK", "/", field); a.StatusCode != 400 {
			t.Errorf("%s: %s", field, a.line)
		}
	}
	if n := receiver.taken(); len(n) != 0 {
		t.Errorf("%+v", n)
	}
}

// TestOptions: OPTIONS, also of *, names the methods; unknown methods are 501 and
// misplaced ones 405.
func TestOptions(t *testing.T) {
	_, address := start(t, Options{})
	for _, path := range []string{"*", "/", "/doc"} {
		a := get(t, address, "OPTIONS", path)
		if a.StatusCode != 204 || a.Header.Get("Allow") != "GET, HEAD, OPTIONS, LINK, UNLINK, UNLINKR, LINKMOD" {
			t.Errorf("%s: %s %q", path, a.line, a.Header.Get("Allow"))
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/", 405}, {"PUT", "/doc", 405}, {"TRACE", "/", 405}, {"PROPFIND", "/", 501}, {"get", "/", 501}, {"BREW", "/pingback", 501},
		{"DELETE", "/webmention", 405}, {"POST", "/healthz", 405}, {"GET", "/", 404}, {"HEAD", "/", 404},
	} {
		a := get(t, address, c.method, c.path)
		if a.StatusCode != c.status || (c.status == 405) != (a.Header.Get("Allow") != "") {
			t.Errorf("%s %s: %s, Allow %q", c.method, c.path, a.line, a.Header.Get("Allow"))
		}
	}
	if a := get(t, address, "GET", "/anything"); !strings.Contains(a.text, "/webmention") || !strings.Contains(a.text, "LINK") {
		t.Errorf("the hint: %q", a.text)
	}
	if a := get(t, address, "LINK", "/doc"); !strings.Contains(a.text, "Link field") {
		t.Errorf("%q", a.text)
	}
}
