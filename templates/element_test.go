package templates

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// pattern is the one of Pingback 1.0, 2.3, byte for byte (PB-25).
var pattern = regexp.MustCompile(`<link rel="pingback" href="([^"]+)" ?/?>`)

func TestEndpoints(t *testing.T) {
	for _, c := range []struct{ name, uri, want string }{
		{"PB-20/plain", "http://bob.example.net/xmlrpcserver", "http://bob.example.net/xmlrpcserver"},
		{"PB-23/ampersand_and_quotes", `http://h/x?a=1&b="2"`, "http://h/x?a=1&amp;b=&quot;2&quot;"},
		{"PB-23/an_entity_in_the_address", "http://h/?a=&lt;", "http://h/?a=&amp;lt;"},
		{"PB-23/apostrophe_needs_none", "http://h/?a='b'", "http://h/?a='b'"},
		{"PB-24/letter", "http://h/é", "http://h/%C3%A9"},
		{"PB-24/blank", "http://h/a b", "http://h/a%20b"},
		{"PB-24/angle_brackets", "http://h/?<b>", "http://h/?%3Cb%3E"},
		{"PB-24/host", "https://bücher.example/x", "https://xn--bcher-kva.example/x"},
		{"PB-24/escapes_stay", "http://h/%c3%A9", "http://h/%c3%A9"},
		{"PB-5/another_host_and_port", "https://gateway.example:8443/for/bob?site=1", "https://gateway.example:8443/for/bob?site=1"},
		{"PB-64/gateway", "https://gateway.example/", "https://gateway.example/"},
		{"IPv6", "http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"},
		{"no_path", "https://h.example", "https://h.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := testkit.Must(NewEndpoints(c.uri, c.uri))(t)
			for xhtml, end := range map[bool]string{false: `">`, true: `" />`} {
				pingback, webmention := `<link rel="pingback" href="`+c.want+end, `<link rel="webmention" href="`+c.want+end
				if got := e.HTML(xhtml); got != pingback+webmention {
					t.Errorf("got  %s\nwant %s", got, pingback+webmention)
				}
				m := pattern.FindAllStringSubmatch(e.HTML(xhtml), -1)
				if len(m) != 1 || strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&").Replace(m[0][1]) != e.Pingback {
					t.Errorf("a client finds %q, the endpoint is %q", m, e.Pingback)
				}
			}
			again, err := Endpoint(e.Pingback)
			if err != nil || again != e.Pingback {
				t.Errorf("what was published is read as %q (%v), was %q", again, err, e.Pingback)
			}
		})
	}
}

func TestEndpointsRefused(t *testing.T) {
	for _, c := range []struct{ name, uri, want string }{
		{"PB-13/path", "/xmlrpc", "must be an absolute"},
		{"PB-22/without_scheme", "//h/x", "must be an absolute"},
		{"PB-22/relative", "x", "must be an absolute"},
		{"scheme", "ftp://h/x", "must be an absolute"},
		{"opaque", "http:h", "must be an absolute"},
		{"no_host", "http:///x", "must be an absolute"},
		{"port_only", "http://:80/x", "must be an absolute"},
		{"user", "http://me:secret@h/x", "contains a user"},
		{"fragment", "http://h/x#y", "fragment"},
		{"empty_fragment", "http://h/x#", "fragment"},
		{"line_end", "http://h/x\ny", "control character"},
		{"NUL", "http://h/\x00", "control character"},
		{"not_UTF-8", "http://h/\xff", "valid UTF-8"},
		{"backslash", `http://h\x`, "backslash"},
		{"percent", "http://h/100%", "escape"},
		{"percent_in_query", "http://h/?100%zz", `%zz`},
		{"port", "http://h:x/", "not a valid address"},
		{"host", "http://a b/", "not a valid address"},
		{"host_quote", `http://a"b/`, "not a valid host name"},
		{"long", "http://h/" + strings.Repeat("a", 500), "longer than 500 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := NewEndpoints("", c.uri)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "webmention: ") {
				t.Errorf("got %q, %v; want an error with %q", e, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the message shows the password: %v", err)
			}
		})
	}
}

func TestEndpointsNone(t *testing.T) {
	e, err := NewEndpoints("", "")
	if err != nil || !e.IsZero() || e.HTML(false) != "" {
		t.Errorf("%q %v %q", e, err, e.HTML(false))
	}
	e, err = NewEndpoints("", "https://h/x")
	if want := `<link rel="webmention" href="https://h/x" />`; err != nil || e.IsZero() || e.HTML(true) != want {
		t.Errorf("got %q, %v; want %q", e.HTML(true), err, want)
	}
}

// What Endpoint accepts is found by the pattern as it is, whatever was written.
func FuzzEndpoint(f *testing.F) {
	for _, s := range []string{"http://h/x?a=1&b=\"2\"", "https://bücher.example/é b", "/x", "http://h/%", "http://[::1]/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		uri, err := Endpoint(text)
		if err != nil {
			return
		}
		e := Endpoints{Pingback: uri}
		for _, xhtml := range []bool{false, true} {
			html := e.HTML(xhtml)
			m := pattern.FindStringSubmatch(html)
			if m == nil || m[0] != html {
				t.Fatalf("%q gives %q", text, html)
			}
			for i := range len(html) {
				if html[i] < ' ' || html[i] >= 0x7f {
					t.Fatalf("%q gives %q, which is not printable ASCII", text, html)
				}
			}
		}
		if again, err := Endpoint(uri); err != nil || again != uri {
			t.Fatalf("%q, published as %q, is read as %q, %v", text, uri, again, err)
		}
	})
}
