// Package server is the HTTP side of a receiver: it reads pingbacks, webmentions and
// the calls of the LINK draft, passes them to a [Receiver], and writes its answers
// in the words of each protocol.
//
//	s := server.New(server.Options{Receiver: receiver, Mentions: store})
//	l, err := net.Listen("tcp", ":8080")
//	...
//	err = s.Serve(ctx, l)
//
// # Addresses
//
//	/pingback             XML-RPC, pingback.ping
//	/webmention           webmentions; GET shows a form
//	/webmention/status/ID the state of a webmention, for its sender
//	/healthz, /metrics    for monitoring, in the format of Prometheus
//	/moderation           Options.Moderation
//	/mentions             Options.Live
//
// At all addresses, LINK, UNLINK, UNLINKR and LINKMOD work in two forms: with both
// URLs on the request line, as in draft-pritchard-http-links-00, and with one of
// them in a Link field, as in RFC 2068. GET and HEAD of other paths are for
// Options.Pages.
//
// # Connections
//
// net/http refuses a request line with two URLs, and cannot send the draft's reason
// phrases. So [Server.Serve] reads request lines and bodies itself, on every request
// of a connection, and leaves the rest of a request to http.ReadRequest. It refuses
// every message that could be read in two ways. It bounds header fields, bodies,
// times and connections, see [Limits]. A Server is also an http.Handler, for
// programs that do not need the draft's request lines.
//
// The server opens no connections.
package server
