package importer_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/sitelink/sitelink/incoming/importer"
	"github.com/sitelink/sitelink/incoming/incomingtest"
)

// Import what webmention.io exports.
func Example() {
	feed := strings.NewReader(`{"children": [
		{"wm-source": "https://ann.example/reply", "wm-target": "https://our.example/post/", "content": {"text": "Nice post"}},
		{"wm-source": "https://bob.example/", "wm-target": "https://our.example/", "wm-private": true}
	]}`)
	store := incomingtest.NewStore(nil) // package store has one for SQLite and PostgreSQL
	report, err := importer.Import(context.Background(), store, importer.JF2(feed), importer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Recorded, "recorded")
	for _, s := range report.Skipped {
		fmt.Printf("%s from %s left out: %s\n", s.Where, s.Source, s.Why)
	}
	// Output:
	// 1 recorded
	// entry 2 from https://bob.example/ left out: it is private
}
