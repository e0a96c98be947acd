package lsp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/system"
)

// Location is a range of bytes in a source file.
type Location struct {
	File       string
	Start, End int
}

// Subject is what a request of an editor is about: a page or one of its headings.
type Subject struct {
	Node docroot.NodeID
	// Fragment is the id of the heading, "" for the page as a whole.
	Fragment string
}

// PlaceAt returns what an offset of a text is about: the target of the link there,
// or the heading there, or the page that is made of the text. ok is false if the
// text becomes no page.
func (s *Snapshot) SubjectAt(f *File, offset int) (p Subject, ok bool) {
	if l := f.At(offset); l != nil {
		return Subject{l.Target.Node, l.Target.Fragment}, l.Target.Node != docroot.NoNode
	}
	id, ok := s.page(f.Name)
	if !ok {
		return Subject{}, false
	}
	p.Node = s.Site.Page(id).Node()
	if h := f.HeadingAt(offset); h != nil {
		p.Fragment = h.Anchor
	}
	return p, true
}

// eachFile calls f for every source file, those of the overlay as they are there,
// in the order of their names.
func (s *Snapshot) eachFile(o *Overlay, f func(name string, file *indexedFile)) {
	var changed []string
	if o != nil {
		changed = slices.Sorted(maps.Keys(o.files))
	}
	for _, name := range s.order {
		for len(changed) > 0 && changed[0] < name {
			f(changed[0], o.files[changed[0]])
			changed = changed[1:]
		}
		if len(changed) > 0 && changed[0] == name {
			f(name, o.files[name])
			changed = changed[1:]
			continue
		}
		f(name, s.files[name])
	}
	for _, name := range changed {
		f(name, o.files[name])
	}
}

// References returns the destinations that lead to a page or heading, sorted by
// file and offset. Those to a page include the ones to its headings.
func (s *Snapshot) References(o *Overlay, p Subject) []Location {
	want := hashFragment(p.Fragment)
	var all []Location
	s.eachFile(o, func(name string, file *indexedFile) {
		for i := range file.links {
			if l := &file.links[i]; l.node == p.Node && (want == 0 || l.fragment == want) {
				all = append(all, Location{name, int(l.start), int(l.end)})
			}
		}
	})
	return all
}

// Lens is the number of references to a page or heading of a file.
type Lens struct {
	Subject
	// Start is the offset of the heading, 0 for the page.
	Start, Count int
}

// Lenses returns how often the page that is made of a text, and each of its
// headings, is linked to from other places. Headings without references are left
// out.
func (s *Snapshot) Lenses(o *Overlay, f *File) []Lens {
	id, ok := s.page(f.Name)
	if !ok {
		return nil
	}
	node := s.Site.Page(id).Node()
	total, by := 0, map[uint64]int{}
	s.eachFile(o, func(_ string, file *indexedFile) {
		for i := range file.links {
			if l := &file.links[i]; l.node == node {
				total++
				by[l.fragment]++
			}
		}
	})
	all := []Lens{{Subject: Subject{Node: node}, Count: total}}
	for _, h := range f.Headings {
		if n := by[hashFragment(h.Anchor)]; n > 0 && h.Anchor != "" {
			all = append(all, Lens{Subject{node, h.Anchor}, h.Start, n})
		}
	}
	return all
}

// Definition returns where a link leads in the sources: the heading, the content
// file of the page, or the file that the generator copies to the site. ok is false
// if there is none.
func (s *Snapshot) Definition(o *Overlay, t *Target) (at Location, ok bool) {
	if t.Node == docroot.NoNode {
		return Location{}, false
	}
	file := s.SourceOf(t.Node)
	if file == "" {
		file = s.copiedFrom(t.Node)
		return Location{File: file}, file != ""
	}
	at.File = file
	if f := s.indexed(o, file); f != nil && t.Fragment != "" {
		for _, h := range f.headings {
			if h.id == t.Fragment {
				at.Start, at.End = int(h.start), int(h.end)
			}
		}
	}
	return at, true
}

// copiedFrom returns the source file that a file of the site is a copy of, "" if
// none is found: a static file, or one beside the content file of a page.
func (s *Snapshot) copiedFrom(node docroot.NodeID) string {
	path := s.Site.Tree().Path(node)
	s.mu.Lock()
	static := ""
	if s.sources != nil {
		static = s.sources.Static(path)
	}
	s.mu.Unlock()
	if static != "" {
		return static
	}
	dir, name := "", path
	for i := strings.LastIndexByte(path, '/'); i >= 0; i = strings.LastIndexByte(dir, '/') {
		dir, name = path[:i], path[i+1:]
		id, ok := s.Site.Lookup(dir)
		if !ok || s.Site.IndexOf(id) == docroot.NoNode {
			continue
		}
		if file := s.SourceOf(s.Site.IndexOf(id)); file != "" {
			if beside := file[:strings.LastIndexByte(file, '/')+1] + name; s.exists(beside) {
				return beside
			}
			return ""
		}
	}
	return ""
}

// Symbol is a page or a heading in the sources.
type Symbol struct {
	Location
	Name string
	// Container is the title of the page of a heading, and the address of a page.
	Container string
	Heading   bool
}

// maxSymbols is how many symbols a search returns.
const maxSymbols = 200

// Symbols returns the pages and headings with all words of a query in their names,
// in any letter case; pages first.
func (s *Snapshot) Symbols(ctx context.Context, o *Overlay, query string) []Symbol {
	words := strings.Fields(strings.ToLower(query))
	matches := func(name string) bool {
		name = strings.ToLower(name)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, w) })
	}
	var pages, headings []Symbol
	s.eachFile(o, func(name string, file *indexedFile) {
		if ctx.Err() != nil || !s.isContent(name) || len(pages) >= maxSymbols {
			return
		}
		title := cmp.Or(file.title, name)
		if matches(title) || matches(name) {
			address := name
			if id, ok := s.page(name); ok {
				address = s.Site.Href(s.Site.Page(id).Node())
			}
			pages = append(pages, Symbol{Location: Location{File: name}, Name: title, Container: address})
		}
		for _, h := range file.headings {
			if len(headings) < maxSymbols && matches(h.text) {
				headings = append(headings, Symbol{Location{name, int(h.start), int(h.end)}, h.text, title, true})
			}
		}
	})
	all := append(pages, headings...)
	return all[:min(len(all), maxSymbols)]
}

// Placer returns a function that turns the line and column of a finding in a text
// into a range: the destination or, if that is not known, the rest of the word.
// Lines and columns count from 1, columns in code points.
func (s *Snapshot) Placer(text []byte, file string) func(line, column int) (start, end int, ok bool) {
	all := s.destinations(file, text)
	return func(line, column int) (start, end int, ok bool) {
		if start, ok = destination.Offset(text, line, column); !ok {
			return 0, 0, false
		}
		if d := destination.At(all, start); d != nil {
			return d.Start, d.End, true
		}
		end = start
		for end < len(text) && strings.IndexByte(" \t\r\n\"'<>)]", text[end]) < 0 {
			end++
		}
		if end == start { // it is about the file, and no word is there
			if n := bytes.IndexAny(text[start:], "\r\n"); n >= 0 {
				end = start + n
			} else {
				end = len(text)
			}
		}
		return start, end, true
	}
}

// Problems returns the links of a text that a check would report: those that the
// configuration and the baseline accept are left out.
func (s *Snapshot) Problems(f *File) []Resolved {
	var all []Resolved
	var findings []check.Finding
	for i := range f.Links {
		l := &f.Links[i]
		if t := &l.Target; !t.Judged || t.Ignored != "" || t.Verdict != check.Error && t.Verdict != check.Warning {
			continue
		}
		all = append(all, *l)
		findings = append(findings, l.Target.Link.Finding())
	}
	if s.accepted == nil || len(all) == 0 {
		return all
	}
	for i := range findings {
		findings[i].Offset = int64(i) // identifies it below
	}
	r := &check.Result{Findings: findings}
	s.baseline.Lock()
	s.accepted.Apply(r)
	s.baseline.Unlock()
	left := all[:0]
	for i := range r.Findings {
		left = append(left, all[r.Findings[i].Offset])
	}
	return left
}

// Repairs returns what the rules of [check.Repairs] say about the links of a text, and
// where they are: of each that a check would report, and of those that work but could
// be written better.
func (s *Snapshot) Repairs(ctx context.Context, f *File) (all []check.Repair, starts []int, err error) {
	add := func(l *Resolved) error {
		t := &l.Target
		if t.Code == check.UnresolvedRef || t.Page == "" && !isRooted(t.Value) {
			return nil
		}
		r, err := s.judge.Repair(ctx, &t.Link)
		if err != nil {
			return err
		}
		if r.Rule != "" || r.Finding.Code != "" {
			all, starts = append(all, r), append(starts, l.Start)
		}
		return nil
	}
	problems := s.Problems(f)
	for i := range problems {
		if err := add(&problems[i]); err != nil {
			return nil, nil, err
		}
	}
	for i := range f.Links {
		if l := &f.Links[i]; l.Target.Judged && (l.Target.Verdict == check.OK || l.Target.Code == check.External) {
			if err := add(l); err != nil {
				return nil, nil, err
			}
		}
	}
	return all, starts, nil
}

// Content returns the content files of the site.
func (s *Snapshot) Content() []source.ContentFile { return s.content }

// Describe returns what a reader of a link wants to know, as Markdown: the page
// that it leads to, what the host answers, and the verdict with its reason.
func (s *Snapshot) Describe(ctx context.Context, o *Overlay, l *Resolved) (string, error) {
	var b strings.Builder
	t := &l.Target
	if t.Node == docroot.NoNode && !t.Judged {
		return "", nil
	}
	if t.Node != docroot.NoNode {
		path := s.Site.Href(t.Node)
		file := s.SourceOf(t.Node)
		if f := s.indexed(o, file); f != nil && f.title != "" {
			fmt.Fprintf(&b, "**%s**", markdownText(f.title))
			for _, h := range f.headings {
				if t.Fragment != "" && h.id == t.Fragment {
					fmt.Fprintf(&b, " › %s", markdownText(h.text))
				}
			}
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "`%s`", path)
		if file != "" {
			fmt.Fprintf(&b, ", from `%s`", file)
		}
		b.WriteString("\n")
	}
	if !t.Judged {
		return b.String(), nil
	}
	if t.Final != "" && t.Final != t.Link.Target {
		fmt.Fprintf(&b, "\nThe host redirects `%s` to `%s`.\n", t.Link.Target, t.Final)
	}
	switch t.Verdict {
	case check.OK:
		b.WriteString("\nok\n")
	default:
		fmt.Fprintf(&b, "\n%s `%s`", t.Verdict, t.Code)
		if t.Message != "" {
			fmt.Fprintf(&b, ": %s", t.Message)
		}
		b.WriteString("\n")
	}
	if t.Ignored != "" {
		fmt.Fprintf(&b, "\nAccepted by %s.\n", t.Ignored)
	}
	if t.Code == check.UnresolvedRef || t.Page == "" {
		return b.String(), nil
	}
	e, err := check.Explain(ctx, audit.Handle(s.Site), audit.CheckOptions(s.Project), t.Page, t.Value)
	if err != nil {
		return b.String(), nil // the docroot is being written
	}
	if e.Suggestion != "" && t.Verdict == check.Error {
		fmt.Fprintf(&b, "\nDid you mean `%s`?\n", e.Suggestion)
	}
	b.WriteString("\n```\n" + strings.ReplaceAll(e.String(), "```", "` ` `") + "```\n")
	return b.String(), nil
}

// markdownText escapes what Markdown would read as markup.
func markdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `&lt;`, "\n", " ").Replace(text)
}

// RenamedHeading is a heading that can be renamed.
type RenamedHeading struct {
	Location
	Text string
}

// HeadingToRename returns the heading at an offset, or the heading that the link
// there leads to. ok is false without one.
func (s *Snapshot) HeadingToRename(o *Overlay, f *File, offset int) (h RenamedHeading, ok bool) {
	file, at, text := f.Name, offset, f.Text
	if l := f.At(offset); l != nil {
		if l.Target.Fragment == "" || l.Target.Node == docroot.NoNode {
			return h, false
		}
		place, ok := s.Definition(o, &l.Target)
		if !ok || place.End == 0 {
			return h, false
		}
		file, at = place.File, place.Start
		var err error
		if text, err = s.Text(o, file); err != nil {
			return h, false
		}
		f = &File{Name: file, Text: text, Headings: s.Headings(file, text)}
	}
	found := f.HeadingAt(at)
	if found == nil {
		return h, false
	}
	return RenamedHeading{Location{file, found.Start, found.End}, string(text[found.Start:found.End])}, true
}

// RenameHeading returns the edits that give a heading another text, and every link to
// it its new id. An id that the author wrote stays.
func (s *Snapshot) RenameHeading(ctx context.Context, o *Overlay, h RenamedHeading, text string) ([]Edit, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("a heading is one line that is not empty")
	}
	was, err := s.Text(o, h.File)
	if err != nil {
		return nil, err
	}
	now := slices.Concat(was[:h.Start], []byte(text), was[h.End:])
	before, after := s.Headings(h.File, was), s.Headings(h.File, now)
	if len(before) != len(after) {
		return nil, fmt.Errorf("%q would not be a heading", text)
	}
	edits := []Edit{{Name: s.Path(h.File), Start: h.Start, End: h.End, Text: text, Was: was}}
	id, ok := s.page(h.File)
	if !ok {
		return edits, nil // no page links there yet
	}
	changed := map[string]string{}
	for i := range before {
		if from, to := before[i].Anchor, after[i].Anchor; from != to {
			if !s.isBuiltSo(h.File, from) {
				return nil, fmt.Errorf("the page of %s has no id %s, so the id that this heading gets is not known; add {#id} to the heading, or build the site first", h.File, from)
			}
			changed[from] = to
		}
	}
	node := s.Site.Page(id).Node()
	for from, to := range changed {
		for _, at := range s.References(o, Subject{node, from}) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			e, ok, err := s.retargetFragment(o, at, to)
			if err != nil {
				return nil, err
			}
			if ok {
				edits = append(edits, e)
			}
		}
	}
	slices.SortFunc(edits, func(a, b Edit) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Start - b.Start
	})
	return edits, nil
}

// isBuiltSo reports whether a heading has the id that this package expects: the last
// build gave it that, or has not seen it.
func (s *Snapshot) isBuiltSo(file, id string) bool {
	page, ok := s.page(file)
	if !ok || s.files[file] == nil || !s.files[file].anchors()[id] {
		return true
	}
	ask, asks := s.Site.ParseFragment((&url.URL{Fragment: id}).EscapedFragment())
	p := s.Site.Page(page)
	return !asks || p.Has(ask.Exact) || ask.Decoded != 0 && p.Has(ask.Decoded)
}

// retargetFragment returns the edit that gives a link another fragment.
func (s *Snapshot) retargetFragment(o *Overlay, at Location, id string) (e Edit, ok bool, err error) {
	text, err := s.Text(o, at.File)
	if err != nil {
		return Edit{}, false, err
	}
	all := s.destinations(at.File, text)
	i := slices.IndexFunc(all, func(d destination.Destination) bool { return d.Start == at.Start && d.End == at.End })
	if i < 0 {
		return Edit{}, false, fmt.Errorf("%s changed since it was read", at.File)
	}
	before, _, has := strings.Cut(all[i].Value, "#")
	if !has {
		return Edit{}, false, nil
	}
	raw, err := all[i].Encode(before + "#" + (&url.URL{Fragment: id}).EscapedFragment())
	if err != nil {
		return Edit{}, false, fmt.Errorf("%s: %w", at.File, err)
	}
	if bytes.Equal(text[at.Start:at.End], []byte(raw)) {
		return Edit{}, false, nil
	}
	return Edit{Name: s.Path(at.File), Start: at.Start, End: at.End, Text: raw, Was: text}, true, nil
}

// Edit replaces bytes of a file by a text. Name is its name on disk.
type Edit struct {
	Name       string
	Start, End int
	Text       string
	// Was is the text of the file that the edit is for; Create reports that there is
	// no such file yet.
	Was    []byte
	Create bool
}

// maxConfig is the size in bytes of the largest file that accepts findings.
const maxConfig = 16 << 20

// readBeside reads a file of the project that may not exist.
func readBeside(name string) (text []byte, create bool, err error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular() || info.Size() > maxConfig:
		return nil, false, fmt.Errorf("%s is not a regular file of at most %d bytes", name, maxConfig)
	}
	text, err = system.Read(name, 64<<20)
	return text, false, err
}

// AcceptInBaseline returns the edit that adds the findings of links to the baseline.
func (s *Snapshot) AcceptInBaseline(links []check.Link, today baseline.Date) (Edit, error) {
	name := s.Project.Abs(audit.BaselineFile(s.Project.Config))
	text, create, err := readBeside(name)
	if err != nil {
		return Edit{}, err
	}
	b := &baseline.List{}
	if !create {
		if b, err = baseline.Read(name, bytes.NewReader(text)); err != nil {
			return Edit{}, err
		}
	}
	findings := make([]check.Finding, len(links))
	for i := range links {
		findings[i] = links[i].Finding()
	}
	m := b.Match(findings, today, func(*baseline.Entry) bool { return false })
	var out strings.Builder
	if err := b.Update(findings, m, true, baseline.Terms{Reason: "accepted in the editor"}).Baseline.Write(&out); err != nil {
		return Edit{}, err
	}
	return Edit{Name: name, End: len(text), Text: out.String(), Was: text, Create: create}, nil
}

// AcceptByRule returns the edit that adds an ignore rule for a link to the
// configuration. The author completes its reason.
func (s *Snapshot) AcceptByRule(l *check.Link) (Edit, error) {
	name := cmp.Or(s.Project.Config.File, filepath.Join(s.Project.Root, "sitelink.toml"))
	text, create, err := readBeside(s.Project.Abs(name))
	if err != nil {
		return Edit{}, err
	}
	url := cmp.Or(l.Target, l.Raw)
	rule := "[[ignore]]\nurl = " + tomlString(literalPattern(url)) + "\n"
	if l.Fragment != "" {
		rule += "fragment = " + tomlString(literalPattern(l.Fragment)) + "\n"
	}
	rule += "code = " + tomlString(string(l.Code)) + "\nreason = \"\" # why may this link stay?\n"
	if len(text) > 0 {
		if text[len(text)-1] != '\n' {
			rule = "\n" + rule
		}
		rule = "\n" + rule
	}
	return Edit{Name: s.Project.Abs(name), Start: len(text), End: len(text), Text: rule, Was: text, Create: create}, nil
}

// literalPattern escapes the characters that have a meaning in patterns.
func literalPattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(text)
}

// tomlString writes a string of TOML.
func tomlString(text string) string {
	if strings.ContainsAny(text, "'\n\r\t") || !strings.Contains(text, `\`) {
		return strconv.Quote(text)
	}
	return "'" + text + "'"
}
