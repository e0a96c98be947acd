package inject

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/layout"
)

// search looks for places in the project's own templates of one language; the
// elements themselves stand between the marks.
type search struct {
	p    *project
	lang layout.Language
	// load finds the template that a call names.
	load layout.Loader
	// inner is what stands between the marks.
	inner func(xhtml bool) (string, error)

	edits    map[string]edit
	refusals []Refusal
	heads    int
}

func newSearch(p *project, lang layout.Language, load layout.Loader, inner func(xhtml bool) (string, error)) *search {
	return &search{p: p, lang: lang, load: load, inner: inner, edits: map[string]edit{}}
}

// source reads a file of the project.
func (p *project) source(name string, lang layout.Language) (layout.Source, bool) {
	text, ok := p.read(name, lang)
	return layout.Source{File: name, Text: text, Lang: lang}, ok
}

// from returns a loader that looks in directories of the project, with one of
// the endings where the name has none.
func (p *project) from(lang layout.Language, dirs []string, endings ...string) layout.Loader {
	return func(name, from string) (layout.Source, bool) {
		for _, dir := range append(slices.Clone(dirs), path.Dir(from)) {
			for _, end := range append([]string{""}, endings...) {
				if file := path.Join(dir, name) + end; name != "" && !strings.HasPrefix(path.Clean(name), "../") {
					if s, ok := p.source(file, lang); ok {
						return s, true
					}
				}
			}
		}
		return layout.Source{}, false
	}
}

// roots looks for the place of each file that writes a head.
func (s *search) roots(names []string) {
	for _, name := range names {
		s.root(name, false)
	}
}

// root looks for the place of one file. part: it need not write all of a head.
func (s *search) root(name string, part bool) {
	src, ok := s.p.source(name, s.lang)
	if !ok {
		return
	}
	if f, err := s.p.file(name); err == nil && isUTF16(src.Text) {
		s.heads++
		s.refusals = append(s.refusals, Refusal{Path: name, Reason: f.refusal, Where: "the file, once it is UTF-8: then run the command again"})
		return
	}
	d := layout.Walk(src, s.load)
	if len(d.Heads)+len(d.HeadEnds) == 0 && (!d.IsDocument || d.Implied == nil) && (!part || d.Charset == nil) {
		return
	}
	s.heads++
	for _, l := range d.Links {
		e := s.p.opt.Endpoints
		if l.Rel == "pingback" && e.Pingback != "" || l.Rel == "webmention" && e.Webmention != "" {
			text, _ := s.p.read(l.File, s.lang)
			s.refuse(Refusal{Path: l.File, Line: layout.Line(text, l.Offset), Reason: "the template names a " + l.Rel + " endpoint itself, and a page must name one only",
				Where: "one of the two: take the element out of the template, or the key out of [templates]"})
			return
		}
	}
	inner, err := s.inner(d.XHTML)
	if err != nil {
		s.refuse(Refusal{Reason: err.Error(), Where: "sitelink inject --docroot, which knows all patterns"})
		return
	}
	place, err := d.Place(func(file string) bool { return !strings.HasPrefix(file, "theme ") }, len(s.p.opt.Endpoints.HTML(true))+16)
	if err != nil {
		r := Refusal{Path: name, Reason: err.Error(), Paste: s.lang.Marked(inner), Where: "inside of the <head>, right after the charset declaration"}
		if no, ok := err.(*layout.NoPlaceError); ok && len(no.Spots) > 0 {
			var lines []string
			for _, spot := range no.Spots {
				text, _ := s.p.read(spot.File, s.lang)
				lines = append(lines, fmt.Sprintf("%s:%d", spot.File, layout.Line(text, spot.Offset)))
			}
			r.Reason += " (" + strings.Join(lines, ", ") + ")"
			text, _ := s.p.read(no.Spots[0].File, s.lang)
			r.Path, r.Line = no.Spots[0].File, layout.Line(text, no.Spots[0].Offset)
		}
		s.refuse(r)
		return
	}
	where := "line behind "
	if !place.After {
		where = "line before "
	}
	s.edits[place.File] = edit{path: place.File, lang: s.lang, inner: inner, how: where + place.What,
		insert: func(text []byte) []byte { return place.Insert(s.lang, text, inner) }}
}

func (s *search) refuse(r Refusal) {
	if !slices.ContainsFunc(s.refusals, func(o Refusal) bool { return o.Error() == r.Error() }) {
		s.refusals = append(s.refusals, r)
	}
}

// create notes a file that overrides an empty one of a theme; one that the
// project has already gets the elements at its end.
func (s *search) create(name, inner, how string) {
	s.edits[name] = edit{path: name, lang: s.lang, inner: inner, create: !s.p.has(name, s.lang), how: how,
		insert: func(text []byte) []byte { return s.lang.Append(text, inner) }}
}

// has tells whether the project has the file without us.
func (p *project) has(name string, lang layout.Language) bool {
	_, ok := p.read(name, lang)
	return ok
}

// finding returns what was found; none says why when nothing was.
func (s *search) finding(none string) finding {
	if len(s.edits) == 0 && len(s.refusals) == 0 {
		s.refuse(Refusal{Reason: none, unreachable: true, Where: "sitelink inject --docroot, which writes the elements into the built pages"})
	}
	f := finding{refusals: s.refusals}
	for _, e := range s.edits {
		f.edits = append(f.edits, e)
	}
	slices.SortFunc(f.edits, func(a, b edit) int { return strings.Compare(a.path, b.path) })
	return f
}

// prefixes translates patterns for languages without regular expressions: to
// beginnings of the page's address for dir/**, and to whole addresses. Both
// begin with a slash.
func prefixes(globs []string) (begin, whole []string, err error) {
	for _, g := range globs {
		dir, below := strings.CutSuffix(g, "/**")
		switch {
		case g == "**":
			begin = append(begin, "/")
		case strings.ContainsAny(dir, "*?[]{}\\\"'"):
			return nil, nil, fmt.Errorf("the pattern %q cannot be written in this template language; dir/** and paths can", g)
		case below:
			begin = append(begin, "/"+dir+"/")
		default:
			whole = append(whole, "/"+g)
			if index, ok := strings.CutSuffix(g, "index.html"); ok {
				whole = append(whole, "/"+index)
			} else if bare, ok := strings.CutSuffix(g, ".html"); ok {
				whole = append(whole, "/"+bare)
			}
		}
	}
	return begin, whole, nil
}
