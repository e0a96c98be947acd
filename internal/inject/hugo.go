package inject

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/layout"
)

// headPartial is the partial that holds the elements.
const headPartial = "sitelink/head.html"

// findHugo finds the places in a Hugo project. It follows each template that
// writes a head through its partials, as Hugo does in the project and its themes.
func findHugo(p *project) (finding, error) {
	h, err := openHugo(p)
	if err != nil {
		return finding{}, err
	}
	s := &hugoSearch{hugoSite: h, edits: map[string]edit{}}
	roots := h.roots()
	for _, name := range h.missing {
		s.notes = append(s.notes, fmt.Sprintf("the files of the theme %s are missing; hugo mod get or hugo mod vendor downloads them", name))
	}
	if len(roots) == 0 {
		return s.withoutRoots(), nil
	}
	xhtml := true
	var reached []string
	for _, key := range roots {
		had := len(s.refusals)
		s.root(key)
		src, _ := h.source(key)
		xhtml = xhtml && layout.Walk(src, h.load).XHTML
		if len(s.refusals) == had {
			reached = append(reached, key)
		}
	}
	if len(s.edits) > 0 && !slices.ContainsFunc(s.refusals, func(r Refusal) bool { return !r.unreachable }) {
		// Themes have templates for special pages, which the site may not use.
		for _, r := range s.refusals {
			s.notes = append(s.notes, r.Error()+"; pages built with this template will lack the elements, and sitelink check lists them")
		}
		s.refusals, roots = nil, reached
	}
	if len(s.refusals) > 0 {
		return finding{refusals: s.refusals, notes: s.notes}, nil
	}
	s.addHead(xhtml)
	s.verify(roots)
	return finding{s.sorted(), s.refusals, s.notes}, nil
}

// hugoSearch collects the edits for a Hugo project.
type hugoSearch struct {
	*hugoSite
	edits    map[string]edit
	refusals []Refusal
	notes    []string
}

func (s *hugoSearch) sorted() []edit {
	var all []edit
	for _, name := range slices.Sorted(maps.Keys(s.edits)) {
		all = append(all, s.edits[name])
	}
	return all
}

// notPages are the templates of pages that never have the elements.
var notPages = map[string]bool{"404.html": true, "alias.html": true}

// roots returns the keys of the templates that write a head.
func (h *hugoSite) roots() []string {
	var roots []string
	for _, key := range slices.Sorted(maps.Keys(h.files)) {
		first, _, _ := strings.Cut(key, "/")
		if strings.HasPrefix(first, "_") || notPages[path.Base(key)] || strings.Contains(key, "/_markup/") {
			continue
		}
		src, ok := h.source(key)
		if !ok {
			continue
		}
		d := layout.Walk(src, h.load)
		if len(d.Heads) > 0 || len(d.HeadEnds) > 0 || d.IsDocument || h.unreadable(key) {
			roots = append(roots, key)
		}
	}
	return roots
}

// unreadable reports whether a template belongs to the project and cannot be
// read as a template.
func (h *hugoSite) unreadable(key string) bool {
	file := h.files[key]
	f, err := h.p.file(file.file)
	return file.own && err == nil && f.unreadable()
}

// callOf returns the call of the partial, to which it passes data as the page.
func callOf(data string) string { return `{{ partial "` + headPartial + `" ` + data + ` }}` }

// elementSize estimates the length of the elements with white space.
func (p *project) elementSize() int { return len(p.opt.Endpoints.HTML(true)) + 16 }

// root finds the place for one template and adds the edit.
func (s *hugoSearch) root(key string) {
	src, _ := s.source(key)
	d := layout.Walk(src, s.load)
	for _, file := range d.Files {
		if f, err := s.p.file(file); err == nil && f.unreadable() && s.isOwn(file) {
			r := Refusal{Path: file, Reason: f.refusal, Next: nextUTF8}
			if !isUTF16(f.text) {
				r.Next, r.Paste = nextPasteLinked, layout.Go.Marked(callOf("."))
			}
			s.refuseOnce(r)
			return
		}
	}
	if s.named(d) || s.early(d) || s.stub(d) {
		return
	}
	d.PageFunc = pageFunc
	place, err := s.p.place(d, s.isOwn)
	if err == nil {
		s.line(place)
		return
	}
	if s.empty(d) || s.wrap(d) {
		return
	}
	s.refuse(src, d, err)
}

// early finds a place near the start of the head, if the built pages show that
// its end, where a stub is, would be too late.
func (s *hugoSearch) early(d *layout.Doc) bool {
	if !s.p.endIsLate() {
		return false
	}
	d.PageFunc = pageFunc
	place, err := d.Place(s.isOwn, s.p.elementSize(), s.p.opt.Built)
	if err == nil {
		s.line(place)
	}
	return err == nil || s.wrap(d)
}

// nextPasteLinked is for files outside the project.
const nextPasteLinked = "paste this into the file to which the link leads, right after the charset declaration"

// isOwn reports whether a template belongs to the project.
func (s *hugoSearch) isOwn(file string) bool {
	for _, f := range s.files {
		if f.own && f.file == file {
			return true
		}
	}
	return false
}

// pageFunc is the Hugo function that returns the page in a template to which
// something else was passed; since 0.111.
const pageFunc = "page"

// dataOf returns the expression for the page in a template that is called by c.
func dataOf(c layout.Call) string {
	if c.Page {
		return "."
	}
	return pageFunc
}

// named handles templates that name an endpoint themselves; a page must have
// only one. It refuses and returns true if the page always has it, otherwise it
// adds a note.
func (s *hugoSearch) named(d *layout.Doc) bool {
	e := s.p.opt.Endpoints
	for _, l := range d.Links {
		if l.Rel == "pingback" && e.Pingback == "" || l.Rel == "webmention" && e.Webmention == "" {
			continue
		}
		text, _ := s.text(l.File)
		r := refuseOwnEndpoint(l, text)
		if len(d.Heads) == 1 && l.Always(d.Heads[0]) {
			s.refuseOnce(r)
			return true
		}
		if note := r.Error() + "; check the built pages with sitelink check"; !slices.Contains(s.notes, note) {
			s.notes = append(s.notes, note)
		}
	}
	return false
}

// usable reports whether the called template is executed for each page that has
// the head, separately for each page.
func (s *hugoSearch) usable(d *layout.Doc, c layout.Call) bool {
	if c.CachedCall || len(d.Heads) == 1 && !c.Always(d.Heads[0]) || len(d.Heads) != 1 {
		return false
	}
	if c.InBlock == "" {
		return true
	}
	for key := range s.files {
		if src, ok := s.source(key); ok && bytes.Contains(src.Text, []byte(`define "`+c.InBlock+`"`)) {
			return false
		}
	}
	return true
}

// stub overrides the template that the theme leaves to its users, if the page
// calls it.
func (s *hugoSearch) stub(d *layout.Doc) bool {
	for _, theme := range s.themes {
		stub := stubOf(theme.name, s.p.opt.Themes)
		if stub == "" {
			continue
		}
		for _, c := range d.Calls {
			if partialKey(c.Name) == partialKey(stub) && s.usable(d, c) {
				s.override(partialKey(stub), "stub "+stub+" of the theme "+path.Base(theme.name), dataOf(c))
				return true
			}
		}
	}
	return false
}

// empty overrides a template of the theme that writes nothing, or one that the
// theme calls only if it exists. The override need not copy anything.
func (s *hugoSearch) empty(d *layout.Doc) bool {
	for _, c := range slices.Backward(d.Calls) {
		if c.InBody || !s.usable(d, c) {
			continue
		}
		key := partialKey(c.Name)
		f, ok := s.files[key]
		switch {
		case !ok && c.Guarded:
		case ok && !f.own:
			if src, readable := s.source(key); !readable || !layout.IsEmpty(src) {
				continue
			}
		default:
			continue
		}
		s.override(key, "override of the empty partial "+strings.TrimPrefix(key, "_partials/")+" of the theme", dataOf(c))
		return true
	}
	return false
}

// override adds an edit of a project file that overrides a file of the theme.
// data is the expression for the page there.
func (s *hugoSearch) override(key, how, data string) {
	f, has := s.files[key]
	e := edit{lang: layout.Go, rank: 1, how: how}
	if has && f.own {
		e.path, e.how = f.file, how+", which the project already overrides"
	} else {
		e.path, e.create = s.partialsDir()+"/"+strings.TrimPrefix(key, "_partials/"), true
	}
	e.inner = s.innerFor(e.path, data)
	e.insert = func(text []byte) []byte { return layout.Go.Append(text, e.inner) }
	s.edits[e.path] = e
}

// line adds an edit of a template of the project.
func (s *hugoSearch) line(place layout.Place) {
	inner := s.innerFor(place.File, place.Data)
	where := "after "
	if !place.After {
		where = "before "
	}
	s.edits[place.File] = edit{path: place.File, lang: layout.Go, inner: inner, rank: 1,
		how:    "line " + where + place.What,
		insert: func(text []byte) []byte { return place.Insert(layout.Go, text, inner) }}
}

// innerFor returns the call for a place. If another page reaches the place with
// other data, it uses the function that works for both.
func (s *hugoSearch) innerFor(file, data string) string {
	if e, ok := s.edits[file]; ok && e.inner != callOf(data) {
		data = pageFunc
	}
	return callOf(data)
}

// refuse adds the refusal for a page without a place.
func (s *hugoSearch) refuse(src layout.Source, d *layout.Doc, err error) {
	if !s.isOwn(src.File) && len(d.HeadEnds) > 0 && !s.isOwn(d.HeadEnds[0].File) && len(d.Heads) == 1 {
		h := d.Heads[0]
		r := Refusal{Path: h.File, Reason: "the head belongs to the theme, which has no place for additions", Next: nextBuilt, unreachable: true}
		if text, ok := s.text(h.File); ok {
			r.Line = layout.Line(text, h.Offset)
		}
		s.refuseOnce(r)
		return
	}
	r := refusePlace(src.File, err, s.text)
	r.Paste = layout.Go.Marked(callOf("."))
	s.refuseOnce(r)
}

func (s *hugoSearch) refuseOnce(r Refusal) {
	if !slices.ContainsFunc(s.refusals, func(o Refusal) bool { return o.Error() == r.Error() }) {
		s.refusals = append(s.refusals, r)
	}
}

// text returns the text of a template by its file name.
func (s *hugoSite) text(file string) ([]byte, bool) {
	for key, f := range s.files {
		if f.file == file {
			src, ok := s.source(key)
			return src.Text, ok
		}
	}
	return nil, false
}

// withoutRoots handles a project in which no template with a head is found. If
// the files of its theme are missing, the table of themes may have the stub.
func (s *hugoSearch) withoutRoots() finding {
	for _, name := range s.missing {
		if stub := stubOf(name, s.p.opt.Themes); stub != "" {
			s.override(partialKey(stub), "stub "+stub+" of the theme "+path.Base(name)+", from the table of themes", ".")
			s.addHead(false)
			return finding{edits: s.sorted(), notes: s.notes}
		}
	}
	if _, _, err := s.p.resolve(s.layouts); errors.Is(err, errOutside) {
		return finding{notes: s.notes, refusals: []Refusal{{Path: s.layouts, Reason: outside, Next: nextPasteHead, Paste: layout.Go.Marked(callOf("."))}}}
	}
	reason := "found no template with a <head> in " + s.layouts
	if len(s.themes)+len(s.missing) > 0 {
		reason += " or in the theme"
	}
	return finding{notes: s.notes, refusals: []Refusal{{Reason: reason, Next: nextBuilt, unreachable: true}}}
}

// addHead adds the edit of the partial with the elements.
func (s *hugoSearch) addHead(xhtml bool) {
	name := s.partialsDir() + "/" + headPartial
	if f, ok := s.files["_partials/"+headPartial]; ok && f.own {
		name = f.file
	}
	s.edits[name] = edit{path: name, lang: layout.Go, create: true, how: "the elements",
		why:    whyFile + "; the table [templates] in sitelink.toml configures this text",
		inner:  pages(s.p.opt.Choice).hugo(s.p.opt.Endpoints.HTML(xhtml)),
		insert: func(text []byte) []byte { return text }}
}

// verify checks the templates as they will be: each page must call the partial
// exactly once, in its head.
func (s *hugoSearch) verify(roots []string) {
	for _, e := range s.edits {
		text, ok := s.p.read(e.path, e.lang)
		if ok {
			text = e.insert(text)
		} else {
			text = e.lang.File(e.inner, whyFile)
		}
		s.edited[e.path] = text
		prefix := s.layouts + "/"
		if key := hugoKey(strings.TrimPrefix(e.path, prefix)); strings.HasPrefix(e.path, prefix) {
			s.files[key] = hugoFile{file: e.path, own: true}
		}
	}
	for _, key := range roots {
		src, _ := s.source(key)
		d := layout.Walk(src, s.load)
		var calls []layout.Call
		for _, c := range d.Calls {
			if c.Name == headPartial {
				calls = append(calls, c)
			}
		}
		switch {
		case len(calls) == 0:
			s.refusals = append(s.refusals, Refusal{Path: src.File, Reason: "found no place that puts the elements into the head of this template",
				Next: nextPasteHead, Paste: layout.Go.Marked(callOf("."))})
		case len(calls) > 1:
			s.refusals = append(s.refusals, Refusal{Path: src.File, Reason: fmt.Sprintf("the head of this template would have the elements twice, from %s and %s", calls[0].File, calls[1].File),
				Next: "change the template so that it calls only one of the two files, which other pages need"})
		}
	}
}

// themePartials is the directory under which a file of the theme can be called
// although a file of the project overrides it.
const themePartials = "sitelink/theme/"

// wrap overrides a partial that the theme calls in its head. The override calls
// the elements and then the theme's file, which a mount makes available under
// another name. Nothing of the theme is copied, so updates of the theme apply.
//
// The mount needs a configuration file. Only a project without a table [module]
// gets one, because not every version of Hugo merges the two. The theme must be
// inside the project, because the mount names its file.
func (s *hugoSearch) wrap(d *layout.Doc) bool {
	if _, has := s.config["module"]; has || d.Charset == nil {
		return false
	}
	for _, ext := range []string{".toml", ".yaml", ".yml", ".json"} {
		if f, err := s.p.file("config/_default/module" + ext); err != nil || f.text != nil && f.bare(layout.TOML) != nil {
			return false
		}
	}
	for _, c := range d.Calls {
		key := partialKey(c.Name)
		f, ok := s.files[key]
		switch {
		case !ok || f.own || f.dir == "" || c.InBody || !s.usable(d, c):
			continue
		case c.Before < d.Charset.Before || c.Before+s.p.elementSize() > layout.MaxOffset:
			continue
		case strings.Contains(f.file, "\""):
			continue
		}
		name := strings.TrimPrefix(key, "_partials/")
		dir := s.partialsDir()
		inner := callOf(dataOf(c)) + fmt.Sprintf(`{{ partial "%s%s" . }}`, themePartials, name)
		own := dir + "/" + name
		s.edits[own] = edit{path: own, lang: layout.Go, inner: inner, create: true, rank: 2,
			how:    "override of the partial " + name + " of the theme; it calls the theme's file",
			insert: func(text []byte) []byte { return layout.Go.Append(text, inner) }}
		mounts := fmt.Sprintf("\n[[mounts]]\nsource = \"%s\"\ntarget = \"layouts\"\n[[mounts]]\nsource = \"%s\"\ntarget = \"layouts/%s\"\n",
			s.layouts, f.file, path.Join(path.Base(dir), themePartials, name))
		const module = "config/_default/module.toml"
		s.edits[module] = edit{path: module, lang: layout.TOML, inner: mounts, create: true, rank: 1,
			how:    "mount of the theme's " + name + " under another name",
			insert: func(text []byte) []byte { return layout.TOML.Append(text, mounts) }}
		return true
	}
	return false
}
