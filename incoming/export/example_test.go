package export_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/incoming/incomingtest"
)

// Export the approved mentions of a store, and read them in the program that builds
// the site.
func Example() {
	ctx := context.Background()
	store := incomingtest.NewStore(nil) // package store has one for SQLite and PostgreSQL
	store.Add(incoming.Mention{
		Protocol: incoming.Webmention, State: incoming.Approved, Source: "https://sea.example/reply", Target: "https://blog.example/knots/",
		Title: "On <knots>", Received: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC),
	})
	dir, err := os.MkdirTemp("", "mentions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	result, err := export.Write(ctx, store.List(ctx, export.Selection), dir, export.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Mentions, "mention,", result.Written, "files written")

	all, err := export.Read(os.DirFS(dir))
	if err != nil {
		log.Fatal(err)
	}
	page, _ := export.PageOf("https://blog.example/knots/index.html")
	for _, m := range all[page] {
		fmt.Println(page, m.Title, m.Source)
	}
	// Output:
	// 1 mention, 2 files written
	// /knots On <knots> https://sea.example/reply
}
