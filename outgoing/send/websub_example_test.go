package send_test

import (
	"fmt"

	"github.com/sitelink/sitelink/outgoing/send"
)

// Find the hubs of a feed.
func ExampleHubs() {
	feed := `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="hub" href="https://hub.example/"/></feed>`
	fmt.Println(send.Hubs([]byte(feed)))
	// Output: [https://hub.example/]
}
