package source

import (
	"bytes"
	"context"
	"html"
	"slices"
	"strings"
)

// hit is a place where a text that is looked for stands.
type hit struct {
	shown string
	// around are those of the links that have their destination here; none
	// when they are not known.
	around []surroundings
	file   contentFile
	at     int
	line   int
	col    int
}

func (h hit) position() *Position {
	return &Position{File: h.shown, Line: h.line, Column: h.col, Kind: h.file.dir.kind, Module: h.file.dir.module}
}

// wanted are texts to look for in many files at once.
type wanted struct {
	// byWord has the texts by their first word, see eachWord.
	byWord map[string][]string
	hits   map[string][]hit
}

func newWanted() wanted { return wanted{map[string][]string{}, map[string][]hit{}} }

func (w *wanted) add(text string) {
	if len(text) < 2 || len(text) > maxValue {
		return
	}
	word := text
	for i := range len(text) {
		if isWordEnd[text[i]] {
			word = text[:i]
			break
		}
	}
	if word == "" || slices.Contains(w.byWord[word], text) {
		return
	}
	w.byWord[word] = append(w.byWord[word], text)
}

// search notes where the texts stand in a file as a whole, not as a part of
// another address.
func (w *wanted) search(f contentFile, text []byte) {
	var l *lines
	eachWord(text, func(at int, word string) {
		for _, whole := range w.byWord[word] {
			end := at + len(whole)
			if !bytes.HasPrefix(text[at:], []byte(whole)) || end < len(text) && !isWordEnd[text[end]] {
				continue
			}
			if l == nil {
				made := newLines(text)
				l = &made
			}
			h := hit{shown: f.shown, file: f, at: at}
			h.line, h.col = l.at(at)
			w.hits[whole] = append(w.hits[whole], h)
		}
	})
}

// forms are the ways in which a template or data file may write an address
// that the page has, the likeliest first.
func (m *Map) forms(l Link) []string {
	raw := strings.TrimSpace(l.Raw)
	a := m.address(raw, l.Page)
	all := []string{raw, html.EscapeString(raw), a.exact, a.local}
	if p, fragment, ok := strings.Cut(a.local, "#"); ok && p != "" && fragment != "" {
		all = append(all, strings.TrimPrefix(a.local, "/"))
	}
	if rest := strings.TrimPrefix(a.local, "/"); strings.ContainsAny(rest, "/.") {
		all = append(all, rest)
	}
	if _, fragment, ok := strings.Cut(a.local, "#"); !ok && a.target != "/"+l.Page {
		all = append(all, a.target)
	} else if ok && a.target != "/"+l.Page {
		all = append(all, a.target+"#"+fragment)
	}
	var forms []string
	for _, f := range all {
		if f != "" && !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	return forms
}

// placeRest places what no page's own content has: first by templates, data
// and configuration, then by the content of other pages, which lists show
// parts of. One that several files may have written is left without a place.
func (m *Map) placeRest(ctx context.Context, placed []*Position, rest []open) error {
	var left []open
	for _, o := range rest {
		if o.own != nil && o.matter {
			placed[o.index] = o.own
			continue
		}
		left = append(left, o)
	}
	if len(left) == 0 {
		return nil
	}
	levels := [2]wanted{newWanted(), newWanted()}
	for _, o := range left {
		for _, f := range m.forms(o.link) {
			levels[0].add(f)
			levels[1].add(f)
		}
	}
	if err := m.searchTemplates(ctx, &levels); err != nil {
		return err
	}
	content := newWanted()
	others := left[:0]
	for _, o := range left {
		switch p, several := m.fromTemplates(&levels, o); {
		case p != nil:
			placed[o.index] = p
		case several:
		default:
			others = append(others, o)
			for _, f := range m.forms(o.link) {
				content.add(f)
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	for _, f := range m.content.files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if text, err := readFile(f.dir.fsys, f.name, maxContentFile); err == nil {
			if m.opt.Generator != Hugo && writesTemplate(f.name, text) {
				f.dir.kind = Template
			}
			of := wanted{content.byWord, map[string][]hit{}}
			of.search(f, text)
			for text, hits := range of.hits {
				content.hits[text] = append(content.hits[text], m.destinations(f, hits)...)
			}
		}
	}
	var page string
	var shown *plain
	for _, o := range others {
		if shown == nil || page != o.link.Page {
			page, shown = o.link.Page, m.pageText(o.link.Page)
		}
		placed[o.index] = m.fromContent(&content, o, shown.around(int(o.link.Offset)))
	}
	return nil
}

// fromTemplates returns the place in the one template, data or configuration
// file that has the address; several tells that more than one have it.
func (m *Map) fromTemplates(levels *[2]wanted, o open) (p *Position, several bool) {
	for i := range levels {
		for _, f := range m.forms(o.link) {
			hits := levels[i].hits[f]
			if len(hits) == 0 {
				continue
			}
			for _, h := range hits {
				if h.shown != hits[0].shown {
					return nil, true
				}
			}
			h := hits[min(o.nth, len(hits)-1)]
			return h.position(), false
		}
	}
	return nil, false
}
