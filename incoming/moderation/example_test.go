package moderation_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/moderation"
)

// Read the rules of a file into a store, block a host, and write the file again.
func Example() {
	ctx := context.Background()
	store := incomingtest.NewStore(nil) // package store has one for SQLite and PostgreSQL
	file := []byte("# Friends first.\ntrust friend.example\n")

	rules, err := moderation.ParseRules(strings.NewReader(string(file)))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := moderation.Apply(ctx, store, rules); err != nil {
		log.Fatal(err)
	}
	if _, err := moderation.SetRule(ctx, store, incoming.Rule{Pattern: "spam.example", Verdict: incoming.Block, Note: "casino"}, time.Now()); err != nil {
		log.Fatal(err)
	}
	if rules, err = store.Rules(ctx); err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(moderation.UpdateRules(file, rules))
	// Output:
	// # Friends first.
	// trust friend.example
	// block spam.example # casino
}

// Serve the page, and print a link that logs in.
func ExamplePage() {
	const address = "https://receiver.example/moderation"
	key := []byte("at least 16 random bytes")
	page, err := moderation.NewPage(moderation.PageOptions{Store: incomingtest.NewStore(nil), Address: address, Key: key})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/moderation/", page)
	http.Handle("/moderation", page)
	link, err := moderation.SignedLink(address, key, time.Now())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(link[:len("https://receiver.example/moderation/login?token=")])
	// Output: https://receiver.example/moderation/login?token=
}
