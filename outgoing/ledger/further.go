package ledger

import (
	"bytes"
	"cmp"
)

// Two rows for the same thing come from a merge of two branches. The choice
// between them depends on the rows alone, not on which stands first, so that
// every clone comes to the same file.

// further returns the notice that has come further. Of notices for the same
// event of the same entry that is the one tried last. Else one that is still
// open counts: a target that is told twice has no harm, one that is never told
// misses a link.
func further(a, b Notice) Notice {
	order := 0
	if a.Event == b.Event && a.Hash == b.Hash {
		order = cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), a.Tried.Compare(b.Tried), cmp.Compare(a.Attempts, b.Attempts))
		if a.Open() == b.Open() {
			order = cmp.Or(a.Tried.Compare(b.Tried), cmp.Compare(a.Attempts, b.Attempts), order)
		}
	} else {
		order = cmp.Or(boolean(a.Open(), b.Open()), a.Tried.Compare(b.Tried))
	}
	order = cmp.Or(order, a.Lease.Compare(b.Lease), bytes.Compare(appendNotice(nil, &a), appendNotice(nil, &b)))
	if order < 0 {
		return b
	}
	return a
}

// rank orders the states from the beginning of a delivery to its end.
func rank(s State) int {
	switch s {
	case Pending:
		return 0
	case InFlight:
		return 1
	case Retry:
		return 2
	}
	return 3
}

// furtherPage prefers the page that is still there: the next deploy compares
// it with the site, and finds out if it has gone.
func furtherPage(a, b Page) Page {
	if cmp.Or(boolean(!a.Gone, !b.Gone), bytes.Compare(appendPage(nil, &a), appendPage(nil, &b))) < 0 {
		return b
	}
	return a
}

func furtherPeer(a, b Peer) Peer {
	if a.Until.Before(b.Until) {
		return b
	}
	return a
}

func boolean(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
