package incomingtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
)

func Example() {
	ctx := context.Background()
	store := incomingtest.NewStore(nil)
	ids := store.Add(incoming.Mention{Source: "https://sea.example/reply", Target: "https://blog.example/knots/", State: incoming.Held})

	m, err := store.Mention(ctx, ids[0])
	fmt.Println(m.Source, err)

	store.Fail(errors.New("disk full"))
	_, err = store.Mention(ctx, ids[0])
	fmt.Println(err)
	// Output:
	// https://sea.example/reply <nil>
	// disk full
}
