package inject

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/layout"
)

// search finds places in the project's templates of one language, for the
// generators other than Hugo. The text between the marks is the elements
// themselves, under a condition.
type search struct {
	p    *project
	lang layout.Language
	// load returns the template that a call names.
	load layout.Loader
	// inner returns the text between the marks.
	inner func(xhtml bool) (string, error)

	edits    map[string]edit
	refusals []Refusal
	// heads counts the templates with a head.
	heads int
}

func newSearch(p *project, lang layout.Language, load layout.Loader, inner func(xhtml bool) (string, error)) *search {
	return &search{p: p, lang: lang, load: load, inner: inner, edits: map[string]edit{}}
}

// source returns a file of the project without marked text.
func (p *project) source(name string, lang layout.Language) (layout.Source, bool) {
	text, ok := p.read(name, lang)
	return layout.Source{File: name, Text: text, Lang: lang}, ok
}

// from returns a loader that searches in directories of the project, for the name
// alone and with each of the endings.
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

// roots finds the place in each file that writes a head.
func (s *search) roots(names []string) {
	for _, name := range names {
		s.root(name, false)
	}
}

// root finds the place in one file. part: the file may be only a part of a head.
func (s *search) root(name string, part bool) {
	src, ok := s.p.source(name, s.lang)
	if !ok {
		return
	}
	if f, err := s.p.file(name); err == nil && isUTF16(src.Text) {
		s.heads++
		s.refusals = append(s.refusals, Refusal{Path: name, Reason: f.refusal, Next: nextUTF8})
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
			s.refuse(refuseOwnEndpoint(l, text))
			return
		}
	}
	inner, err := s.inner(d.XHTML)
	if err != nil {
		s.refuse(Refusal{Reason: err.Error(), Next: nextPatterns})
		return
	}
	place, err := s.p.place(d, func(string) bool { return true })
	if err != nil {
		r := refusePlace(name, err, func(file string) ([]byte, bool) { return s.p.read(file, s.lang) })
		r.Paste = s.lang.Marked(inner)
		s.refuse(r)
		return
	}
	where := "line after "
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

// create adds an edit that creates a file to override one of a theme. If the
// project already has the file, inner is appended to it.
func (s *search) create(name, inner, how string) {
	s.edits[name] = edit{path: name, lang: s.lang, inner: inner, create: !s.p.has(name, s.lang), how: how,
		insert: func(text []byte) []byte { return s.lang.Append(text, inner) }}
}

// has reports whether the project has a file that sitelink did not create.
func (p *project) has(name string, lang layout.Language) bool {
	_, ok := p.read(name, lang)
	return ok
}

// finding returns the result. If the search found nothing, none is the reason.
func (s *search) finding(none string) finding {
	if len(s.edits) == 0 && len(s.refusals) == 0 {
		s.refuse(Refusal{Reason: none, unreachable: true, Next: nextBuilt})
	}
	f := finding{refusals: s.refusals}
	for _, e := range s.edits {
		f.edits = append(f.edits, e)
	}
	slices.SortFunc(f.edits, func(a, b edit) int { return strings.Compare(a.path, b.path) })
	return f
}

// prefixes translates patterns for languages without regular expressions: dir/**
// to a prefix of the page's path, a path to whole paths. All start with a slash.
func prefixes(globs []string) (begin, whole []string, err error) {
	for _, g := range globs {
		dir, below := strings.CutSuffix(g, "/**")
		switch {
		case g == "**":
			begin = append(begin, "/")
		case strings.ContainsAny(dir, "*?[]{}\\\"'"):
			return nil, nil, fmt.Errorf("this template language cannot express the pattern %q, only dir/** and whole paths", g)
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
