package notify

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// TestUserAgent: the field is valid whatever the build knows about its version,
// and whatever the contact is.
func TestUserAgent(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("User-Agent") }))
	defer server.Close()
	token := "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	valid := regexp.MustCompile("^" + token + "(/" + token + `)?( \((?:[\t !-'*-\[\]-~]|\\[()\\])*\))?$`)
	for _, c := range []struct{ version, contact, want string }{
		{"1.2.3", "https://me.example/", "sitelink/1.2.3 (+https://me.example/)"},
		{"v0.0.0-20261122112930-9153113a1b2c+dirty", "", "sitelink/v0.0.0-20261122112930-9153113a1b2c+dirty (+https://github.com/sitelink/sitelink)"},
		{"", "https://me.example/", "sitelink (+https://me.example/)"},
		{"", "", "sitelink (+https://github.com/sitelink/sitelink)"},
		{"1", "http://localhost:1313/", "sitelink/1 (+http://localhost:1313/; +https://github.com/sitelink/sitelink)"},
		{"(devel)", "me@me.example", "sitelink/devel (+me@me.example)"},
		{"1.2 (beta)/3\r\n", "J\u00f6rg (me) a\\b", `sitelink/1.2beta3 (+J%C3%B6rg \(me\) a\\b; +https://github.com/sitelink/sitelink)`},
		{"\u00e9", "a\r\nX: y", "sitelink (+a%0D%0AX: y; +https://github.com/sitelink/sitelink)"},
	} {
		cfg := &config.Config{}
		cfg.Outgoing.Contact, cfg.Fetch.AllowAddress = c.contact, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		options := testkit.Must(FetchOptions(cfg, c.version, ""))(t)
		if _, err := outgoing.NewClient(options).Do(t.Context(), outgoing.Request{URL: server.URL}); err != nil {
			t.Errorf("%q, %q: %v", c.version, c.contact, err)
		}
		if got != c.want || !valid.MatchString(got) {
			t.Errorf("version %q, contact %q: User-Agent %q, want %q", c.version, c.contact, got, c.want)
		}
	}
}

// strictStore is a store that, like a database, does nothing once its context has
// ended.
type strictStore struct{ ledger.Store }

func (s strictStore) Record(ctx context.Context, from ledger.Key, n ledger.Notice) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.Record(ctx, from, n)
}

// lastAnswer is a target that says that a notice was processed, after which the user
// interrupts the run.
type lastAnswer struct{ interrupt func() }

func (l lastAnswer) Do(_ context.Context, r outgoing.Request) (*outgoing.Response, error) {
	l.interrupt()
	return &outgoing.Response{Status: 200, URL: r.URL, Header: http.Header{}, Body: []byte(`{"status":"success"}`)}, nil
}

// TestStatusInterrupted: an answer that arrived is recorded.
func TestStatusInterrupted(t *testing.T) {
	file := testkit.Must(ledger.OpenFile(filepath.Join(t.TempDir(), "ledger.jsonl"), ledger.FileOptions{}))(t)
	defer file.Close()
	accepted := ledger.Notice{Key: ledger.Key{Source: "https://me.example/", Target: "https://t.example/", Protocol: ledger.Webmention},
		Event: ledger.Added, State: ledger.Accepted, Location: "https://t.example/status"}
	testkit.Check(t, file.Plan(t.Context(), "https://me.example/", ledger.Change{Notices: []ledger.Notice{accepted}}))
	snap, _ := file.Load(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Status(ctx, lastAnswer{cancel}, strictStore{file}, snap); err != context.Canceled {
		t.Errorf("%v", err)
	}
	if snap, _ = file.Load(t.Context()); snap.Notices[0].State != ledger.Done {
		t.Errorf("%+v", snap.Notices[0])
	}
}
