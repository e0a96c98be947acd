package source

import (
	"path"
	"slices"
	"strings"
)

// Bounds of what shortcodes may bring into a page: files within files, and
// destinations in all.
const (
	maxInlineDepth = 8
	maxInlined     = 100_000
)

// inlined returns the items of a document with those of the files that its
// shortcodes name, at their places, as `include` shortcodes make them. What
// {{% %}} brings in becomes part of the Markdown: of several definitions with
// the same label the first one counts (CommonMark, "Link reference
// definitions"). nil without such shortcodes.
func (m *Map) inlined(d *document, file string) []item {
	if !slices.ContainsFunc(d.items, func(it item) bool { return it.loose && isMarkdown(it.dest) }) {
		return nil
	}
	in := inliner{m: m}
	in.add(d, file, &pasted{defs: map[string]itemDefinition{}}, 0)
	for i := range in.items {
		it := &in.items[i]
		if def, ok := in.texts[i].defs[it.ref]; ok && it.ref != "" {
			it.at, it.dest, it.owner, it.file = def.at, def.dest, def.owner, def.file
		}
	}
	return in.items
}

// itemDefinition is a definition with the file that has it.
type itemDefinition struct {
	definition
	owner *document
	file  string
}

// pasted is one Markdown text made of several files.
type pasted struct{ defs map[string]itemDefinition }

type inliner struct {
	m     *Map
	items []item
	texts []*pasted // of each item
}

// add appends the items of a document that becomes part of a text.
func (in *inliner) add(d *document, file string, text *pasted, depth int) {
	type label struct {
		name string
		definition
	}
	var defs []label
	for name, def := range d.defs {
		defs = append(defs, label{name, def})
	}
	slices.SortFunc(defs, func(a, b label) int { return a.at - b.at })
	define := func(before int) {
		for len(defs) > 0 && defs[0].at < before {
			if _, ok := text.defs[defs[0].name]; !ok {
				text.defs[defs[0].name] = itemDefinition{defs[0].definition, d, file}
			}
			defs = defs[1:]
		}
	}
	for _, it := range d.items {
		define(it.order)
		it.owner, it.file = d, file
		in.items, in.texts = append(in.items, it), append(in.texts, text)
		if !it.loose || !isMarkdown(it.dest) || depth >= maxInlineDepth || len(in.items) > maxInlined {
			continue
		}
		f, ok := in.m.content.named(path.Clean(strings.TrimPrefix(it.dest, "/")))
		if !ok || f.shown == file {
			continue
		}
		if other := in.m.document(f); other != nil {
			into := text
			if !it.pasted {
				into = &pasted{defs: map[string]itemDefinition{}}
			}
			in.add(other, f.shown, into, depth+1)
		}
	}
	define(int(^uint(0) >> 1))
}
