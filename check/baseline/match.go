package baseline

import (
	"slices"

	"github.com/sitelink/sitelink/check"
)

// Match is what a baseline says of one run.
type Match struct {
	// Accepted tells, for each finding of the run, whether it is accepted.
	Accepted []bool
	// Expired holds, for each finding of the run, the entry that accepted it
	// until its date passed; nil for all others.
	Expired []*Entry
	// Unneeded are the entries that no finding needs any more, sorted.
	Unneeded []Entry
	// IDs are the fingerprints of the findings.
	IDs []string
}

// Match compares b with all findings of a run, in its order. An entry whose
// day has passed on today accepts nothing.
//
// seen tells whether the run would have found what the entry stands for: an
// entry about fragments is not unneeded because a run left fragments out. nil
// means that it would. What stands on a page that the run could not read is
// never unneeded.
func (b *Baseline) Match(findings []check.Finding, today Date, seen func(*Entry) bool) Match {
	m := Match{
		Accepted: make([]bool, len(findings)),
		Expired:  make([]*Entry, len(findings)),
		IDs:      check.Fingerprints(findings),
	}
	needed := make(map[string]bool, min(len(findings), len(b.entries)))
	unread := map[string]bool{}
	for i := range findings {
		switch findings[i].Code {
		case check.ReadError, check.TooLarge, check.Changed:
			unread[findings[i].Page] = true
		}
		e, ok := b.entries[m.IDs[i]]
		if !ok {
			continue
		}
		needed[e.ID] = true
		if e.Expired(today) {
			m.Expired[i] = &e
		} else {
			m.Accepted[i] = true
		}
	}
	for id, e := range b.entries {
		if !needed[id] && !unread[e.Page] && (seen == nil || seen(&e)) {
			m.Unneeded = append(m.Unneeded, e)
		}
	}
	slices.SortFunc(m.Unneeded, compareEntries)
	return m
}

// Update is a baseline brought up to date, and what changed.
type Update struct {
	Baseline *Baseline
	// Dropped entries were no longer needed. Added findings are accepted from
	// now on. Renewed entries had expired and got a new date. Expired ones
	// still wait for a decision.
	Dropped, Added, Renewed, Expired int
}

// Update returns b without the entries that m found unneeded, where findings
// are those that m was made from. The entries that stay describe the findings
// as they are now.
//
// With add, the findings that b does not accept are added on these terms. An
// entry that has expired is renewed only if terms names a date: nothing becomes
// accepted for good because somebody forgot to say for how long.
func (b *Baseline) Update(findings []check.Finding, m Match, add bool, terms Terms) Update {
	u := Update{Baseline: &Baseline{entries: make(map[string]Entry, len(b.entries))}, Dropped: len(m.Unneeded)}
	for _, e := range b.entries {
		u.Baseline.add(e)
	}
	for _, e := range m.Unneeded {
		delete(u.Baseline.entries, e.ID)
	}
	for i := range findings {
		e := entryOf(&findings[i], m.IDs[i])
		have, known := b.entries[e.ID]
		e.Expires, e.Reason = have.Expires, have.Reason
		switch {
		case m.Expired[i] != nil && add && terms.Expires != "":
			u.Renewed++
			e.Expires = terms.Expires
			if terms.Reason != "" {
				e.Reason = terms.Reason
			}
		case m.Expired[i] != nil:
			u.Expired++
		case !known && !add:
			continue
		case !known:
			u.Added++
			e.Expires, e.Reason = terms.Expires, terms.Reason
		}
		u.Baseline.entries[e.ID] = e
	}
	return u
}
