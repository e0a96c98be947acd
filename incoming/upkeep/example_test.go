package upkeep_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/upkeep"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/linkmethod"
)

func ExampleBook() {
	ctx := context.Background()
	store := incomingtest.NewStore(nil)                    // of the receiver
	before, after := &incoming.Sites{}, &incoming.Sites{}  // of the deploy
	client := outgoing.NewClient(outgoing.ClientOptions{}) // refuses private addresses
	friend, err := linkmethod.ParsePeer("friend.example")  // a host that takes calls
	sender := linkmethod.New(client, linkmethod.Options{Peers: []linkmethod.Peer{friend}})

	book := &upkeep.Book{}
	if err == nil {
		err = book.Deploy(ctx, store, before, after)
	}
	if err != nil {
		log.Fatal(err)
	}
	sent, err := book.Send(ctx, sender, time.Now())
	fmt.Println(len(sent), err)
	// Output: 0 <nil>
}
