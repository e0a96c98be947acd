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

// findHugo looks for the places in a project of Hugo. Each template that writes
// a head of its own is followed through its partials, as Hugo would follow them
// over project and themes.
func findHugo(p *project) (finding, error) {
	h, err := openHugo(p)
	if err != nil {
		return finding{}, err
	}
	s := &hugoSearch{hugoSite: h, edits: map[string]edit{}}
	roots := h.roots()
	for _, name := range h.missing {
		s.notes = append(s.notes, fmt.Sprintf("the files of the theme %s are not here: hugo mod vendor or hugo mod get fetches them", name))
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
		// Themes have templates for odd pages, which may not even be used.
		for _, r := range s.refusals {
			s.notes = append(s.notes, r.Error()+": pages that are made with it will not have the elements, sitelink check names them")
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

// notPages are templates of pages that never have the elements.
var notPages = map[string]bool{"404.html": true, "alias.html": true}

// roots lists the templates that write a head, by key.
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

// unreadable tells whether a template of the project's own cannot be read as
// one.
func (h *hugoSite) unreadable(key string) bool {
	file := h.files[key]
	f, err := h.p.file(file.file)
	return file.own && err == nil && f.unreadable()
}

// callOf is what stands between the marks where the page is called data.
func callOf(data string) string { return `{{ partial "` + headPartial + `" ` + data + ` }}` }

// elementSize is a guess of how long the elements are, with white space.
func (p *project) elementSize() int { return len(p.opt.Endpoints.HTML(true)) + 16 }

// root finds the place for one template and notes the edit.
func (s *hugoSearch) root(key string) {
	src, _ := s.source(key)
	d := layout.Walk(src, s.load)
	for _, file := range d.Files {
		if f, err := s.p.file(file); err == nil && f.unreadable() && s.isOwn(file) {
			r := Refusal{Path: file, Reason: f.refusal, Where: "the file, once it is UTF-8: then run the command again"}
			if !isUTF16(f.text) {
				r.Paste, r.Where = layout.Go.Marked(callOf(".")), "where it leads, right after the charset declaration"
			}
			s.refuseOnce(r)
			return
		}
	}
	if s.named(d) || s.stub(d) {
		return
	}
	d.PageFunc = pageFunc
	place, err := d.Place(s.isOwn, s.p.elementSize())
	if err == nil {
		s.line(place)
		return
	}
	if s.empty(d) || s.wrap(d) {
		return
	}
	s.refuse(src, d, err)
}

func (s *hugoSearch) isOwn(file string) bool {
	for _, f := range s.files {
		if f.own && f.file == file {
			return true
		}
	}
	return false
}

// pageFunc is Hugo's name for the page where templates have handed on something
// else; since 0.111.
const pageFunc = "page"

// dataOf is what the page is called in a template that is called so.
func dataOf(c layout.Call) string {
	if c.Page {
		return "."
	}
	return pageFunc
}

// named notes that templates name an endpoint themselves, of which a page must
// have one; true if the page always does.
func (s *hugoSearch) named(d *layout.Doc) bool {
	e := s.p.opt.Endpoints
	for _, l := range d.Links {
		if l.Rel == "pingback" && e.Pingback == "" || l.Rel == "webmention" && e.Webmention == "" {
			continue
		}
		text, _ := s.text(l.File)
		r := Refusal{Path: l.File, Line: layout.Line(text, l.Offset), Reason: "the template names a " + l.Rel + " endpoint itself, and a page must name one only",
			Where: "one of the two: take the element out of the template, or the key out of [templates]"}
		if len(d.Heads) == 1 && l.Always(d.Heads[0]) {
			s.refuseOnce(r)
			return true
		}
		if note := r.Error() + ": check the built pages"; !slices.Contains(s.notes, note) {
			s.notes = append(s.notes, note)
		}
	}
	return false
}

// usable tells whether what the call writes stands on each page whose head is
// written, for each anew.
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

// stub takes the template that the theme leaves to its users, if the page calls
// it.
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

// empty takes a template of the theme that writes nothing, or one that it calls
// only if there is one: overriding it copies nothing.
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

// override notes a file of the project that takes the place of a theme's. data
// is what the page is called there.
func (s *hugoSearch) override(key, how, data string) {
	f, has := s.files[key]
	e := edit{lang: layout.Go, rank: 1, how: how}
	if has && f.own {
		e.path, e.how = f.file, how+", which the project has already"
	} else {
		e.path, e.create = s.partialsDir()+"/"+strings.TrimPrefix(key, "_partials/"), true
	}
	e.inner = s.innerFor(e.path, data)
	e.insert = func(text []byte) []byte { return layout.Go.Append(text, e.inner) }
	s.edits[e.path] = e
}

// line notes a line in a template of the project's own.
func (s *hugoSearch) line(place layout.Place) {
	inner := s.innerFor(place.File, place.Data)
	where := "behind "
	if !place.After {
		where = "before "
	}
	s.edits[place.File] = edit{path: place.File, lang: layout.Go, inner: inner, rank: 1,
		how:    "line " + where + place.What,
		insert: func(text []byte) []byte { return place.Insert(layout.Go, text, inner) }}
}

// innerFor returns the call for a place. Where another page reaches it with
// other data, the function that works for both is taken.
func (s *hugoSearch) innerFor(file, data string) string {
	if e, ok := s.edits[file]; ok && e.inner != callOf(data) {
		data = pageFunc
	}
	return callOf(data)
}

// refuse says why there is no place.
func (s *hugoSearch) refuse(src layout.Source, d *layout.Doc, err error) {
	r := Refusal{Path: src.File, Reason: err.Error(), Paste: layout.Go.Marked(callOf(".")), Where: "inside of its <head>, right after the charset declaration"}
	if !s.isOwn(src.File) && len(d.HeadEnds) > 0 && !s.isOwn(d.HeadEnds[0].File) && len(d.Heads) == 1 {
		h := d.Heads[0]
		r = Refusal{Path: h.File, Reason: "the head belongs to the theme, which leaves nothing in it to its users", unreachable: true,
			Where: "nothing in the theme, whose next version would undo it: sitelink inject --docroot writes the elements into the built pages"}
		if text, ok := s.text(h.File); ok {
			r.Line = layout.Line(text, h.Offset)
		}
		err = nil
	}
	var lines []string
	if no, ok := err.(*layout.NoPlaceError); ok {
		for _, spot := range no.Spots {
			if text, ok := s.text(spot.File); ok {
				lines = append(lines, fmt.Sprintf("%s:%d", spot.File, layout.Line(text, spot.Offset)))
			}
		}
		if len(no.Spots) > 0 {
			if text, ok := s.text(no.Spots[0].File); ok {
				r.Path, r.Line = no.Spots[0].File, layout.Line(text, no.Spots[0].Offset)
			}
		}
	}
	if len(lines) > 1 {
		r.Reason += " (" + strings.Join(lines, ", ") + ")"
	}
	s.refuseOnce(r)
}

func (s *hugoSearch) refuseOnce(r Refusal) {
	if !slices.ContainsFunc(s.refusals, func(o Refusal) bool { return o.Error() == r.Error() }) {
		s.refusals = append(s.refusals, r)
	}
}

func (s *hugoSite) text(file string) ([]byte, bool) {
	for key, f := range s.files {
		if f.file == file {
			src, ok := s.source(key)
			return src.Text, ok
		}
	}
	return nil, false
}

// withoutRoots handles a project whose templates lie elsewhere: the table knows
// the theme's stub, although its files are not here.
func (s *hugoSearch) withoutRoots() finding {
	for _, name := range s.missing {
		if stub := stubOf(name, s.p.opt.Themes); stub != "" {
			s.override(partialKey(stub), "stub "+stub+" of the theme "+path.Base(name)+", by the table of themes", ".")
			s.addHead(false)
			return finding{edits: s.sorted(), notes: s.notes}
		}
	}
	if _, _, err := s.p.resolve(s.layouts); errors.Is(err, errOutside) {
		return finding{notes: s.notes, refusals: []Refusal{{Path: s.layouts, Reason: "a symbolic link leads out of the project",
			Paste: layout.Go.Marked(callOf(".")), Where: "into the head there, right after the charset declaration"}}}
	}
	reason := "no template with a <head> is found in " + s.layouts
	if len(s.themes)+len(s.missing) > 0 {
		reason += " or in the theme"
	}
	return finding{notes: s.notes, refusals: []Refusal{{Reason: reason, unreachable: true,
		Where: "sitelink inject --docroot, which writes the elements into the built pages"}}}
}

// addHead notes the partial with the elements.
func (s *hugoSearch) addHead(xhtml bool) {
	name := s.partialsDir() + "/" + headPartial
	if f, ok := s.files["_partials/"+headPartial]; ok && f.own {
		name = f.file
	}
	s.edits[name] = edit{path: name, lang: layout.Go, create: true, how: "the elements",
		why:    whyFile + "; the table [templates] of sitelink.toml says what stands here",
		inner:  pages(s.p.opt.Choice).hugo(s.p.opt.Endpoints.HTML(xhtml)),
		insert: func(text []byte) []byte { return text }}
}

// verify reads the templates as they will be: each page must call the partial
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
			s.refusals = append(s.refusals, Refusal{Path: src.File, Reason: "the elements would not stand in its head",
				Paste: layout.Go.Marked(callOf(".")), Where: "inside of its <head>, right after the charset declaration"})
		case len(calls) > 1:
			s.refusals = append(s.refusals, Refusal{Path: src.File, Reason: fmt.Sprintf("the elements would stand in its head twice, by %s and %s", calls[0].File, calls[1].File),
				Where: "the file: it calls a template that other pages need; give it one of the two"})
		}
	}
}

// themePartials is where the theme's own file can be called when a file of the
// project overrides it.
const themePartials = "sitelink/theme/"

// wrap overrides a partial that the theme calls in its head by one that calls
// the elements and then the theme's own file, which a mount makes known by
// another name. Nothing of the theme is copied, so its next version counts.
//
// The mount needs a file of configuration: only a project that has no table
// [module] gets one, since Hugo would not join the two in every version. And
// the theme must lie in the project, for mounts name files of it.
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
			how:    "override of the partial " + name + " of the theme, which it calls",
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
