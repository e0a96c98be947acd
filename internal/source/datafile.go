package source

import (
	"path"
	"regexp"
	"slices"
	"strings"

	aligner "github.com/sitelink/sitelink/internal/align"
)

// dataRow is a value of a data or configuration file that may be an address.
type dataRow struct {
	value
	line int
	norm string // see normalPath
	// labels are the texts on the lines around it that belong to the same entry.
	labels []string
	same   string // the letters of its own line
}

// rows returns the addresses in a data or configuration file.
func (f *templateFile) rows() []dataRow {
	if f.dataRows != nil {
		return f.dataRows
	}
	f.dataRows = []dataRow{}
	l := f.lines()
	for _, v := range values(f.text, 0, len(f.text)) {
		v.nested = true // a page has an address of its own, a data file has none
		if !v.holdsLink() {
			continue
		}
		line, _ := l.at(v.at)
		f.dataRows = append(f.dataRows, dataRow{value: v, line: line, norm: normalPath(v.text)})
	}
	for i := range f.dataRows {
		r := &f.dataRows[i]
		from, to := r.line-maxEntry, r.line+maxEntry
		if i > 0 {
			from = max(from, f.dataRows[i-1].line+1)
		}
		if i+1 < len(f.dataRows) {
			to = min(to, f.dataRows[i+1].line-1)
		}
		for n := from; n <= to; n++ {
			if start, end, ok := l.span(n); ok && n != r.line {
				r.labels = append(r.labels, plainLabel(afterKey(string(f.text[start:end]))))
			}
		}
		start, end, _ := l.span(r.line)
		r.same = plainLabel(string(f.text[start:min(end, start+maxLabelBytes)]))
	}
	return f.dataRows
}

// maxEntry is how many lines before and after an address belong to its entry.
const maxEntry = 4

// afterKey returns the value of a line such as `name: x` or `- name = "x"`.
func afterKey(line string) string {
	if k := keyOnLine.FindStringIndex(line); k != nil {
		return line[k[1]:]
	}
	return line
}

// normalPath returns an address without what templates add or remove at its
// ends.
func normalPath(s string) string {
	return strings.ToLower(strings.Trim(decode(strings.TrimSpace(s)), "/"))
}

// Weights of a pair of a row and a link.
const (
	sameAddress  = 12
	endOfAddress = 6 // the template put something before it
	entryLabel   = 5
)

// minEnds is how many links of a run must end with the rows of a file, if the
// labels do not show that they belong together.
const minEnds = 3

// lastPart returns what an address and every longer one that ends with it have
// in common.
func lastPart(norm string) string { return norm[strings.LastIndexByte(norm, '/')+1:] }

// weight returns the weight of a pair, and whether their labels are equal.
func (r *dataRow) weight(l *runLink, norm string) (w int32, labelled bool) {
	switch {
	case r.norm == "" || norm == "":
		return 0, false
	case r.norm == norm:
		w = sameAddress
	case strings.HasSuffix(norm, "/"+r.norm):
		w = endOfAddress
	default:
		return 0, false
	}
	if l.label != "" && (slices.Contains(r.labels, l.label) || strings.Contains(r.same, l.label) && l.label != plainLabel(r.text)) {
		return w + entryLabel, true
	}
	return w, false
}

// dataPlace is a row that may be the origin of a link.
type dataPlace struct {
	file  *templateFile
	row   *dataRow
	score int32
}

// placeRun finds the rows that the links of a run were made of: those of the
// file that has most of them, in their order.
func (m *Map) placeRun(r *linkRun) {
	r.placed = true
	r.places = make([]*Position, len(r.links))
	norms := make([]string, len(r.links))
	columns := make([][]aligner.Key, len(r.links))
	files := map[*templateFile]bool{}
	index := m.templateIndex()
	for i := range r.links {
		norms[i] = normalPath(r.links[i].hole)
		last := lastPart(norms[i])
		columns[i] = []aligner.Key{{Kind: 'n', Text: last}}
		for _, f := range index.data[last] {
			files[f] = true
		}
	}
	best := make([][]dataPlace, len(r.links))
	for _, f := range index.files { // in their order
		if !files[f] {
			continue
		}
		all := f.rows()
		rows := make([][]aligner.Key, len(all))
		for i := range all {
			rows[i] = []aligner.Key{{Kind: 'n', Text: lastPart(all[i].norm)}}
		}
		pairs := aligner.Pairs(rows, columns, func(i, j int) int32 {
			w, _ := all[i].weight(&r.links[j], norms[j])
			return w
		}, aligner.Options{Adjacent: adjacentBonus, Unique: true})
		n, score := 0, int32(0)
		for j, i := range pairs {
			if i >= 0 {
				w, _ := all[i].weight(&r.links[j], norms[j])
				score += w
				n++
			}
		}
		for j, i := range pairs {
			if i < 0 {
				continue
			}
			w, labelled := all[i].weight(&r.links[j], norms[j])
			most := 2*n >= len(pairs)
			if labelled || most && (n >= minEnds || w >= sameAddress) {
				best[j] = append(best[j], dataPlace{f, &all[i], score})
			}
		}
	}
	for j, places := range best {
		if p := m.likeliest(places, r.links[j].hole); p != nil {
			line, column := p.file.lines().at(p.row.at)
			r.places[j] = &Position{File: p.file.display, Line: line, Column: column, Kind: p.file.dir.kind, Module: p.file.dir.module}
		}
	}
}

// likeliest returns the place whose file has most of a run. If several have
// equally much, the project may say which one belongs to the link: by a line
// that maps a part of the address to the file's name, or by the name itself.
func (m *Map) likeliest(places []dataPlace, address string) *dataPlace {
	if len(places) == 0 {
		return nil
	}
	most := slices.MaxFunc(places, func(a, b dataPlace) int { return int(a.score - b.score) }).score
	places = slices.DeleteFunc(places, func(p dataPlace) bool { return p.score < most })
	if len(places) == 1 {
		return &places[0]
	}
	var segments []string
	for s := range strings.SplitSeq(strings.Trim(address, "/"), "/") {
		segments = append(segments, s)
	}
	mapped := m.templateIndex().stems
	for _, isOf := range []func(p dataPlace) bool{
		func(p dataPlace) bool {
			return slices.ContainsFunc(segments, func(s string) bool { return mapped[s] == stemOf(p.file.name) })
		},
		func(p dataPlace) bool {
			name := "-" + dashed(p.file.name) + "-"
			return slices.ContainsFunc(segments, func(s string) bool { return len(s) > 1 && strings.Contains(name, "-"+dashed(s)+"-") })
		},
	} {
		var few []dataPlace
		for _, p := range places {
			if isOf(p) {
				few = append(few, p)
			}
		}
		if len(few) == 1 {
			return &few[0]
		}
	}
	return nil
}

// stemOf returns the name of a file without directory and extension.
func stemOf(name string) string {
	name = path.Base(name)
	return strings.TrimSuffix(name, path.Ext(name))
}

// dashed returns a name with dashes in place of everything but letters and
// digits.
func dashed(s string) string {
	return strings.Trim(notAlphanumeric.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

var notAlphanumeric = regexp.MustCompile(`[^\p{L}\p{N}]+`)

// stemLine matches a line that maps a word to a word, as from a part of an
// address to the name of a data file.
var stemLine = regexp.MustCompile(`(?m)^[\s\-]*["']?([\w.-]+)["']?\s*[:=]\s*["']?([\w.-]+)["']?,?\s*$`)
