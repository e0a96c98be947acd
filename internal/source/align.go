package source

import (
	"cmp"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/similar"
	"github.com/sitelink/sitelink/internal/source/read"
)

// What adds to the weight of a pair, besides matchScore.
const (
	adjacentBonus = 3 // the links before are a pair as well
	sameLabel     = 5
	otherLabel    = -2
	sameElement   = 2
)

// align returns the index of the source's link that each link of the page was
// made of, -1 for none, and the number of pairs.
func align(items []read.Written, addrs []address, links []pageLink) (pairs []int, n int) {
	rows, columns := make([][]similar.Key, len(items)), make([][]similar.Key, len(links))
	for i := range addrs {
		rows[i] = addrs[i].keys()
	}
	for i := range links {
		columns[i] = links[i].addr.keys()
	}
	pairs = similar.Align(rows, columns, func(i, j int) int32 { return pairWeight(&items[i], &addrs[i], &links[j]) }, similar.Options{Adjacent: adjacentBonus})
	used := make([]bool, len(items))
	for _, i := range pairs {
		if i >= 0 {
			used[i] = true
			n++
		}
	}

	// The pairs of an alignment do not cross, so the anchor of one heading can cost a
	// link of the text its pair. Links that are left on both sides, and match nothing
	// else that is left, are a pair too.
	left := map[similar.Key][]int{} // rows that are left, by their keys
	for i := range items {
		if !used[i] {
			for _, k := range rows[i] {
				left[k] = append(left[k], i)
			}
		}
	}
	const none, several = -1, -2
	only := make([]int, len(links))      // the row for each column
	columnsOf := make([]int, len(items)) // how many have each row
	for j := range links {
		only[j] = none
		if l := &links[j]; pairs[j] >= 0 || l.region < 0 {
			continue
		}
		for _, k := range columns[j] {
			for _, i := range left[k] {
				if i == only[j] || pairWeight(&items[i], &addrs[i], &links[j]) == 0 || items[i].Label != links[j].label && items[i].Form != read.FormWord {
					continue
				}
				if only[j] != none {
					only[j] = several
				} else {
					only[j] = i
				}
			}
		}
		if only[j] >= 0 {
			columnsOf[only[j]]++
		}
	}
	for j, i := range only {
		if i >= 0 && columnsOf[i] == 1 {
			pairs[j] = i
			n++
		}
	}
	return pairs, n
}

// pairWeight returns the weight of a pair, 0 if the two cannot be a pair.
func pairWeight(it *read.Written, src *address, l *pageLink) int32 {
	w := matchScore(src, &l.addr)
	if w == noMatch {
		return 0
	}
	switch {
	case it.Element == "" || l.element == "":
	case it.Element == l.element:
		w += sameElement
	case w == nameMatch, it.Element == "meta":
		return 0
	}
	if w <= nameMatch+sameElement && src.isOwnAnchor() && it.Label != l.label {
		return 0
	}
	if it.Label != "" && l.label != "" {
		if it.Label == l.label {
			w += sameLabel
		} else {
			w += otherLabel
		}
	}
	return int32(max(1, w+l.region))
}

// keys returns the keys of an address. Two addresses that match have at least
// one in common.
func (a *address) keys() []similar.Key {
	if a.local == "" {
		return []similar.Key{{Kind: 'e', Text: a.exact}}
	}
	fragment := ""
	if a.fragment != "" {
		fragment = "#" + a.fragment
	}
	keys := append(make([]similar.Key, 0, 6), similar.Key{Kind: 'e', Text: a.exact})
	keys = append(keys, similar.Key{Kind: 'l', Text: a.local}, similar.Key{Kind: 't', Text: a.target})
	if a.local[0] == '/' {
		keys = append(keys, similar.Key{Kind: 'l', Text: a.local[1:]})
	}
	if a.name != "" {
		keys = append(keys, similar.Key{Kind: 'n', Text: a.name + fragment})
	}
	if a.fragment != "" {
		keys = append(keys, similar.Key{Kind: 'a', Text: a.fragment}, similar.Key{Kind: 'e', Text: a.exact[strings.IndexByte(a.exact, '#')+1:]})
	}
	switch {
	case a.file != "":
		keys = append(keys, similar.Key{Kind: 'f', Text: a.file + fragment})
	case a.target != "":
		keys = append(keys, similar.Key{Kind: 'f', Text: cmp.Or(PageKey(a.target), "/") + fragment})
	}
	return keys
}

// onlyMatch returns the offset of the single value of the front matter that
// matches an address, or else of the single link. addrs and matter are their
// addresses.
func (d *document) onlyMatch(a *address, addrs, matter []address) (at int, inMatter, ok bool) {
	n := 0
	for i := range matter {
		if matter[i].exact != "" && matchScore(&matter[i], a) >= targetMatch {
			at = d.Matter[i].At
			n++
		}
	}
	if n > 0 {
		return at, true, n == 1
	}
	for i := range addrs {
		if matchScore(&addrs[i], a) >= targetMatch && (n == 0 || d.Links[i].At != at) {
			at = d.Links[i].At
			n++
		}
	}
	return at, false, n == 1
}

func (m *Map) frontMatterAddresses(d *document, page string) []address {
	all := make([]address, len(d.Matter))
	for i := range d.Matter {
		if d.Matter[i].HoldsLink() {
			all[i] = m.address(d.Matter[i].Text, page)
		}
	}
	return all
}

// addressesIn returns the addresses of the links of a content file, which may
// name other content files relative to it.
func (m *Map) addressesIn(d *document, page string) []address {
	all := m.addresses(d.Links, page)
	from := PageKey(page)
	if stem := strings.TrimSuffix(path.Base(d.file.display), path.Ext(d.file.display)); NameKey(stem) == "" {
		from += "/" + stem // the index of a directory
	}
	for i := range all {
		if a := &all[i]; a.local != "" {
			a.file = fileKey(a.local, from)
		}
	}
	return all
}

func (m *Map) addresses(items []read.Written, page string) []address {
	all := make([]address, len(items))
	for i := range items {
		all[i] = m.address(items[i].Value, page)
	}
	return all
}

// fileKey returns the key of the content file that a destination names in the
// file with the key from, see address.
func fileKey(local, from string) string {
	p, _, _ := strings.Cut(local, "#")
	p, _, _ = strings.Cut(p, "?")
	if !read.IsContent(p) || p[0] == '/' || path.Base(p) == path.Ext(p) {
		return ""
	}
	p = path.Join("/", path.Dir(from), p)
	if key := NameKey(strings.TrimSuffix(p[1:], path.Ext(p))); key != "" {
		return key
	}
	return "/"
}
