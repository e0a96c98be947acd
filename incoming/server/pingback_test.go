package server

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/kolo/xmlrpc"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// pingCall is the call of PB-36.
func pingCall(source, target string) string {
	return "<?xml version=\"1.0\"?>\n<methodCall><methodName>pingback.ping</methodName><params><param><value><string>" + source +
		"</string></value></param><param><value><string>" + target + "</string></value></param></params></methodCall>\n"
}

// decodeResponse reads a methodResponse strictly. It fails unless that holds exactly
// one string or a fault (PB-37, PB-39).
func decodeResponse(body string) (text string, code int, err error) {
	var response struct {
		XMLName xml.Name `xml:"methodResponse"`
		Params  []struct {
			Value []struct {
				String *string `xml:"string"`
			} `xml:"value"`
		} `xml:"params>param"`
		Fault []struct {
			Members []struct {
				Name  string `xml:"name"`
				Value struct {
					Int    *int    `xml:"int"`
					String *string `xml:"string"`
				} `xml:"value"`
			} `xml:"value>struct>member"`
		} `xml:"fault"`
	}
	if !strings.HasPrefix(body, "<?xml version=\"1.0\"?>\n<methodResponse>") {
		return "", 0, errors.New("the prolog or the root is not what clients look for")
	}
	if err := xml.Unmarshal([]byte(body), &response); err != nil {
		return "", 0, err
	}
	switch {
	case len(response.Fault) == 0 && len(response.Params) == 1 && len(response.Params[0].Value) == 1 && response.Params[0].Value[0].String != nil:
		return *response.Params[0].Value[0].String, 0, nil
	case len(response.Fault) == 1 && len(response.Params) == 0 && len(response.Fault[0].Members) == 2:
		m := response.Fault[0].Members
		if m[0].Name == "faultCode" && m[0].Value.Int != nil && m[1].Name == "faultString" && m[1].Value.String != nil {
			return *m[1].Value.String, *m[0].Value.Int, nil
		}
	}
	return "", 0, fmt.Errorf("neither one string nor a fault: %+v", response)
}

// ping sends a body, and returns the text and the fault code of the answer.
func ping(t testing.TB, handler http.Handler, kind, body string) (text string, code int) {
	t.Helper()
	r := httptest.NewRequest("POST", "/pingback", strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/xml; charset=utf-8" {
		t.Errorf("%q: status %d, type %q", body, w.Code, w.Header().Get("Content-Type"))
	}
	text, code, err := decodeResponse(w.Body.String())
	if err != nil {
		t.Fatalf("%q: %v\n%s", body, err, w.Body)
	}
	return text, code
}

// TestPingAnswers: what the receiver answers, as the protocol says it.
func TestPingAnswers(t *testing.T) {
	receiver := &script{}
	s := New(Options{Receiver: receiver})
	for _, c := range []struct {
		id, target string
		code       int
	}{
		{"PB-38, A-PB-13", "http://b.example/doc", 0},
		{"PB-45, A-PB-4", "http://b.example/missing", 32},
		{"PB-46 foreign host", "http://b.example/elsewhere", 33},
		{"PB-46 not enabled", "http://b.example/closed", 33},
		{"PB-47, A-PB-6", "http://b.example/known", 48},
		{"PB-48 blocked", "http://b.example/denied", 49},
		{"PB-48 rate limit", "http://b.example/limited", 49},
		{"PB-50 not URLs", "http://b.example/invalid", -32602},
	} {
		text, code := ping(t, s, "text/xml", pingCall("http://a.example/post?a=1&amp;b=2", c.target))
		if code != c.code || text == "" {
			t.Errorf("%s: fault %d, %q", c.id, code, text)
		}
		n := receiver.taken()
		if len(n) != 1 || n[0].Protocol != incoming.Pingback || n[0].Action != incoming.Link || n[0].Source != "http://a.example/post?a=1&b=2" ||
			n[0].Target != c.target || n[0].Peer.String() != "192.0.2.1" {
			t.Errorf("%s: %+v", c.id, n)
		}
	}
	// The reason of the receiver is part of the fault, escaped.
	if text, code := ping(t, s, "", pingCall("http://a.example/", "http://b.example/reason")); code != 49 || text != "Not <you> & yours." {
		t.Errorf("%d %q", code, text)
	}
	receiver.fail(errors.New("secret: disk full"))
	if text, code := ping(t, s, "", pingCall("http://a.example/", "http://b.example/doc")); code != -32500 || strings.Contains(text, "secret") {
		t.Errorf("a store that fails: %d %q", code, text)
	}
	// PB-69: fragments are passed on.
	receiver.fail(nil)
	receiver.taken()
	ping(t, s, "", pingCall("http://a.example/#p123", "http://b.example/#foo"))
	if n := receiver.taken(); n[0].Source != "http://a.example/#p123" || n[0].Target != "http://b.example/#foo" {
		t.Errorf("%+v", n)
	}
}

// TestPingFaults: calls that never reach the receiver.
func TestPingFaults(t *testing.T) {
	receiver := &script{}
	s := New(Options{Receiver: receiver})
	params := "<params><param><value>http://a.example/</value></param><param><value>http://b.example/</value></param></params>"
	lol := "<!DOCTYPE lolz [<!ENTITY lol \"lol\">"
	for i := range 9 {
		lol += fmt.Sprintf("<!ENTITY lol%d \"%s\">", i, strings.Repeat("&lol;", 10))
	}
	for _, c := range []struct {
		name, body string
		code       int
	}{
		{"PB-50 not XML", "x", -32700},
		{"empty", "", -32700},
		{"not closed", "<methodCall><methodName>pingback.ping</methodName>", -32700},
		{"mismatched", "<methodCall></methodName></methodCall>", -32700},
		{"an entity of its own", "<methodCall><methodName>&secret;</methodName></methodCall>", -32601},
		{"two roots", pingCall("http://a.example/", "http://b.example/") + "<methodCall/>", -32600},
		{"another document", "<html><body>hello</body></html>", -32600},
		{"a response", "<methodResponse><params/></methodResponse>", -32600},
		{"no method", "<methodCall>" + params + "</methodCall>", -32600},
		{"empty method", "<methodCall><methodName> </methodName>" + params + "</methodCall>", -32600},
		{"XML bomb", lol + "]><methodCall><methodName>&lol8;</methodName></methodCall>", -32600},
		{"external entity", "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>" + pingCall("&e;", "http://b.example/")[22:], -32600},
		{"deep", "<methodCall>" + strings.Repeat("<a>", 10000), -32600},
		{"many elements", "<methodCall>" + strings.Repeat("<a/>", 10000) + "</methodCall>", -32600},
		{"PB-50 another method", "<methodCall><methodName>foo.bar</methodName>" + params + "</methodCall>", -32601},
		{"system.multicall", "<methodCall><methodName>system.multicall</methodName><params/></methodCall>", -32601},
		{"system.listMethods", "<methodCall><methodName>system.listMethods</methodName></methodCall>", -32601},
		{"letter case of the method", "<methodCall><methodName>Pingback.Ping</methodName>" + params + "</methodCall>", -32601},
		{"PB-50 no parameters", "<methodCall><methodName>pingback.ping</methodName></methodCall>", -32602},
		{"PB-50 one parameter", "<methodCall><methodName>pingback.ping</methodName><params><param><value>x</value></param></params></methodCall>", -32602},
		{"three parameters", strings.Replace(pingCall("x", "y"), "</params>", "<param><value>z</value></param></params>", 1), -32602},
		{"PB-50 an int", strings.Replace(pingCall("x", "y"), "<string>y</string>", "<int>5</int>", 1), -32602},
		{"an array", strings.Replace(pingCall("x", "y"), "<string>y</string>", "<array><data><value>y</value></data></array>", 1), -32602},
		{"a struct", strings.Replace(pingCall("x", "y"), "<string>y</string>", "<struct><member><name>a</name><value>y</value></member></struct>", 1), -32602},
		{"an unknown type", strings.Replace(pingCall("x", "y"), "<string>y</string>", "<uri>y</uri>", 1), -32602},
		{"an element inside a string", strings.Replace(pingCall("x", "y"), "<string>y</string>", "<string><b>y</b></string>", 1), -32602},
	} {
		if text, code := ping(t, s, "text/xml", c.body); code != c.code || text == "" {
			t.Errorf("%s: fault %d %q, want %d", c.name, code, text, c.code)
		}
	}
	if n := receiver.taken(); len(n) != 0 {
		t.Errorf("notices: %+v", n)
	}
}

// TestPingWild: what senders really send.
func TestPingWild(t *testing.T) {
	const a, b = "http://a.example/?x=1&y=é", "http://b.example/doc"
	escaped := strings.ReplaceAll(a, "&", "&amp;")
	latin1 := func(text string) string {
		var out []byte
		for _, r := range text {
			out = append(out, byte(r))
		}
		return string(out)
	}
	utf16le := func(text string) string {
		out := []byte("\xFF\xFE")
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return string(out)
	}
	declared := func(encoding string) string {
		return strings.Replace(pingCall(escaped, b), `"1.0"`, `"1.0" encoding="`+encoding+`"`, 1)
	}
	untyped := strings.NewReplacer("<string>", "", "</string>", "").Replace
	library := testkit.Must(xmlrpc.EncodeMethodCall("pingback.ping", a, b))(t)
	receiver := &script{}
	s := New(Options{Receiver: receiver})
	for _, c := range []struct{ name, kind, body string }{
		{"PB-36", "text/xml", pingCall(escaped, b)},
		{"WordPress", "text/xml", "<?xml version=\"1.0\"?>\n<methodCall>\n<methodName>pingback.ping</methodName>\n<params>\n<param><value><string>" + escaped +
			"</string></value></param>\n<param><value><string>" + b + "</string></value></param>\n</params></methodCall>\n"},
		{"Serendipity", "text/html", "<?xml version=\"1.0\"?>\n<methodCall>\n  <methodName>pingback.ping</methodName>\n  <params>\n    <param>\n      <value>\n        <string>" + a +
			"</string>\n      </value>\n    </param>\n    <param>\n      <value>\n        <string>" + b + "</string>\n      </value>\n    </param>\n  </params>\n</methodCall>"},
		{"go-jamming, bare &", "text/xml", pingCall(a, b)},
		{"remy/wm", "application/x-www-form-urlencoded", pingCall(a, b)},
		{"mention-client-php", "application/xml", pingCall(escaped, b)},
		{"no type", "", pingCall(escaped, b)},
		{"odd type", ";;;", pingCall(escaped, b)},
		{"kolo/xmlrpc", "text/xml", string(library)},
		{"PB-53 untyped", "text/xml", untyped(pingCall(escaped, b))},
		{"untyped with line breaks", "text/xml", strings.NewReplacer("<value>", "<value>\n ", "</value>", "\n</value>").Replace(untyped(pingCall(escaped, b)))},
		{"CDATA", "text/xml", pingCall("<![CDATA["+a+"]]>", b)},
		{"CDATA in the middle", "text/xml", pingCall("http://a.example/<![CDATA[?x=1&]]>y=é", b)},
		{"comment in the middle", "text/xml", pingCall("http://a.example/<!-- & -->?x=1&amp;y=é", b)},
		{"character references", "text/xml", pingCall("http://a.example/?x=1&#38;y=&#xe9;", b)},
		{"utf-16 declared over UTF-8", "text/xml", declared("utf-16")},
		{"UTF-16", "text/xml", utf16le(declared("utf-16"))},
		{"Latin-1", "text/xml", latin1(declared("ISO-8859-1"))},
		{"Latin-1 by its type", "text/xml; charset=ISO-8859-1", latin1(pingCall(escaped, b))},
		{"Latin-1 undeclared", "text/xml", latin1(pingCall(escaped, b))},
		{"Latin-1 undeclared, bare &", "text/html", latin1(pingCall(a, b))},
		{"byte order mark", "text/xml", "\uFEFF" + pingCall(escaped, b)},
		{"warning first", "text/xml", "Warning: foo in bar\n" + pingCall(escaped, b)},
		{"attributes and name spaces", "text/xml", strings.Replace(pingCall(escaped, b), "<methodCall>", "<methodCall xmlns:x=\"y\" z=\"1\">", 1)},
	} {
		if text, code := ping(t, s, c.kind, c.body); code != 0 {
			t.Errorf("%s: fault %d %s", c.name, code, text)
			continue
		}
		if n := receiver.taken(); len(n) != 1 || n[0].Source != a || n[0].Target != b {
			t.Errorf("%s: %+v", c.name, n)
		}
	}
}

// TestPingMethods: PB-53, only POST.
func TestPingMethods(t *testing.T) {
	_, address := start(t, Options{})
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		if a := get(t, address, method, "/pingback"); a.StatusCode != 405 || a.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: %s, Allow %q", method, a.line, a.Header.Get("Allow"))
		}
	}
	if a := get(t, address, "OPTIONS", "/pingback"); a.StatusCode != 204 || a.Header.Get("Allow") != "POST, OPTIONS" || a.Header.Get("Accept-Post") == "" {
		t.Errorf("OPTIONS: %s %v", a.line, a.Header)
	}
}

// TestPingTime: the answer does not depend on the source, so it arrives within the
// three seconds that WordPress waits (A-PB-3).
func TestPingTime(t *testing.T) {
	_, address := start(t, Options{})
	begin := time.Now()
	a := post(t, address, "/pingback", "text/xml", pingCall("http://192.0.2.55/never", "http://b.example/doc"))
	if _, code, err := decodeResponse(a.text); err != nil || code != 0 {
		t.Errorf("%d %v", code, err)
	}
	if took := time.Since(begin); took > patience { // a busy machine may take more than three seconds
		t.Errorf("the answer took %v", took)
	}
}

// FuzzPing: PB-63, any body gets a valid methodResponse, and no fault that belongs
// to verification.
func FuzzPing(f *testing.F) {
	f.Add("text/xml", []byte(pingCall("http://a.example/?a&amp;b", "http://b.example/doc")))
	f.Add("", []byte("<?xml version=\"1.0\" encoding=\"utf-16\"?><methodCall><methodName>pingback.ping</methodName><params><param><value>&a</value></param></params></methodCall>"))
	f.Add("text/xml; charset=shift_jis", []byte("<!DOCTYPE a [<!ENTITY b 'c'>]><methodCall><![CDATA[x]]></methodCall>"))
	f.Add("", []byte("\xFF\xFE<\x00a\x00"))
	f.Add("", []byte("<methodCall><methodName>pingback.ping</methodName><params><param><value><string/></value></param><param><value/></param></params></methodCall>"))
	s := New(Options{Receiver: &script{}})
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		if strings.ContainsAny(kind, "\r\n") {
			kind = ""
		}
		switch text, code := ping(t, s, kind, string(body)); code {
		case 0, 32, 33, 48, 49, -32700, -32600, -32601, -32602:
			if text == "" {
				t.Error("no text")
			}
		default:
			t.Errorf("fault %s", strconv.Itoa(code))
		}
	})
}

// TestPingReflection: however often a page is named, the server itself connects to
// nothing, and each notice reaches the receiver once.
func TestPingReflection(t *testing.T) {
	victim := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer victim.Close()
	connected := make(chan struct{}, 1)
	go func() {
		if c, err := victim.Accept(); err == nil {
			c.Close()
			connected <- struct{}{}
		}
	}()
	receiver, address := start(t, Options{})
	source := "http://" + victim.Addr().String() + "/"
	for range 20 {
		post(t, address, "/pingback", "text/xml", pingCall(source, "http://b.example/doc"))
		post(t, address, "/webmention", formType, form(source, "http://b.example/doc"))
		ask(t, address, "LINK "+source+" http://b.example/doc HTTP/1.1\r\n\r\n")
	}
	if n := receiver.taken(); len(n) != 60 || n[0].Action != incoming.Link {
		t.Errorf("%d notices", len(n))
	}
	select {
	case <-connected:
		t.Error("the server connected to the source")
	default:
	}
}
