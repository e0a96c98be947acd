package source

import (
	"maps"
	"slices"
)

// placesVersion begins the file of kept positions. Count it up when the meaning of
// the file changes.
const placesVersion = "sitelink places 1\n"

// readKept returns what earlier runs found out, nothing if the file is damaged.
func (m *Map) readKept() *keptPages {
	d := m.readCache(placesExt, placesVersion)
	if k := d.kept(); !d.failed && k.isSound() {
		return k
	}
	return &keptPages{links: map[string]*keptPage{}, headings: map[string]*keptPage{}}
}

// isSound reports whether all indexes are within their tables.
func (k *keptPages) isSound() bool {
	out := func(n int) func(i uint32) bool { return func(i uint32) bool { return int(i) >= n } }
	for i := range k.words {
		if slices.ContainsFunc(k.words[i].files, out(len(k.sums))) {
			return false
		}
	}
	for _, kept := range []map[string]*keptPage{k.links, k.headings} {
		for _, p := range kept {
			if slices.ContainsFunc(p.docs, out(len(k.sums))) || slices.ContainsFunc(p.words, out(len(k.words))) ||
				slices.ContainsFunc(p.found, func(f keptPosition) bool { return int(f.file) > len(k.files) }) {
				return false
			}
		}
	}
	return true
}

// Keep writes what was found out for later runs, if there is anything new. Call it
// after all positions of a check were looked for.
func (m *Map) Keep() {
	k := m.kept
	if k == nil || k.stale.Load() || k.fresh == 0 && k.common == m.stored.common && !m.templatesTouched() {
		return
	}
	// Words and files that no page needs any more are left out.
	words, files := map[uint32]uint32{}, map[uint32]uint32{}
	now := keptPages{templates: m.templates.rows, common: k.common, matter: k.matter, site: k.site, sums: k.sums}
	renumber := func(kept map[string]*keptPage) map[string]*keptPage {
		all := make(map[string]*keptPage, len(kept))
		for _, name := range slices.Sorted(maps.Keys(kept)) {
			p := *kept[name]
			p.words, p.found = slices.Clone(p.words), slices.Clone(p.found)
			for i, w := range p.words {
				at, ok := words[w]
				if !ok {
					at = uint32(len(now.words))
					words[w] = at
					now.words = append(now.words, k.words[w])
				}
				p.words[i] = at
			}
			for i := range p.found {
				f := &p.found[i]
				if f.file == 0 {
					continue
				}
				at, ok := files[f.file]
				if !ok {
					now.files = append(now.files, k.files[f.file-1])
					at = uint32(len(now.files))
					files[f.file] = at
				}
				f.file = at
			}
			all[name] = &p
		}
		return all
	}
	now.links, now.headings = renumber(k.links), renumber(k.headings)
	m.writeCache(placesExt, placesVersion, func(e *encoder) { e.kept(&now) })
}

// templatesTouched reports whether many templates have new stamps.
func (m *Map) templatesTouched() bool {
	n := 0
	before := map[string]uint64{}
	for _, row := range m.stored.templates {
		before[row.name] = row.stamp
	}
	for _, row := range m.templates.rows {
		if row.stamp != before[row.name] {
			n++
		}
	}
	return n > manyChanges
}

func (e *encoder) numbers(all []uint32) {
	e.number(uint64(len(all)))
	for _, n := range all {
		e.number(uint64(n))
	}
}

func (e *encoder) kept(k *keptPages) {
	e.number(uint64(len(k.templates)))
	for i := range k.templates {
		row := &k.templates[i]
		e.string(row.name)
		e.number(row.stamp)
		e.number(row.sum)
		e.bool(row.isTemplate)
	}
	e.number(k.common)
	e.number(k.matter)
	e.number(k.site)
	e.number(uint64(len(k.sums)))
	for _, sum := range k.sums {
		e.number(sum)
	}
	e.number(uint64(len(k.words)))
	for i := range k.words {
		e.string(k.words[i].word)
		e.numbers(k.words[i].files)
	}
	e.number(uint64(len(k.files)))
	for _, f := range k.files {
		e.string(f.file)
		e.string(string(f.kind))
		e.string(f.module)
	}
	for _, kept := range []map[string]*keptPage{k.links, k.headings} {
		e.number(uint64(len(kept)))
		for _, name := range slices.Sorted(maps.Keys(kept)) {
			e.string(name)
			e.page(kept[name])
		}
	}
}

func (e *encoder) page(p *keptPage) {
	e.number(p.asked)
	e.numbers(p.docs)
	e.numbers(p.words)
	e.bool(p.matter)
	e.bool(p.site)
	e.number(uint64(len(p.others)))
	for _, o := range p.others {
		e.string(o.name)
		e.number(o.sum)
	}
	e.number(uint64(len(p.found)))
	for _, f := range p.found {
		e.number(uint64(f.file))
		if f.file > 0 {
			e.number(uint64(f.line))
			e.number(uint64(f.column))
		}
	}
	e.number(uint64(len(p.titles)))
	for _, t := range p.titles {
		e.string(t.title)
		e.bool(t.term)
	}
}

func (d *decoder) numbers() []uint32 {
	all := make([]uint32, d.count())
	for i := range all {
		all[i] = uint32(d.number())
	}
	return all
}

func (d *decoder) kept() *keptPages {
	k := &keptPages{templates: make([]templateRow, d.count())}
	for i := range k.templates {
		k.templates[i] = templateRow{name: d.string(), stamp: d.number(), sum: d.number(), isTemplate: d.bool()}
	}
	k.common, k.matter, k.site = d.number(), d.number(), d.number()
	k.sums = make([]uint64, d.count())
	for i := range k.sums {
		k.sums[i] = d.number()
	}
	k.words = make([]keptWord, d.count())
	for i := range k.words {
		k.words[i] = keptWord{d.string(), d.numbers()}
	}
	k.files = make([]keptFile, d.count())
	for i := range k.files {
		k.files[i] = keptFile{d.string(), Kind(d.string()), d.string()}
	}
	for _, kept := range []*map[string]*keptPage{&k.links, &k.headings} {
		n := d.count()
		*kept = make(map[string]*keptPage, n)
		for range n {
			name := d.string()
			(*kept)[name] = d.page()
		}
	}
	return k
}

func (d *decoder) page() *keptPage {
	p := &keptPage{asked: d.number(), docs: d.numbers(), words: d.numbers(), matter: d.bool(), site: d.bool()}
	p.others = make([]otherPage, d.count())
	for i := range p.others {
		p.others[i] = otherPage{d.string(), d.number()}
	}
	p.found = make([]keptPosition, d.count())
	for i := range p.found {
		if p.found[i].file = uint32(d.number()); p.found[i].file > 0 {
			p.found[i].line, p.found[i].column = uint32(d.number()), uint32(d.number())
		}
	}
	p.titles = make([]keptTitle, d.count())
	for i := range p.titles {
		p.titles[i] = keptTitle{d.string(), d.bool()}
	}
	return p
}
