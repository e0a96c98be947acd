// Package linkmethod sends notices with the HTTP methods LINK and UNLINK.
//
//	peer, err := linkmethod.ParsePeer("friend.example")
//	sender := linkmethod.New(client, linkmethod.Options{Peers: []linkmethod.Peer{peer}})
//
// The methods are experimental: draft-pritchard-http-links-00 of 1996 was never
// adopted, and few servers support it. Calls are
// therefore only sent to hosts that opt in (LK-61): those in [Options.Peers] and
// those whose response to OPTIONS names LINK. A host that turns out not to
// support the methods is not called again for 30 days.
package linkmethod
