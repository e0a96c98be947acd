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
// What [Store.Record], [Store.Update] and [Store.SetRules] have written survives a
// crash of the process, of the system, and a power cut: each commit is synced.
// Concurrent calls share a commit. The background work is a queue of jobs of River
// (https://riverqueue.com) in the same database, and jobs are added in the
// transaction that writes their mentions. So no mention is forgotten, and none is
// verified twice.
//
// In PostgreSQL, the tables sitelink_* and river_* in the schema that the address
// selects belong to the store. Select another with ?search_path=NAME if the
// database has other jobs of River.
package store
