package send

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

const linkSource = "http://a.example/post.html"

// The bytes of each call in the raw form: from the right, the words are the
// version, optionally one more URL, target and source (LK-54). Headers follow as
// in any request (LK-23).
func TestRawBytes(t *testing.T) {
	for _, c := range []struct {
		id   string
		call func(t string) LinkCall // t is an address of the server
		want string                  // of the request line, after b.example stands for the server
	}{
		{"LK-14 and LK-56", func(t string) LinkCall { return LinkCall{Method: Link, Source: linkSource, Target: t} },
			"LINK http://a.example/post.html http://b.example/doc.html HTTP/1.1"},
		{"LK-15", func(t string) LinkCall { return LinkCall{Method: Link, Source: linkSource, Target: t, Subscribe: true} },
			"LINK http://a.example/post.html http://b.example/doc.html LINKMOD HTTP/1.1"},
		{"LK-16", func(t string) LinkCall { return LinkCall{Method: Unlink, Source: linkSource, Target: t} },
			"UNLINK http://a.example/post.html http://b.example/doc.html HTTP/1.1"},
		{"LK-17", func(t string) LinkCall {
			return LinkCall{Method: Unlink, Source: linkSource, Target: t, Replacement: "http://a.example/new.html"}
		}, "UNLINK http://a.example/post.html http://b.example/doc.html http://a.example/new.html HTTP/1.1"},
		{"LK-22 and A-LK-9: no fragments", func(t string) LinkCall {
			return LinkCall{Method: Unlink, Source: linkSource + "#s", Target: t + "#t", Replacement: "http://a.example/new.html#r"}
		}, "UNLINK http://a.example/post.html http://b.example/doc.html http://a.example/new.html HTTP/1.1"},
		{"LK-5: neither coarser nor finer", func(t string) LinkCall {
			return LinkCall{Method: Unlink, Source: linkSource, Target: strings.TrimSuffix(t, "doc.html") + "dir/"}
		}, "UNLINK http://a.example/post.html http://b.example/dir/ HTTP/1.1"},
		{"as written", func(t string) LinkCall {
			return LinkCall{Method: Link, Source: "http://A.example/%7ex?a=%41&b='", Target: t}
		},
			"LINK http://A.example/%7ex?a=%41&b=' http://b.example/doc.html HTTP/1.1"},
		{"LK-53: one space between words", func(t string) LinkCall {
			return LinkCall{Method: Link, Source: "http://a.example/ä b", Target: t + "?x y"}
		},
			"LINK http://a.example/%C3%A4%20b http://b.example/doc.html?x%20y HTTP/1.1"},
		// LK-12: UNLINKR and LINKMOD go to the host of the source.
		{"LK-18", func(s string) LinkCall {
			return LinkCall{Method: UnlinkR, Source: s, Target: "http://c.example/doc.html"}
		}, "UNLINKR http://b.example/doc.html http://c.example/doc.html HTTP/1.1"},
		{"LK-19", func(s string) LinkCall {
			return LinkCall{Method: UnlinkR, Source: s, Target: "http://c.example/doc.html", Replacement: "http://c.example/new.html"}
		}, "UNLINKR http://b.example/doc.html http://c.example/doc.html http://c.example/new.html HTTP/1.1"},
		{"LK-20", func(s string) LinkCall {
			return LinkCall{Method: LinkMod, Source: s, Target: "http://c.example/doc.html"}
		}, "LINKMOD http://b.example/doc.html http://c.example/doc.html HTTP/1.1"},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWire(t, ok)
			call := c.call(w.url("/doc.html"))
			o := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil)}).Call(t.Context(), call, Raw, call.Receiver())
			if o.State != ledger.Done || o.Status != 200 {
				t.Errorf("got %+v", o)
			}
			want := c.want + "\r\nHost: b.example\r\n" + tail
			if got := w.saw(); len(got) != 1 || got[0] != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// LK-21: if source and target are on the same site, only the method decides which
// of them is called.
func TestReceiver(t *testing.T) {
	for method, want := range map[LinkMethod]string{Link: "http://h/b", Unlink: "http://h/b", UnlinkR: "http://h/a", LinkMod: "http://h/a"} {
		if got := (LinkCall{Method: method, Source: "http://h/a", Target: "http://h/b"}).Receiver(); got != want {
			t.Errorf("%s calls %s", method, got)
		}
	}
}

// LK-58, LK-59: the form of RFC 2068.
func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		method         LinkMethod
		source, target string
		want           string
	}{
		{Link, linkSource, "/doc.html", "LINK /doc.html HTTP/1.1\r\nHost: b.example\r\nUser-Agent: sitelink-test\r\nContent-Length: 0\r\n" +
			"Accept-Encoding: gzip\r\nLink: <http://a.example/post.html>; rel=\"https://github.com/sitelink/sitelink#linked-from\"\r\nConnection: close\r\n\r\n"},
		{Unlink, linkSource + "#s", "/a%2Fb?q#t", "UNLINK /a%2Fb?q HTTP/1.1\r\nHost: b.example\r\nUser-Agent: sitelink-test\r\nContent-Length: 0\r\n" +
			"Accept-Encoding: gzip\r\nLink: <http://a.example/post.html>; rel=\"https://github.com/sitelink/sitelink#linked-from\"\r\nConnection: close\r\n\r\n"},
		{Link, "http://a.example/>, <http://evil.example/", "/", "LINK / HTTP/1.1\r\nHost: b.example\r\nUser-Agent: sitelink-test\r\nContent-Length: 0\r\n" +
			"Accept-Encoding: gzip\r\nLink: <http://a.example/%3E,%20%3Chttp://evil.example/>; rel=\"https://github.com/sitelink/sitelink#linked-from\"\r\nConnection: close\r\n\r\n"},
	} {
		w := newWire(t, status("204 No Content"))
		call := LinkCall{Method: c.method, Source: c.source, Target: w.url(c.target), Replacement: "http://a.example/new"}
		o := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil)}).Call(t.Context(), call, Header, call.Receiver())
		if got := w.saw(); o.State != ledger.Done || len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v\ngot  %q\nwant %q", o, got, c.want)
		}
	}
}

// The methods that only the draft has, in the form that passes proxies.
func TestHeaderOfDraft(t *testing.T) {
	for _, method := range []LinkMethod{UnlinkR, LinkMod} {
		w := newWire(t, status("202 Accepted"))
		call := LinkCall{Method: method, Source: w.url("/post.html"), Target: "http://c.example/doc.html#x"}
		o := NewLink(linkClient(), LinkOptions{}).Call(t.Context(), call, Header, call.Receiver())
		want := string(method) + " /post.html HTTP/1.1\r\nHost: b.example\r\nUser-Agent: sitelink-test\r\nContent-Length: 0\r\n" +
			"Accept-Encoding: gzip\r\nLink: <http://c.example/doc.html>; rel=\"related\"\r\nConnection: close\r\n\r\n"
		if got := w.saw(); o.State != ledger.Accepted || len(got) != 1 || got[0] != want {
			t.Errorf("%+v\ngot  %q\nwant %q", o, got, want)
		}
		gone := newWire(t, status("422 Unprocessable Content"))
		call.Source = gone.url("/post.html")
		if o := NewLink(linkClient(), LinkOptions{}).Call(t.Context(), call, Header, call.Receiver()); o.State != ledger.Done {
			t.Errorf("LK-33: %+v", o)
		}
	}
}

// LK-1, LK-7, LK-20: a call that the draft does not define is never sent.
func TestNoCall(t *testing.T) {
	const b = "http://b.example/"
	for _, c := range []struct {
		call LinkCall
		form LinkForm
		want string
	}{
		{LinkCall{Method: Link, Source: "mailto:x@y", Target: b}, Raw, "source: only http and https"},
		{LinkCall{Method: Link, Source: linkSource, Target: "javascript:x"}, Raw, "target: only http and https"},
		{LinkCall{Method: Link, Source: "/post.html", Target: b}, Raw, "source: URL"},
		{LinkCall{Method: Link, Source: linkSource}, Raw, "target: URL"},
		{LinkCall{Method: Link, Target: b}, Raw, "source: URL"},
		{LinkCall{Method: Link, Source: "http://me:secret@a.example/", Target: b}, Raw, "source: the URL contains a user name"},
		{LinkCall{Method: Unlink, Source: linkSource, Target: b, Replacement: "new.html"}, Raw, "replacement: URL"},
		{LinkCall{Method: Link, Source: linkSource, Target: b, Replacement: linkSource}, Raw, "source and a target only"},
		{LinkCall{Method: LinkMod, Source: linkSource, Target: b, Replacement: linkSource}, Raw, "source and a target only"},
		{LinkCall{Method: LinkMod, Source: linkSource, Target: b, Subscribe: true}, Raw, "source and a target only"},
	} {
		o := NewLink(nil, LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil)}).Call(t.Context(), c.call, c.form, b)
		if o.State != ledger.Permanent || !strings.Contains(o.Message, c.want) || strings.Contains(o.Message, "secret") {
			t.Errorf("%+v: got %+v", c.call, o)
		}
	}
}

// FuzzCall: for any URLs, a call is one line with the words of the grammar, or it
// is not sent.
func FuzzCall(f *testing.F) {
	f.Add(linkSource, "http://b.example/a b#c", "http://a.example/\r\nX: y")
	f.Add("http://a.example/ HTTP/1.1", "http://b.example/>", "")
	f.Fuzz(func(t *testing.T, s, to, replacement string) {
		c := LinkCall{Method: Unlink, Source: s, Target: to, Replacement: replacement}
		r, err := c.request(Raw, to)
		if err == nil {
			words := strings.Split(r.RequestTarget, " ")
			want := 2
			if replacement != "" {
				want = 3
			}
			if len(words) != want {
				t.Errorf("%+v: %d words in %q", c, len(words), r.RequestTarget)
			}
			for _, word := range words {
				if scheme, _, ok := strings.Cut(strings.ToLower(word), ":"); !ok || scheme != "http" && scheme != "https" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r >= 0x7F || r == '#' }) {
					t.Errorf("%+v: the word %q", c, word)
				}
			}
		}
		c.Replacement = ""
		if r, err := c.request(Header, to); err == nil {
			if link := r.Header.Get("Link"); strings.Count(link, "<") != 1 || strings.Count(link, ">") != 1 || strings.ContainsAny(link, "\r\n") {
				t.Errorf("%+v: the field %q", c, link)
			}
		}
	})
}
