// Package pg stores a ledger in PostgreSQL, so that several runners can deliver
// its notices at the same time.
//
//	store, err := pg.Open(ctx, "postgres://sitelink@db.example/sitelink", pg.Options{Runner: "host-1"})
//	defer store.Close()
//
// The store implements [ledger.Store]. Each runner claims rows that no other runner
// has locked or leased. Only the tables sitelink_* in the schema that the address
// selects are used.
package pg
