// Package deliver sends the open notices of a ledger and records the outcomes.
//
//	report, err := deliver.Run(ctx, store, deliver.Options{
//		Senders: []outgoing.Sender{send.NewWebmention(client), send.NewPingback(client, send.PingbackOptions{})},
//		Targets: client,
//		Sources: client,
//	})
//
// Each notice goes through these steps:
//
//	claim -> check that the source is live -> discover the endpoint -> begin -> send -> record
//
// Begin and record are on disk before the next step starts. A run that is killed
// therefore loses nothing. A notice that it had not begun is still open. A
// notice that it had begun, but without an outcome, is known to be in flight.
package deliver
