package verify_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/sitelink/sitelink/incoming/verify"
)

func Example() {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, `<html lang="en"><title>My day</title>
			<p>I read <a href="https://example.org/post#end">a good post</a> today.`)
	}))
	defer other.Close()

	// The server of this example is not on the public internet.
	client := verify.NewClient(verify.Options{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	page := client.Fetch(context.Background(), other.URL, netip.MustParseAddr("192.0.2.1"))

	e := page.Find("https://example.org/post")
	fmt.Printf("%s: %q, %q, %s\n", e.Result, e.Title, e.Excerpt, e.Lang)
	e = page.Find("https://example.org/another")
	fmt.Println(e.Result, e.Fault, e.Reason)
	// Output:
	// linked: "My day", "I read a good post today.", en
	// not linked 17 the page does not link to the target
}
