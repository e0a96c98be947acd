package source

import aligner "github.com/sitelink/sitelink/internal/align"

// pageLink is one link of a page, prepared for comparing.
type pageLink struct {
	offset  int64
	raw     string
	element string
	label   string
	addr    address
	// region says whether the place in the page speaks for the author's text
	// (above 0) or for navigation (below).
	region int
}

// What speaks for a pair, beside the fit of the destinations.
const (
	neighbours  = 3 // the pair before it is a pair, too
	sameLabel   = 5
	otherLabel  = -2
	sameElement = 2
)

// align returns the index of the item that each link was made of, -1 for none,
// and the number of pairs.
func align(items []item, addrs []address, links []pageLink) (pairs []int, n int) {
	rows, columns := make([][]aligner.Key, len(items)), make([][]aligner.Key, len(links))
	for i := range addrs {
		rows[i] = addrs[i].keys()
	}
	for i := range links {
		columns[i] = links[i].addr.keys()
	}
	pairs = aligner.Pairs(rows, columns, func(i, j int) int32 { return weigh(&items[i], &addrs[i], &links[j]) }, aligner.Options{Adjacent: neighbours})
	for _, i := range pairs {
		if i >= 0 {
			n++
		}
	}
	return pairs, n
}

// weigh says how much speaks for a pair, 0 if nothing does.
func weigh(it *item, src *address, l *pageLink) int32 {
	w := fits(src, &l.addr)
	if w == noMatch {
		return 0
	}
	switch {
	case it.element == "" || l.element == "":
	case it.element == l.element:
		w += sameElement
	case w == nameMatch:
		return 0
	}
	if it.label != "" && l.label != "" {
		if it.label == l.label {
			w += sameLabel
		} else {
			w += otherLabel
		}
	}
	return int32(max(1, w+l.region))
}

// keys returns what two addresses that fit have in common: at least one of these.
func (a *address) keys() []aligner.Key {
	keys := []aligner.Key{{Kind: 'e', Text: a.exact}}
	if a.local == "" {
		return keys
	}
	keys = append(keys, aligner.Key{Kind: 'l', Text: a.local}, aligner.Key{Kind: 't', Text: a.target})
	if a.local[0] == '/' {
		keys = append(keys, aligner.Key{Kind: 'l', Text: a.local[1:]})
	}
	if a.name != "" {
		keys = append(keys, aligner.Key{Kind: 'n', Text: a.name + "#" + a.fragment})
	}
	return keys
}
