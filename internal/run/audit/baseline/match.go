package baseline

import (
	"slices"

	"github.com/sitelink/sitelink/check"
)

// Match is the comparison of a baseline with one run.
type Match struct {
	// Accepted reports, for each finding of the run, whether it is accepted. See
	// [check.Result.Accept].
	Accepted []bool
	// Expired holds, for each finding of the run, the entry that accepted it
	// until its date passed; nil for all others.
	Expired []*Entry
	// Unneeded are the entries that match no finding any more, sorted.
	Unneeded []Entry
	// IDs are the fingerprints of the findings.
	IDs []string
}

// Match compares b with all findings of a run, in its order. An entry that has
// expired accepts nothing.
//
// seen reports whether the run could have found what an entry accepts: if a run
// leaves fragments out, entries about fragments are not unneeded. nil means that
// it could. Entries about a page that the run could not read are never unneeded.
func (b *List) Match(findings []check.Finding, today Date, seen func(*Entry) bool) Match {
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

// Update is a baseline that was brought up to date, and what changed.
type Update struct {
	Baseline *List
	// Dropped counts the entries that were no longer needed, Added the findings
	// that are accepted from now on, Renewed the expired entries with a new date,
	// and Expired those that still need a decision.
	Dropped, Added, Renewed, Expired int
}

// Update returns b without the entries that m found unneeded. findings are those
// that m was made from. The entries that stay describe the findings as they are
// now.
//
// With add, Update adds the findings that b does not accept, on these terms. It
// renews an expired entry only if terms has a date: a forgotten date must not
// accept a finding permanently.
func (b *List) Update(findings []check.Finding, m Match, add bool, terms Terms) Update {
	u := Update{Baseline: &List{entries: make(map[string]Entry, len(b.entries))}, Dropped: len(m.Unneeded)}
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
