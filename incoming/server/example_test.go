package server_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/server"
)

// all accepts every notice. A real program uses incoming.NewReceiver.
type all struct{}

func (all) Receive(_ context.Context, notices []incoming.Notice) ([]incoming.Answer, error) {
	answers := make([]incoming.Answer, len(notices))
	for i, n := range notices {
		fmt.Println(n.Action, n.Source, "->", n.Target)
		answers[i] = incoming.Answer{Outcome: incoming.Accepted}
	}
	return answers, nil
}

// Receive a call with the request line of the LINK draft.
func ExampleServer() {
	ctx, stop := context.WithCancel(context.Background())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	stopped := make(chan error)
	go func() { stopped <- server.New(server.Options{Receiver: all{}}).Serve(ctx, listener) }()

	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "LINK http://a.example/post.html http://b.example/doc.html HTTP/1.1\r\nHost: b.example\r\n\r\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(line)
	stop()
	if err := <-stopped; err != nil {
		log.Fatal(err)
	}
	// Output:
	// link http://a.example/post.html -> http://b.example/doc.html
	// HTTP/1.1 200 Ok
}
