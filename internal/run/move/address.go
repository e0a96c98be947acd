package move

import (
	"cmp"
	"errors"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
)

// addressMap says which addresses of the site change, and to what. Addresses are
// paths on the host, decoded.
type addressMap struct {
	exact map[string]string
	// directories are addresses below which all of before changes, by the address that
	// it has after: those of bundles and sections. They end with a slash.
	directories []Pair
	moved       map[string]movedPage // by the address before
	files       map[string]bool      // of the docroot before
	// sections are those of a directory of content, one for each language. They need not
	// have a page.
	sections []Pair
	stay     func(address string) bool
	answers  func(address string) bool // before
	base     string
}

// movedPage is the page of a file that moves. Its address may stay the same.
type movedPage struct {
	before, after *page
}

// mapAddresses compares the pages before with those after the move.
func (m *mover) mapAddresses(from, to string, after []*page) *addressMap {
	a := &addressMap{exact: map[string]string{}, moved: map[string]movedPage{}, files: map[string]bool{}, base: m.before.audit.Site.BasePath()}
	for name := range m.before.files() {
		a.files[name] = true
	}
	byFile := map[string]*page{}
	for _, f := range after {
		byFile[f.file] = f
	}
	var sections []Pair
	for name, f := range m.pages.byFile {
		moved := byFile[m.plan.Set.NewName(name)]
		if m.plan.Set.NewName(name) == name || moved == nil {
			continue
		}
		a.moved[f.address] = movedPage{f, moved}
		if f.address != moved.address {
			a.exact[f.address] = moved.address
		}
		if isBundleFile(path.Base(name)) && f.address != moved.address {
			a.directories = append(a.directories, Pair{directoryOf(f.address), directoryOf(moved.address)})
		}
		sections = append(sections, commonEnd(f.address, moved.address))
	}
	for _, mt := range m.pages.static {
		if rel, ok := mt.rel(from); ok {
			newRel, _ := mt.rel(to)
			a.addStatic(rel, newRel)
			for _, r := range m.before.audit.Site.Roots() { // the static files of a language with its own host
				if r.Dir != "" {
					a.addStatic(path.Join(r.Dir, rel), path.Join(r.Dir, newRel))
				}
			}
		}
	}
	// A section without a page of its own has an address as well.
	name := strings.ToLower(strings.ReplaceAll(path.Base(from), " ", "-"))
	for _, s := range sections {
		other := slices.ContainsFunc(sections, func(o Pair) bool { return o.Old == s.Old && o.New != s.New })
		if !other && s.Old != s.New && strings.ToLower(path.Base(s.Old)) == name && !slices.Contains(a.sections, s) {
			a.sections = append(a.sections, s)
		}
	}
	a.directories = append(a.directories, a.sections...)
	a.stay = m.stays()
	a.answers = func(address string) bool { return answers(m.before.audit.Site.Request(rulePath(address))) }
	slices.SortFunc(a.directories, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(len(y.Old), len(x.Old)), strings.Compare(x.Old, y.Old), strings.Compare(x.New, y.New))
	})
	a.directories = slices.CompactFunc(a.directories, func(x, y Pair) bool { return x.Old == y.Old })
	return a
}

// addIndex gives a section a page of its own where the move would take its page away:
// Hugo makes one by itself only for the sections at the top.
func (m *mover) addIndex(from, to string) error {
	if rel, _ := m.pages.treeOf(to).rel(to); m.generator().Traits().SectionFile == "" || !strings.Contains(rel, "/") {
		return nil
	}
	for _, section := range m.names.sections {
		if _, hasFile := m.names.moved[section.Old]; hasFile || !answers(m.before.audit.Site.Request(rulePath(section.Old))) {
			continue
		}
		name := m.generator().Traits().SectionFile + ".md"
		if lang := path.Base(m.languageOf(section.Old)); len(m.names.sections) > 1 && lang != "." {
			name = m.generator().Traits().SectionFile + "." + lang + ".md"
		}
		title := strings.ReplaceAll(path.Base(from), "-", " ")
		_, size := utf8.DecodeRuneInString(title)
		alias := m.aliasOf(m.rooted(section.New), section.Old)
		text := "---\ntitle: " + quoteJSON(strings.ToUpper(title[:size])+title[size:]) + "\naliases:\n" + items("- ", []string{alias}, "\n") + "---\n"
		if err := m.plan.Set.Create(path.Join(to, name), []byte(text)); errors.Is(err, destination.ErrExists) {
			continue
		} else if err != nil {
			return err
		}
		m.aliased[section.Old] = true
		m.note("Hugo makes no page for a section at %s by itself: %s is new", section.New, path.Join(to, name))
	}
	return nil
}

// address returns the address of a file of the docroot.
func (a *addressMap) address(name string) string {
	if dir, base := path.Split(name); base == "index.html" {
		name = dir
	}
	return a.base + "/" + name
}

// addStatic maps a static file, or the files of a directory.
func (a *addressMap) addStatic(from, to string) {
	if a.files[from] {
		a.exact[a.base+"/"+from] = a.base + "/" + to
		return
	}
	for name := range a.files {
		if strings.HasPrefix(name, from+"/") {
			a.directories = append(a.directories, Pair{a.base + "/" + from + "/", a.base + "/" + to + "/"})
			return
		}
	}
}

// directoryOf returns the address below which the files of a bundle are.
func directoryOf(address string) string {
	return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".html") + "/"
}

// stays returns a function that reports whether a static file or a page that does not
// move has an address, so that it stays although a directory above it changes.
func (m *mover) stays() func(string) bool {
	addresses := map[string]bool{}
	for name, f := range m.pages.byFile {
		if m.plan.Set.NewName(name) == name {
			addresses[f.address] = true
		}
	}
	return func(address string) bool {
		if addresses[address] {
			return true
		}
		rel := strings.Trim(m.rooted(address), "/")
		for _, mt := range m.pages.static {
			file := path.Join(mt.dir, strings.TrimPrefix(rel, mt.target))
			if strings.HasSuffix(address, "/") {
				file += "/index.html"
			}
			info, err := os.Lstat(m.path(file))
			if err == nil && info.Mode().IsRegular() && m.plan.Set.NewName(file) == file {
				return true
			}
		}
		return false
	}
}

// commonEnd cuts from two addresses the parts at their ends that are equal.
func commonEnd(a, b string) Pair {
	for {
		i, j := strings.LastIndexByte(strings.TrimSuffix(a, "/"), '/'), strings.LastIndexByte(strings.TrimSuffix(b, "/"), '/')
		if i < 0 || j < 0 || a[i:] != b[j:] {
			return Pair{a, b}
		}
		a, b = a[:i+1], b[:j+1]
	}
}

// of returns the new address for an old one. Each form of an address maps to the same
// form: with and without a slash, index.html or .html at its end.
func (a *addressMap) of(address string) (string, bool) {
	if to, ok := a.exact[address]; ok {
		return to, true
	}
	if to, ok := a.exact[address+"/"]; ok {
		return strings.TrimSuffix(to, "/"), true
	}
	dir, base := path.Split(address)
	if strings.HasPrefix(base, "index.") { // of any output format
		if to, ok := a.exact[dir]; ok && strings.HasSuffix(to, "/") {
			return to + base, true
		}
	}
	if page, ok := strings.CutSuffix(address, ".html"); ok {
		if to, ok := a.exact[page]; ok && !strings.HasSuffix(to, "/") && !a.stay(address) && a.answers(address) {
			return to + ".html", true
		}
	} else if to, ok := strings.CutSuffix(a.exact[address+".html"], ".html"); ok && !a.stay(address) && !a.stay(address+"/") && a.answers(address) {
		return to, true
	}
	for _, d := range a.directories {
		rest, ok := strings.CutPrefix(address, d.Old)
		if !ok && address == strings.TrimSuffix(d.Old, "/") {
			return strings.TrimSuffix(d.New, "/"), true
		}
		if ok && !a.stay(address) {
			return d.New + rest, true
		}
	}
	return "", false
}

// all returns the addresses of pages, static files and sections that change, sorted.
func (a *addressMap) all() []Pair {
	var all []Pair
	for old, to := range a.exact {
		all = append(all, Pair{old, to})
	}
	for _, d := range a.directories {
		if _, ok := a.exact[d.Old]; !ok {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(x, y Pair) int { return cmp.Or(strings.Compare(x.Old, y.Old), strings.Compare(x.New, y.New)) })
	return all
}

// pageAfter returns the address of the page at an old address.
func (a *addressMap) pageAfter(address string) string {
	if to, ok := a.of(address); ok {
		return to
	}
	return address
}

// addressOf returns the address of a page of the docroot, decoded.
func (v *version) addressOf(file string) string {
	s := v.audit.Site
	id := s.Tree().At(file)
	if id == docroot.NoNode {
		return "/" + file
	}
	if u, err := url.Parse(s.Href(id)); err == nil {
		return u.Path
	}
	return "/" + file
}
