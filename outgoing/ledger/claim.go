package ledger

import (
	"slices"
	"time"
)

// due returns up to limit open notices that may be tried at now, sorted by key.
func (b *book) due(now time.Time, limit int, free func(*Notice) bool) []Notice {
	var all []Notice
	for _, n := range b.notices {
		if n.Open() && !n.Next.After(now) && free(&n) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, compareNotices)
	return all[:min(limit, len(all))]
}

// whole brings the times of a notice to what a ledger keeps.
func (n Notice) whole() Notice {
	n.Tried = n.Tried.UTC().Truncate(time.Second)
	n.Next = n.Next.UTC().Truncate(time.Second)
	n.Lease = n.Lease.UTC().Truncate(time.Second)
	return n
}

func (c Change) whole() Change {
	notices := make([]Notice, len(c.Notices))
	for i, n := range c.Notices {
		notices[i] = n.whole()
	}
	c.Notices = notices
	return c
}
