package deliver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// Deliver one notice to a server on this machine.
func ExampleRun() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</webmention>; rel=webmention")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := ledger.OpenFile(filepath.Join(dir, "ledger.jsonl"), ledger.FileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	key := ledger.Key{Source: "https://blog.example/post/", Target: server.URL + "/article"}
	err = store.Plan(ctx, "https://blog.example/", ledger.Change{
		Notices: []ledger.Notice{{Key: key, Event: ledger.Added, State: ledger.Pending}},
	})
	if err != nil {
		log.Fatal(err)
	}

	client := outgoing.NewClient(outgoing.ClientOptions{
		UserAgent:      "blog.example (+https://blog.example/contact)",
		AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, // only for this example
	})
	report, err := deliver.Run(ctx, store, deliver.Options{
		Senders: []outgoing.Sender{send.NewWebmention(client)},
		Targets: client,
		// Set Sources to check that the source page is live.
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Results {
		fmt.Println(r.State, r.Protocol, r.Event, r.Via)
	}
	// Output: accepted webmention added Link header
}
