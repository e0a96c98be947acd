// Package outgoing finds out what a site links to, compares that with the last
// deploy, and defines how other sites are notified of the differences.
//
// A program that deploys a site calls:
//
//	entries, err := outgoing.Read(ctx, s, snapshot, outgoing.Options{}, nil)
//	plan := outgoing.Diff(entries, snapshot)
//	err = store.Plan(ctx, plan.Base, plan.Change)
//	report, err := deliver.Run(ctx, store, deliver.Options{Senders: senders, Targets: client, Sources: client})
//
// [Read] collects the pages of a site with their outbound links. [Diff] compares
// them with a snapshot of the ledger (package ledger) and returns a [Plan]: the
// notices to send, and the change to the ledger that records them. Package
// deliver sends the notices of a ledger and records each [Outcome].
//
// A [Sender] implements one protocol; package send has one for each. Senders
// make their requests with a [Client], which refuses addresses that are not on
// the public internet unless you allow them.
package outgoing
