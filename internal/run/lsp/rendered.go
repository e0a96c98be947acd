package lsp

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/source/read"
)

// Templates, data files and the configuration are no pages. The last build decides
// whether one of their values is a link while its author changes it: the earlier value
// at the same place must have been a link of a page. That value is found as the position
// of a finding is. A template may write the address of the site before the value. All
// other values get no verdict until the next build.

// rendered is a destination of a file that the last build made a link of a page.
type rendered struct {
	destination.Destination // as it was when the site was built
	keyForm
	page string // one of the pages, or empty
	kind read.SourceKind
	// differs reports that the templates write the value in several ways.
	differs bool
}

// shownLink is a finding at a place outside of content.
type shownLink struct {
	line, column       int
	raw, element, page string
	kind               read.SourceKind
	around             string // the page around the value, "" for a finding
	isPage             bool   // it leads to a page, to which lists may link, too
}

// keepShown keeps the findings that are not in content: they are links that a template
// writes, too.
func (s *Snapshot) keepShown(findings []check.Finding) {
	seen := map[string]map[shownLink]bool{}
	for i := range findings {
		f := &findings[i]
		if f.Source == nil || f.Source.Kind == check.SourceKind(read.Content) || f.Raw == "" {
			continue
		}
		file, ok := s.File(s.Project.Abs(f.Source.File))
		if !ok {
			continue
		}
		l := shownLink{line: f.Source.Line, column: f.Source.Column, raw: f.Raw, element: f.Element, kind: read.SourceKind(f.Source.Kind)}
		if seen[file] == nil {
			seen[file] = map[shownLink]bool{}
		}
		if !seen[file][l] {
			seen[file][l] = true
			l.page = f.Page
			s.shown[file] = append(s.shown[file], l)
		}
	}
}

// rendered returns what the last build made of each destination of a file outside of
// content, in the order of its text on disk.
func (s *Snapshot) rendered(ctx context.Context, file string) ([]rendered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all, ok := s.renderings[file]; ok || s.sources == nil || s.reader == nil || s.isContent(file) {
		return all, nil
	}
	text, err := s.ReadText(file)
	if err != nil {
		return nil, nil
	}
	found := s.destinations(file, text)
	all := make([]rendered, len(found))
	for i := range found {
		all[i].Destination = found[i]
	}
	show := func(line, column int, raw string, shown shownLink) {
		at, ok := destination.Offset(text, line, column)
		if !ok {
			return
		}
		for i := range all {
			if d := &all[i]; (d.Start == at || d.Position == at) && mayRender(d.Form) && fits(text, &d.Destination, &shown) {
				d.show(s.prefixesOf(d.Form), raw, shown)
			}
		}
	}
	for _, l := range s.shown[file] {
		show(l.line, l.column, l.raw, l)
	}
	links, details, err := s.linksLike(all)
	if err != nil {
		return nil, nil // the docroot is being written
	}
	at, err := s.sources.Locate(ctx, s.Site, links)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	for i, p := range at {
		if p.Position != nil && p.File == file {
			details[i].kind = p.Kind
			show(p.Line, p.Column, links[i].Raw, details[i])
		}
	}
	s.renderings[file] = all
	return all, nil
}

// mayRender reports whether a destination of a form can become a link as it is written,
// or with something before it. Strings in actions go through functions.
func mayRender(f read.Form) bool { return f == read.FormHTML || f == read.FormData }

// prefixesOf returns what may be written before the values of a form.
func (s *Snapshot) prefixesOf(f read.Form) []string {
	if f == read.FormHTML {
		return []string{""}
	}
	return []string{"", s.Site.BasePath() + "/", s.Site.BaseURL()}
}

// show takes over that the value became a link of a page.
func (r *rendered) show(forms []string, raw string, shown shownLink) {
	for _, before := range forms {
		f := keyForm{before: before, element: shown.element}
		if f.link(r.Value) != raw {
			continue
		}
		r.differs = r.differs || r.page != "" && r.before != before
		if r.page == "" {
			r.keyForm, r.page, r.kind = f, shown.page, shown.kind
		}
		return
	}
	r.differs = true
}

// linksLike returns links of some pages that may be made of destinations, sorted by page
// and offset.
func (s *Snapshot) linksLike(all []rendered) (links []source.BuiltLink, details []shownLink, err error) {
	values := map[docroot.NodeID]map[string]bool{} // that lead to a file
	for i := range all {
		if !mayRender(all[i].Form) || strings.Contains(all[i].Value, "{{") {
			continue
		}
		for _, before := range s.prefixesOf(all[i].Form) {
			value := keyForm{before: before}.link(all[i].Value)
			if !isRooted(value) {
				continue
			}
			if r, ok := s.follow("", value); ok && r.State.Answers() && r.State != host.StateExternal {
				if values[r.Node] == nil {
					values[r.Node] = map[string]bool{}
				}
				values[r.Node][value] = true
			}
		}
	}
	// For each file, the first page that links to it is searched, the last one, and the
	// one that links to most of the files. A menu is on all pages, or on the home page.
	linking := map[docroot.NodeID][]site.PageID{}
	count := map[site.PageID]int{}
	for n := range s.Site.Pages() {
		id := site.PageID(n)
		if !s.Site.Page(id).Kind().IsHTML() {
			continue
		}
		links := s.Site.Page(id).All()
		for i := range links {
			node := links[i].Node
			if !links[i].State.Answers() || values[node] == nil {
				continue
			}
			if of := linking[node]; len(of) == 0 || of[len(of)-1] != id {
				linking[node] = append(of, id)
				count[id]++
			}
		}
	}
	var most, first, last []site.PageID
	for _, of := range linking {
		first, last = append(first, of[0]), append(last, of[len(of)-1])
		most = append(most, slices.MinFunc(of, func(a, b site.PageID) int { return cmp.Or(count[b]-count[a], int(a)-int(b)) }))
	}
	var pages []site.PageID
	for _, some := range [][]site.PageID{most, first, last} {
		slices.Sort(some)
		for _, id := range slices.Compact(some) {
			if len(pages) < maxShowing && !slices.Contains(pages, id) {
				pages = append(pages, id)
			}
		}
	}
	slices.Sort(pages)
	for _, id := range pages {
		var want []uint32
		all := s.Site.Page(id).All()
		for i := range all {
			if all[i].State.Answers() && values[all[i].Node] != nil {
				want = append(want, uint32(i))
			}
		}
		page := s.Site.Path(id)
		text, err := s.reader.Text(id) // good until the reader is used again
		if err != nil {
			return nil, nil, err
		}
		text = bytes.Clone(text)
		err = s.reader.Details(id, want, func(_ int, d *site.Detail) {
			if raw := strings.Clone(d.Raw); values[d.Node][raw] {
				links = append(links, source.BuiltLink{Page: page, Offset: d.Offset, Raw: raw})
				l := shownLink{raw: raw, element: d.Element, page: page, isPage: s.SourceOf(d.Node) != "" && d.Fragment == ""}
				if at := int(d.Offset); at < len(text) {
					l.around = string(text[bytes.LastIndexByte(text[:at], '<')+1 : min(len(text), at+maxAround)])
				}
				details = append(details, l)
			}
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return links, details, nil
}

// maxAround is how many bytes of a page after a value are compared with a source.
const maxAround = 1 << 10

// fits reports whether a link of a page certainly comes from a destination, and not
// from a list of all pages. A template must have the same tag with the same text. A
// data file must have the text of the link beside its address.
func fits(text []byte, d *destination.Destination, l *shownLink) bool {
	if l.around == "" {
		return true
	}
	if d.Form == read.FormData {
		// The text of the element begins before the text of the link.
		_, rest, _ := strings.Cut(l.around, ">")
		rest, _, _ = strings.Cut(rest, "</a")
		var b strings.Builder
		for rest != "" {
			before, tag, _ := strings.Cut(rest, "<")
			b.WriteString(before)
			_, rest, _ = strings.Cut(tag, ">")
		}
		label := strings.TrimSpace(html.UnescapeString(b.String()))
		from, to := max(0, d.Start-maxBeside), min(len(text), d.End+maxBeside)
		return !l.isPage || label != "" && bytes.Contains(text[from:to], []byte(label))
	}
	start := bytes.LastIndexByte(text[:d.Start], '<') + 1
	after := text[d.End:min(len(text), d.End+maxAround)]
	if n := bytes.IndexByte(after, '>'); n >= 0 {
		if m := bytes.IndexByte(after[n:], '<'); m >= 0 {
			after = after[:n+m]
		}
	}
	for _, part := range strings.Split(string(text[start:d.Start])+l.raw+string(after), "{{") {
		if _, literal, ok := strings.Cut(part, "}}"); ok {
			part = literal
		}
		if !strings.Contains(plain.Replace(l.around), plain.Replace(part)) {
			return false
		}
	}
	return true
}

// maxBeside is how far the text of a link may be from its address in a data file.
const maxBeside = 200

// plain removes what programs that shorten pages change.
var plain = strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "", "\r", "", "\n", "", "&amp;", "&")

// maxShowing is how many pages are searched for the links of a file.
const maxShowing = 24

// pairRendered returns what the last build shows of the destinations of a text that have
// changed since, by their present offsets. Destinations are the same if they are in the
// same order between others that have not changed.
func pairRendered(built []rendered, now []destination.Destination) map[int]*rendered {
	like := func(a *rendered, b *destination.Destination) bool {
		return a.Form == b.Form && a.Key == b.Key && a.Name == b.Name && a.Element == b.Element
	}
	same := func(a *rendered, b *destination.Destination) bool { return like(a, b) && a.Value == b.Value }
	start := 0
	for start < min(len(built), len(now)) && same(&built[start], &now[start]) {
		start++
	}
	end := 0
	for end < min(len(built), len(now))-start && same(&built[len(built)-1-end], &now[len(now)-1-end]) {
		end++
	}
	if len(built) != len(now) {
		return nil
	}
	all := map[int]*rendered{}
	for i := start; i < len(now)-end; i++ {
		if !like(&built[i], &now[i]) {
			return nil
		}
		if built[i].Value != now[i].Value {
			all[now[i].Start] = &built[i]
		}
	}
	return all
}
