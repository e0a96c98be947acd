package pg_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sitelink/sitelink/outgoing/ledger/pg"
)

func ExampleOpen() {
	ctx := context.Background()
	store, err := pg.Open(ctx, "postgres://sitelink@db.example/sitelink?search_path=blog", pg.Options{Runner: "host-1"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	snapshot, err := store.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(snapshot.Notices), "notices of", snapshot.Base)
}
