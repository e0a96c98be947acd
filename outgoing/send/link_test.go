package send

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

var may = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func mustPeer(t *testing.T, entry string) LinkPeer {
	t.Helper()
	p := testkit.Must(ParseLinkPeer(entry))(t)
	return p
}

// The meaning of each response.
func TestReplies(t *testing.T) {
	for _, c := range []struct {
		id     string
		method LinkMethod
		form   LinkForm
		answer string
		want   ledger.State
		says   string
	}{
		{"LK-24 and LK-26", Link, Raw, ok, ledger.Done, ""},
		{"LK-27", Link, Raw, status("417 Invalid target URI"), ledger.Permanent, "no such page (417: Invalid target URI)"},
		{"LK-28 and A-LK-6", Link, Raw, status("207 No Linkmod"), ledger.Done, "recorded; the host does not send LINKMOD calls"},
		{"LK-30 done", Unlink, Raw, ok, ledger.Done, ""},
		{"LK-30 unknown source", Unlink, Raw, status("416 Invalid source URI"), ledger.Done, "does not have this link"},
		{"LK-31", Unlink, Raw, status("417 Invalid target URI"), ledger.Done, "there is nothing to remove"},
		{"LK-32", UnlinkR, Raw, ok, ledger.Done, ""},
		{"LK-33 and A-LK-1", UnlinkR, Raw, status("416 Invalid target URI"), ledger.Done, "does not have this link"},
		{"LK-33 and A-LK-1, the other reading", UnlinkR, Raw, status("417 Invalid source URI"), ledger.Done, "does not have this link"},
		{"LK-34", LinkMod, Raw, status("416 Invalid target URI"), ledger.Done, "does not have this link"},
		{"LK-34 bad source", LinkMod, Raw, status("417 Invalid source URI"), ledger.Done, "does not have this link"},
		{"LK-37 400", Link, Raw, status("400 Bad Request"), ledger.NoService, "does not support LINK"},
		{"LK-37 404 and A-LK-8", Link, Raw, status("404 Not Found"), ledger.NoService, "does not support LINK"},
		{"LK-37 416", Link, Raw, status("416 Invalid source URI"), ledger.Permanent, "rejected the source URL"},
		{"LK-37 500", Link, Raw, status("500 Internal Error"), ledger.Retry, "refused the call (500: Internal Error)"},
		{"LK-57 405", Unlink, Raw, noService, ledger.NoService, "does not support UNLINK"},
		{"LK-57 501", Link, Raw, status("501 Not Implemented"), ledger.NoService, "does not support LINK"},
		{"LK-57 close", Link, Raw, "", ledger.NoService, "does not support LINK"},
		{"LK-57 no HTTP", Link, Raw, "what?\r\n\r\n", ledger.NoService, "does not support LINK"},
		{"LK-59 accepted", Link, Header, status("202 Accepted"), ledger.Accepted, "the host will verify the link"},
		{"LK-59 done", Link, Header, status("204 No Content"), ledger.Done, ""},
		{"LK-59 unchanged", Link, Header, "HTTP/1.1 304 Not Modified\r\n\r\n", ledger.Done, "already has the link"},
		{"LK-60: the numbers have today's meaning there", Link, Header, status("207 Multi-Status"), ledger.Done, ""},
		{"LK-60: unknown target", Link, Header, status("404 Not Found"), ledger.Permanent, "refused the call (404"},
		{"LK-60: bad pair", Link, Header, status("422 Unprocessable Content"), ledger.Permanent, "refused the call (422"},
		{"LK-60: unknown pair", Unlink, Header, status("422 Unprocessable Content"), ledger.Done, "does not have this link"},
		{"LK-60: range", Unlink, Header, status("416 Range Not Satisfiable"), ledger.Permanent, "refused the call (416"},
		{"forbidden", Link, Raw, status("403 Forbidden"), ledger.Permanent, "refused the call (403: Forbidden)"},
		{"later", Link, Raw, status("503 Service Unavailable"), ledger.Retry, "refused the call (503"},
		{"redirect", Link, Raw, "HTTP/1.1 301 Moved\r\nLocation: https://b.example/\r\nContent-Length: 0\r\n\r\n", ledger.Permanent, `redirected the call to "https://b.example/"`},
		{"body", Link, Raw, "HTTP/1.1 403 No\r\nContent-Type: text/html\r\nContent-Length: 37\r\n\r\n<title>x</title><p>Not\x1b[31m today</p>  ", ledger.Permanent, "(403: x Not [31m today)"},
		{"broken body", Link, Raw, "HTTP/1.1 200 Ok\r\nContent-Length: 9\r\n\r\nx", ledger.Done, ""},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWire(t, c.answer)
			call := LinkCall{Method: c.method, Source: linkSource, Target: w.url("/doc.html")}
			if c.method == UnlinkR || c.method == LinkMod {
				call.Source, call.Target = call.Target, call.Source
			}
			o := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil)}).Call(t.Context(), call, c.form, call.Receiver())
			if o.State != c.want || !strings.Contains(o.Message, c.says) || c.says == "" && o.Message != "" {
				t.Errorf("got %+v", o)
			}
			if c.answer != "" && strings.HasPrefix(c.answer, "HTTP") && o.Status == 0 {
				t.Errorf("no status: %+v", o)
			}
		})
	}
}

func TestReplyDetails(t *testing.T) {
	w := newWire(t, "HTTP/1.1 202 Accepted\r\nLocation: /status/1\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 503 Busy\r\nRetry-After: Fri, 01 May 2026 12:02:00 GMT\r\nContent-Length: 0\r\n\r\n")
	s := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil), Now: func() time.Time { return may }})
	call := LinkCall{Method: Link, Source: linkSource, Target: w.url("/doc.html")}
	if o := s.Call(t.Context(), call, Header, call.Target); o.Location != w.url("/status/1") || o.State != ledger.Accepted {
		t.Errorf("got %+v", o)
	}
	if o := s.Call(t.Context(), call, Raw, call.Target); o.After != 2*time.Minute || o.State != ledger.Retry {
		t.Errorf("got %+v", o)
	}
}

// LK-13: the call for each event.
func TestEvents(t *testing.T) {
	for _, c := range []struct {
		event       ledger.Event
		replacement string
		want        string // the words between the addresses and the version; "" for none
	}{
		{ledger.Added, "", "LINK %"},
		{ledger.Removed, "", "UNLINK %"},
		{ledger.Deleted, "", "UNLINK %"},
		{ledger.Moved, "http://a.example/new.html", "UNLINK % http://a.example/new.html"},
		{ledger.Updated, "", ""},
		// The page moved earlier, and the target got LINK from its new URL.
		{ledger.Removed, "http://a.example/new.html", "UNLINK http://a.example/new.html http://b.example/doc.html"},
		{ledger.Deleted, "http://a.example/new.html", "UNLINK http://a.example/new.html http://b.example/doc.html"},
	} {
		w := newWire(t, ok)
		s := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil), Peers: []LinkPeer{mustPeer(t, w.addr)}})
		if s.Takes(c.event) != (c.want != "") {
			t.Errorf("%s: accepts the notice: %v", c.event, s.Takes(c.event))
		}
		if c.want == "" {
			continue
		}
		e, err := s.Discover(t.Context(), outgoing.NewTarget(nil, w.url("/doc.html#x")))
		if err != nil || e.URL != w.url("/doc.html") || e.Via != "list of peers" {
			t.Fatalf("got %+v, %v", e, err)
		}
		n := ledger.Notice{Key: ledger.Key{Source: linkSource, Target: w.url("/doc.html#x")}, Event: c.event, Replacement: c.replacement}
		o := s.Send(t.Context(), n, e)
		want := strings.Replace(c.want, "%", linkSource+" http://b.example/doc.html", 1) + " HTTP/1.1\r\n"
		got := w.saw()
		if c.event == ledger.Moved && (len(got) != 2 || !strings.HasPrefix(got[1], "LINK http://a.example/new.html http://b.example/doc.html HTTP/1.1\r\n")) {
			t.Errorf("%s: %q", c.event, got)
		}
		if o.State != ledger.Done || o.Endpoint != e.URL || len(got) == 0 || len(got) > 1 && c.event != ledger.Moved || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s: %+v, %q, want %q", c.event, o, got, want)
		}
	}
	s := NewLink(nil, LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil)})
	if s.Protocol() != ledger.LinkMethod || !s.Idempotent() || s.Spacing() != 0 {
		t.Error("the sender's properties are wrong")
	}
}

// LK-57: if a peer does not understand the raw form, the other form is tried. If it
// understands neither, it is not called for 30 days, in later runs either.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		form    string
		heads   int
		want    ledger.State
	}{
		{"other form", []string{noService, status("204 No Content")}, "", 2, ledger.Done},
		{"proxy that closes", []string{"", status("202 Accepted")}, "", 2, ledger.Accepted},
		{"neither form", []string{noService}, "", 2, ledger.NoService},
		{"raw only", []string{noService}, " raw", 1, ledger.NoService},
		{"header only", []string{noService}, " header", 1, ledger.NoService},
		{"a page that is not there", []string{status("404 Not Found")}, " header", 1, ledger.Permanent},
		{"for now", []string{status("500 Oops")}, "", 1, ledger.Retry},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, c.answers...)
			var kept []ledger.UnsupportedHost
			remember := func(_ context.Context, p ledger.UnsupportedHost) error { kept = append(kept, p); return nil }
			now := may
			opt := LinkOptions{Peers: []LinkPeer{mustPeer(t, w.addr+c.form)}, Unsupported: NewUnsupportedHosts(nil, remember), Now: func() time.Time { return now }}
			s := NewLink(linkClient(), opt)
			n := ledger.Notice{Key: ledger.Key{Source: linkSource, Target: w.url("/doc.html")}, Event: ledger.Added}
			e := testkit.Must(s.Discover(t.Context(), outgoing.NewTarget(nil, n.Target)))(t)
			o := s.Send(t.Context(), n, e)
			if o.State != c.want || len(w.saw()) != c.heads {
				t.Errorf("got %+v after %q", o, w.saw())
			}
			if c.want != ledger.NoService {
				if len(kept) != 0 {
					t.Errorf("remembered %v", kept)
				}
				return
			}
			want := ledger.UnsupportedHost{Origin: "http://" + w.addr, Protocol: ledger.LinkMethod, Until: may.Add(30 * 24 * time.Hour)}
			if !slices.Equal(kept, []ledger.UnsupportedHost{want}) {
				t.Fatalf("remembered %v, want %v", kept, want)
			}
			other := ledger.UnsupportedHost{Origin: want.Origin, Protocol: ledger.Webmention, Until: may.Add(time.Hour * 24 * 365)}
			opt.Unsupported = NewUnsupportedHosts([]ledger.UnsupportedHost{want, other}, nil)
			for _, s := range []*LinkSender{s, NewLink(linkClient(), opt)} {
				now = want.Until.Add(-time.Second)
				if e, err := s.Discover(t.Context(), outgoing.NewTarget(nil, n.Target)); err != nil || e.URL != "" || e.Via == "" {
					t.Errorf("before the end: %+v, %v", e, err)
				}
				now = want.Until
				if e, err := s.Discover(t.Context(), outgoing.NewTarget(nil, n.Target)); err != nil || e.URL == "" {
					t.Errorf("after the end: %+v, %v", e, err)
				}
			}
		})
	}
}

func TestMemoryFails(t *testing.T) {
	w := newWire(t, noService)
	s := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, func(context.Context, ledger.UnsupportedHost) error { return errors.New("disk full") })})
	o := s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: linkSource, Target: w.url("/")}, Event: ledger.Added}, outgoing.Endpoint{URL: w.url("/"), Form: "raw"})
	if o.State != ledger.NoService || !strings.Contains(o.Message, "disk full") {
		t.Errorf("got %+v", o)
	}
}

// LK-61: the response to OPTIONS opts in and selects the form: that with a Link field,
// or the raw one first, because the host may be behind a proxy that refuses it.
func TestOptions(t *testing.T) {
	const rawFirst LinkForm = "raw first"
	for _, c := range []struct {
		answer string
		form   LinkForm // "" for none
		kept   bool
		err    bool
	}{
		{"200 OK\r\nAllow: GET, HEAD, LINK, UNLINK", Header, false, false},
		{"204 No Content\r\nAllow: LINK,UNLINK,UNLINKR,LINKMOD", rawFirst, false, false},
		{"405 Method Not Allowed\r\nAllow: GET\r\nAllow: UNLINKR, LINK", rawFirst, false, false},
		{"200 OK\r\nAllow: GET, HEAD, OPTIONS", "", true, false},
		{"200 OK\r\nAllow: link, UNLINK, LINKMOD", "", true, false}, // LK-25
		{"200 OK\r\nAccess-Control-Allow-Methods: LINK", "", true, false},
		{"405 Method Not Allowed", "", true, false},
		{"501 Not Implemented", "", true, false},
		{"404 Not Found", "", false, false},
		{"503 Service Unavailable\r\nRetry-After: 7", "", false, true},
		{"302 Found\r\nLocation: http://127.0.0.2:1/", "", false, true},
	} {
		w := newWire(t, status(c.answer))
		var kept []ledger.UnsupportedHost
		s := NewLink(linkClient(), LinkOptions{Probe: true, Unsupported: NewUnsupportedHosts(nil, func(_ context.Context, p ledger.UnsupportedHost) error { kept = append(kept, p); return nil })})
		e, err := s.Discover(t.Context(), outgoing.NewTarget(nil, w.url("/doc.html?x#f")))
		if (err != nil) != c.err || (e.URL != "") != (c.form != "") || LinkForm(e.Form) != map[LinkForm]LinkForm{Header: Header}[c.form] || (len(kept) > 0) != c.kept {
			t.Errorf("%q: got %+v, %v, remembered %v", c.answer, e, err, kept)
		}
		if c.form != "" && (e.URL != w.url("/doc.html?x") || e.Via != "OPTIONS") {
			t.Errorf("%q: got %+v", c.answer, e)
		}
		if got := w.saw(); len(got) != 1 || !strings.HasPrefix(got[0], "OPTIONS /doc.html?x HTTP/1.1\r\nHost: b.example\r\n") {
			t.Errorf("%q: asked %q", c.answer, got)
		}
		var later *outgoing.UnavailableError
		if strings.HasPrefix(c.answer, "503") && (!errors.As(err, &later) || later.After != 7*time.Second) {
			t.Errorf("%q: %v", c.answer, err)
		}
	}
}

// LK-61: without configuration nothing is sent, and only hosts that opted in get
// calls. LK-1: hosts are not asked about URLs other than http and https.
func TestOptIn(t *testing.T) {
	w := newWire(t, ok)
	for _, c := range []struct {
		opt    LinkOptions
		target string
	}{
		{LinkOptions{}, w.url("/")},
		{LinkOptions{Peers: []LinkPeer{mustPeer(t, "b.example")}}, w.url("/")},
		{LinkOptions{Probe: true}, "mailto:me@b.example"},
		{LinkOptions{Probe: true}, "http://me:secret@" + w.addr + "/"},
	} {
		c.opt.Unsupported = NewUnsupportedHosts(nil, nil)
		if e, err := NewLink(linkClient(), c.opt).Discover(t.Context(), outgoing.NewTarget(nil, c.target)); e.URL != "" || err != nil {
			t.Errorf("%q: got %+v, %v", c.target, e, err)
		}
	}
	if len(w.saw()) != 0 {
		t.Errorf("the host saw %q", w.saw())
	}
	// An error would be retried, which does not help.
	if e, err := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil)}).Discover(t.Context(), outgoing.NewTarget(nil, "http://[/")); err != nil || e.URL != "" || e.Via == "" {
		t.Errorf("%+v, %v", e, err)
	}
}

// A host that cannot be reached is not recorded as unsupported.
func TestUnreachable(t *testing.T) {
	w := newWire(t, ok)
	guarded := outgoing.NewClient(outgoing.ClientOptions{Pace: -1})
	s := NewLink(guarded, LinkOptions{Probe: true, Unsupported: NewUnsupportedHosts(nil, func(context.Context, ledger.UnsupportedHost) error {
		t.Error("remembered")
		return nil
	})})
	if _, err := s.Discover(t.Context(), outgoing.NewTarget(nil, w.url("/"))); err == nil {
		t.Error("no error")
	}
	o := s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: linkSource, Target: w.url("/")}, Event: ledger.Added}, outgoing.Endpoint{URL: w.url("/")})
	if o.State != ledger.Skipped || !strings.Contains(o.Message, "loopback") {
		t.Errorf("got %+v", o)
	}
	if len(w.saw()) != 0 {
		t.Errorf("the host saw %q", w.saw())
	}
}

// The server of net/http understands the header form. It refuses the raw form
// before a handler sees it, which implementers of the draft must know (LK-55).
func TestGoServer(t *testing.T) {
	var got []string
	base := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Link"))
		w.WriteHeader(http.StatusNoContent)
	})
	s := NewLink(linkClient(), LinkOptions{Unsupported: NewUnsupportedHosts(nil, nil), Peers: []LinkPeer{mustPeer(t, "127.0.0.1")}})
	n := ledger.Notice{Key: ledger.Key{Source: linkSource, Target: base + "/doc.html"}, Event: ledger.Added}
	e := testkit.Must(s.Discover(t.Context(), outgoing.NewTarget(nil, n.Target)))(t)
	o := s.Send(t.Context(), n, e)
	if want := "LINK /doc.html <http://a.example/post.html>; rel=\"" + LinkRelation + "\""; o.State != ledger.Done || len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, %q", o, got)
	}
}

func TestParsePeer(t *testing.T) {
	for _, c := range []struct {
		entry string
		yes   []string
		no    []string
	}{
		{"b.example", []string{"http://b.example/x", "https://B.example:8443/"}, []string{"http://a.b.example/", "http://xb.example/"}},
		{"B.Example:8080 raw", []string{"http://b.example:8080/"}, []string{"http://b.example/", "http://b.example:8081/"}},
		{"*.example.org header", []string{"http://a.example.org/", "http://a.b.example.org:81/"}, []string{"http://example.org/", "http://aexample.org/"}},
		{"bücher.example", []string{"http://xn--bcher-kva.example/"}, nil},
		{"https://b.example", []string{"https://b.example/", "https://B.example:443/x"}, []string{"http://b.example/", "https://b.example:8443/", "https://a.b.example/"}},
		{"http://b.example:81/ raw", []string{"http://b.example:81/"}, []string{"http://b.example/"}},
		{"[::1]:81", []string{"http://[0:0::1]:81/"}, []string{"http://[::1]/"}},
	} {
		p := mustPeer(t, c.entry)
		for i, raw := range slices.Concat(c.yes, c.no) {
			if got := p.matches(parseCalls(t, raw)); got != (i < len(c.yes)) {
				t.Errorf("%q: %q: got %v", c.entry, raw, got)
			}
		}
	}
	for _, entry := range []string{"", "a b c", "b.example both", "http://b.example/x", "ftp://b.example", "http://*.b.example/x", "b.example/x", "me@b.example", "*", "*.", "a.*.b", "b example", "b?x", "b#x", "a..\x00"} {
		if p, err := ParseLinkPeer(entry); err == nil {
			t.Errorf("%q: got %+v", entry, p)
		} else if !strings.HasPrefix(err.Error(), "peer ") {
			t.Errorf("%q: %v", entry, err)
		}
	}
}
