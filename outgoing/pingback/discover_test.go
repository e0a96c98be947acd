package pingback

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/outgoing"
)

// stored is a Doer with a stored response.
type stored struct {
	page outgoing.Response
	err  error
}

func (s stored) Do(context.Context, outgoing.Request) (*outgoing.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	return &s.page, nil
}

func (s stored) target() *outgoing.Target { return outgoing.NewTarget(s, s.page.URL) }

func discover(t *testing.T, header http.Header, body string) outgoing.Endpoint {
	t.Helper()
	e, err := New(nil, Options{}).Discover(t.Context(), stored{page: outgoing.Response{
		URL: "http://bob.example.net/", Status: 200, Header: header, Body: []byte(body)}}.target())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPattern is the table of PB-25, with PB-29 (entities) and PB-32 (no more
// leniency than the pattern).
func TestPattern(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"PB-25 HTML", `<link rel="pingback" href="http://b/x">`, "http://b/x"},
		{"PB-25 XHTML", `<link rel="pingback" href="http://b/x" />`, "http://b/x"},
		{"PB-25 no blank before the slash", `<link rel="pingback" href="http://b/x"/>`, "http://b/x"},
		{"PB-25 blank without slash", `<link rel="pingback" href="http://b/x" >`, "http://b/x"},
		{"PB-25 two blanks before the slash", `<link rel="pingback" href="http://b/x"  />`, ""},
		{"PB-25 blank behind the slash", `<link rel="pingback" href="http://b/x"/ >`, ""},
		{"PB-25 further attribute", `<link rel="pingback" href="http://b/x" title="x">`, ""},
		{"PB-25 other order", `<link href="http://b/x" rel="pingback">`, ""},
		{"PB-32 upper case", `<LINK REL="pingback" HREF="http://b/x">`, ""},
		{"PB-32 unquoted by a minifier", `<link rel=pingback href=http://b/x>`, ""},
		{"PB-25 single quotes", `<link rel='pingback' href='http://b/x'>`, ""},
		{"PB-25 two blanks behind link", `<link  rel="pingback" href="http://b/x">`, ""},
		{"PB-25 newline", "<link rel=\"pingback\"\nhref=\"http://b/x\">", ""},
		{"PB-25 two relations", `<link rel="pingback webmention" href="http://b/x">`, ""},
		{"PB-25 empty", `<link rel="pingback" href="">`, ""},
		{"PB-25 the first counts, in comments too",
			`<!-- <link rel="pingback" href="http://evil/"> --><link rel="pingback" href="http://good/">`, "http://evil/"},
		{"PB-29 amp", `<link rel="pingback" href="http://b/x?a=1&amp;b=2">`, "http://b/x?a=1&b=2"},
		{"PB-29 once, no rescan", `<link rel="pingback" href="http://b/&amp;lt;">`, "http://b/&lt;"},
		{"PB-29 all four", `<link rel="pingback" href="http://b/?&lt;&gt;&quot;&amp;">`, `http://b/?<>"&`},
		{"PB-29 no others", `<link rel="pingback" href="http://b/?&#38;&apos;&eacute;">`, "http://b/?&#38;&apos;&eacute;"},
		{"PB-34 behind 8 kB of style", "<style>" + strings.Repeat("a{b:c}\n", 1200) + `</style><link rel="pingback" href="http://b/x">`, "http://b/x"},
		{"A-PB-8 ends within 64 KiB", strings.Repeat(" ", maxSearched-39) + `<link rel="pingback" href="http://b/x">`, "http://b/x"},
		{"A-PB-8 ends behind 64 KiB", strings.Repeat(" ", maxSearched-38) + `<link rel="pingback" href="http://b/x">`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := discover(t, http.Header{"Content-Type": {"text/html"}}, test.body); got.URL != test.want {
				t.Errorf("got %q, want %q", got.URL, test.want)
			}
		})
	}
}

// TestHeader: PB-26 and PB-17 (header before element), PB-27 (the first of
// several), PB-28 (header alone), PB-12 and A-PB-10 (media types), PB-19 (no
// Link header), A-PB-1 (no fallback).
func TestHeader(t *testing.T) {
	const element = `<link rel="pingback" href="http://element/">`
	for _, test := range []struct {
		name, body string
		header     http.Header
		want       string
	}{
		{"PB-28 header alone", "", http.Header{"X-Pingback": {"http://header/"}}, "http://header/"},
		{"PB-26 header before element", element, http.Header{"X-Pingback": {"http://header/"}}, "http://header/"},
		{"PB-27 the first", element, http.Header{"X-Pingback": {"http://a/", "http://b/"}}, "http://a/"},
		{"PB-27 no list at commas", "", http.Header{"X-Pingback": {"http://a/?b,c"}}, "http://a/?b,c"},
		{"PB-12 any resource", "\x89PNG", http.Header{"X-Pingback": {"http://header/"}, "Content-Type": {"image/png"}}, "http://header/"},
		{"A-PB-10 no element in an image", element, http.Header{"Content-Type": {"image/png"}}, ""},
		{"A-PB-10 XHTML", element, http.Header{"Content-Type": {"application/xhtml+xml; charset=utf-8"}}, "http://element/"},
		{"A-PB-10 no type", element, http.Header{}, "http://element/"},
		{"PB-19 Link header", "", http.Header{"Link": {`<http://h/x>; rel="pingback"`}}, ""},
		{"A-PB-1 relative header", element, http.Header{"X-Pingback": {"/xmlrpc"}}, ""},
		{"A-PB-1 empty header", element, http.Header{"X-Pingback": {""}}, ""},
		{"PB-61 other scheme", "", http.Header{"X-Pingback": {"file:///etc/passwd"}}, ""},
		{"PB-61 user", "", http.Header{"X-Pingback": {"http://u:p@h/x"}}, ""},
		{"PB-31 none", "<p>no server", http.Header{"Content-Type": {"text/html"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := discover(t, test.header, test.body)
			if got.URL != test.want {
				t.Errorf("got %q, want %q", got.URL, test.want)
			}
			if test.header.Get("X-Pingback") != "" && got.Via == "" {
				t.Error("nothing says where it was found")
			}
			if strings.Contains(got.Via, ":p@") {
				t.Errorf("password in %q", got.Via)
			}
		})
	}
}

// TestDiscoverStatus: a missing page has no server; one that fails temporarily is
// tried again.
func TestDiscoverStatus(t *testing.T) {
	s := New(nil, Options{})
	page := outgoing.Response{URL: "http://h/", Header: http.Header{"X-Pingback": {"http://h/x"}, "Retry-After": {"7"}}}
	for status, want := range map[int]string{200: "http://h/x", 403: "http://h/x", 404: "", 410: ""} {
		page.Status = status
		e, err := s.Discover(t.Context(), stored{page: page}.target())
		if err != nil || e.URL != want {
			t.Errorf("%d: %v, %v", status, e, err)
		}
	}
	page.Status = 503
	_, err := s.Discover(t.Context(), stored{page: page}.target())
	if later := (*outgoing.UnavailableError)(nil); !errors.As(err, &later) || later.After.Seconds() != 7 {
		t.Errorf("503: %v", err)
	}
	failed := errors.New("no route")
	if _, err := s.Discover(t.Context(), stored{err: failed}.target()); err != failed {
		t.Errorf("no answer: %v", err)
	}
}

// FuzzElement compares the search with an implementation of section 2.3 without
// regular expressions.
func FuzzElement(f *testing.F) {
	f.Add([]byte(`<link rel="pingback" href="http://b/x?a&amp;b" />`))
	f.Add([]byte(`<link rel="pingback" href="<link rel="pingback" href="x"/>`))
	f.Add([]byte("<link rel=\"pingback\" href=\"\xff\" >"))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, found := linkElement(body)
		want, expected := byHand(body)
		if got != want || found != expected {
			t.Errorf("%q, %v; by hand %q, %v", got, found, want, expected)
		}
	})
}

func byHand(body []byte) (string, bool) {
	body = body[:min(len(body), maxSearched)]
	for {
		_, after, more := bytes.Cut(body, []byte(`<link rel="pingback" href="`))
		if !more {
			return "", false
		}
		body = after
		value, rest, closed := bytes.Cut(after, []byte(`"`))
		rest = bytes.TrimPrefix(rest, []byte(" "))
		rest = bytes.TrimPrefix(rest, []byte("/"))
		if !closed || len(value) == 0 || !bytes.HasPrefix(rest, []byte(">")) {
			continue
		}
		var b strings.Builder
		for len(value) > 0 {
			n, c := 1, value[0]
			for entity, char := range map[string]byte{"&amp;": '&', "&lt;": '<', "&gt;": '>', "&quot;": '"'} {
				if bytes.HasPrefix(value, []byte(entity)) {
					n, c = len(entity), char
				}
			}
			b.WriteByte(c)
			value = value[n:]
		}
		return b.String(), true
	}
}
