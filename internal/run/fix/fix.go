// Package fix repairs links in the author's sources.
//
// [Make] turns what a check found into a [Plan]: edits that each change exactly
// the bytes of one destination, and the reasons why other links stay as they are.
// [Plan.Apply] applies it, builds the site again, and takes back what did not help.
//
// A rule gives each edit: those of [check.Repairs], and the rules of this package,
// which need the sources or an earlier build. An edit is safe if the rule leaves no
// doubt, and likely otherwise. A destination is left alone if its place is not
// exactly known, if pages ask for different values in its place, or if its file
// belongs to a theme or module.
package fix

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
)

// Ref is the rule for arguments of ref and relref that name no page.
const Ref check.RepairRule = "ref"

// Rules are the names of all rules, sorted.
var Rules = []check.RepairRule{
	check.RepairAlias, check.RepairBase, check.RepairExtension, check.RepairIndex, KeepAddress, check.RepairMarkdown, check.RepairMoved,
	check.RepairOwn, check.RepairRedirect, Ref, Archived, Remote, check.RepairHeading, Reported, check.RepairSlash, check.RepairSpelling, check.RepairCase,
}

// Options say what a plan may contain.
type Options struct {
	// Likely includes edits that are probably right.
	Likely bool
	// Tidy includes links that work, by a redirect of the host or under another
	// address of the site. A rule that Only names is included anyway.
	Tidy bool
	// Only restricts the plan to rules and codes of findings, if there are any.
	Only []string
	// Replacements are the pages of other sites that have another address now.
	Replacements []Replacement
	// Env is the environment of git.
	Env []string
}

// Edit replaces one destination.
type Edit struct {
	Rule check.RepairRule
	// Code is that of the finding, "" for a link that works by a redirect.
	Code   check.Code
	Likely bool
	// File is a slash path relative to the root. Line and Column are the place of
	// the destination, both counted from 1.
	File         string
	Line, Column int
	// Old and New are the values before and after. For [KeepAddress], New lists what is
	// added.
	Old, New string
	// Links is how many links of built pages come from there.
	Links int

	start, end int
	text, hash string      // what is written, and the hash of the file it was made for, "" for a new one
	links      []builtLink // of pages that come from there
}

// Change says in a few words what the edit does.
func (e *Edit) Change() string {
	if e.Rule == KeepAddress {
		return "add " + e.New
	}
	return e.Old + " -> " + e.New
}

// builtLink is a link of a page.
type builtLink struct {
	fault
	offset int64
	value  string // what the page should have instead; "" if that is not known
}

// fault is what is wrong with a link.
type fault struct {
	page, raw string
	code      check.Code
}

// Plan is what can be repaired.
type Plan struct {
	// Root is the directory that files are relative to.
	Root  string
	Edits []Edit
	Skips []Skip
	// Likely is how many more edits there would be with [Options.Likely].
	Likely int
	// Tidy is how many links there are that [Options.Tidy] would include.
	Tidy int
}

// maker makes a plan from what the author wrote and the site that was made of it.
type maker struct {
	audit     *audit.Audit
	site      *site.Site
	generator generator.Name
	root      string
	docroot   string // relative to the root
	env       []string
	prefix    string          // the project's directory, relative to the root
	markdown  *bool           // links may be paths of Markdown files; nil until known
	broken    map[string]bool // values that no file answers
	content   []source.ContentFile
	static    []string          // the project's directories that are published unchanged, relative to the root
	byFile    map[string]int    // content by name, relative to the root
	byPage    map[string][]int  // content by the key of its page
	moves     map[string]string // renames of content files; nil until known
	set       *destination.Set  // reads files and refuses those that cannot be edited
	files     map[string]*file

	opt    Options
	refs   *destination.Refs
	places map[spot]*proposals
	order  []spot
	plan   *Plan
}

// file is a source file with its destinations.
type file struct {
	text         []byte
	hash         string
	destinations []destination.Destination
	err          error
}

// spot identifies a destination of a file.
type spot struct {
	file  string
	start int
}

// proposals are the edits that links ask for at one place.
type proposals struct {
	edits []Edit
	pages []string // that ask for each
	kind  check.SourceKind
}

// Make returns the plan for the findings of a check, the last one of the audit. If the
// audit compared the site with a record of what it answered before, the plan knows
// which headings and pages have other addresses now. The errors are those of reading
// the site, and the cause of ctx.
func Make(ctx context.Context, a *audit.Audit, r *check.Result, opt Options) (*Plan, error) {
	m := newMaker(a, r, opt)
	repairs, err := check.Repairs(ctx, audit.Handle(a.Site), audit.CheckOptions(a.Project), r)
	if err != nil {
		return nil, err
	}
	repairs = slices.DeleteFunc(repairs, func(r check.Repair) bool {
		if r.Finding.Code != "" || opt.Tidy || slices.Contains(opt.Only, string(r.Rule)) {
			return false
		}
		m.plan.Tidy++
		return true
	})
	placed, err := a.PlaceAll(ctx, func(s *source.Map, prefix string) ([]check.Finding, error) {
		if s != nil {
			m.useContent(s.Content(), prefix)
			for _, dir := range s.StaticDirs() {
				if dir = path.Join(prefix, dir); dir != m.docroot {
					m.static = append(m.static, dir)
				}
			}
			if err := a.PlaceGone(ctx, s, prefix, r); err != nil {
				return nil, err
			}
		}
		if repairs, err = m.replace(ctx, m.improve(ctx, r, repairs)); err != nil {
			return nil, err
		}
		repairs = addUnknown(m, r, repairs)
		slices.SortStableFunc(repairs, func(a, b check.Repair) int {
			return cmp.Or(strings.Compare(a.Finding.Page, b.Finding.Page), cmp.Compare(a.Finding.Offset, b.Finding.Offset))
		})
		findings := make([]check.Finding, len(repairs))
		for i := range repairs {
			findings[i] = repairs[i].Finding
		}
		return findings, nil
	})
	if err != nil {
		return nil, err
	}
	if !a.HasSources() { // the pages are what the author writes
		for i := range placed {
			f := &placed[i]
			f.Source = &check.Position{File: path.Join(m.docroot, f.Page), Line: f.Line, Column: f.Column, Kind: check.InStatic}
		}
	}
	for i := range repairs {
		repair, form := &repairs[i], ""
		if to := placed[i].Suggestion; repair.Value == "" && to != "" && (repair.Finding.Suggestion == "" || isLabel(&repair.Finding)) {
			repair.Rule, repair.Likely, repair.Why, form = check.RepairMoved, true, "", to // a file of a similar name, see source.Map.SourceForm
			if isLabel(&repair.Finding) {
				repair.Rule = Ref
			}
		}
		m.propose(repair, placed[i].Source, form)
	}
	for i := range m.content {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m.proposeRefs(m.content[i].File)
	}
	m.decide()
	// Each page that should answer addresses which are gone gets an edit. One edit of its
	// front matter adds all of them, and one edit of the host's rule file those that no
	// front matter can add. It is likely: another page may have got the title.
	byFile := map[string][]*check.Finding{}
	var order []string
	var ruled []*check.Finding // for which no page can have an alias
	why := ""
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Code != check.AddressGone || f.Suggestion == "" || !m.wants(KeepAddress, f.Code) {
			continue
		}
		if no := m.noAlias(f); no != "" {
			ruled, why = append(ruled, f), no
			continue
		}
		name := f.Related.File
		if byFile[name] == nil {
			order = append(order, name)
		}
		byFile[name] = append(byFile[name], f)
	}
	slices.Sort(order)
	for _, name := range order {
		e, err := m.aliasEdit(name, byFile[name])
		m.addKept(name, byFile[name], e, err)
	}
	if len(ruled) > 0 {
		rules := m.host().Rules()
		if rules.Name == "" {
			m.addKept(m.docroot, ruled, nil, fmt.Errorf("%s, and there is no file with redirect rules of the host: add one, or name the host with --profile", why))
		} else {
			e, err := m.ruleEdit(rules, ruled)
			m.addKept(rules.Name, ruled, e, err)
		}
	}
	slices.SortStableFunc(m.plan.Edits, func(a, b Edit) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.start, b.start)) })
	return m.plan, nil
}

// newMaker returns a maker for the findings of a check.
func newMaker(a *audit.Audit, r *check.Result, opt Options) *maker {
	root := a.Project.Root
	m := &maker{
		audit: a, site: a.Site, root: root, docroot: a.Project.FromRoot(a.Project.Docroot), env: opt.Env, set: destination.NewSet(root, opt.Env),
		files: map[string]*file{}, broken: map[string]bool{}, byFile: map[string]int{}, byPage: map[string][]int{},
		opt: opt, places: map[spot]*proposals{}, plan: &Plan{Root: root},
	}
	if a.Project.Generator != nil {
		m.generator = a.Project.Generator.Generator
	}
	for i := range r.Findings {
		if r.Findings[i].Code == check.MissingFile {
			m.broken[r.Findings[i].Raw] = true
		}
	}
	return m
}

// wants reports whether the user asked for a rule or code.
func (m *maker) wants(rule check.RepairRule, code check.Code) bool {
	return len(m.opt.Only) == 0 || slices.Contains(m.opt.Only, string(rule)) || code != "" && slices.Contains(m.opt.Only, string(code))
}

// propose adds the edit that a repair asks for, or the reason why it cannot be made. form is what
// the author writes for its value, "" if that follows from the value.
func (m *maker) propose(r *check.Repair, p *check.Position, form string) {
	f := &r.Finding
	if !m.wants(r.Rule, f.Code) {
		return
	}
	skip := Skip{Rule: r.Rule, Code: f.Code, File: path.Join(m.docroot, f.Page), Line: f.Line, Column: f.Column, Value: f.Raw, Why: r.Why, unplaced: p == nil}
	if p != nil {
		skip.File, skip.Line, skip.Column = p.File, p.Line, p.Column
	}
	switch {
	case skip.Why != "":
	case p == nil:
		skip.Why = "where it is written is not exactly known"
	case m.owner(p) != "":
		skip.Why = m.owner(p)
	case !m.audit.HasSources() && !generator.IsMarkdown(p.File) && isGenerated(m.open(p.File).text):
		skip.Why = "a generator wrote the page: change its source"
	default:
		e, err := m.edit(r, p, form)
		if err == nil {
			e.links = []builtLink{{fault{f.Page, f.Raw, f.Code}, f.Offset, r.Value}}
			m.add(e, f.Page, p.Kind)
			return
		}
		skip.Why = whyNot(err)
	}
	m.plan.Skips = append(m.plan.Skips, skip)
}

// linkPlace is a link of a page with the code of its finding, or with any.
type linkPlace struct {
	page   string
	offset int64
	code   check.Code
}

// byPlace returns the indexes of repairs by their links, with their codes and without.
func byPlace(repairs []check.Repair) map[linkPlace]int {
	known := map[linkPlace]int{}
	for i := range repairs {
		f := &repairs[i].Finding
		known[linkPlace{f.Page, f.Offset, f.Code}], known[linkPlace{page: f.Page, offset: f.Offset}] = i, i
	}
	return known
}

// addUnknown adds the links that are findings and that no rule repairs, so that each link
// that stays has its reason.
func addUnknown(m *maker, r *check.Result, repairs []check.Repair) []check.Repair {
	known := byPlace(repairs)
	for i := range r.Findings {
		f := &r.Findings[i]
		if _, has := known[linkPlace{page: f.Page, offset: f.Offset}]; f.Element == "" || has || f.Code == check.UnresolvedRef && !isLabel(f) || !m.isPage(f.Page) {
			continue // a fault of a file, a link of a feed, which its page has too, or another rule looks at it
		}
		repairs = append(repairs, check.Repair{Finding: *f, Why: "nothing on the site is similar"})
	}
	return repairs
}

// isLabel reports whether a finding is about a reference of Markdown that has no definition.
func isLabel(f *check.Finding) bool { return f.Element == "reference" }

// generatorMeta matches the element in which a generator names itself.
var generatorMeta = text.Regexp(`(?i)<meta[^>]+name=["']?generator\b`)

// isGenerated reports whether a page says that a generator wrote it, or is minified.
func isGenerated(page []byte) bool {
	const longLine = 500 // bytes, on average
	return generatorMeta().Match(page) || len(page) > 2*longLine && len(page) > longLine*(1+bytes.Count(page, []byte("\n")))
}

// add adds an edit to those of its place.
func (m *maker) add(e *Edit, page string, kind check.SourceKind) {
	at := spot{e.File, e.start}
	of := m.places[at]
	if of == nil {
		of = &proposals{kind: kind}
		m.places[at] = of
		m.order = append(m.order, at)
	}
	of.edits, of.pages = append(of.edits, *e), append(of.pages, page)
}

// owner returns why the file of a position is not the author's, "" if it is.
func (m *maker) owner(p *check.Position) string {
	switch {
	case p.Module != "":
		return "the file belongs to the theme or module " + p.Module
	case filepath.IsAbs(filepath.FromSlash(p.File)):
		return "the file is outside the repository"
	}
	return ""
}

// open reads a source file.
func (m *maker) open(name string) *file {
	if f := m.files[name]; f != nil {
		return f
	}
	f := &file{}
	m.files[name] = f
	if f.text, f.hash, f.err = m.set.Read(name); f.err == nil {
		f.destinations = destination.In(m.inProject(name), f.text, m.generator)
	}
	return f
}

// edit returns the edit that writes the value of a repair at a place.
func (m *maker) edit(r *check.Repair, p *check.Position, form string) (*Edit, error) {
	of := m.open(p.File)
	if of.err != nil {
		return nil, of.err
	}
	at, ok := destination.Offset(of.text, p.Line, p.Column)
	if !ok {
		return nil, errors.New("the file has changed since the build: build the site again")
	}
	if old, label := r.Finding.Raw, form; isLabel(&r.Finding) && label != "" {
		if !bytes.HasSuffix(of.text[:at], []byte("][")) { // [old][]: people read it
			old, label = old+"][]", old+"]["+form+"]"
		}
		if bytes.HasPrefix(of.text[at:], []byte(old)) {
			return &Edit{Rule: r.Rule, Code: r.Finding.Code, Likely: true, File: p.File, Line: p.Line, Column: p.Column, Old: r.Finding.Raw, New: form,
				start: at, end: at + len(old), text: label, hash: of.hash}, nil
		}
	}
	link := destination.At(of.destinations, at)
	if link == nil {
		// The author wrote no destination there.
		word := of.text[at:]
		if i := bytes.IndexAny(word, " \t\r\n\"')"); i >= 0 {
			word = word[:i]
		}
		if bytes.Contains(word, []byte("{{")) || bytes.Contains(word, []byte("{%")) {
			return nil, errors.New("a template or shortcode composes it")
		}
		return nil, errors.New("the place is not one that can be written")
	}
	if works := r.Finding.Code == "" || r.Finding.Code == check.ViaRedirect; works && link.Form == read.FormAutolink && !slices.Contains([]check.RepairRule{Reported, Remote, Archived}, r.Rule) {
		return nil, errors.New("it works, and the address is the text that people read")
	}
	value, err := form, error(nil)
	if form == "" {
		value, err = m.valueAt(link, p.File, r)
	}
	if err != nil {
		return nil, err
	}
	return m.newEdit(Edit{Rule: r.Rule, Code: r.Finding.Code, Likely: r.Likely}, p.File, link, value)
}

// newEdit returns the edit that writes a value in place of a destination.
func (m *maker) newEdit(e Edit, name string, link *destination.Destination, value string) (*Edit, error) {
	if value == "" {
		return nil, errors.New("nothing would be left of it")
	}
	text, err := link.Encode(value)
	if err != nil {
		return nil, err
	}
	of := m.files[name]
	e.File, e.Old, e.New = name, link.Value, value
	e.Line, e.Column = positionOf(of.text, link.Start)
	e.start, e.end, e.text, e.hash = link.Start, link.End, text, of.hash
	return &e, nil
}

// decide chooses one edit for each place.
func (m *maker) decide() {
	slices.SortFunc(m.order, func(a, b spot) int { return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.start, b.start)) })
	for _, at := range m.order {
		e, why := m.agreed(m.places[at], at.file)
		switch {
		case why != "":
			m.plan.Skips = append(m.plan.Skips, e.skip(why))
		case e.Likely && !m.opt.Likely:
			m.plan.Likely++
		default:
			m.plan.Edits = append(m.plan.Edits, *e)
		}
	}
	slices.SortFunc(m.plan.Skips, func(a, b Skip) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Why, b.Why), strings.Compare(a.Value, b.Value))
	})
	// One skip of a place stays. A skip without a known place is dropped if an edit has
	// the same value, because a list shows the text of a page.
	edited := map[string]bool{}
	for i := range m.plan.Edits {
		for _, l := range m.plan.Edits[i].links {
			edited[l.raw] = true
		}
	}
	known := map[Skip]bool{}
	m.plan.Skips = slices.DeleteFunc(m.plan.Skips, func(s Skip) bool {
		if s.unplaced && edited[s.Value] || known[s] {
			return true
		}
		known[s] = true
		return false
	})
}

// agreed returns the edit that all links from a place ask for. A relative link is
// for the page of its file: lists that show it elsewhere have another base.
func (m *maker) agreed(p *proposals, name string) (e *Edit, why string) {
	e = &p.edits[0]
	var links []builtLink
	for i := range p.edits {
		links = append(links, p.edits[i].links...)
		if p.edits[i].text != e.text { // a list needs another relative value
			links[len(links)-1].value = ""
		}
	}
	if i, ok := m.byFile[name]; ok && p.kind == check.InContent && isRelative(e.Old) {
		var own []Edit
		for k, page := range p.pages {
			if page == "" || source.PageKey(page) == m.content[i].Page {
				own = append(own, p.edits[k])
			}
		}
		switch {
		case len(own) > 0:
			p.edits, e = own, &own[0]
		case m.content[i].Listed || m.pageNode(m.content[i].Page) != docroot.NoNode:
			return e, "it is relative, and it works on the page of the file"
		}
	}
	e.links, e.Links = links, len(links)
	for i := range p.edits {
		other := &p.edits[i]
		if other.text != e.text {
			return e, fmt.Sprintf("pages ask for different values: %s and %s", e.New, other.New)
		}
		e.Likely = e.Likely && other.Likely
	}
	return e, ""
}

// pageNode returns the page with a key.
func (m *maker) pageNode(key string) docroot.NodeID {
	for _, name := range []string{strings.TrimPrefix(key+"/index.html", "/"), key + ".html"} {
		if node, ok := m.site.Lookup(name); ok {
			return node
		}
	}
	return docroot.NoNode
}

// isRelative reports whether a value is resolved against the page's directory.
func isRelative(value string) bool {
	return value != "" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.Contains(value, "://")
}

// Set returns the edits as a set of changes to files.
func (p *Plan) Set(env []string) (*destination.Set, error) {
	s := destination.NewSet(p.Root, env)
	for i := range p.Edits {
		e := &p.Edits[i]
		var err error
		if e.hash == "" {
			err = s.Create(e.File, []byte(e.text))
		} else {
			err = s.Replace(e.File, e.hash, e.start, e.end, e.text)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Without removes the edits of a file, and lists them as skips.
func (p *Plan) Without(file, why string) {
	p.Edits = slices.DeleteFunc(p.Edits, func(e Edit) bool {
		if e.File != file {
			return false
		}
		p.Skips = append(p.Skips, e.skip(why))
		return true
	})
}

// Stale returns the files of the edits that were changed after the docroot was
// built, sorted: positions in them may be wrong.
func (p *Plan) Stale(docroot string) []string {
	built, err := newest(docroot)
	if err != nil {
		return nil // the docroot was just read; a change of it shows in the proof
	}
	var stale []string
	for i := range p.Edits {
		name := p.Edits[i].File
		if slices.Contains(stale, name) {
			continue
		}
		info, err := os.Stat(filepath.Join(p.Root, filepath.FromSlash(name)))
		if err == nil && info.ModTime().After(built.Add(clockStep)) {
			stale = append(stale, name)
		}
	}
	return stale
}

// clockStep is how much newer a file must be than the docroot: a checkout writes
// all files at about the same time.
const clockStep = 2 * time.Second

// newest returns when the last file of a docroot was written.
func newest(docroot string) (last time.Time, err error) {
	err = filepath.WalkDir(docroot, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last, err
}

// Skip is a link that stays as it is although a rule applies to it.
type Skip struct {
	Rule check.RepairRule
	Code check.Code
	// File is the source file, or the page in the docroot if the source is not
	// known.
	File         string
	Line, Column int
	Value        string
	// Why is the reason. What follows ": " in it is about this link.
	Why string

	unplaced bool
}

// Name returns the rule, or the code of the finding where no rule applies.
func (s *Skip) Name() string { return cmp.Or(string(s.Rule), string(s.Code)) }

// SkipGroup is the links that stay as they are for one reason.
type SkipGroup struct {
	// Skip is the first of them.
	Skip
	// Reason is what they have in common.
	Reason string
	// Links is how many there are.
	Links int
}

// Reasons returns the skips by rule and reason. Links that are wrong come before those
// that work, and the largest groups first.
func (p *Plan) Reasons() []SkipGroup {
	type key struct {
		name   string
		reason string
	}
	var groups []SkipGroup
	at := map[key]int{}
	for _, s := range p.Skips {
		reason, _, _ := strings.Cut(s.Why, ": ")
		k := key{s.Name(), reason}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, SkipGroup{Skip: s, Reason: s.Why})
		}
		g := &groups[i]
		if g.Links++; s.Why != g.Why {
			g.Reason = reason
		}
	}
	slices.SortStableFunc(groups, func(a, b SkipGroup) int {
		return cmp.Or(cmp.Compare(a.works(), b.works()), cmp.Compare(b.Links, a.Links))
	})
	return groups
}

// works returns 1 for a link that works by a redirect, 0 for a wrong one.
func (s *Skip) works() int {
	if s.Code == "" || s.Code == check.ViaRedirect {
		return 1
	}
	return 0
}

// whyNot returns why a file cannot be edited, without its name: the skip has it.
func whyNot(err error) string {
	of := (*destination.Error)(nil)
	switch {
	case errors.Is(err, destination.ErrSymlink):
		return "a symbolic link leads to the file"
	case errors.Is(err, destination.ErrReadOnly), errors.Is(err, destination.ErrEncoding), errors.Is(err, destination.ErrNested), errors.Is(err, destination.ErrOutside):
		if errors.As(err, &of) {
			return "the file " + of.Err.Error()
		}
	case errors.As(err, &of):
		return "the file cannot be edited: " + of.Err.Error()
	}
	return err.Error()
}

// skip returns the edit as a link that stays as it is.
func (e *Edit) skip(why string) Skip {
	return Skip{Rule: e.Rule, Code: e.Code, File: e.File, Line: e.Line, Column: e.Column, Value: e.Old, Why: why}
}

// Texts makes plans for texts that no build has seen yet, such as those of an editor,
// by the rules of [Make]. Its methods are safe for concurrent use.
type Texts struct {
	mu   sync.Mutex
	base *maker
}

// NewTexts returns the Texts of a site. r is the result of the last check of a,
// content are the content files, and prefix is put before their names to make them
// relative to the root of the project.
func NewTexts(a *audit.Audit, r *check.Result, content []source.ContentFile, prefix string, opt Options) *Texts {
	m := newMaker(a, r, opt)
	m.useContent(slices.Clone(content), prefix)
	return &Texts{base: m}
}

// Text is a text with its links.
type Text struct {
	// File is its name, a slash path relative to the root.
	File  string
	Bytes []byte
	// Repairs are those of its links, with a finding and without rule for a link that is
	// wrong and that no rule repairs. Starts are the offsets of the destinations.
	Repairs []check.Repair
	Starts  []int
}

// Plan returns the plan for a text. The error is the cause of ctx.
func (t *Texts) Plan(ctx context.Context, text *Text) (*Plan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := *t.base
	m.plan, m.order, m.places = &Plan{Root: m.plan.Root}, nil, map[spot]*proposals{}
	m.files = maps.Clone(m.files)
	m.files[text.File] = &file{text: text.Bytes, destinations: destination.In(m.inProject(text.File), text.Bytes, m.generator)}
	r := &check.Result{}
	var repairs []check.Repair
	starts := map[int64]int{}
	for i, repair := range text.Repairs {
		f := &repair.Finding
		f.Offset = int64(i) // identifies it below
		starts[f.Offset] = text.Starts[i]
		if f.Code != "" {
			r.Findings = append(r.Findings, *f)
		}
		if repair.Rule != "" {
			repairs = append(repairs, repair)
		}
	}
	repairs = m.improve(ctx, r, repairs)
	kind := check.InContent
	if _, ok := m.byFile[text.File]; !ok {
		kind = check.InStatic
	}
	for i := range repairs {
		at := starts[repairs[i].Finding.Offset]
		p := &check.Position{File: text.File, Kind: kind}
		p.Line, p.Column = positionOf(text.Bytes, at)
		m.propose(&repairs[i], p, "")
	}
	m.proposeRefs(text.File)
	m.decide()
	t.base.moves, t.base.markdown, t.base.refs = m.moves, m.markdown, m.refs
	return m.plan, context.Cause(ctx)
}

// Replaces returns the range of the bytes that an edit replaces, and the text that is
// written there.
func (e *Edit) Replaces() (start, end int, text string) { return e.start, e.end, e.text }

// Hash returns the hash of the file that the edit was made for.
func (e *Edit) Hash() string { return e.hash }

// inProject returns the name of a file relative to the directory of the project.
func (m *maker) inProject(name string) string {
	if m.prefix == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, m.prefix), "/")
}

// useContent remembers the content files.
func (m *maker) useContent(content []source.ContentFile, prefix string) {
	m.prefix, m.content = prefix, content
	for i := range m.content {
		c := &m.content[i]
		if !path.IsAbs(c.File) {
			c.File = path.Join(prefix, c.File)
		}
		m.byFile[c.File] = i
		m.byPage[c.Page] = append(m.byPage[c.Page], i)
	}
}
