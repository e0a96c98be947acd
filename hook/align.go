package hook

import "slices"

// maxCells bounds the table of [align]: 4,096 links of a source on a page that
// repeats each of them, and 16 MiB.
const maxCells = 1 << 24

// align pairs the links of a source with the links of a page: both are lists
// of values, in order, and a longest common subsequence of them pairs n-th with
// n-th wherever the page has nothing else of the same value. It returns for
// each link of the page the index of its link in the source, -1 for none.
//
// Where several subsequences are as long, sure leaves out the links that not
// all of them pair alike, of those the first and the last one; without sure the
// first one counts.
func align(page, source []string, sure bool) []int {
	pairs := make([]int, len(page))
	for i := range pairs {
		pairs[i] = -1
	}
	// What occurs on one side only can have no partner; menus and the like go
	// here, so that the table is about as large as the source squared.
	ps, ss := common(page, source), common(source, page)
	if len(ps) == 0 {
		return pairs
	}
	a, b := pick(page, ps), pick(source, ss)
	var found []int
	if (len(a)+1)*(len(b)+1) > maxCells {
		found = byCount(a, b)
	} else {
		found = first(a, b)
		if sure {
			// The first one of the lists read backwards is the last one.
			slices.Reverse(a)
			slices.Reverse(b)
			last := first(a, b)
			slices.Reverse(last)
			for i, j := range last {
				if j >= 0 {
					j = len(b) - 1 - j
				}
				if found[i] != j {
					found[i] = -1
				}
			}
		}
	}
	for i, j := range found {
		if j >= 0 {
			pairs[ps[i]] = ss[j]
		}
	}
	return pairs
}

// common returns the indexes of the values of a that b has, too.
func common(a, b []string) []int {
	has := make(map[string]bool, len(b))
	for _, v := range b {
		has[v] = true
	}
	var out []int
	for i, v := range a {
		if has[v] {
			out = append(out, i)
		}
	}
	return out
}

func pick(values []string, at []int) []string {
	out := make([]string, len(at))
	for i, j := range at {
		out[i] = values[j]
	}
	return out
}

// first returns for each value of a its partner in b by the longest common
// subsequence that takes its pairs as early as it can, -1 for none.
func first(a, b []string) []int {
	const down, right, both = 0, 1, 2
	width := len(b) + 1
	step := make([]byte, (len(a)+1)*width) // the way to go from (i, j)
	next, here := make([]uint32, width), make([]uint32, width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			switch {
			case a[i] == b[j]:
				// Equal values at the front are always part of a longest one.
				here[j], step[i*width+j] = next[j+1]+1, both
			case next[j] >= here[j+1]:
				here[j], step[i*width+j] = next[j], down
			default:
				here[j], step[i*width+j] = here[j+1], right
			}
		}
		next, here = here, next
	}
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch step[i*width+j] {
		case both:
			out[i] = j
			i, j = i+1, j+1
		case down:
			i++
		default:
			j++
		}
	}
	return out
}

// byCount pairs n-th with n-th the values that both lists have equally often.
// It takes the place of [first] on lists that are too long for it.
func byCount(a, b []string) []int {
	count := map[string]int{}
	places := map[string][]int{}
	for _, v := range a {
		count[v]++
	}
	for j, v := range b {
		places[v] = append(places[v], j)
	}
	out := make([]int, len(a))
	seen := map[string]int{}
	for i, v := range a {
		out[i] = -1
		if count[v] == len(places[v]) {
			out[i] = places[v][seen[v]]
			seen[v]++
		}
	}
	return out
}
