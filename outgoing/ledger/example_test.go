package ledger_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Plan a notice, claim it, and record its outcome. Package deliver does the last
// two for you.
func ExampleOpenFile() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := ledger.OpenFile(filepath.Join(dir, "ledger.jsonl"), ledger.FileOptions{Warn: func(text string) { log.Print(text) }})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	key := ledger.Key{Source: "https://blog.example/post/", Target: "https://a.example/"}
	err = store.Plan(ctx, "https://blog.example/", ledger.Change{
		Pages:   []ledger.Page{{URL: key.Source, Hash: "1"}},
		Links:   []ledger.Link{{Source: key.Source, Target: key.Target}},
		Notices: []ledger.Notice{{Key: key, Event: ledger.Added, State: ledger.Pending, Hash: "1"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	claimed, err := store.Claim(ctx, time.Now(), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range claimed {
		if err := store.Begin(ctx, n.Key); err != nil {
			log.Fatal(err)
		}
		from := n.Key
		n.Protocol, n.State = ledger.Webmention, ledger.Done
		if err := store.Record(ctx, from, n); err != nil {
			log.Fatal(err)
		}
	}
	snapshot, err := store.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range snapshot.Notices {
		fmt.Println(n.State, n.Protocol, n.Event, n.Target)
	}
	// Output: done webmention added https://a.example/
}

// Write a ledger file.
func ExampleWrite() {
	err := ledger.Write(os.Stdout, &ledger.Snapshot{
		Base:  "https://blog.example/",
		Pages: []ledger.Page{{URL: "https://blog.example/post/", Hash: "1"}},
		Links: []ledger.Link{{Source: "https://blog.example/post/", Target: "https://a.example/?a=1&b=2"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"sitelink":"ledger","version":2,"base":"https://blog.example/","pages":1,"sum":"82a7e675"}
	// {"page":"https://blog.example/post/","hash":"1","links":1,"sum":"267ea1cf"}
	// {"source":"https://blog.example/post/","target":"https://a.example/?a=1&b=2","sum":"9b3b7e3f"}
}
