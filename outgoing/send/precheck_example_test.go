package send_test

import (
	"fmt"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/send"
)

// Find out why a receiver would refuse a page.
func ExampleCheckSource() {
	page := &outgoing.Response{
		Status: 200,
		Body:   []byte("<title>Post</title><p><a href=\"https://a.example/\"><img src=\"a.png\"></a>"),
	}
	for _, p := range send.CheckSource("https://blog.example/post/", page, "https://a.example/") {
		fmt.Println(p.Code, p.Line)
		fmt.Println(p.Message)
		fmt.Println(p.Cure)
	}
	// Output:
	// link-text 1
	// the link has no plain text, and WordPress ignores such links
	// put words between <a> and </a>, and put headings and paragraphs around the link, not inside it
}
