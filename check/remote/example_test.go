package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sitelink/sitelink/check/remote"
)

// A missing page is dead when it is missing in two runs, a day apart.
func ExampleJudge() {
	record := remote.Record{URL: "https://example.org/page"}
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for range 2 {
		record = remote.Judge(record, remote.Answer{Status: 404}, now, remote.Policy{})
		fmt.Println(record.Verdict, record.Code, record.Strikes)
		now = now.Add(24 * time.Hour)
	}
	// Output:
	// warning doubtful 1
	// error dead-link 2
}

// List the links that moved, with their new addresses.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "status")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "status.jsonl")
	cache, err := remote.Open(name, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := remote.Answer{Status: 200, Hops: []remote.Hop{{Status: 301, To: "https://example.org/new"}}}
	cache.Put(remote.Judge(cache.Get("https://example.org/old"), answer, time.Now(), remote.Policy{}))
	if err := cache.Close(); err != nil {
		fmt.Println(err)
		return
	}
	records, err := remote.Read(name, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range records {
		fmt.Println(r.URL, r.Code, r.Final)
	}
	// Output: https://example.org/old moved https://example.org/new
}
