package source

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
	neighbours   = 3 // the pair before it is a pair, too
	sameLabel    = 5
	otherLabel   = -2
	sameElement  = 2
	maxAlignment = 4 << 20 // cells; beyond that only what fits anywhere counts
)

// align finds which item of a source each link of its page was made of: the
// heaviest common subsequence, in which a run of links that follow each other
// on both sides weighs more than the same links in several places. So repeated
// and generated links do not shift what comes after them. The result has the
// index of the item for each link, or -1, and the number of pairs.
//
// The time is that of len(items) times len(links); both are first reduced to
// those that fit anything at all.
func align(items []item, addrs []address, links []pageLink) (pairs []int, n int) {
	pairs = make([]int, len(links))
	for i := range pairs {
		pairs[i] = -1
	}
	rows, columns := candidates(addrs, links)
	if len(rows) == 0 || len(columns) == 0 {
		return pairs, 0
	}
	if len(rows)*len(columns) > maxAlignment {
		return greedy(rows, columns, addrs, links, pairs)
	}
	width := len(columns) + 1
	best := make([]int32, (len(rows)+1)*width) // weight of the best alignment up to here
	ends := make([]int32, (len(rows)+1)*width) // the same, where the last two are a pair; 0 when they cannot be
	from := make([]bool, (len(rows)+1)*width)  // whether the pair before that one is its neighbour
	for i := 1; i <= len(rows); i++ {
		for j := 1; j <= len(columns); j++ {
			at, diagonal := i*width+j, (i-1)*width+j-1
			if w := weigh(&items[rows[i-1]], &addrs[rows[i-1]], &links[columns[j-1]]); w > 0 {
				ends[at] = best[diagonal] + w
				if ends[diagonal] > 0 && ends[diagonal]+neighbours > best[diagonal] {
					ends[at], from[at] = ends[diagonal]+neighbours+w, true
				}
			}
			best[at] = max(ends[at], best[at-1], best[at-width])
		}
	}
	inRun := false
	for i, j := len(rows), len(columns); i > 0 && j > 0; {
		at := i*width + j
		switch {
		case inRun || best[at] == ends[at] && ends[at] > best[at-1] && ends[at] >= best[at-width]:
			pairs[columns[j-1]] = rows[i-1]
			n++
			inRun = from[at]
			i, j = i-1, j-1
		case best[at-1] >= best[at-width]:
			j--
		default:
			i--
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

// candidates returns the items and links that fit anything on the other side.
func candidates(addrs []address, links []pageLink) (rows, columns []int) {
	type key struct {
		kind byte
		text string
	}
	keys := func(a *address, f func(key)) {
		f(key{'e', a.exact})
		if a.local != "" {
			f(key{'l', a.local})
			if a.local[0] == '/' {
				f(key{'l', a.local[1:]})
			}
			f(key{'t', a.target})
			if a.name != "" {
				f(key{'n', a.name + "#" + a.fragment})
			}
		}
	}
	theirs, ours := map[key]bool{}, map[key]bool{}
	for i := range links {
		keys(&links[i].addr, func(k key) { theirs[k] = true })
	}
	for i := range addrs {
		keys(&addrs[i], func(k key) { ours[k] = true })
	}
	for i := range addrs {
		hit := false
		keys(&addrs[i], func(k key) { hit = hit || theirs[k] })
		if hit {
			rows = append(rows, i)
		}
	}
	for j := range links {
		hit := false
		keys(&links[j].addr, func(k key) { hit = hit || ours[k] })
		if hit {
			columns = append(columns, j)
		}
	}
	return rows, columns
}

// greedy pairs the n-th of equal destinations with the n-th, for pages so
// large that nothing better can be paid for.
func greedy(rows, columns []int, addrs []address, links []pageLink, pairs []int) ([]int, int) {
	byDest := map[string][]int{}
	for _, r := range rows {
		byDest[addrs[r].exact] = append(byDest[addrs[r].exact], r)
	}
	total := map[string]int{}
	for _, c := range columns {
		total[links[c].addr.exact]++
	}
	n := 0
	for _, c := range columns {
		dest := links[c].addr.exact
		// Generated links stand before and after: only equal numbers are sure.
		if left := byDest[dest]; len(left) > 0 && total[dest] >= 0 {
			if total[dest] != len(left) && pairs[c] < 0 {
				total[dest] = -1
				continue
			}
			pairs[c], byDest[dest] = left[0], left[1:]
			total[dest]--
			n++
		}
	}
	return pairs, n
}
