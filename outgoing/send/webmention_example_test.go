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

// Find the endpoint of a target and send one notice to it.
func ExampleWebmention() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fmt.Println("received", r.PostFormValue("source"))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<link rel="webmention" href="/webmention">`)
	}))
	defer server.Close()
	client := outgoing.NewClient(outgoing.ClientOptions{
		Pace:           -1,
		AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, // only for this example
	})
	sender := send.NewWebmention(client)
	endpoint, err := sender.Discover(ctx, outgoing.NewTarget(client, server.URL))
	if err != nil {
		log.Fatal(err)
	}
	outcome := sender.Send(ctx, ledger.Notice{
		Key:   ledger.Key{Source: "https://blog.example/post/", Target: server.URL},
		Event: ledger.Added,
	}, endpoint)
	fmt.Println(outcome.State, outcome.Status, endpoint.Via)
	// Output:
	// received https://blog.example/post/
	// done 200 <link>
}
