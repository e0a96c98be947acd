package similar

import "slices"

// Key is something that two elements must have in common to form a pair.
type Key struct {
	Kind byte
	Text string
}

// Options change what counts as the best alignment.
type Options struct {
	// Adjacent is added to the weight of a pair if the elements before it, on
	// both sides, are a pair as well. Elements without a possible partner are
	// left out first. It prefers one run of links to the same links in several
	// places.
	Adjacent int32
	// Unique leaves out the pairs that differ between the first and the last of
	// several alignments with the same weight.
	Unique bool
}

// maxCells bounds the table of the alignment: 2,896 rows for as many columns,
// and 8 MiB.
const maxCells = 8 << 20

// Align pairs the elements of two lists that keep their order, such as the links of a source text and the links of the
// page that was made of it. It finds the heaviest common subsequence. Elements that have no possible partner cost nothing,
// so that the navigation and other generated links of a page hardly matter.
//
// Align returns the row that each column is paired with, -1 for none. rows and
// columns list the keys of each element. weight returns the weight of a pair, 0
// if the two cannot be a pair; it is called only for elements with a common key.
//
// If the lists are too long for a table, the n-th row and the n-th column with
// the same first key are a pair, provided that both sides have it equally often.
//
// The time is proportional to the number of remaining rows times columns.
func Align(rows, columns [][]Key, weight func(row, column int) int32, opt Options) []int {
	pairs := make([]int, len(columns))
	for i := range pairs {
		pairs[i] = -1
	}
	rowKeys, columnKeys, count := numbered(rows, columns)
	rs, cs := alignable(rowKeys, columnKeys, count)
	if len(rs) == 0 || len(cs) == 0 {
		return pairs
	}
	if len(rs)*len(cs) > maxCells {
		byCount(pairs, rows, columns)
		return pairs
	}
	n, m := len(rs), len(cs)
	with := make([]int, count)                         // the last entry with each key
	entries := make([]struct{ column, before int }, 1) // the one before with the same key, 0 for none
	for j, c := range cs {
		for _, k := range columnKeys[c] {
			entries = append(entries, struct{ column, before int }{j, with[k]})
			with[k] = len(entries) - 1
		}
	}
	weigh := func(i int, weights []int32) {
		for _, k := range rowKeys[rs[i]] {
			for e := with[k]; e > 0; e = entries[e].before {
				if j := entries[e].column; weights[j] == 0 {
					weights[j] = weight(rs[i], cs[j])
				}
			}
		}
	}
	found := heaviest(n, m, weigh, opt.Adjacent)
	if opt.Unique {
		// Backwards, the first alignment is the last one.
		last := heaviest(n, m, func(i int, weights []int32) {
			weigh(n-1-i, weights)
			slices.Reverse(weights)
		}, opt.Adjacent)
		slices.Reverse(last)
		for j, i := range last {
			if found[j] >= 0 && found[j] != n-1-i {
				found[j] = -1
			}
		}
	}
	for j, i := range found {
		if i >= 0 {
			pairs[cs[j]] = rs[i]
		}
	}
	return pairs
}

// numbered returns the keys as numbers below count. Those of columns that no row has are left
// out.
func numbered(rows, columns [][]Key) (rowKeys, columnKeys [][]int, count int) {
	numbers := make(map[Key]int, 6*len(rows))
	number := func(lists [][]Key, add bool) [][]int {
		all := make([][]int, len(lists))
		for i, keys := range lists {
			all[i] = make([]int, 0, len(keys))
			for _, k := range keys {
				n, ok := numbers[k]
				if !ok && add {
					n, ok = len(numbers), true
					numbers[k] = n
				}
				if ok {
					all[i] = append(all[i], n)
				}
			}
		}
		return all
	}
	rowKeys, columnKeys = number(rows, true), number(columns, false)
	return rowKeys, columnKeys, len(numbers)
}

// alignable returns the indexes of the rows and columns that share a key with one
// on the other side.
func alignable(rows, columns [][]int, count int) (rs, cs []int) {
	shared := make([]bool, count)
	for i, keys := range columns {
		for _, k := range keys {
			shared[k] = true
		}
		if len(keys) > 0 {
			cs = append(cs, i)
		}
	}
	for i, keys := range rows {
		if slices.ContainsFunc(keys, func(k int) bool { return shared[k] }) {
			rs = append(rs, i)
		}
	}
	return rs, cs
}

// heaviest returns the row for each of m columns by the heaviest alignment with n
// rows, -1 for none.
func heaviest(n, m int, weigh func(i int, weights []int32), adjacent int32) []int {
	// A step says how the best alignment of the first i rows and j columns ends.
	const (
		up   = iota // row i has no partner
		left        // column j has no partner
		pair        // they are a pair
		run  = 4    // a flag: if they are a pair, so are the two before them
	)
	width := m + 1
	steps := make([]byte, (n+1)*width)
	// total is the weight of the best alignment up to here, paired the same if
	// it ends with a pair; 0 when the two cannot be one. Each is one row.
	total, above := make([]int32, width), make([]int32, width)
	paired, pairedAbove := make([]int32, width), make([]int32, width)
	weights := make([]int32, m)
	for i := 1; i <= n; i++ {
		clear(weights)
		weigh(i-1, weights)
		for j := 1; j <= m; j++ {
			step := &steps[i*width+j]
			paired[j] = 0
			if w := weights[j-1]; w > 0 {
				paired[j] = above[j-1] + w
				if pairedAbove[j-1] > 0 && pairedAbove[j-1]+adjacent > above[j-1] {
					paired[j], *step = pairedAbove[j-1]+adjacent+w, run
				}
			}
			total[j] = max(paired[j], total[j-1], above[j])
			switch {
			case paired[j] > total[j-1] && paired[j] >= above[j]:
				*step |= pair
			case total[j-1] >= above[j]:
				*step |= left
			}
		}
		total, above = above, total
		paired, pairedAbove = pairedAbove, paired
	}
	rowOf := make([]int, m)
	for j := range rowOf {
		rowOf[j] = -1
	}
	inRun := false
	for i, j := n, m; i > 0 && j > 0; {
		switch step := steps[i*width+j]; {
		case inRun || step&^run == pair:
			rowOf[j-1] = i - 1
			inRun = step&run != 0
			i, j = i-1, j-1
		case step&^run == left:
			j--
		default:
			i--
		}
	}
	return rowOf
}

// byCount pairs elements by their first key, where both sides have it equally
// often.
func byCount(pairs []int, rows, columns [][]Key) {
	rowsOf := map[Key][]int{}
	count := map[Key]int{}
	for i, keys := range rows {
		rowsOf[keys[0]] = append(rowsOf[keys[0]], i)
	}
	for _, keys := range columns {
		count[keys[0]]++
	}
	for j, keys := range columns {
		if rows := rowsOf[keys[0]]; len(rows) == count[keys[0]] {
			pairs[j], rowsOf[keys[0]] = rows[0], rows[1:]
			count[keys[0]]--
		}
	}
}
