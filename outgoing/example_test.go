package outgoing_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
)

// Compare a site with its ledger, as the first steps of a deploy do.
func Example() {
	ctx := context.Background()
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

	deploy := func(page string) {
		docroot := filepath.Join(dir, "public")
		if err := os.MkdirAll(docroot, 0o777); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(docroot, "index.html"), []byte(page), 0o666); err != nil {
			log.Fatal(err)
		}
		s, err := site.Load(ctx, docroot, site.Options{BaseURLs: []string{"https://blog.example/"}})
		if err != nil {
			log.Fatal(err)
		}
		snapshot, err := store.Load(ctx)
		if err != nil {
			log.Fatal(err)
		}
		entries, err := outgoing.Read(ctx, s, snapshot, outgoing.Options{Rel: outgoing.DefaultRel}, nil)
		if err != nil {
			log.Fatal(err)
		}
		plan := outgoing.Diff(entries, snapshot)
		fmt.Printf("first deploy: %t\n", plan.First)
		for _, item := range plan.Due() {
			fmt.Println(item.Event, item.Source, "->", item.Target)
		}
		if err := store.Plan(ctx, plan.Base, plan.Change); err != nil {
			log.Fatal(err)
		}
	}
	deploy(`<main><a href="https://a.example/">a</a></main>`)
	// The first deploy only recorded a.example, so it gets no update.
	deploy(`<main><a href="https://a.example/">a</a> <a href="https://b.example/">b</a></main>`)
	// Output:
	// first deploy: true
	// first deploy: false
	// added https://blog.example/ -> https://b.example/
}
