package ledger

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Merge merges three states of a ledger as a git merge driver does, and writes
// the result to w. It cannot conflict: if only one side changed a row, its change
// is taken; if both did, the more advanced row is (docs/reference/ledger.md). names are for
// messages. The warnings are about the lines of both sides.
func Merge(w io.Writer, base, ours, theirs []byte, names [3]string) ([]Warning, error) {
	var sides [3]*parsed
	var warnings []Warning
	for i, text := range [][]byte{base, ours, theirs} {
		p, err := parse(names[i], string(text))
		if err != nil {
			return nil, err
		}
		sides[i] = p
		if i > 0 {
			warnings = append(warnings, p.warnings...)
			if missing := p.missing(); len(missing) > 0 {
				warnings = append(warnings, Warning{File: names[i], Message: "it has lost rows: " + strings.Join(missing, ", "), Lost: true})
			}
		}
	}
	if was, a, b := sides[0].base, sides[1].base, sides[2].base; !SameSite(a, b) && a != "" && b != "" && a != was && b != was {
		return warnings, fmt.Errorf("merge %s: it belongs to the site %s, but the other side belongs to %s", names[1], a, b)
	}
	return warnings, merge3(sides[0].records, sides[1].records, sides[2].records).write(w)
}

// merge3 merges two states that both come from base. The site is that of the newest
// baseline: of the side that changed it. Of two such sides it is theirs, which a store
// with a remote has pushed later.
func merge3(base, ours, theirs *records) *records {
	m := newRecords()
	m.base = ours.base
	if ours.base == "" || theirs.base != "" && theirs.base != base.base {
		m.base = theirs.base
	}
	m.pages = mergeRows([3][]Page{base.pages, ours.pages, theirs.pages}, func(p Page) string { return p.URL }, preferPage, comparePages)
	m.links = mergeRows([3][]Link{base.links, ours.links, theirs.links}, func(l Link) Link { return l }, func(a, _ Link) Link { return a }, compareLinks)
	m.unsupported = mergeRows([3][]UnsupportedHost{base.unsupported, ours.unsupported, theirs.unsupported},
		func(h UnsupportedHost) Key { return Key{Source: h.Origin, Protocol: h.Protocol} }, preferHost, compareHosts)
	mergeMaps(m.notices, [3]map[Key]Notice{base.notices, ours.notices, theirs.notices}, preferNotice, equalNotices)
	m.dropDuplicates()
	return m
}

// mergeRows merges base, ours and theirs, in this order, into a sorted list.
func mergeRows[K comparable, T comparable](sides [3][]T, key func(T) K, prefer func(a, b T) T, compare func(a, b T) int) []T {
	index := func(rows []T) map[K]T {
		m := make(map[K]T, len(rows))
		for _, r := range rows {
			m[key(r)] = r
		}
		return m
	}
	all := map[K]T{}
	mergeMaps(all, [3]map[K]T{index(sides[0]), index(sides[1]), index(sides[2])}, prefer, func(a, b T) bool { return a == b })
	return slices.SortedFunc(maps.Values(all), compare)
}

// mergeMaps merges base, ours and theirs, in this order, into a map.
func mergeMaps[K comparable, T any](into map[K]T, sides [3]map[K]T, prefer func(a, b T) T, equal func(a, b T) bool) {
	base, ours, theirs := sides[0], sides[1], sides[2]
	for k, our := range ours {
		their, inTheirs := theirs[k]
		before, inBase := base[k]
		switch {
		case !inTheirs && inBase && equal(our, before): // they removed a row that we left unchanged
		case !inTheirs:
			into[k] = our
		case inBase && equal(our, before):
			into[k] = their
		case inBase && equal(their, before):
			into[k] = our
		default:
			into[k] = prefer(our, their)
		}
	}
	for k, their := range theirs {
		if _, inOurs := ours[k]; inOurs {
			continue
		}
		if before, inBase := base[k]; !inBase || !equal(their, before) {
			into[k] = their
		}
	}
}

// The prefer functions choose one of two rows with the same key. Such rows come
// from two branches. The choice depends on the rows only, not on their order, so
// that every clone gets the same file.

// preferNotice returns the more advanced notice. For the same event of the same
// content that is the one tried last. Otherwise it is an open one: a target that
// gets a notice twice is not harmed, but one that gets none misses a link.
func preferNotice(a, b Notice) Notice {
	order := 0
	if a.Event == b.Event && a.Hash == b.Hash {
		order = cmp.Or(cmp.Compare(progress(a.State), progress(b.State)), a.Tried.Compare(b.Tried), cmp.Compare(a.Attempts, b.Attempts))
		if a.Open() == b.Open() {
			order = cmp.Or(a.Tried.Compare(b.Tried), cmp.Compare(a.Attempts, b.Attempts), order)
		}
	} else {
		order = cmp.Or(compareBool(a.Open(), b.Open()), a.Tried.Compare(b.Tried))
	}
	if order = cmp.Or(order, a.Lease.Compare(b.Lease)); order == 0 {
		order = strings.Compare(rowText(a), rowText(b))
	}
	if order < 0 {
		return b
	}
	return a
}

// progress orders the states from the start of a delivery to its end.
func progress(s State) int {
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

// preferPage returns the page that still exists: if it is in fact gone, the next
// deploy finds out.
func preferPage(a, b Page) Page {
	if cmp.Or(compareBool(!a.Gone, !b.Gone), strings.Compare(rowText(a), rowText(b))) < 0 {
		return b
	}
	return a
}

func preferHost(a, b UnsupportedHost) UnsupportedHost {
	if a.Until.Before(b.Until) {
		return b
	}
	return a
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// equalNotices reports whether two notices have the same row.
func equalNotices(a, b Notice) bool {
	if a.Fault != nil && b.Fault != nil && *a.Fault == *b.Fault {
		b.Fault = a.Fault
	}
	return a == b
}

// dropDuplicates drops notices of AnyProtocol if another runner or branch has
// delivered the same event of the same content with a protocol, so that it is
// sent once.
func (b *records) dropDuplicates() {
	for k, n := range b.notices {
		if k.Protocol != AnyProtocol {
			continue
		}
		for _, p := range []Protocol{Webmention, Pingback} {
			other, ok := b.notices[Key{k.Source, k.Target, p}]
			if ok && other.Event == n.Event && other.Hash == n.Hash && n.Hash != "" {
				delete(b.notices, k)
				break
			}
		}
	}
}
