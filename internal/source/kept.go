package source

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/site"
)

// keptPage is what a run found out about a page, and what that depends on
// besides the things that all pages depend on, see [Map.commonSum]. It holds as long
// as all of these are the same.
type keptPage struct {
	asked uint64   // of the text of the page and what was looked for, see askedLinks
	docs  []uint32 // the content files that were read, as indexes of answer.files
	words []uint32 // the words that were looked for in all content
	// matter reports that the front matter of all content files was read, site
	// that it mattered which pages the site has.
	matter, site bool
	others       []otherPage
	found        []keptPosition
	titles       []keptTitle // of headings
}

// otherPage is another page whose text was read.
type otherPage struct {
	name string
	sum  uint64
}

// keptPosition is a position. File counts from 1, 0 is no position.
type keptPosition struct{ file, line, column uint32 }

// keptFile is the part of a position that many have in common.
type keptFile struct {
	file   string
	kind   Kind
	module string
}

type keptTitle struct {
	title string
	term  bool
}

// keptPages is what earlier runs found out about the pages of a project, as it is
// in the file.
type keptPages struct {
	templates []templateRow
	// common, matter and site are hashes of what the pages depend on, sums those of
	// the content files.
	common, matter, site uint64
	sums                 []uint64
	words                []keptWord
	files                []keptFile
	links, headings      map[string]*keptPage // by page
}

// keptWord is a word that was looked for in all content, and the files that have
// it.
type keptWord struct {
	word  string
	files []uint32
}

// templateRow is one version of a file that may be a template.
type templateRow struct {
	name       string
	stamp, sum uint64
	isTemplate bool
}

// memory is the keptPages of an earlier run, and what this run adds.
type memory struct {
	keptPages
	rows    map[string]uint32 // content files by name
	changed []bool            // content files that are not as they were
	touched []bool            // words that a changed file had or has
	wordAt  map[string]uint32
	fileAt  map[keptFile]uint32
	// fresh are the pages that this run read itself. stale reports that a file
	// changed while it was read.
	fresh int
	stale *atomic.Bool
	of    *site.Site // that the pages belong to
}

// maxChangedFiles is how many content files may have changed for kept positions to
// be used.
const maxChangedFiles = 50

// openKept prepares the use of kept positions. A content file that cannot be read
// has no version, so nothing is kept.
func (m *Map) openKept() {
	if m.opt.Cache == "" || slices.ContainsFunc(m.answer.files, func(f pageFile) bool { return f.sum == 0 }) {
		return
	}
	m.templatesSum()
	files := m.answer.files
	k := &memory{keptPages: keptPages{sums: make([]uint64, len(files))}, rows: make(map[string]uint32, len(files)), wordAt: map[string]uint32{}, fileAt: map[keptFile]uint32{}, stale: &atomic.Bool{}}
	m.kept = k
	k.forget()
	for i := range files {
		k.rows[files[i].name] = uint32(i)
	}
	var changed []uint32
	if len(m.stored.sums) == len(files) {
		k.keptPages = *m.stored
		k.changed = make([]bool, len(files))
		for i := range files {
			if k.changed[i] = k.sums[i] != files[i].sum; k.changed[i] {
				changed = append(changed, uint32(i))
			}
		}
	}
	if k.fresh = len(changed); k.fresh > maxChangedFiles || !k.touch(m, changed) {
		k.forget()
	}
	k.sums = make([]uint64, len(files)) // not those of m.stored
	for i := range files {
		k.sums[i] = files[i].sum
	}
}

// forget drops what earlier runs found out.
func (k *memory) forget() {
	k.keptPages = keptPages{sums: k.sums, links: map[string]*keptPage{}, headings: map[string]*keptPage{}}
	k.changed, k.touched = make([]bool, len(k.sums)), nil
	clear(k.wordAt)
	clear(k.fileAt)
}

// touch finds the words that changed files had or have. It returns false if one
// cannot be read.
func (k *memory) touch(m *Map, changed []uint32) bool {
	k.touched = make([]bool, len(k.words))
	for i := range k.words {
		w := &k.words[i]
		k.wordAt[w.word] = uint32(i)
		n := len(w.files)
		w.files = slices.DeleteFunc(w.files, func(f uint32) bool { return k.changed[f] })
		k.touched[i] = len(w.files) < n
	}
	for i, f := range k.files {
		k.fileAt[f] = uint32(i)
	}
	for _, at := range changed {
		f := m.content.files[m.content.byDisplay[m.answer.files[at].name]]
		text, err := disk.ReadFS(f.dir.fsys, f.name, maxContentFile)
		if err != nil {
			return false
		}
		m.checkRead(f.display, text)
		eachWord(text, func(_ int, word []byte) {
			if i, ok := k.wordAt[string(word)]; ok {
				if w := &k.words[i]; len(w.files) == 0 || w.files[len(w.files)-1] != at {
					w.files = append(w.files, at)
					k.touched[i] = true
				}
			}
		})
	}
	return true
}

// checkRead notes if a content file is no longer as it was when the run began.
func (m *Map) checkRead(display string, text []byte) {
	if m.kept == nil {
		return
	}
	if i, ok := m.kept.rows[display]; !ok || m.answer.files[i].sum != max(1, xxhash.Sum64(text)) {
		m.kept.stale.Store(true)
	}
}

// templatesSum returns a hash of all templates, data and configuration files.
func (m *Map) templatesSum() uint64 {
	t := m.templates
	if t.sum != 0 {
		return t.sum
	}
	before := make(map[string]templateRow, len(m.stored.templates))
	for _, row := range m.stored.templates {
		before[row.name] = row
	}
	now := time.Now()
	var h hashed
	for _, f := range m.templateFiles() {
		row := m.templateRow(f, before[f.display], now)
		t.rows = append(t.rows, row)
		if row.isTemplate {
			h.text(row.name + "\n" + f.name + "\n" + string(f.dir.kind) + "\n" + f.dir.module + "\n" + f.dir.dir)
			h.number(uint64(f.level))
			h.number(row.sum)
		}
	}
	t.sum = max(1, h.sum())
	return t.sum
}

// templateRow returns the row of a file, which is the old one if the file is the
// same. A file that cannot be read is no template.
func (m *Map) templateRow(f *templateFile, old templateRow, now time.Time) templateRow {
	row := templateRow{name: f.display}
	info, err := fs.Lstat(f.dir.fsys, f.name)
	if err != nil {
		return row
	}
	if row.stamp = stampOf(info, now); row.stamp != 0 && row.stamp == old.stamp {
		return old
	}
	if text, err := disk.ReadFS(f.dir.fsys, f.name, maxTemplate); err == nil {
		row.sum, row.isTemplate = xxhash.Sum64(text), !f.isContent || isHTMLTemplate(f.name, text)
	}
	if m.opt.Identity != "" && row.sum == old.sum && row.isTemplate == old.isTemplate {
		return old // with the stamp of the original
	}
	return row
}

// commonSum returns a hash of what the positions of all pages depend on: the
// program, how the site is read, templates, data and configuration, and the names
// and addresses of the content files.
func (m *Map) commonSum() uint64 {
	var h hashed
	h.number(programSum())
	h.text(string(m.opt.Generator))
	h.text(m.base)
	h.text(m.basePath)
	h.text(m.site.ReadingKey())
	h.number(m.templatesSum())
	dir := func(d sourceDir) {
		h.text(m.portable(d.prefix) + "\n" + d.dir + "\n" + d.under + "\n" + d.lang + "\n" + string(d.kind) + "\n" + d.module)
	}
	c := m.content
	for _, d := range c.roots {
		dir(d)
	}
	h.text("static")
	for _, d := range c.staticDirs {
		dir(d)
	}
	for i := range c.files {
		f := &c.files[i]
		dir(f.dir)
		h.text(f.name)
	}
	listed := uint64(0)
	for key, i := range c.listed {
		listed += xxhash.Sum64String(c.files[i].display + "\n" + key) // in any order
	}
	h.number(listed)
	return h.sum()
}

// programSum identifies this version of sitelink: another one may find other
// positions.
var programSum = sync.OnceValue(func() uint64 {
	var h hashed
	if name, err := os.Executable(); err == nil {
		if info, err := os.Stat(name); err == nil {
			h.number(uint64(info.Size()))
			h.number(uint64(info.ModTime().UnixNano()))
		}
	}
	return h.sum()
})

// beginKept compares what all pages depend on. Call it when the site is known.
func (m *Map) beginKept() {
	k := m.kept
	switch {
	case k == nil || k.of == m.site:
		return
	case k.of != nil:
		k.forget() // it was compared with another site
	}
	k.of = m.site
	if common := m.commonSum(); common != k.common {
		k.forget()
		k.common = common
	}
	var h, names hashed
	for i := range m.answer.files {
		h.number(m.answer.files[i].keys)
	}
	for id := range site.PageID(m.site.Pages()) {
		names.text(m.site.Path(id))
	}
	matter, pages := h.sum(), names.sum()
	for _, kept := range []map[string]*keptPage{k.links, k.headings} {
		maps.DeleteFunc(kept, func(name string, p *keptPage) bool {
			_, ok := m.pageID(name)
			return !ok && path.Base(name) != ruleFile || p.matter && matter != k.matter || p.site && pages != k.site || !k.holds(p)
		})
	}
	k.matter, k.site = matter, pages
}

// holds reports whether no content file that matters for a page has changed.
func (k *memory) holds(p *keptPage) bool {
	return !slices.ContainsFunc(p.docs, func(i uint32) bool { return k.changed[i] }) &&
		!slices.ContainsFunc(p.words, func(i uint32) bool { return k.touched[i] })
}

// recall returns what is kept about a page, nil if there is nothing, or if it does
// not hold. asked returns the hash of what is looked for, given that of the text.
func (m *Map) recall(r *site.Reader, kept map[string]*keptPage, name string, asked func(sum uint64) uint64) *keptPage {
	p := kept[name]
	if p == nil {
		return nil
	}
	if sum, ok := m.pageSum(r, name); !ok || asked(sum) != p.asked {
		return nil
	}
	for _, o := range p.others {
		if sum, ok := m.pageSum(r, o.name); !ok || sum != o.sum {
			return nil
		}
	}
	for _, dir := range m.content.staticDirs {
		if file, ok := dir.copied(name); ok {
			if _, err := fs.Stat(dir.fsys, file); err == nil {
				return nil // the page may be a copy of it now
			}
		}
	}
	return p
}

// pageSum returns the hash of a page's text, or of that of the rule file.
func (m *Map) pageSum(r *site.Reader, name string) (uint64, bool) {
	id, ok := m.pageID(name)
	if !ok {
		text, err := disk.ReadFS(m.docroot, name, maxSourcePage)
		return site.ContentSum(text), err == nil
	}
	sum, err := r.ContentSum(id)
	return sum, err == nil
}

// askedLinks returns a hash of what is looked for on a page.
func (m *Map) askedLinks(sum uint64, links []Link) uint64 {
	var h hashed
	h.number(sum)
	if id, ok := m.pageID(links[0].Page); ok {
		h.number(uint64(m.site.Page(id).Kind()))
	}
	for i := range links {
		h.number(uint64(links[i].Offset))
		h.text(links[i].Raw)
		h.text(links[i].Element)
		h.number(uint64(links[i].Line))
	}
	return h.sum()
}

// positions returns the kept positions.
func (k *memory) positions(p *keptPage, to []*Position) {
	all := make([]Position, len(p.found))
	for i, f := range p.found {
		if f.file > 0 {
			file := &k.files[f.file-1]
			all[i] = Position{File: file.file, Line: int(f.line), Column: int(f.column), Kind: file.kind, Module: file.module}
			to[i] = &all[i]
		}
	}
}

// trace records what the positions of a page depend on besides its text. All its
// methods do nothing for nil.
type trace struct {
	sum          uint64 // of the page's text
	docs, words  map[string]bool
	matter, site bool
	others       []otherPage
	// untraced reports that they depend on more.
	untraced bool
}

func newTrace() *trace {
	return &trace{docs: map[string]bool{}, words: map[string]bool{}, untraced: true}
}

// begins records the text of the page.
func (t *trace) begins(text []byte) {
	if t != nil {
		t.sum, t.untraced = site.ContentSum(text), false
	}
}

// isUntraced records that the result cannot be kept.
func (t *trace) isUntraced() {
	if t != nil {
		t.untraced = true
	}
}

// reads records that a content file was read.
func (t *trace) reads(display string) {
	if t != nil {
		t.docs[display] = true
	}
}

// readsMatter records that the front matter of all content files was read.
func (t *trace) readsMatter() {
	if t != nil {
		t.matter = true
	}
}

// readsSite records that it matters which pages the site has.
func (t *trace) readsSite() {
	if t != nil {
		t.site = true
	}
}

// readsPage records that another page was read.
func (t *trace) readsPage(name string, text []byte) {
	if t != nil {
		t.others = append(t.others, otherPage{name, site.ContentSum(text)})
	}
}

// looksFor records a text that was looked for in all content.
func (t *trace) looksFor(text string) {
	if w := searchWord(text); t != nil && w != "" {
		t.words[w] = true
	}
}

// keep adds what was found out about a page.
func (k *memory) keep(into map[string]*keptPage, name string, asked uint64, t *trace) *keptPage {
	delete(into, name)
	if t.untraced {
		return nil
	}
	p := &keptPage{asked: asked, matter: t.matter, site: t.site, others: t.others}
	for display := range t.docs {
		i, ok := k.rows[display]
		if !ok {
			return nil
		}
		p.docs = append(p.docs, i)
	}
	for word := range t.words {
		i, ok := k.wordAt[word]
		if !ok {
			return nil
		}
		p.words = append(p.words, i)
	}
	slices.Sort(p.docs)
	slices.Sort(p.words)
	into[name] = p
	k.fresh++
	return p
}

// add adds a position.
func (k *memory) add(p *keptPage, at *Position) {
	if at == nil {
		p.found = append(p.found, keptPosition{})
		return
	}
	f := keptFile{at.File, at.Kind, at.Module}
	i, ok := k.fileAt[f]
	if !ok {
		i = uint32(len(k.files))
		k.files, k.fileAt[f] = append(k.files, f), i
	}
	p.found = append(p.found, keptPosition{i + 1, uint32(at.Line), uint32(at.Column)})
}

// filesWith returns the content files that have one of the words of a search; ok is
// false if that is not known.
func (k *memory) filesWith(w *textSearch) (has map[string]bool, ok bool) {
	if k == nil {
		return nil, false
	}
	in := make([]bool, len(k.rows))
	for word := range w.byWord {
		i, ok := k.wordAt[word]
		if !ok {
			return nil, false
		}
		for _, f := range k.words[i].files {
			in[f] = true
		}
	}
	has = map[string]bool{}
	for display, i := range k.rows {
		if in[i] {
			has[display] = true
		}
	}
	return has, true
}

// searched adds the words of a search of all content, by the words that were seen
// in each file.
func (k *memory) searched(w *textSearch, files []contentFile, seen []map[string]bool) {
	if k == nil {
		return
	}
	from := uint32(len(k.words))
	for word := range w.byWord {
		if _, ok := k.wordAt[word]; !ok {
			k.wordAt[word] = uint32(len(k.words))
			k.words = append(k.words, keptWord{word: word})
			k.touched = append(k.touched, false)
		}
	}
	for i := range files {
		for word := range seen[i] {
			if at := k.wordAt[word]; at >= from {
				k.words[at].files = append(k.words[at].files, k.rows[files[i].display])
			}
		}
	}
}

// copied returns the name of the file that a generator would copy to a page.
func (dir *sourceDir) copied(page string) (file string, ok bool) {
	if dir.under != "" {
		if page, ok = strings.CutPrefix(page, dir.under+"/"); !ok {
			return "", false
		}
	}
	return path.Join(dir.dir, page), true
}
