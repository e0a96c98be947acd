package incoming_test

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/site"
)

// A receiver answers from the pages of a built site. A program also starts
// Receiver.Run, which verifies what was received, and passes the receiver to
// package server, which speaks HTTP.
func ExampleReceiver() {
	ctx := context.Background()
	docroot, err := os.MkdirTemp("", "docroot")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(docroot)
	if err := os.WriteFile(filepath.Join(docroot, "index.html"), []byte("<h1>Hello</h1>"), 0o644); err != nil {
		log.Fatal(err)
	}

	loaded, err := site.Load(ctx, docroot, site.Options{BaseURLs: []string{"https://example.org/"}})
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := incoming.ReadManifest(ctx, loaded, incoming.ManifestOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var sites incoming.Sites
	sites.Set(manifest) // again after each deploy

	receiver := incoming.NewReceiver(incoming.ReceiverOptions{
		Store:       incomingtest.NewStore(nil), // package store has one that lasts
		Sites:       &sites,
		Client:      verify.NewClient(verify.Options{}),
		RateAddress: 60,
	})
	for _, target := range []string{"https://example.org/", "http://EXAMPLE.org/index.html", "https://example.org/none", "https://example.com/"} {
		answers, err := receiver.Receive(ctx, []incoming.Notice{{
			Protocol: incoming.Webmention,
			Source:   "https://blog.example/post",
			Target:   target,
			Peer:     netip.MustParseAddr("192.0.2.1"),
		}})
		if err != nil {
			log.Fatal(err) // the store failed
		}
		fmt.Println(answers[0].Outcome, answers[0].Reason)
	}
	// Output:
	// accepted The link is recorded and will be verified.
	// accepted The link is recorded and will be verified.
	// missing The target does not exist.
	// elsewhere The host of the target is not served here.
}

// The rules of moderation are patterns of hosts, addresses and URLs.
func ExampleParsePattern() {
	for _, text := range []string{"*.Spam.example", "https://Example.org/%7Ename", "192.0.2.77/24", "spam.example/x"} {
		pattern, err := incoming.ParsePattern(text)
		fmt.Println(pattern, err != nil)
	}
	// Output:
	// spam.example false
	// https://example.org/~name false
	// 192.0.2.0/24 false
	//  true
}
