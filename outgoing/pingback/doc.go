// Package pingback sends notices with Pingback 1.0.
//
//	sender := pingback.New(outgoing.NewClient(outgoing.ClientOptions{}), pingback.Options{})
//
// Discovery and the call follow https://www.hixie.ch/specs/pingback/pingback
// exactly. Responses are read leniently, because many servers do not follow the
// specification.
package pingback
