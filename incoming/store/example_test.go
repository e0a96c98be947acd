package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/store"
)

func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mentions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(ctx, filepath.Join(dir, "mentions.db"), store.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	notice := incoming.Notice{Protocol: incoming.Webmention, Source: "https://blog.example/post", Target: "https://our.example/page"}
	key, err := incoming.KeyOf(notice)
	if err != nil {
		log.Fatal(err)
	}
	err = s.Record(ctx, []incoming.Key{key}, func(known []*incoming.Mention) ([]*incoming.Mention, error) {
		if known[0] != nil {
			return nil, nil // it stays as it is
		}
		return []*incoming.Mention{{Protocol: notice.Protocol, Source: notice.Source, Target: notice.Target,
			State: incoming.Queued, Received: time.Now(), Due: time.Now()}}, nil
	})
	if err != nil {
		log.Fatal(err)
	}

	for m, err := range s.List(ctx, incoming.Filter{Target: "https://our.example/page"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.State, m.Source)
	}
	// Output: queued https://blog.example/post
}

func ExampleStore_Work() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	s, err := store.Open(ctx, "postgres://sitelink@db.example/sitelink?search_path=mentions", store.Options{Worker: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	err = s.Work(ctx, func(ctx context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		// Look at m.Source here.
		now := time.Now()
		return func(m *incoming.Mention) {
			m.State, m.Verified, m.Fetched = incoming.Held, now, now
			m.Due = now.AddDate(0, 1, 0)
		}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleStore_Backup() {
	ctx := context.Background()
	s, err := store.Open(ctx, "mentions.db", store.Options{Existing: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Backup(ctx, "backup.db"); err != nil {
		log.Fatal(err)
	}
}
