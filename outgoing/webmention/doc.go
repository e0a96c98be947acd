// Package webmention sends notices with Webmention, the W3C Recommendation of
// 2017: https://www.w3.org/TR/webmention/, section 3.1.
//
//	client := outgoing.NewClient(outgoing.ClientOptions{})
//	sender := webmention.New(client)
//
// Pass the sender to package deliver, or use it directly: [Sender.Discover]
// finds the endpoint of a target and [Sender.Send] sends one notice to it.
// [Sender.Status] asks later what became of a notice that was accepted.
package webmention
