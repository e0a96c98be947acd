package source

import (
	"bytes"
	"context"
	"html"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// maxTexts is how many texts with the same first word are looked for.
const maxTexts = 1000

func newTextSearch() textSearch {
	return textSearch{byWord: map[string][]string{}, byName: map[string][]string{}, hits: map[string][]hit{}}
}

func (w *textSearch) add(text string) {
	if word := searchWord(text); word != "" && len(w.byWord[word]) < maxTexts && !slices.Contains(w.byWord[word], text) {
		w.byWord[word] = append(w.byWord[word], text)
	}
}

// searchWord returns the first word of a text, "" if the text is not looked for.
func searchWord(text string) string {
	if strings.Trim(text, "./") == "" || len(text) < 2 || len(text) > read.MaxValue {
		return ""
	}
	for i := range len(text) {
		if read.IsWordEnd[text[i]] {
			return text[:i]
		}
	}
	return text
}

// search records where a file contains the texts as whole addresses.
func (w *textSearch) search(f contentFile, text []byte) {
	lines := sync.OnceValue(func() read.Lines { return read.NewLines(text) })
	add := func(whole string, h hit) {
		h.file = f
		h.line, h.col = lines().At(h.at)
		w.hits[whole] = append(w.hits[whole], h)
	}
	read.EachWord(text, func(at int, word []byte) {
		for _, whole := range w.byWord[string(word)] {
			end := at + len(whole)
			if !bytes.HasPrefix(text[at:], []byte(whole)) || end < len(text) && !read.IsWordEnd[text[end]] {
				continue
			}
			if rest := text[end:]; bytes.HasPrefix(rest, []byte("{{")) && !blockEnds().Match(rest) {
				continue // an action writes the rest: /tags/ is not the address in href="/tags/{{ . }}"
			}
			add(whole, hit{at: at, text: whole})
		}
		for _, target := range w.byName[string(word[bytes.LastIndexByte(word, '/')+1:])] {
			if word[0] != '/' && strings.HasSuffix("/"+path.Join(path.Dir(f.name), string(word)), target) {
				add(target, hit{at: at, text: string(word), relative: true})
			}
		}
	})
}

// blockEnds matches the action of a template that ends a block.
var blockEnds = text.Regexp(`^\{\{-?\s*(?:end|else)\b`)

// spellings returns how a template or data file may write an address of a page,
// the most likely spelling first. Those before literal are the address as it is on the page.
// inMenu: a menu may name a page from the top, and the pages of each language have it on their own.
func (m *Map) spellings(l BuiltLink, inMenu bool) (spellings []string, literal int) {
	raw := strings.TrimSpace(l.Raw)
	a := m.address(raw, l.Page)
	all := []string{raw, html.EscapeString(raw), a.exact, a.local}
	if rest := strings.TrimPrefix(a.local, "/"); strings.ContainsAny(rest, "/.#") {
		all = append(all, rest)
	}
	if p, _, _ := strings.Cut(a.local, "#"); a.target != "/"+l.Page {
		all = append(all, a.target+a.local[len(p):])
		if inMenu && a.target != "" {
			all = append(all, a.target[1:]+a.local[len(p):], upwards().ReplaceAllString(a.local, ""))
		}
	}
	if t := m.opt.Generator.Traits(); t.ResolvesMarkdown && a.local != "" {
		// Its configuration names pages without the suffix that they get, and other files by
		// a scheme.
		p, _, _ := strings.Cut(a.local, "#")
		if stem, ok := strings.CutSuffix(p, ".html"); ok {
			all = append(all, stem+a.local[len(p):], stem+".md"+a.local[len(p):])
		}
		if t.Versions {
			all = append(all, "pathname://"+a.local)
		}
	}
	for i, f := range all {
		if f != "" && !slices.Contains(spellings, f) {
			if spellings = append(spellings, f); i < 3 {
				literal = len(spellings)
			}
		}
	}
	return spellings, literal
}

// upwards matches the steps to the directory where a relative path begins.
var upwards = text.Regexp(`^(?:\.\.?/)+`)

// readTemplates looks for links in templates, data and configuration.
func (s *search) readTemplates(ctx context.Context, links []*openLink) {
	for _, l := range links {
		spellings, _ := s.m.spellings(l.link, l.isLink())
		for _, f := range spellings {
			s.levels[0].add(f)
		}
	}
	for _, f := range s.m.templates().files {
		if ctx.Err() != nil {
			return
		}
		f.search(&s.levels[f.level])
	}
}

// readContent looks for links in content files.
func (s *search) readContent(ctx context.Context, links []*openLink) {
	for _, l := range links {
		spellings, _ := s.m.spellings(l.link, false)
		for _, f := range spellings {
			s.content.add(f)
		}
		if target := l.menuTarget(); target != "" {
			name := path.Base(target)
			if known := s.content.byName[name]; len(known) < maxTexts && !slices.Contains(known, target) {
				s.content.byName[name] = append(known, target)
			}
		}
	}
	files := s.m.content.files
	found := make([]map[string][]hit, len(files))
	parallel(ctx, len(files), func(_, i int) {
		f := files[i]
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxContentFile)
		if !s.m.opt.Generator.Traits().Modules && read.IsHTMLTemplate(f.name, text) {
			f.dir.kind = read.Template
		}
		of := textSearch{s.content.byWord, s.content.byName, map[string][]hit{}}
		of.search(f, text)
		for text, hits := range of.hits {
			of.hits[text] = s.m.destinations(f, hits)
		}
		found[i] = of.hits
	})
	for _, hits := range found {
		for text := range hits {
			s.content.hits[text] = append(s.content.hits[text], hits[text]...)
		}
	}
}

// isResource reports whether a value of a data or configuration file is no entry
// of a menu or list, which only links are made of.
func (s *search) isResource(h *hit) bool {
	for _, f := range s.m.templates().files {
		if f.display != h.file.display {
			continue
		}
		for _, r := range f.rows() {
			if r.At == h.at {
				return !menuKeys[r.Key]
			}
		}
	}
	return false
}

// menuKeys are the keys of addresses in menus and lists of links.
var menuKeys = read.WordSet("url uri href link pageref path ref")

// templateHits returns where templates, data and configuration contain the
// address of a link, in the most likely spelling; otherForm says that this is not the one on
// the page.
func (s *search) templateHits(l *openLink) (hits []hit, otherForm bool) {
	spellings, literal := s.m.spellings(l.link, l.isLink())
	by := l.composed.by
	for i := range s.levels {
		for n, f := range spellings {
			if hits := filter(s.levels[i].hits[f], func(h *hit) bool {
				// If the surroundings of a link in a template differ, only its address
				// counts.
				fits := h.element == "" || len(by) == 0 && n < literal || slices.ContainsFunc(by, func(w *written) bool { return w.file.display == h.file.display })
				return fits && s.mayWrite(h, l)
			}); len(hits) > 0 {
				return hits, n >= literal
			}
		}
	}
	return nil, false
}

// mayWrite reports whether a link of a page can come from a place of a template. The
// template of a rule file, feed or JSON file writes no HTML page, and the link must be
// the same element in both.
func (s *search) mayWrite(h *hit, l *openLink) bool {
	if h.element != "" && l.on.element != "" && !strings.EqualFold(h.element, l.on.element) {
		return false
	}
	if !s.m.opt.Generator.Traits().Modules || h.file.dir.kind != read.Template {
		return !s.m.isOtherPage(&h.file, l.link.Page)
	}
	ofPage, ofTemplate := read.IsHTMLName(l.link.Page), read.IsHTMLLike(h.file.display)
	// The items of a feed hold what shortcodes and partials wrote for the page.
	return ofPage == ofTemplate || !ofPage && strings.HasPrefix(templateKey(&templateFile{contentFile: h.file}), "_")
}

// destinations returns the hits that are destinations of links and not just
// text.
func (m *Map) destinations(f contentFile, hits []hit) (kept []hit) {
	d := m.document(f)
	for _, h := range hits {
		is := slices.ContainsFunc(d.Matter, func(v read.Value) bool { return v.At == h.at && v.HoldsLink() })
		h.certain = is
		for _, it := range d.Links {
			if it.At == h.at {
				is, h.label, h.certain = true, it.Label, h.certain || it.IsGuess
				if d.Visible != nil {
					h.around = append(h.around, d.Visible.Around(it.Order))
				}
			}
		}
		if is {
			kept = append(kept, h)
		}
	}
	return kept
}

// filter returns the hits that keep accepts. If it accepts all, they are not copied: a link
// in a menu has the same hits on each page.
func filter(hits []hit, keep func(*hit) bool) []hit {
	rejects := func(h hit) bool { return !keep(&h) }
	if !slices.ContainsFunc(hits, rejects) {
		return hits
	}
	return slices.DeleteFunc(slices.Clone(hits), rejects)
}

// severalFiles reports whether the hits are in more than one file.
func severalFiles(hits []hit) bool {
	return slices.ContainsFunc(hits, func(h hit) bool { return h.file.display != hits[0].file.display })
}

// closest returns the hit with surroundings that are most similar to those of a
// link, or nil if none is ahead of the others. bonus is added to the
// similarity.
func closest(hits []hit, around read.Surroundings, bonus func(*hit) int) *hit {
	best, most, tie := -1, 0, false
	for i := range hits {
		for _, c := range hits[i].around {
			n := c.Similarity(around)
			if n < read.MinAround {
				continue
			}
			switch n += bonus(&hits[i]); {
			case n > most:
				best, most, tie = i, n, false
			case n == most && best != i:
				tie = true
			}
		}
	}
	if best < 0 || tie {
		return nil
	}
	return &hits[best]
}

// search records where the file contains the texts. A text in an expression of
// an attribute is where the expression starts.
func (f *templateFile) search(w *textSearch) {
	of := textSearch{byWord: w.byWord, hits: map[string][]hit{}}
	of.search(f.contentFile, f.text)
	for text, hits := range of.hits {
		for i := range hits {
			h := &hits[i]
			if f.outline == nil {
				continue
			}
			if t := f.outline.At(h.at); t >= 0 {
				if a, ok := f.outline.AttributeAt(t, h.at); ok {
					if read.LinkAttributes[a.Name] {
						h.element = string(f.outline.Name(t))
					}
					for read.IsAction(f.outline.Text[h.at]) && h.at > a.From && read.IsAction(f.outline.Text[h.at-1]) {
						h.at--
					}
					h.line, h.col = f.lines().At(h.at)
				}
			}
		}
		w.hits[text] = append(w.hits[text], hits...)
	}
}
