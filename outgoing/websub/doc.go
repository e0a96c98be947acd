// Package websub notifies the hubs of a feed that it changed, so that its
// subscribers get the new entries at once.
//
//	opt := outgoing.Options{Hubs: websub.Hubs}      // [outgoing.Read] finds the hubs of feeds
//	sender := websub.New(outgoing.NewClient(outgoing.ClientOptions{}))
//
// WebSub (https://www.w3.org/TR/websub/, section 4) does not define how a
// publisher notifies a hub. All known hubs accept the request of PubSubHubbub
// 0.4 (section 7.1): hub.mode=publish and hub.url.
package websub
