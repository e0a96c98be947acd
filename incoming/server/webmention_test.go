package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

func form(source, target string) string {
	return url.Values{"source": {source}, "target": {target}}.Encode()
}

func TestWebmention(t *testing.T) {
	receiver, address := start(t, Options{BaseURLs: []string{"https://b.example/"}})
	const a = "http://a.example/post?x=1&y=2#z"
	for _, c := range []struct {
		word   string
		status int
	}{
		{"doc", 201}, {"known", 201}, {"invalid", 400}, {"elsewhere", 400}, {"missing", 400}, {"closed", 400}, {"denied", 403}, {"limited", 429},
	} {
		target := "http://b.example/" + c.word
		r := post(t, address, "/webmention", formType, form(a, target))
		if r.StatusCode != c.status || r.Header.Get("Access-Control-Allow-Origin") != "*" || len(r.text) < 20 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %s %v %q", c.word, r.line, r.Header, r.text)
		}
		wantLocation := map[string]string{"doc": "https://b.example/webmention/status/queued", "known": "https://b.example/webmention/status/approved"}[c.word]
		if r.Header.Get("Location") != wantLocation {
			t.Errorf("%s: Location %q", c.word, r.Header.Get("Location"))
		}
		if wantRetry := map[string]string{"limited": "2"}[c.word]; r.Header.Get("Retry-After") != wantRetry {
			t.Errorf("%s: Retry-After %q", c.word, r.Header.Get("Retry-After"))
		}
		n := receiver.taken()
		if len(n) != 1 || n[0].Protocol != incoming.Webmention || n[0].Action != incoming.Link || n[0].Source != a || n[0].Target != target || n[0].Peer.String() != "127.0.0.1" {
			t.Errorf("%s: %+v", c.word, n)
		}
	}
	receiver.fail(errors.New("secret"))
	if r := post(t, address, "/webmention", formType, form(a, "http://b.example/doc")); r.StatusCode != 500 || strings.Contains(r.text, "secret") {
		t.Errorf("a store that fails: %s %q", r.line, r.text)
	}
}

// TestWebmentionForms: which requests are read, and how.
func TestWebmentionForms(t *testing.T) {
	receiver, address := start(t, Options{})
	const a, b = "http://a.example/?x=1&y=2;z=é +", "http://b.example/doc"
	for _, c := range []struct {
		name, kind, body string
		status           int
	}{
		{"charset", "application/x-www-form-urlencoded; charset=UTF-8", form(a, b), 201},
		{"another charset", "application/x-www-form-urlencoded;charset=iso-8859-1", form(a, b), 201},
		{"letter case", "Application/X-WWW-Form-URLencoded", form(a, b), 201},
		{"malformed parameters", "application/x-www-form-urlencoded; charset", form(a, b), 201},
		{"no type", "", form(a, b), 201},
		{"other fields", formType, form(a, b) + "&vouch=http://c.example/&%zz", 201},
		{"semicolon not escaped", formType, strings.Replace(form(a, b), "%3B", ";", 1), 201},
		{"line break at the end", formType, "target=" + url.QueryEscape(b) + "&source=" + url.QueryEscape(a) + "\r\n", 201},
		{"JSON", "application/json", `{"source":"x","target":"y"}`, 400},
		{"multipart", "multipart/form-data; boundary=x", "", 400},
		{"empty", formType, "", 400},
		{"no source", formType, "target=" + b, 400},
		{"no target", formType, "source=" + b, 400},
		{"empty source", formType, "source=&target=" + b, 400},
		{"two sources", formType, form(a, b) + "&source=x", 400},
		{"two targets", formType, form(a, b) + "&target=" + b, 400},
		{"bad escape", formType, "source=%zz&target=" + b, 400},
	} {
		r := post(t, address, "/webmention", c.kind, c.body)
		n := receiver.taken()
		if r.StatusCode != c.status || c.status == 201 && (len(n) != 1 || n[0].Source != a || n[0].Target != b) || c.status != 201 && len(n) != 0 {
			t.Errorf("%s: %s %s %+v", c.name, r.line, r.text, n)
		}
	}
	// The address of the query is not the form's.
	if r := post(t, address, "/webmention?"+form(a, b), formType, ""); r.StatusCode != 400 {
		t.Errorf("query: %s", r.line)
	}
}

// TestStatusPage: the state in three formats, and nothing beyond it.
func TestStatusPage(t *testing.T) {
	receiver, address := start(t, Options{})
	for _, state := range incoming.States {
		for _, c := range []struct{ accept, kind string }{
			{"", "text/plain; charset=utf-8"},
			{"*/*", "text/plain; charset=utf-8"},
			{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"},
			{"text/plain;q=0.5, application/json", "application/json"},
			{"text/html;q=0, text/plain;q=x, application/json;q=0.1", "application/json"},
		} {
			r := get(t, address, "GET", "/webmention/status/"+string(state), "Accept: "+c.accept)
			if r.StatusCode != 200 || r.Header.Get("Content-Type") != c.kind || !strings.Contains(r.text, string(state)) || !strings.Contains(r.text, stateTexts[state]) {
				t.Errorf("%s, %s: %s %v\n%s", state, c.accept, r.line, r.Header, r.text)
			}
			if strings.Contains(r.text, "secret") || strings.Contains(r.text, "17") {
				t.Errorf("%s: the page says more than the state: %s", state, r.text)
			}
			if strings.Contains(r.text, "<script>") && c.kind != "text/plain; charset=utf-8" {
				t.Errorf("%s: the source is not escaped: %s", state, r.text)
			}
			if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("X-Robots-Tag") != "noindex" || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%v", r.Header)
			}
			if c.kind == "application/json" {
				var v struct{ State, Source, Target, Message string }
				if err := json.Unmarshal([]byte(r.text), &v); err != nil || v.State != string(state) || v.Source != "http://a.example/<script>" || v.Target != "http://b.example/?a=1&b=2" {
					t.Errorf("%v %+v", err, v)
				}
			}
		}
	}
	for _, path := range []string{"unknown", "", "a/b", "%00"} {
		if r := get(t, address, "GET", "/webmention/status/"+path); r.StatusCode != 404 {
			t.Errorf("%q: %s", path, r.line)
		}
	}
	if r := get(t, address, "HEAD", "/webmention/status/held"); r.StatusCode != 200 {
		t.Errorf("HEAD: %s", r.line)
	}
	if r := get(t, address, "POST", "/webmention/status/held"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %s", r.line)
	}
	receiver.fail(errors.New("secret"))
	if r := get(t, address, "GET", "/webmention/status/held"); r.StatusCode != 500 || strings.Contains(r.text, "secret") {
		t.Errorf("a store that fails: %s %s", r.line, r.text)
	}
}

// TestWebmentionByHand: the page with the form is valid, labelled, and escapes the
// target that it was given; a browser that submits it gets a page.
func TestWebmentionByHand(t *testing.T) {
	_, address := start(t, Options{})
	r := get(t, address, "GET", `/webmention?target=http://b.example/%22%3E%3Cscript%3E`, "Accept: application/json")
	root, err := html.Parse(strings.NewReader(r.text))
	if err != nil || r.StatusCode != 200 || r.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "form-action 'self'") {
		t.Fatalf("%s %v %v", r.line, r.Header, err)
	}
	labels, inputs := map[string]bool{}, map[string]string{}
	for n := range root.Descendants() {
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		switch n.Data {
		case "script":
			t.Error("the target is not escaped")
		case "label":
			labels[attributes["for"]] = true
		case "input":
			inputs[attributes["name"]] = attributes["value"]
			if !labels[attributes["id"]] {
				t.Errorf("the field %s has no label", attributes["name"])
			}
		case "form":
			if attributes["method"] != "post" || attributes["action"] != "/webmention" {
				t.Errorf("form: %v", attributes)
			}
		}
	}
	if len(inputs) != 2 || inputs["target"] != `http://b.example/"><script>` {
		t.Errorf("%v", inputs)
	}
	r = post(t, address, "/webmention", formType, form("http://a.example/", "http://b.example/doc"), "Accept: text/html")
	if r.StatusCode != 201 || !strings.Contains(r.text, `href="http://b.example/webmention/status/queued"`) {
		t.Errorf("%s %s", r.line, r.text)
	}
}

// TestCrossOrigin: a script of another site may send a webmention and read the
// answer, also if its request needs a preflight.
func TestCrossOrigin(t *testing.T) {
	_, address := start(t, Options{})
	for _, path := range []string{"/webmention", "/webmention/status/held"} {
		r := get(t, address, "OPTIONS", path, "Origin: https://a.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type")
		h := r.Header
		if r.StatusCode != 204 || h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") ||
			h.Get("Access-Control-Allow-Headers") != "Content-Type" || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Location") || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %s %v", path, r.line, h)
		}
	}
	if r := get(t, address, "OPTIONS", "/webmention"); r.Header.Get("Allow") != "GET, HEAD, POST, OPTIONS" || r.Header.Get("Accept-Post") != formType {
		t.Errorf("%v", r.Header)
	}
}

// TestRocksReceiver is the receiver's part of webmention.rocks, rebuilt.
func TestRocksReceiver(t *testing.T) {
	_, address := start(t, Options{})
	r := post(t, address, "/webmention", formType, form("http://a.example/post", "http://b.example/doc"))
	switch location := r.Header.Get("Location"); {
	case r.StatusCode == 201 && location != "":
	case (r.StatusCode == 200 || r.StatusCode == 202) && location == "":
	default:
		t.Errorf("receive 1: %s, Location %q", r.line, location)
	}
	for _, c := range []string{form("junk", "http://b.example/invalid"), form("http://a.example/", "invalid"), form("junk", "invalid")} {
		if r := post(t, address, "/webmention", formType, c); r.StatusCode != 400 {
			t.Errorf("receive 2: %s: %s", c, r.line)
		}
	}
	// Without a store, there is no status page to lead to.
	receiver := &script{}
	s := New(Options{Receiver: receiver})
	if w := serve(s, "POST", "/webmention", form("http://a.example/", "http://b.example/doc")); w.Code != 202 || w.Header().Get("Location") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := serve(s, "GET", "/webmention/status/queued", ""); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

// TestCompressedBodies: bodies are not decompressed, so a small one cannot become
// huge.
func TestCompressedBodies(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	testkit.Must(z.Write(make([]byte, 10<<20)))(t)
	testkit.Check(t, z.Close())
	receiver, address := start(t, Options{})
	if r := post(t, address, "/webmention", formType, bomb.String(), "Content-Encoding: gzip"); r.StatusCode != 400 {
		t.Errorf("webmention: %s", r.line)
	}
	r := post(t, address, "/pingback", "text/xml", bomb.String(), "Content-Encoding: gzip")
	if _, code, err := decodeResponse(r.text); err != nil || code != faultMalformed {
		t.Errorf("pingback: %d %v", code, err)
	}
	if n := receiver.taken(); len(n) != 0 {
		t.Errorf("%+v", n)
	}
}

// FuzzWebmention: any form gets an answer of the protocol, and what reaches the
// receiver is what the form says.
func FuzzWebmention(f *testing.F) {
	f.Add(formType, "source=http%3A%2F%2Fa.example%2F&target=http%3A%2F%2Fb.example%2Fdoc", "text/html")
	f.Add("", "source=a&source=b&target=%zz", "application/json;q=0.5, */*")
	f.Add("multipart/form-data", "source=a;target=b", "text/plain;q=")
	f.Fuzz(func(t *testing.T, kind, body, accept string) {
		receiver := &script{}
		s := New(Options{Receiver: receiver, Mentions: receiver})
		r := httptest.NewRequest("POST", "/webmention", strings.NewReader(body))
		r.Header["Content-Type"], r.Header["Accept"] = []string{kind}, []string{accept}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		n := receiver.taken()
		switch {
		case w.Code == 201 && len(n) == 1 && w.Header().Get("Location") != "":
			if values, err := url.ParseQuery(body); err == nil && (strings.TrimSpace(values.Get("source")) != n[0].Source || strings.TrimSpace(values.Get("target")) != n[0].Target) {
				t.Errorf("%q: %+v", body, n)
			}
		case (w.Code == 400 || w.Code == 403 || w.Code == 429) && w.Header().Get("Location") == "":
		default:
			t.Errorf("%q: %d %v %+v", body, w.Code, w.Header(), n)
		}
	})
}
