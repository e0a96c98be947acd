package pg_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/check/remote/pg"
)

func ExampleOpen() {
	ctx := context.Background()
	store, err := pg.Open(ctx, "postgres://sitelink@db.example/links", pg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cache := remote.OpenStore(store, func(warning string) { log.Print(warning) })
	report, err := remote.Ask(ctx, []remote.Target{{URL: "https://example.org/"}}, cache, remote.Options{})
	if closeErr := cache.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		log.Fatal(err)
	}
	record, _ := report.Of("https://example.org/")
	fmt.Println(record.Verdict, record.Status)
}
