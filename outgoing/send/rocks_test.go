package send

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

func webmentionClient() *outgoing.Client {
	return outgoing.NewClient(outgoing.ClientOptions{Pace: -1, AllowAddresses: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
}

// notify discovers the endpoint and sends, as a delivery does.
func notify(t *testing.T, source, target string, event ledger.Event) outgoing.Outcome {
	t.Helper()
	c := webmentionClient()
	s := NewWebmention(c)
	e, err := s.Discover(t.Context(), outgoing.NewTarget(c, target))
	if err != nil || e.URL == "" || e.Via == "" {
		t.Fatalf("%s: endpoint %+v, %v", target, e, err)
	}
	return s.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: source, Target: target}, Event: event}, e)
}

// page is a page with text that may change.
type page struct {
	mu     sync.Mutex
	status int
	text   string
	url    string
}

func newPage(t *testing.T) *page {
	p := &page{status: http.StatusOK}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.WriteHeader(p.status)
		fmt.Fprint(w, p.text)
	}))
	t.Cleanup(server.Close)
	p.url = withHostName(server.URL) + "/post"
	return p
}

func (p *page) set(status int, links ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.text = status, ""
	for _, link := range links {
		p.text += fmt.Sprintf("<a href=%q>x</a>", link)
	}
}

// TestRocksDiscovery: the 23 discovery cases of webmention.rocks.
func TestRocksDiscovery(t *testing.T) {
	rocks := newRocksServer(t)
	source := newPage(t)
	for n := 1; n <= discoveryCases; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			target := rocks.Target(n)
			source.set(200, target)
			if o := notify(t, source.url, target, ledger.Added); o.State != ledger.Done || o.Status != 200 || o.Message != "success" {
				t.Errorf("%+v", o)
			}
			if err := rocks.Result(fmt.Sprintf("discovery %d", n)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRocksUpdate: the two update cases and the delete case, with endpoints that
// are valid for one notice.
func TestRocksUpdate(t *testing.T) {
	rocks := newRocksServer(t)
	accepted := func(source *page, path string, event ledger.Event) {
		t.Helper()
		if o := notify(t, source.url, rocks.URL(path), event); o.State != ledger.Accepted || o.Status != 202 {
			t.Errorf("%s: %+v", path, o)
		}
	}
	result := func(test string) {
		t.Helper()
		if err := rocks.Result(test); err != nil {
			t.Error(err)
		}
	}

	source := newPage(t)
	source.set(200, rocks.URL("/update/1"))
	accepted(source, "/update/1", ledger.Added)
	source.set(200, rocks.URL("/update/1"), rocks.URL("/update/1/part/2"))
	accepted(source, "/update/1", ledger.Updated)
	accepted(source, "/update/1/part/2", ledger.Added)
	result("update/1")

	source.set(200, rocks.URL("/update/2"), rocks.URL("/update/2/part/2"))
	accepted(source, "/update/2", ledger.Added)
	accepted(source, "/update/2/part/2", ledger.Added)
	source.set(200, rocks.URL("/update/2"))
	accepted(source, "/update/2/part/2", ledger.Removed)
	accepted(source, "/update/2", ledger.Updated)
	result("update/2")

	source.set(200, rocks.URL("/delete/1"))
	accepted(source, "/delete/1", ledger.Added)
	source.set(410)
	accepted(source, "/delete/1", ledger.Deleted)
	result("delete/1")
}

// TestTombstone: the delete case of a host that cannot answer 410.
func TestTombstone(t *testing.T) {
	rocks := newRocksServer(t)
	source := newPage(t)
	source.set(200, rocks.URL("/delete/1"))
	notify(t, source.url, rocks.URL("/delete/1"), ledger.Added)
	source.mu.Lock()
	source.text = `<meta http-equiv="Status" content="410 Gone">`
	source.mu.Unlock()
	notify(t, source.url, rocks.URL("/delete/1"), ledger.Deleted)
	if err := rocks.Result("delete/1"); err != nil {
		t.Error(err)
	}
}

// TestRocksSingleUse: a reused endpoint fails permanently.
func TestRocksSingleUse(t *testing.T) {
	rocks := newRocksServer(t)
	source := newPage(t)
	source.set(200, rocks.URL("/update/1"))
	s := NewWebmention(webmentionClient())
	e := testkit.Must(s.Discover(t.Context(), outgoing.NewTarget(webmentionClient(), rocks.URL("/update/1"))))(t)
	n := ledger.Notice{Key: ledger.Key{Source: source.url, Target: rocks.URL("/update/1")}}
	if o := s.Send(t.Context(), n, e); o.State != ledger.Accepted {
		t.Errorf("%+v", o)
	}
	if o := s.Send(t.Context(), n, e); o.State != ledger.Permanent || o.Status != 400 || !strings.Contains(o.Message, "discover it again") {
		t.Errorf("%+v", o)
	}
}

// TestFixedTarget: services such as brid.gy accept notices only for one of their
// own URLs. The page links to it without text.
func TestFixedTarget(t *testing.T) {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	fixed := withHostName(server.URL) + "/publish/mastodon?omit_link=maybe"
	mux.HandleFunc("/publish/mastodon", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `</publish/webmention>; rel="webmention"`)
	})
	mux.HandleFunc("/publish/webmention", func(w http.ResponseWriter, r *http.Request) {
		if got := r.PostFormValue("target"); got != fixed {
			http.Error(w, `{"error": "Target must be brid.gy"}`, http.StatusBadRequest)
			return
		}
		links, _, err := linksOfSource(r.PostFormValue("source"))
		if err != nil || !links[fixed] {
			http.Error(w, "no link", http.StatusBadRequest)
			return
		}
		w.Header().Set("Location", "https://social.example/@me/1")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"url": "https://social.example/@me/1"}`)
	})
	source := newPage(t)
	source.set(200)
	source.text = `<a href="` + fixed + `"></a>`
	if o := notify(t, source.url, fixed, ledger.Added); o.State != ledger.Accepted || o.Location != "https://social.example/@me/1" {
		t.Errorf("%+v", o)
	}
}
