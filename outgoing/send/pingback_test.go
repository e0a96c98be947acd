package send

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

const (
	pingbackSource = "http://alice.example.org/#p123"
	pingbackTarget = "http://bob.example.net/#foo"
)

// client returns a client that may connect to localhost.
func client() *outgoing.Client {
	return outgoing.NewClient(outgoing.ClientOptions{Pace: -1, UserAgent: "sitelink/test", AllowAddresses: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
}

// send sends one notice to a server with that handler.
func send(t *testing.T, n ledger.Notice, handler http.HandlerFunc) outgoing.Outcome {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	o := NewPingback(client(), PingbackOptions{}).Send(t.Context(), n, outgoing.Endpoint{URL: server.URL + "/xmlrpc.php"})
	if o.Endpoint != server.URL+"/xmlrpc.php" {
		t.Errorf("endpoint %q", o.Endpoint)
	}
	return o
}

// TestCall compares the bytes of calls: PB-36, the fragments of source and target
// (PB-69), and URLs that must be escaped in XML.
func TestCall(t *testing.T) {
	var got *http.Request
	var body string
	o := send(t, ledger.Notice{Key: ledger.Key{Source: pingbackSource, Target: pingbackTarget}}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		io.WriteString(w, successBody("<string>registered</string>"))
	})
	const want = `<?xml version="1.0"?>` + "\n" +
		`<methodCall><methodName>pingback.ping</methodName><params><param><value><string>http://alice.example.org/#p123</string></value></param>` +
		`<param><value><string>http://bob.example.net/#foo</string></value></param></params></methodCall>` + "\n"
	if body != want || got.ContentLength != 254 || got.Method != "POST" || got.Header.Get("Content-Type") != "text/xml" || got.UserAgent() != "sitelink/test" {
		t.Errorf("%s, %d bytes, %v\n%s", got.Method, got.ContentLength, got.Header, body)
	}
	if o.State != ledger.Done || o.Status != 200 || o.Fault != nil || o.Message != "registered" {
		t.Errorf("%+v", o)
	}
	call, err := encodeCall("http://a/?x=1&y=<2>", pingbackTarget)
	if err != nil || !strings.Contains(string(call), "<string>http://a/?x=1&amp;y=&lt;2&gt;</string>") {
		t.Errorf("%s, %v", call, err)
	}
	for _, bad := range []string{"http://a/\x00", "http://a/\xff", "http://a/\n", "http://a/ b", "http://a/\uFFFE"} {
		if call, err := encodeCall(pingbackSource, bad); err == nil {
			t.Errorf("%q: %s", bad, call)
		}
	}
	o = NewPingback(client(), PingbackOptions{}).Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: "\xff", Target: pingbackTarget}}, outgoing.Endpoint{URL: "http://127.0.0.1:1/"})
	if o.State != ledger.Permanent || !strings.Contains(o.Message, "not UTF-8") {
		t.Errorf("%+v", o)
	}
}

// TestFault has the classes of faults: done, retry, permanent. PB-40 to PB-51.
func TestFault(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			fmt.Fprintf(w, `<title>t</title><a href="%s">text</a>`, pingbackTarget)
		case "/picture":
			fmt.Fprintf(w, `<title>t</title><a href="%s"><img src="x"></a>`, pingbackTarget)
		default:
			http.NotFound(w, r)
		}
	}))
	defer page.Close()
	// WordPress fetches sources on few ports only, which a test cannot use.
	good := page.URL + "/good"
	for _, test := range []struct {
		name, code, text string
		attempts         int
		path             string
		state            ledger.State
		after            time.Duration
		says             string
	}{
		{"PB-47, PB-51: 48", "<int>48</int>", "already", 0, good, ledger.Done, 0, "already has this pingback (fault 48: already)"},
		{"WordPress 429", "<int>429</int>", "slow down", 0, good, ledger.Retry, 16 * time.Second, "every 15 seconds"},
		{"WordPress 409", "<int>409</int>", "duplicate", 0, good, ledger.Permanent, 0, "same text"},
		{"PB-42: 0", "<int>0</int>", "", 0, page.URL + "/missing", ledger.Retry, recheckAfter, "page answered 404"},
		{"0 again", "<int>0</int>", "", 1, page.URL + "/missing", ledger.Permanent, 0, "page answered 404"},
		{"0 of a page at fault", "<int>0</int>", "", 0, page.URL + "/picture", ledger.Permanent, 0, "no plain text"},
		{"Python 1", "<int>1</int>", "&lt;class 'KeyError'&gt;:'title'", 0, page.URL + "/picture", ledger.Retry, recheckAfter, "ended with an error (fault 1: <class 'KeyError'>:'title')"},
		{"Python 1 again", "<int>1</int>", "&lt;class 'KeyError'&gt;:'title'", 1, good, ledger.Permanent, 0, "ended with an error"},
		{"Python 1, no such method", "<int>1</int>", `&lt;class 'Exception'&gt;:method "pingback.ping" is not supported`, 0, good, ledger.Permanent, 0, "does not know the method"},
		{"phpxmlrpc 1", "<int>1</int>", "Unknown method", 0, good, ledger.Permanent, 0, "does not know the method"},
		{"PB-43: 16", "<int>16</int>", "", 0, page.URL + "/missing", ledger.Retry, recheckAfter, "could not fetch the source page"},
		{"PB-44: 17", "<int>17</int>", "", 0, page.URL + "/picture", ledger.Permanent, 0, "no plain text"},
		{"PB-45: 32", "<int>32</int>", "no title", 0, good, ledger.Permanent, 0, "no such target, or no title"},
		{"PB-46: 33", "<int>33</int>", "", 0, good, ledger.Permanent, 0, "does not accept pingbacks"},
		{"PB-48: 49", "<int>49</int>", "", 0, good, ledger.Permanent, 0, "denied access"},
		{"PB-49: 50", "<int>50</int>", "", 0, good, ledger.Retry, 0, "could not reach"},
		{"PB-41: 0x1F", "<int>31</int>", "", 0, page.URL + "/picture", ledger.Permanent, 0, "rejected the source page"},
		{"PB-41: 0x2F", "<int>47</int>", "", 0, good, ledger.Permanent, 0, "rejected the target"},
		{"PB-41: 0x3F", "<int>63</int>", "", 0, good, ledger.Permanent, 0, "refused"},
		{"PB-50: -32700", "<int>-32700</int>", "not well formed", 0, good, ledger.Permanent, 0, "could not parse the call"},
		{"PB-50: -32600", "<int>-32600</int>", "", 0, good, ledger.Permanent, 0, "could not parse the call"},
		{"PB-50: -32602", "<int>-32602</int>", "", 0, good, ledger.Permanent, 0, "could not parse the call"},
		{"PB-50: -32601", "<int>-32601</int>", "", 0, good, ledger.Permanent, 0, "switched off"},
		{"PB-50: -32603", "<int>-32603</int>", "", 0, good, ledger.Retry, 0, "internal error"},
		{"PB-50: -32400", "<int>-32400</int>", "", 0, good, ledger.Retry, 0, "internal error"},
		{"503 as a code", "<int>503</int>", "", 0, good, ledger.Retry, 0, "internal error"},
		{"code that cannot be read", "<string>?</string>", "", 0, page.URL + "/missing", ledger.Retry, recheckAfter, "(fault ?)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := send(t, ledger.Notice{Key: ledger.Key{Source: test.path, Target: pingbackTarget}, Attempts: test.attempts}, func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, faultBody(test.code, test.text))
			})
			if o.State != test.state || o.After != test.after || o.Status != 200 {
				t.Errorf("%s after %v, want %s after %v (%s)", o.State, o.After, test.state, test.after, o.Message)
			}
			if !strings.Contains(o.Message, test.says) {
				t.Errorf("message %q lacks %q", o.Message, test.says)
			}
			if want := strings.NewReplacer("<int>", "", "</int>", "").Replace(test.code); o.Fault != nil && fmt.Sprint(*o.Fault) != want {
				t.Errorf("fault %d", *o.Fault)
			}
		})
	}
}

// TestStatus has responses that are not XML-RPC, or have another status than
// 200.
func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		header http.Header
		body   string
		state  ledger.State
		after  time.Duration
		says   string
	}{
		{"blocked", 403, nil, "<h1>Forbidden</h1>", ledger.Permanent, 0, "403 Forbidden"},
		{"removed", 404, nil, "", ledger.Permanent, 0, "404 Not Found"},
		{"lost POST", 405, nil, "XML-RPC server accepts POST requests only.", ledger.Permanent, 0, "405"},
		{"webmention.io, turned off", 401, nil, faultBody("<int>0</int>", "pingback is off"), ledger.Permanent, 0, "401 Unauthorized: pingback is off"},
		{"fault with a code and 500", 500, nil, faultBody("<int>48</int>", "x"), ledger.Done, 0, "already has this pingback"},
		{"success with 500", 500, nil, successBody("ok"), ledger.Retry, 0, "500"},
		{"busy", 503, http.Header{"Retry-After": {"120"}}, "", ledger.Retry, 2 * time.Minute, "503"},
		{"too many", 429, nil, "", ledger.Retry, floodInterval, "429"},
		{"too many, for long", 429, http.Header{"Retry-After": {"60"}}, "", ledger.Retry, time.Minute, "429"},
		{"never", 501, nil, "", ledger.Permanent, 0, "501"},
		{"HTML with 200", 200, http.Header{"Content-Type": {"text/html"}}, "<title>Hi</title><style>p{}</style><p>Nothing\nhere.", ledger.Permanent, 0, "not answer with XML-RPC: Hi Nothing here."},
		{"nothing with 200", 200, nil, "", ledger.Retry, 0, "not XML-RPC"},
		{"damage", 200, nil, successBody("ok")[:70], ledger.Retry, 0, "damaged"},
		{"without end", 200, nil, successBody(strings.Repeat("a", maxPingbackResponse)), ledger.Retry, 0, "damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := send(t, ledger.Notice{Key: ledger.Key{Source: pingbackSource, Target: pingbackTarget}}, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			if o.State != test.state || o.After != test.after || o.Status != test.status || !strings.Contains(o.Message, test.says) {
				t.Errorf("%+v, want %s, %v, %q", o, test.state, test.after, test.says)
			}
		})
	}
}

// TestRedirect: a call stays a POST with its body after any redirect. A redirect to
// an address that is not public is refused (PB-61).
func TestRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		o := send(t, ledger.Notice{Key: ledger.Key{Source: pingbackSource, Target: pingbackTarget}}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/other" {
				http.Redirect(w, r, "/other", status)
				return
			}
			if body, _ := io.ReadAll(r.Body); r.Method != "POST" || len(body) != 254 {
				t.Errorf("%d: %s with %d bytes", status, r.Method, len(body))
			}
			io.WriteString(w, successBody("ok"))
		})
		if o.State != ledger.Done {
			t.Errorf("%d: %+v", status, o)
		}
	}
	o := send(t, ledger.Notice{Key: ledger.Key{Source: pingbackSource, Target: pingbackTarget}}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusTemporaryRedirect)
	})
	if o.State != ledger.Skipped || !strings.Contains(o.Message, "169.254.169.254") {
		t.Errorf("%+v", o)
	}
}

// TestRefusedEndpoint: PB-61, an endpoint on the loopback interface is skipped
// without a connection.
func TestRefusedEndpoint(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("connected") }))
	defer server.Close()
	s := NewPingback(outgoing.NewClient(outgoing.ClientOptions{Pace: -1}), PingbackOptions{})
	if o := s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: pingbackSource, Target: pingbackTarget}}, outgoing.Endpoint{URL: server.URL}); o.State != ledger.Skipped {
		t.Errorf("%+v", o)
	}
}

// TestHostile: responses that never end or never start cost little time and are
// tried again.
func TestHostile(t *testing.T) {
	testkit.Long(t)
	stop := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/silent":
			<-stop
		case "/trickle":
			io.WriteString(w, "<")
			w.(http.Flusher).Flush()
			<-stop
		case "/endless":
			for chunk := []byte(strings.Repeat("<value>", 1000)); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			bomb := gzip.NewWriter(w)
			for zeros := make([]byte, 64<<10); ; {
				if _, err := bomb.Write(zeros); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	defer close(stop) // first: Close waits for the handlers
	c := outgoing.NewClient(outgoing.ClientOptions{Pace: -1, Timeout: 500 * time.Millisecond, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, path := range []string{"/silent", "/trickle", "/endless", "/bomb"} {
		start := time.Now()
		o := NewPingback(c, PingbackOptions{}).Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: pingbackSource, Target: pingbackTarget}}, outgoing.Endpoint{URL: server.URL + path})
		// The part of the last two that arrives is not XML-RPC, if the machine is
		// fast enough to read it.
		mayEnd := o.State == ledger.Permanent && (path == "/endless" || path == "/bomb")
		if o.State != ledger.Retry && !mayEnd || o.Message == "" || len(o.Message) > 1000 || time.Since(start) > time.Minute {
			t.Errorf("%s: %+v after %v", path, o, time.Since(start))
		}
	}
}

// TestProtocol: the properties of the sender.
func TestProtocol(t *testing.T) {
	s := NewPingback(nil, PingbackOptions{})
	if s.Protocol() != ledger.Pingback || !s.Idempotent() || !s.Once() || s.Spacing() != 16*time.Second {
		t.Error(s.Protocol(), s.Idempotent(), s.Spacing())
	}
	if NewPingback(nil, PingbackOptions{Spacing: -1}).Spacing() != 0 || NewPingback(nil, PingbackOptions{Spacing: time.Minute}).Spacing() != time.Minute {
		t.Error("spacing")
	}
	for event, want := range map[ledger.Event]bool{ledger.Added: true, ledger.Updated: true, ledger.Removed: false, ledger.Deleted: false, ledger.Moved: false} {
		if s.Takes(event) != want {
			t.Error(event)
		}
	}
}

func discover(t *testing.T, header http.Header, body string) outgoing.Endpoint {
	t.Helper()
	e, err := NewPingback(nil, PingbackOptions{}).Discover(t.Context(), stored{page: outgoing.Response{
		URL: "http://bob.example.net/", Status: 200, Header: header, Body: []byte(body)}}.target())
	testkit.Check(t, err)
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
				t.Error("the place where it was found is missing")
			}
			if strings.Contains(got.Via, ":p@") {
				t.Errorf("password in %q", got.Via)
			}
		})
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
