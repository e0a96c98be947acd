// Package outgoing_test uses the packages below outgoing as a program outside of
// this repository would: it reads what a site links to, compares it with a
// ledger, and sends the notices.
package outgoing_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
	"github.com/sitelink/sitelink/site"
)

// receiver accepts webmentions for /wm, pingbacks for /pb and LINK for all pages.
// It also serves the site itself.
func receiver(t *testing.T, docroot string) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle("/blog/", http.StripPrefix("/blog", http.FileServer(http.Dir(docroot))))
	mux.HandleFunc("/wm", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Link", "</webmention>; rel=webmention") })
	mux.HandleFunc("/webmention", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusAccepted) })
	mux.HandleFunc("/pb", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Pingback", "http://"+r.Host+"/xmlrpc") })
	mux.HandleFunc("/xmlrpc", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `<?xml version="1.0"?><methodResponse><params><param><value><string>thanks</string></value></param></params></methodResponse>`)
	})
	mux.HandleFunc("/link", func(w http.ResponseWriter, r *http.Request) {})
	mux.HandleFunc("/hub", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header().Set("Allow", "GET, LINK, UNLINK")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// deploy compares the docroot with the ledger and records the plan.
func deploy(t *testing.T, docroot, base string, store ledger.Store) *outgoing.Plan {
	t.Helper()
	ctx := context.Background()
	s, err := site.Load(ctx, docroot, site.Options{BaseURLs: []string{base}})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := store.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := outgoing.Read(ctx, s, snapshot, outgoing.Options{Rel: outgoing.DefaultRel, Hubs: send.Hubs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := outgoing.Diff(entries, snapshot)
	if err := store.Plan(ctx, plan.Base, plan.Change); err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestDeploy(t *testing.T) {
	ctx := context.Background()
	docroot := t.TempDir()
	server := receiver(t, docroot)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(docroot, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store, err := ledger.OpenFile(filepath.Join(t.TempDir(), "ledger.jsonl"), ledger.FileOptions{Warn: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	base := server.URL + "/blog/"
	feed := `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="` + server.URL + `/hub"/><title>%s</title></feed>`

	write("index.html", "<main>no links</main>")
	write("feed.xml", fmt.Sprintf(feed, "one"))
	if plan := deploy(t, docroot, base, store); !plan.First || len(plan.Items) != 0 {
		t.Fatalf("first deploy: %+v", plan)
	}
	// A site may not link to itself in a notice, so the targets have another name.
	other := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	page := "<title>Post</title><main>"
	for _, path := range []string{"/wm", "/pb", "/link"} {
		page += `<p><a href="` + other + path + `">text</a></p>`
	}
	write("index.html", page+"</main>")
	write("feed.xml", fmt.Sprintf(feed, "two"))
	if plan := deploy(t, docroot, base, store); len(plan.Due()) != 4 {
		t.Fatalf("second deploy: %+v", plan.Items)
	}

	client := outgoing.NewClient(outgoing.ClientOptions{Pace: -1, AllowAddresses: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
	report, err := deliver.Run(ctx, store, deliver.Options{
		Senders:    []outgoing.Sender{send.NewWebmention(client), send.NewPingback(client, send.PingbackOptions{Spacing: -1})},
		Additional: []outgoing.Sender{send.NewLink(client, send.LinkOptions{Probe: true, Unsupported: send.NewUnsupportedHosts(nil, store.RecordUnsupported)})},
		Named:      []outgoing.Sender{send.NewWebSub(client)},
		Targets:    client, Sources: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]ledger.State{}
	for _, r := range report.Results {
		got[r.Target[strings.LastIndex(r.Target, "/"):]+" "+string(r.Protocol)] = r.State
	}
	for notice, want := range map[string]ledger.State{
		"/wm webmention": ledger.Accepted, "/pb pingback": ledger.Done, "/link link": ledger.Done, "/link ": ledger.NoService, "/hub websub": ledger.Done,
	} {
		if got[notice] != want {
			t.Errorf("%s: %q, want %q; all: %v", notice, got[notice], want, got)
		}
	}

	preview, err := send.Previewer{Client: client, Senders: []outgoing.Sender{send.NewWebmention(client)}}.Preview(ctx, base, []string{other + "/wm"}, nil)
	if err != nil || preview.Failing() || preview.Rows[0].Endpoint != other+"/webmention" {
		t.Errorf("preview: %+v, %v", preview, err)
	}
}

// echo is a sender of another module.
type echo struct{ send.Webmention }

func (echo) Discover(_ context.Context, t *outgoing.Target) (outgoing.Endpoint, error) {
	return outgoing.Endpoint{URL: t.URL(), Via: "echo"}, nil
}

func (echo) Send(_ context.Context, n ledger.Notice, _ outgoing.Endpoint) outgoing.Outcome {
	return outgoing.Outcome{State: ledger.Done, Message: n.Source}
}

// A program can add senders of its own, and the client refuses addresses that
// are not public unless it allows them.
func TestOwnSender(t *testing.T) {
	store, err := ledger.OpenFile(filepath.Join(t.TempDir(), "ledger.jsonl"), ledger.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	key := ledger.Key{Source: "https://blog.example/", Target: "http://127.0.0.1/"}
	err = store.Plan(t.Context(), key.Source, ledger.Change{Notices: []ledger.Notice{{Key: key, Event: ledger.Added, State: ledger.Pending}}})
	if err != nil {
		t.Fatal(err)
	}
	client := outgoing.NewClient(outgoing.ClientOptions{})
	report, err := deliver.Run(t.Context(), store, deliver.Options{Senders: []outgoing.Sender{&echo{}}, Targets: client})
	if err != nil || len(report.Results) != 1 || report.Results[0].Message != key.Source {
		t.Errorf("%+v, %v", report, err)
	}
	_, err = client.Do(t.Context(), outgoing.Request{URL: key.Target})
	if o := outgoing.RequestFailed(err); o.State != ledger.Skipped {
		t.Errorf("%+v, %v", o, err)
	}
}
