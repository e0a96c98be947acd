// Package store keeps received mentions in an SQLite file or in PostgreSQL.
//
//	s, err := store.Open(ctx, "mentions.db", store.Options{Worker: true})
//	defer s.Close()
//
// A [Store] implements [incoming.Store]. One file serves one process that works
// the queue; commands may read and write the same file meanwhile. With PostgreSQL,
// several processes share the work:
//
//	s, err := store.Open(ctx, "postgres://sitelink@db.example/sitelink", store.Options{Worker: true})
//
// # What is kept
//
// What [Store.Record], [Store.Update] and [Store.SetRules] have written survives a crash
// of the process or the system, and a power cut: each commit is synced. Concurrent calls
// share a commit. The queue of verifications consists of the mentions that are due. A
// process claims some of them for 20 seconds and writes what it found. So no mention is
// forgotten, and none is verified twice. If a process is killed, another one takes over
// the mentions that it had claimed.
//
// In PostgreSQL, the store owns the tables sitelink_* in the schema that the address
// selects. Select another schema with ?search_path=NAME.
package store
