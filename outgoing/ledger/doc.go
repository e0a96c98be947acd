// Package ledger records which notices were sent, to which targets, and with
// what outcome.
//
//	store, err := ledger.OpenFile(".sitelink/ledger.jsonl", ledger.FileOptions{})
//	defer store.Close()
//	snapshot, err := store.Load(ctx)
//
// A ledger has the links of each page as of the last deploy, and a [Notice] for
// each target that is notified of a change. [outgoing.Diff] compares a site with a
// [Snapshot] and returns the [Change] to apply with [Store.Plan]; package deliver
// sends the notices.
//
// There are three stores: [OpenFile] for a sorted file of JSON Lines, [OpenGit]
// for a ref in a git repository, and package pg for PostgreSQL. All of them
// survive a crash at any point without losing or repeating a notice.
package ledger
