package audit

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/text"
)

// PlaceFindings fills in where the links of the findings are written in the
// author's sources, if the docroot was built from a project that is known. When
// the sources cannot be read, it warns and the findings stay without.
func (a *Audit) PlaceFindings(ctx context.Context, r *check.Result) error {
	m, err := a.place(ctx, r, nil)
	if m == nil {
		return err
	}
	m.Close()
	return err
}

// place does the work of PlaceFindings and returns what it read of the sources,
// nil if that is nothing.
// hints are links that work, and get a place as well.
func (a *Audit) place(ctx context.Context, r *check.Result, hints []check.Finding) (*source.Map, error) {
	if len(r.Findings) == 0 && len(hints) == 0 {
		return nil, nil
	}
	m, dir, err := a.OpenSources(ctx)
	if m != nil {
		err = a.placeFindings(ctx, m, a.Project.FromRoot(dir), r)
		if err == nil && len(hints) > 0 {
			err = a.placeFindings(ctx, m, a.Project.FromRoot(dir), &check.Result{Findings: hints})
		}
	}
	if err != nil && ctx.Err() == nil {
		a.opt.warn(fmt.Sprintf("no positions in the sources: %v", err))
		err = nil
	}
	return m, err
}

// earlySources are sources that are read while the docroot is read, because it
// has a broken link. Each is used once: the sources change.
type earlySources struct {
	mu      sync.Mutex
	begun   bool
	pending *source.Pending
}

// begin starts to read the sources, at the first call.
func (e *earlySources) begin(ctx context.Context, opt source.Options) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		e.begun, e.pending = true, source.Start(ctx, opt)
	}
}

// take returns what begin started, nil if there is nothing or it is taken.
func (e *earlySources) take() *source.Pending {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.pending
	e.begun, e.pending = true, nil
	return p
}

// open returns the sources that begin started to read, or reads them now.
func (e *earlySources) open(ctx context.Context, opt source.Options) (*source.Map, error) {
	if p := e.take(); p != nil {
		return p.Open()
	}
	return source.Open(ctx, opt)
}

// Close ends what runs in the background.
func (a *Audit) Close() {
	if p := a.early.take(); p != nil {
		p.Stop()
	}
}

// PlaceLinks returns where links, sorted by page and offset, are written in the
// author's sources, nil where that is not known.
func (a *Audit) PlaceLinks(ctx context.Context, links []check.Link) ([]*check.Position, error) {
	r := &check.Result{Findings: make([]check.Finding, len(links))}
	for i := range links {
		r.Findings[i] = links[i].Finding()
	}
	m, err := a.place(ctx, r, nil)
	if m != nil {
		m.Close()
	}
	if err != nil {
		return nil, err
	}
	places := make([]*check.Position, len(links))
	for i := range r.Findings {
		places[i] = r.Findings[i].Source
	}
	return places, nil
}

// PlaceAll returns the findings that list returns, with their places and with suggestions in
// the form of the sources. It calls list once, with the sources, which are closed when PlaceAll returns, and with their directory
// relative to the root; m is nil when there are no sources.
func (a *Audit) PlaceAll(ctx context.Context, list func(m *source.Map, prefix string) ([]check.Finding, error)) ([]check.Finding, error) {
	m, dir, err := a.OpenSources(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return list(nil, "")
	}
	defer m.Close()
	prefix := a.Project.FromRoot(dir)
	findings, err := list(m, prefix)
	if err != nil {
		return nil, err
	}
	r := &check.Result{Findings: slices.Clone(findings)}
	return r.Findings, a.placeFindings(ctx, m, prefix, r)
}

// Place is where an occurrence of a link is written.
type Place struct {
	At *check.Position // nil where that is not known
	// Rule is the rule of [source.Map.Locate] that decided, "" if none did, and Source what
	// it found in the sources.
	Rule, Source string
}

// PlaceOccurrences returns the places of the occurrences of a value on a page.
func (a *Audit) PlaceOccurrences(ctx context.Context, page string, at []check.Occurrence) ([]Place, error) {
	places := make([]Place, len(at))
	if len(at) == 0 {
		return places, nil
	}
	m, dir, err := a.OpenSources(ctx)
	if m == nil || err != nil {
		return places, err
	}
	defer m.Close()
	r := a.Site.NewReader()
	defer r.Close()
	id, ok := a.Site.Lookup(page)
	of, isPage := a.Site.PageOf(id)
	if !ok || !isPage {
		return places, nil
	}
	var links []source.BuiltLink
	var nth []int // the occurrences of links
	err = r.Details(of, nil, func(_ int, d *site.Detail) {
		if i := slices.Index(at, check.Occurrence{Line: d.Line, Column: d.Column}); i >= 0 {
			links, nth = append(links, source.BuiltLink{Page: page, Offset: d.Offset, Raw: strings.Clone(d.Raw)}), append(nth, i)
		}
	})
	if err != nil {
		return nil, err
	}
	found, err := m.Locate(ctx, a.Site, links)
	if err != nil {
		return nil, err
	}
	for i, p := range found {
		place := Place{Rule: p.Rule, Source: p.Source}
		if p.Position != nil {
			shown := shownPosition(a.Project.FromRoot(dir), p.Position)
			place.At = &shown
		}
		places[nth[i]] = place
	}
	return places, nil
}

// HasSources reports whether findings can be placed in the author's sources.
func (a *Audit) HasSources() bool { _, ok := a.sourceProject(); return ok }

// OpenSources reads the sources that the docroot was built from. dir is the
// directory that the names of files are relative to. m is nil when none are
// known; otherwise close it.
func (a *Audit) OpenSources(ctx context.Context) (m *source.Map, dir string, err error) {
	opt := a.sourceOptions()
	if opt.Project == "" {
		return nil, "", nil
	}
	m, err = a.early.open(ctx, opt)
	return m, opt.Project, err
}

// sourceProject returns the project with the sources of the docroot; false when none is known, or
// when the configuration says source = "off".
func (a *Audit) sourceProject() (found generator.Project, ok bool) {
	p := a.Project
	if p.Config.Source == "off" || p.OfMarkdown() { // the pages are what the author writes
		return found, false
	}
	if p.Generator != nil {
		return p.Generator.Project, true
	}
	above, others := p.SourceDirs()
	return generator.Find(above, others, generator.Name(p.Config.Generator))
}

// sourceOptions returns the options for reading the sources of the docroot; Project is empty
// without a [Audit.sourceProject]. It reads the configuration of the generator.
func (a *Audit) sourceOptions() source.Options {
	p := a.Project
	found, ok := a.sourceProject()
	if !ok {
		return source.Options{}
	}
	opt := source.Options{Project: found.Dir, Docroot: p.Abs(p.Docroot), Generator: found.Generator, Env: p.Env()}
	if info, err := os.Stat(opt.Docroot); p.Server != "" && (err != nil || !info.IsDir()) {
		opt.Docroot = found.Dir // there may be no build: the server sent the pages
	}
	if g := p.Generator; g != nil {
		opt.Output, opt.Also, opt.Args = g.Docroot, p.OutsideContent(), g.Args
	}
	for _, r := range p.Roots {
		if dir := strings.Trim(path.Clean("/"+r.Dir), "/"); dir != "" {
			opt.Roots = append(opt.Roots, dir)
		}
	}
	return opt
}

// placeFindings looks up the places of all findings, and of the headings that
// the suggestions lead to. prefix is put before the paths of the project.
func (a *Audit) placeFindings(ctx context.Context, m *source.Map, prefix string, r *check.Result) error {
	s := a.Site
	links := make([]source.BuiltLink, len(r.Findings))
	var anchors []source.Anchor
	var near []int // the findings that have them
	for i := range r.Findings {
		f := &r.Findings[i]
		links[i] = source.BuiltLink{Page: f.Page, Offset: f.Offset, Raw: f.Raw}
		switch {
		case f.Code == check.BaseDiffers:
			links[i].Element = "base"
		case path.Base(f.Page) == "_redirects":
			links[i].Line = f.Line
		}
		if anchor, ok := suggestedAnchor(s, f); ok {
			anchors, near = append(anchors, anchor), append(near, i)
		}
	}
	places, err := m.Locate(ctx, s, links)
	if err != nil {
		return err
	}
	headings, err := m.Headings(ctx, s, anchors)
	if err != nil {
		return err
	}
	for i := range places {
		p := places[i].Position
		f, unpublished := &r.Findings[i], ""
		if isMissing(*f) {
			unpublished = m.Unpublished(&links[i], prefix, func() time.Time { return a.writtenAt(f.Page) })
		}
		switch {
		case unpublished != "":
			f.Message, f.Suggestion = f.Message+"; "+unpublished, ""
		case p != nil && f.Raw != "" && (f.Suggestion != "" || isMissing(*f) || f.Code == check.MissingFragment):
			f.Suggestion = m.SourceForm(p, &links[i], f.Suggestion)
		}
		// What the generator wrote in place of a reference is in no source.
		if p != nil && f.Code != check.UnresolvedRef && f.Code != check.FeedRelative {
			position := shownPosition(prefix, p)
			if f.Element == "" && links[i].Element == "" && links[i].Line == 0 { // a fault of the file, which may have no line
				position.Line, position.Column = f.Line, f.Column
			}
			f.Source = &position
		}
	}
	if err := a.placeRefs(ctx, m, prefix, r); err != nil {
		return err
	}
	a.placeSettings(m, prefix, r)
	for i, h := range headings {
		if h != nil {
			text := fmt.Sprintf("heading %q", h.Title)
			switch {
			case h.Title == "":
				text = "id " + anchors[i].ID
			case h.Term:
				text = fmt.Sprintf("term %q", h.Title)
			}
			r.Findings[near[i]].Related = &check.Related{Position: shownPosition(prefix, &h.Position), Text: text}
		}
	}
	return a.PlaceGone(ctx, m, prefix, r)
}

// placeRefs gives what the generator wrote in place of a reference the argument of ref that
// names no page, if the file of the page has as many of those as the page has findings.
func (a *Audit) placeRefs(ctx context.Context, m *source.Map, prefix string, r *check.Result) error {
	of := map[string][]*check.Finding{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Code == check.UnresolvedRef {
			of[f.Page] = append(of[f.Page], f)
		}
	}
	if len(of) == 0 {
		return nil
	}
	found, _ := a.sourceProject()
	pages := slices.Sorted(maps.Keys(of))
	files, err := m.Files(ctx, a.Site, pages)
	if err != nil {
		return err
	}
	content := m.Content()
	refs := destination.NewRefs(content)
	for i, page := range pages {
		if files[i] == nil {
			continue
		}
		k := slices.IndexFunc(content, func(c source.ContentFile) bool { return c.File == files[i].File })
		if k < 0 {
			continue
		}
		lines := m.Lines(content[k].File)
		var missing []destination.Destination
		var instead []string
		for _, l := range destination.In(content[k].File, lines.Text, found.Generator) {
			if l.IsRef() {
				if _, name, _, ok := refs.Missing(&content[k], l.Value); ok {
					missing, instead = append(missing, l), append(instead, name)
				}
			}
		}
		if len(missing) != len(of[page]) {
			continue
		}
		for n, f := range of[page] {
			p := *files[i]
			p.Line, p.Column = lines.At(missing[n].Start)
			at := shownPosition(prefix, &p)
			f.Source, f.Suggestion = &at, instead[n]
		}
	}
	return nil
}

// The first expression matches a setting that makes all pages ask not to be indexed, and
// the second the languages of a site. Text in a comment does not count.
var (
	noIndexSetting  = text.Regexp(`(?im)^(?:[^#/\n]|:/|//\S)*?\b(\w*no_?index["']?\s*[:=]\s*["']?(?:true|yes|1)\b|["']?robots\b[^\n]*\bnoindex\b|env\s*[:=]\s*["']?(?:dev|stag)\w*)`)
	languageSetting = text.Regexp(`(?m)^(?:[^#/\n]|:/|//\S)*?\b(locales|languages|i18n)\b["']?\s*[:=\]]`)
)

// placeSettings gives the findings that one setting of the site causes its place: that all
// pages ask not to be indexed, and what a language switcher links to.
func (a *Audit) placeSettings(m *source.Map, prefix string, r *check.Result) {
	pages, hidden := 0, 0
	for id := range a.Site.Pages() {
		if p := a.Site.Page(site.PageID(id)); p.Kind().IsHTML() {
			if pages++; p.NoIndex() {
				hidden++
			}
		}
	}
	place := func(is *regexp.Regexp) *check.Position {
		if p := m.Setting(is); p != nil {
			position := shownPosition(prefix, p)
			return &position
		}
		return nil
	}
	noIndex := sync.OnceValue(func() *check.Position { return place(noIndexSetting()) })
	languages := sync.OnceValue(func() *check.Position { return place(languageSetting()) })
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case f.Code == check.NoIndexInSitemap && hidden == pages && pages > 1:
			f.Message, f.Source = fmt.Sprintf("%s; all %s do", f.Message, text.Count(pages, "page")), noIndex()
		case f.IsTranslation() && f.Source == nil:
			f.Source = languages()
		}
	}
}

// writtenAt returns when the build wrote a page.
func (a *Audit) writtenAt(page string) time.Time {
	info, err := os.Stat(filepath.Join(a.Site.Real(), filepath.FromSlash(page)))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// shownPosition returns a place of the project as reports name it.
func shownPosition(prefix string, p *source.Position) check.Position {
	file := p.File
	if !filepath.IsAbs(filepath.FromSlash(file)) {
		file = path.Join(prefix, file)
	}
	return check.Position{File: file, Line: p.Line, Column: p.Column, Kind: check.SourceKind(p.Kind), Module: p.Module}
}

// suggestedAnchor returns what the suggestion for a missing fragment leads to.
func suggestedAnchor(s *site.Site, f *check.Finding) (a source.Anchor, ok bool) {
	_, fragment, ok := strings.Cut(f.Suggestion, "#")
	page := f.AnsweringFile(Handle(s))
	if f.Code == check.AnchorGone {
		page = f.Page
	} else if f.Code != check.MissingFragment {
		return a, false
	}
	if !ok || page == "" {
		return a, false
	}
	id, err := url.PathUnescape(fragment)
	return source.Anchor{Page: page, ID: id}, err == nil
}

// known is what reports say about a link beside its own fields.
type known struct {
	source *check.Position
	cause  string
}

// knownLinks is what is known of the links that are findings.
type knownLinks map[findingID]known

// of returns what is known of a link.
func (k knownLinks) of(l *check.Link) known {
	if l.Verdict != check.Error && l.Verdict != check.Warning {
		return known{}
	}
	return k[findingID{l.Page, l.Offset, l.Code, ""}]
}

// knownLinks finds the places and causes of all findings before the links are
// written. Rows are written while pages are read, but placing a finding takes
// its whole page, and finding its cause takes all findings.
func (a *Audit) knownLinks(ctx context.Context) (knownLinks, error) {
	opt := CheckOptions(a.Project)
	opt.MaxFindings = a.opt.MaxFindings
	r, err := check.Run(ctx, Handle(a.Site), opt)
	if err == nil {
		err = a.PlaceFindings(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	links := knownLinks{}
	for _, c := range check.Causes(r.Findings) {
		for _, i := range c.Findings {
			f := &r.Findings[i]
			links[idOf(f)] = known{f.Source, c.ID}
		}
	}
	return links, nil
}

// clockStep is how much newer a file must be than the docroot: a checkout or an
// archive writes all files at about the same time.
const clockStep = 2 * time.Second

// NewerSource returns the source that was changed last, if that was after the site of
// the project was built, by the times of files: a build writes all of them again.
func NewerSource(p *project.Project, s *site.Site) string {
	g, docroot := p.Generator, p.Abs(p.Docroot)
	if g == nil || g.Docroot != docroot {
		return ""
	}
	name, edited := p.Sources().Newest()
	for i := range s.Pages() {
		info, err := os.Lstat(filepath.Join(docroot, filepath.FromSlash(s.Path(site.PageID(i)))))
		if err == nil && !edited.After(info.ModTime().Add(clockStep)) {
			return ""
		}
	}
	return name
}

func isMissing(f check.Finding) bool {
	return f.Code == check.MissingFile || f.Code == check.MissingDirectory || f.Code == check.MissingIndex
}
