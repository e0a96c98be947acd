package source

import (
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/source/read"
)

// Weights of a pair of a row and a link.
const (
	sameAddress  = 12
	endOfAddress = 6 // the template put something before it
	entryLabel   = 5
)

// minEnds is how many links of a run must end with the rows of a file, if the
// labels do not show that they belong together.
const minEnds = 3

// weight returns how well a row fits a link, and whether their labels are
// equal; 0 for a version that is not in the link's text. whole reports that the row has all that the actions wrote.
func (r *dataRow) weight(l *runLink, whole bool) (w int, labelled bool) {
	w = endOfAddress
	if r.IsVersion { // the text of the link, too
		if !strings.HasPrefix(l.label, read.PlainLabel(r.Text)) {
			return 0, false
		}
		return entryLabel, false
	}
	if whole {
		w = sameAddress
	}
	if l.label != "" && (slices.Contains(r.Labels, l.label) || strings.Contains(r.Same, l.label) && l.label != read.PlainLabel(r.Text)) {
		return w + entryLabel, true
	}
	return w, false
}

// dataMatch is how well a data file fits a run.
type dataMatch struct {
	file     *templateFile
	rows     []rowMatch // by the index of the link
	distinct int        // rows that fit best
	score    int
	// votes are the parts of the addresses of the run that belong to the file: by a line
	// of another data file that maps them to its name, and by its name.
	votes func() [2]int
}

// rowMatch is the row of a file that fits a link best. If several do, they are
// in the order of the file.
type rowMatch struct {
	rows     []*dataRow
	weight   int
	labelled bool
}

// placeRun finds the rows that the links of a run were made of: those of the
// file that has most of them. Example: of the links /docs/v1/a and /docs/v1/b, both are
// placed in the file with the rows "url: /a" and "url: /b", and not in one that has
// only the first.
func (x *templateIndex) placeRun(r *linkRun) {
	r.placed = true
	r.places = make([]*Position, len(r.links))
	data, byFile := x.data(), map[*templateFile]*dataMatch{}
	var files []*dataMatch
	same := map[string]int{}     // how many links of the run have a hole
	segments := map[string]int{} // how often a part of an address occurs in the run
	for j := range r.links {
		l := &r.links[j]
		same[l.hole]++
		for s := range strings.SplitSeq(strings.Trim(l.hole, "/"), "/") {
			segments[s]++
		}
		for rest, whole := read.NormalPath(l.hole), true; rest != ""; whole = false {
			for _, d := range data[rest] {
				w, labelled := d.weight(l, whole)
				if w == 0 {
					continue
				}
				of := byFile[d.file]
				if of == nil {
					of = &dataMatch{file: d.file, rows: make([]rowMatch, len(r.links)), votes: sync.OnceValue(func() (votes [2]int) {
						stem := stemOf(d.file.name)
						name := dashed(stem)
						for s, n := range segments {
							if x.stems()[s] == stem {
								votes[0] += n
							}
							if part := x.dashed.get(s, func() string { return dashed(s) }); len(part) > 3 && strings.Contains(name, part) {
								votes[1] += n
							}
						}
						return votes
					})}
					byFile[d.file] = of
					files = append(files, of)
				}
				switch best := &of.rows[j]; {
				case w > best.weight:
					*best = rowMatch{append(best.rows[:0], d), w, labelled}
				case w == best.weight:
					best.rows = append(best.rows, d)
				}
			}
			_, rest, _ = strings.Cut(rest, "/")
		}
	}
	for _, of := range files {
		rows := map[*dataRow]bool{}
		for _, match := range of.rows {
			if of.score += match.weight; match.weight > 0 {
				rows[match.rows[0]] = true
			}
		}
		of.distinct = len(rows)
	}
	seen, expression := map[string]int{}, dashed(r.expression)
	for j := range r.links {
		hole := r.links[j].hole
		nth := seen[hole]
		seen[hole]++
		of := likeliest(files, j, len(r.links))
		if of == nil {
			continue
		}
		rows := of.rows[j].rows
		// {{ site.data.social.twitter }} and {{ range site.Menus.main }} name one of several.
		for _, name := range []func(*dataRow) string{func(d *dataRow) string { return d.Key }, func(d *dataRow) string { return d.In }} {
			if len(rows) > 1 {
				if named := slices.DeleteFunc(slices.Clone(rows), func(d *dataRow) bool { return !strings.Contains(expression, dashed(name(d))) }); len(named) > 0 {
					rows = named
				}
			}
		}
		switch len(rows) {
		case 1:
			r.places[j] = of.file.position(rows[0].At)
		default:
			// The entries are equal. A template may write all of them several times.
			if same[hole]%len(rows) == 0 && !rows[0].IsVersion {
				r.places[j] = of.file.position(rows[nth%len(rows)].At)
			}
		}
	}
}

// likeliest returns the file that has a link of a run and fits the whole run of
// n links best. If several fit equally well, the project may say which one
// belongs to it: by lines that map parts of the addresses to the file's name, or
// by the name itself. Example: /docs/v1.2/a is in v1-2-toc.yml and not in main-toc.yml
// if another data file has the line "v1.2: v1-2-toc", or because of the name.
func likeliest(files []*dataMatch, link, n int) *dataMatch {
	var best []*dataMatch
	for _, of := range files {
		match := &of.rows[link]
		most := 2*of.distinct >= n
		if match.weight == 0 || !match.labelled && !(most && (of.distinct >= minEnds || match.weight >= sameAddress)) {
			continue
		}
		switch {
		case len(best) == 0 || of.score > best[0].score:
			best = append(best[:0], of)
		case of.score == best[0].score:
			best = append(best, of)
		}
	}
	if len(best) == 1 {
		return best[0]
	}
	for kind := range 2 {
		var first *dataMatch
		most, tie := 0, false
		for _, of := range best {
			switch votes := of.votes()[kind]; {
			case votes > most:
				first, most, tie = of, votes, false
			case votes == most:
				tie = true
			}
		}
		if first != nil && !tie {
			return first
		}
	}
	return nil
}
