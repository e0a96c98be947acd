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

// Send a pingback to a server that already has it.
func ExamplePingback() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Pingback", "http://"+r.Host+"/xmlrpc")
		if r.Method == http.MethodPost {
			fmt.Fprint(w, `<?xml version="1.0"?><methodResponse><fault><value><struct>
				<member><name>faultCode</name><value><int>48</int></value></member>
				<member><name>faultString</name><value><string>registered</string></value></member>
				</struct></value></fault></methodResponse>`)
		}
	}))
	defer server.Close()
	client := outgoing.NewClient(outgoing.ClientOptions{
		Pace:           -1,
		AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, // only for this example
	})
	sender := send.NewPingback(client, send.PingbackOptions{})
	endpoint, err := sender.Discover(ctx, outgoing.NewTarget(client, server.URL))
	if err != nil {
		log.Fatal(err)
	}
	outcome := sender.Send(ctx, ledger.Notice{
		Key:   ledger.Key{Source: "https://blog.example/post/", Target: server.URL},
		Event: ledger.Added,
	}, endpoint)
	fmt.Println(outcome.State, outcome.Message)
	// Output: done the server already has this pingback (fault 48: registered)
}
