package send_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// Send LINK to a host that opted in.
func ExampleLinkSender() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Link"))
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	client := outgoing.NewClient(outgoing.ClientOptions{
		Pace:           -1,
		AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, // only for this example
	})
	peer, err := send.ParseLinkPeer("127.0.0.1 header")
	if err != nil {
		log.Fatal(err)
	}
	sender := send.NewLink(client, send.LinkOptions{Peers: []send.LinkPeer{peer}})
	target := server.URL + "/article"
	endpoint, err := sender.Discover(ctx, outgoing.NewTarget(client, target))
	if err != nil {
		log.Fatal(err)
	}
	outcome := sender.Send(ctx, ledger.Notice{
		Key:   ledger.Key{Source: "https://blog.example/post/", Target: target},
		Event: ledger.Added,
	}, endpoint)
	fmt.Println(outcome.State, outcome.Status)
	// Output:
	// LINK /article <https://blog.example/post/>; rel="https://github.com/sitelink/sitelink#linked-from"
	// done 204
}
