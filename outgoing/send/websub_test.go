package send

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

func TestHubs(t *testing.T) {
	for _, c := range []struct {
		name, feed string
		want       []string
	}{
		{"Atom", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="https://a.example/feed"/>
			<link rel="hub" href="https://hub.example/"/><link href="https://other.example/?a=1&amp;b=2" rel="x HUB"></link></feed>`,
			[]string{"https://hub.example/", "https://other.example/?a=1&b=2"}},
		{"RSS", `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://a.example/</link>
			<atom:link rel="hub" href="https://hub.example"/></channel></rss>`, []string{"https://hub.example/"}},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:a="http://www.w3.org/2005/Atom"><channel rdf:about="x">
			<a:link rel="hub" href="http://hub.example/"/></channel><item><a:link rel="hub" href="http://no.example/"/></item></rdf:RDF>`, []string{"http://hub.example/"}},
		{"prefix without declaration", `<rss><channel><atom:link rel="hub" href="https://hub.example/"/></channel></rss>`, []string{"https://hub.example/"}},
		{"behind the entries", `<feed><entry><content type="xhtml"><div><feed><link rel="hub" href="https://no.example/"/></feed></div></content></entry>
			<link rel="hub" href="https://hub.example/"/></feed>`, []string{"https://hub.example/"}},
		{"twice", `<feed><link rel="hub" href="https://hub.example/"/><link rel="hub" href="HTTPS://HUB.example#x"/></feed>`, []string{"https://hub.example/"}},
		{"no hubs", `<feed><link rel="self" href="https://hub.example/"/><link rel="hubs" href="https://hub.example/"/><link href="https://hub.example/"/></feed>`, nil},
		{"no addresses", `<feed><link rel="hub"/><link rel="hub" href="/hub"/><link rel="hub" href="mailto:a@b"/><link rel="hub" href="https://u:p@hub.example/"/></feed>`, nil},
		{"Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><feed><title>caf\xe9</title><link rel=\"hub\" href=\"https://hub.example/caf\xe9\"/></feed>",
			[]string{"https://hub.example/caf%C3%A9"}},
		{"byte order mark", "\xEF\xBB\xBF" + `<feed><link rel="hub" href="https://hub.example/"/></feed>`, []string{"https://hub.example/"}},
		{"damaged", `<feed><link rel="hub" href="https://hub.example/"/><title>&nope; a < b`, []string{"https://hub.example/"}},
		{"JSON Feed", ` {"version":"https://jsonfeed.org/version/1.1","hubs":[{"type":"rssCloud","url":"https://no.example/"},{"type":"WebSub","url":"https://hub.example/"}],
			"items":[{"hubs":[{"type":"WebSub","url":"https://no.example/"}]}]}`, []string{"https://hub.example/"}},
		{"JSON of something else", `{"hubs":"none"}`, nil},
		{"no feed", "hello", nil},
		{"nothing", "", nil},
	} {
		if got := Hubs([]byte(c.feed)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzHubs(f *testing.F) {
	f.Add([]byte(`<feed><link rel="hub" href="https://hub.example/"/></feed>`))
	f.Add([]byte(`{"hubs":[{"type":"WebSub","url":"https://hub.example/"}]}`))
	f.Add([]byte(`<rss><channel><atom:link rel=hub href=http:x><item>`))
	f.Fuzz(func(t *testing.T, feed []byte) {
		hubs := Hubs(feed)
		for i, hub := range hubs {
			u, err := weburl.Parse(hub)
			if err != nil || u.String() != hub || !strings.HasPrefix(u.Scheme(), "http") || slices.Contains(hubs[:i], hub) {
				t.Errorf("got %q, %v", hubs, err)
			}
		}
	})
}

func TestPing(t *testing.T) {
	for _, c := range []struct {
		status int
		state  ledger.State
		says   string
		after  time.Duration
	}{
		{204, ledger.Done, "", 0},
		{202, ledger.Done, "", 0},
		{200, ledger.Done, "", 0},
		{400, ledger.Permanent, "the hub answered 400 Bad Request: unknown topic", 0},
		{404, ledger.Permanent, "the hub answered 404 Not Found: unknown topic", 0},
		{429, ledger.Retry, "the hub answered 429 Too Many Requests: unknown topic", 9 * time.Second},
		{503, ledger.Retry, "the hub answered 503 Service Unavailable: unknown topic", 9 * time.Second},
	} {
		var got string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = r.Method + " " + r.RequestURI + " " + r.Header.Get("Content-Type") + " " + string(body)
			w.Header().Set("Retry-After", "9")
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(c.status)
			if c.status >= 400 {
				io.WriteString(w, "unknown\n topic")
			}
		}))
		s := NewWebSub(outgoing.NewClient(outgoing.ClientOptions{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}))
		e, err := s.Discover(t.Context(), outgoing.NewTarget(nil, server.URL+"/hub?x"))
		if err != nil || e.URL != server.URL+"/hub?x" || e.Via == "" {
			t.Fatalf("got %+v, %v", e, err)
		}
		o := s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: "https://a.example/index.xml?a=1&b=ü", Target: e.URL}, Event: ledger.Updated}, e)
		server.Close()
		if o.State != c.state || o.Status != c.status || o.Message != c.says || o.After != c.after || o.Endpoint != e.URL {
			t.Errorf("%d: got %+v", c.status, o)
		}
		if want := "POST /hub?x application/x-www-form-urlencoded hub.mode=publish&hub.url=https://a.example/index.xml%3Fa%3D1%26b%3D%C3%BC"; got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestSender(t *testing.T) {
	s := NewWebSub(outgoing.NewClient(outgoing.ClientOptions{Pace: -1}))
	for event, want := range map[ledger.Event]bool{ledger.Added: true, ledger.Updated: true, ledger.Removed: false, ledger.Deleted: false, ledger.Moved: false} {
		if s.Takes(event) != want {
			t.Errorf("%s: %v", event, !want)
		}
	}
	if s.Protocol() != ledger.WebSub || !s.Idempotent() || s.Spacing() != 0 {
		t.Error("the sender's properties are wrong")
	}
	if e, err := s.Discover(t.Context(), outgoing.NewTarget(nil, "mailto:a@b")); e.URL != "" || err != nil {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := s.Discover(t.Context(), outgoing.NewTarget(nil, "hub")); err == nil {
		t.Error("no error")
	}
	o := s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: "https://a.example/"}}, outgoing.Endpoint{URL: "http://127.0.0.1:9/"})
	if o.State != ledger.Skipped || !strings.Contains(o.Message, "loopback") || o.Endpoint != "http://127.0.0.1:9/" {
		t.Errorf("got %+v", o)
	}
}
