// Package send sends single notices, with one sender for each protocol, and predicts why a receiver would refuse one.
//
//	client := outgoing.NewClient(outgoing.ClientOptions{})
//	senders := []outgoing.Sender{send.NewWebmention(client), send.NewPingback(client, send.PingbackOptions{})}
//
// Pass the senders to package deliver, or use one directly: its Discover finds the endpoint of a target, and its Send sends
// one notice to it.
//
//   - [Webmention] is the W3C Recommendation of 2017: https://www.w3.org/TR/webmention/, section 3.1. [Webmention.Status]
//     asks later what became of a notice that was accepted.
//   - [Pingback] is Pingback 1.0: https://www.hixie.ch/specs/pingback/pingback. Discovery and the call follow it exactly.
//     Responses are read leniently, because many servers do not follow the specification.
//   - [LinkSender] calls the HTTP methods LINK and UNLINK of draft-pritchard-http-links-00 of 1996, which was never adopted.
//     It calls only hosts that opt in (LK-61): those in [LinkOptions] and those whose response to OPTIONS names LINK. A
//     host that turns out not to support the methods is not called again for 30 days.
//   - [WebSub] tells the hubs of a feed that it changed, so that its subscribers get the new entries at once. WebSub
//     (https://www.w3.org/TR/websub/, section 4) does not define how. All known hubs accept the request of PubSubHubbub
//     0.4 (section 7.1): hub.mode=publish and hub.url. [outgoing.Read] finds the hubs if its option Hubs is [Hubs].
//
// [FetchProblems] gets a page as a receiver would and returns its problems, each [Problem]
// with its remedy. [CheckSource] does the same for a page that you have. A [Previewer]
// shows for each target of a page the protocol and endpoint that would be used, and the
// problems that the receiver would find. It sends nothing except GET requests, and OPTIONS
// if one of the senders uses it.
//
// Receivers give few reasons. WordPress answers fault 0 without text for a page without a
// title, for a link around a picture, and for a link that it does not find. The package
// therefore applies its rules exactly (class-wp-xmlrpc-server.php, pingback_ping, version
// 6.1; they have not changed for years).
package send
