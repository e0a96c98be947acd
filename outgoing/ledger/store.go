package ledger

import (
	"context"
	"time"
)

// Snapshot is the state of a whole ledger: read-only, sorted by address (pages), by source and
// target (links), by key (notices), by origin and protocol (peers).
type Snapshot struct {
	// Base is the site's own address that the ledger belongs to.
	Base    string
	Pages   []Page
	Links   []Link
	Notices []Notice
	Peers   []Peer
	// New: there was no ledger yet.
	New bool
}

// Store keeps a ledger. Its methods are safe for concurrent use. An error of a
// store names the file, ref or database and the cause; what it held before is
// whole.
type Store interface {
	// Load returns the present state.
	Load(ctx context.Context) (*Snapshot, error)
	// Plan makes a change durable before it returns. Its notices can be
	// claimed afterwards.
	Plan(ctx context.Context, base string, c Change) error
	// Claim leases up to limit open notices that are due at now to this
	// runner, sorted by key: no other runner gets them until they are recorded
	// or the lease ends. Notices found in flight from an earlier run come with
	// the state InFlight.
	Claim(ctx context.Context, now time.Time, limit int) ([]Notice, error)
	// Begin makes durable that the notice is about to be sent.
	Begin(ctx context.Context, k Key) error
	// Record makes an outcome durable. A notice of AnyProtocol whose protocol
	// is now known is recorded under from, its key until now.
	Record(ctx context.Context, from Key, n Notice) error
	// Remember keeps what is known of a peer.
	Remember(ctx context.Context, p Peer) error
	// Close compacts what was written and gives the store free.
	Close() error
}
