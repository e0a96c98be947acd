package incoming

import (
	"context"
	"errors"
	"iter"
	"time"
)

// ErrNotFound means that a store has no mention with the ID. Store.Mention and
// Store.Update return it.
var ErrNotFound = errors.New("there is no such mention")

// Store keeps mentions, the rules of moderation, and the queue of mentions that
// are to be verified. Package store has one for SQLite and PostgreSQL, and package
// incomingtest one in memory for tests. A Store is safe for concurrent use, also by
// several processes.
//
// The errors of a database name it and say what to do, such as "write the mentions in
// /srv/m.db: the disk is full; free some space". Receivers answer them with fault -32500
// or the status 500 (PB-63).
type Store interface {
	// Record changes the mentions with these keys in one step. decide gets the mentions
	// in the order of the keys, with nil for a mention that does not exist. It returns
	// the mentions to write, in the same order, with nil for a mention that stays as it
	// is, or an empty list to write nothing. A mention without an ID is new: Record sets
	// its ID, also for the caller. If decide returns an error, Record writes nothing and
	// returns that error. What is written survives a crash once Record has returned.
	// Concurrent calls share a sync of the disk. If ctx ends first, it is not known
	// whether the mentions were written.
	//
	// If another process interferes, Record calls decide again with the current mentions,
	// and discards its earlier result. So decide must not depend on its own earlier
	// calls: each call starts with fresh counts and lists. It must be quick, because
	// other calls wait, and must not use the store.
	//
	// A written mention whose Due is set is queued to be verified then; setting
	// another Due replaces it.
	Record(ctx context.Context, keys []Key, decide func([]*Mention) ([]*Mention, error)) error

	// Mention returns the mention with this ID, or ErrNotFound.
	Mention(ctx context.Context, id string) (Mention, error)
	// List returns the mentions that the filter selects, sorted by target, source
	// and action. It does not hold them all in memory. The caller may change
	// mentions meanwhile. After an error, which comes with an empty mention, the list
	// ends.
	List(ctx context.Context, f Filter) iter.Seq2[Mention, error]
	// Update changes one mention as Record does, and returns it. Like decide, change
	// may be called again, with the mention as it is then. If change returns an error,
	// Update writes nothing and returns that error. For an unknown ID it returns
	// ErrNotFound.
	Update(ctx context.Context, id string, change func(*Mention) error) (Mention, error)
	// Counts returns the number of mentions by state. A state that no mention has may be
	// missing.
	Counts(ctx context.Context) (map[State]int64, error)

	// Rules returns all rules, sorted by pattern.
	Rules(ctx context.Context) ([]Rule, error)
	// RulesVersion returns a text that changes whenever the rules do. It costs
	// little: a receiver asks several times a second.
	RulesVersion(ctx context.Context) (string, error)
	// SetRules adds the rules and replaces those with the same pattern, in one step; one
	// with the Verdict "" is deleted. Patterns are in the form of ParsePattern. The
	// mentions stay as they are, see ApplyRules.
	SetRules(ctx context.Context, rules []Rule) error

	// Work calls verify for each mention when its Due comes, until ctx is done. It
	// works on several mentions at a time, and on each of them once, even if several
	// processes share a store. The change that verify returns is applied in one step.
	// If verify fails, Work calls it again later. Like decide, change may be called
	// again, with the current mention.
	Work(ctx context.Context, verify func(ctx context.Context, m Mention) (change func(*Mention), err error)) error

	// Close closes the store. Call it once all other calls have returned.
	Close() error
}

// Filter selects mentions. Its zero value selects all.
type Filter struct {
	States []State  // any of these
	Action []Action // any of these
	// Target and Source select mentions with such an end: a whole URL, in any
	// spelling, or a host.
	Target, Source string
	Since          time.Time // received at or after this time
	Limit          int       // at most so many
}

// Rule is a rule of moderation: what to do with mentions from some sites.
type Rule struct {
	// Pattern is a host ("example.org", which includes its subdomains), the
	// beginning of a URL ("https://example.org/~spam/", also without TLS), or a
	// block of addresses of peers ("192.0.2.0/24"). The longest one that matches
	// decides. [ParsePattern] returns the form in which it is stored.
	Pattern string
	Verdict Verdict
	Note    string // why, for people
}

// Verdict is what a rule decides.
type Verdict string

// The verdicts.
const (
	Trust Verdict = "trust" // approve once verified
	Hold  Verdict = "hold"  // hold once verified, also for a known author
	Block Verdict = "block" // refuse
)
