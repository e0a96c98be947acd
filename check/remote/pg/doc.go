// Package pg keeps a status cache in PostgreSQL, so that many sites and machines ask
// each URL once, and each host at one pace.
//
//	store, err := pg.Open(ctx, "postgres://sitelink@db.example/sitelink", pg.Options{})
//	cache := remote.OpenStore(store, nil)
//	report, err := remote.Ask(ctx, links, cache, remote.Options{})
//	err = cache.Close()
//
// Only the tables sitelink_status* in the schema that the address selects are used.
package pg
