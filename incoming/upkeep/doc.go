// Package upkeep tells the pages that link to a site when a page of the site moves,
// disappears or changes, with the calls UNLINKR and LINKMOD of the LINK draft.
//
//	book, err := upkeep.Read("upkeep.json")
//	err = book.Deploy(ctx, store, before, after)
//	sent, err := book.Send(ctx, sender, time.Now())
//	err = book.Write("upkeep.json")
//
// A [Book] remembers between deploys where each page was that another site links
// to, and which calls are still to be sent. [Book.Deploy] compares that with the
// site as it is now. [Book.Send] sends the calls with a sender of package
// linkmethod, which only calls hosts that opted in (LK-61); the pages of other
// sites are never polled (LK-62).
package upkeep
