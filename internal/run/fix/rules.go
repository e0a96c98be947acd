package fix

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/move"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/weburl"
)

// KeepAddress is the rule for addresses that answered before: the page that has the
// same content or title now gets an alias, or the rule file of the host a rule.
const KeepAddress check.RepairRule = "keep-address"

// addKept adds the edit that keeps the addresses of findings alive, or the reason why
// there is none.
func (m *maker) addKept(name string, of []*check.Finding, e *Edit, err error) {
	switch {
	case err != nil:
		for _, f := range of {
			m.plan.Skips = append(m.plan.Skips, Skip{Rule: KeepAddress, Code: f.Code, File: name, Line: 1, Column: 1, Value: f.Target, Why: whyNot(err)})
		}
	case !m.opt.Likely:
		m.plan.Likely++
	default:
		for _, f := range of {
			e.links = append(e.links, builtLink{fault: fault{f.Page, f.Raw, f.Code}})
		}
		e.Links = len(of)
		m.plan.Edits = append(m.plan.Edits, *e)
	}
}

// noAlias returns why no alias can be written for an address, "" if one can.
func (m *maker) noAlias(f *check.Finding) string {
	switch {
	case move.AliasKey(m.audit.Project, m.set) == "":
		return "the generator makes no redirects of front matter"
	case f.Related == nil:
		return "the source of " + f.Suggestion + " is not known"
	case m.owner(&f.Related.Position) != "":
		return m.owner(&f.Related.Position)
	case !generator.IsMarkdown(f.Related.File) && path.Ext(f.Related.File) != ".html":
		return f.Related.File + " has no front matter"
	}
	return ""
}

// host returns where the redirect rules of the host may be.
func (m *maker) host() move.Host {
	p := m.audit.Project
	h := move.Host{
		Root: p.Root, Profile: p.Profile, Base: m.site.BasePath(), Static: m.static,
		Exists: m.set.Exists,
		Published: func(name string) bool {
			_, ok := m.site.Lookup(name)
			return ok
		},
	}
	h.Dir = move.RuleDir(p, p.Root)
	if p.RuleDir != "" {
		h.RuleDir = p.FromRoot(p.RuleDir)
	}
	switch {
	case !m.audit.HasSources(): // the pages are what the author writes
		h.Static = []string{m.docroot}
		h.New = h.Static[0]
	case m.generator.Traits().Modules:
		h.Layouts = []string{path.Join(m.prefix, "layouts")}
		if len(m.static) > 0 {
			h.New = m.static[0]
		}
	}
	return h
}

// ruleEdit returns the edit that adds rules for the addresses of findings.
func (m *maker) ruleEdit(rules move.RuleFile, of []*check.Finding) (*Edit, error) {
	e := &Edit{Rule: KeepAddress, Code: check.AddressGone, Likely: true, File: rules.Name}
	var text []byte
	if m.set.Exists(rules.Name) {
		file := m.open(rules.Name)
		if file.err != nil {
			return nil, file.err
		}
		text, e.hash = file.text, file.hash
	}
	var pairs []move.Pair
	var shown []string
	for _, f := range of {
		p := move.Pair{Old: m.below(f.Target), New: m.below(f.Suggestion)}
		pairs, shown = append(pairs, p), append(shown, p.Old+" to "+p.New)
		// The name of the file answered too.
		if name := "/" + f.Page; name != p.Old && strings.HasSuffix(name, ".html") {
			pairs = append(pairs, move.Pair{Old: name, New: p.New})
		}
	}
	at, insert, err := rules.Insert(text, pairs)
	if err != nil {
		return nil, err
	}
	e.start, e.end, e.text = at, at, insert
	e.Line, e.Column = positionOf(text, at)
	e.New = "a redirect of " + strings.Join(shown, ", ")
	return e, nil
}

// below returns a path of the site decoded, below the base path.
func (m *maker) below(address string) string {
	return string(weburl.PercentDecode(nil, strings.TrimPrefix(address, m.site.BasePath())))
}

// aliasEdit returns the edit that adds the addresses of findings to the front matter
// of a file.
func (m *maker) aliasEdit(name string, of []*check.Finding) (*Edit, error) {
	file := m.open(name)
	if file.err != nil {
		return nil, file.err
	}
	text, key := string(file.text), move.AliasKey(m.audit.Project, m.set)
	var names []string
	e := &Edit{Rule: KeepAddress, Code: check.AddressGone, Likely: true, File: name, hash: file.hash}
	for _, f := range of {
		address := m.below(f.Target)
		at, insert, err := move.InsertAlias([]byte(text), key, address)
		if err != nil {
			return nil, err
		}
		text = text[:at] + insert + text[at:]
		names = append(names, address)
	}
	e.New = fmt.Sprintf("%s to %s", strings.Join(names, ", "), key)
	change := destination.Between(string(file.text), text)
	e.start, e.end, e.text = change.Start, change.End, change.Text
	e.Line, e.Column = positionOf(file.text, e.start)
	return e, nil
}

// proposeRefs proposes edits for arguments of ref and relref of a file that name no page.
// They are in no page: the generator wrote something else, or stopped.
func (m *maker) proposeRefs(name string) {
	i, ok := m.byFile[name]
	if !ok || !m.generator.Traits().Refs || !m.wants(Ref, check.UnresolvedRef) {
		return
	}
	c := &m.content[i]
	if c.Module != "" || path.IsAbs(c.File) {
		return
	}
	if m.refs == nil {
		m.refs = destination.NewRefs(m.content)
	}
	of := m.open(c.File)
	for k := range of.destinations {
		if l := &of.destinations[k]; of.err == nil && l.IsRef() {
			m.proposeRef(c, l)
		}
	}
}

func (m *maker) proposeRef(c *source.ContentFile, l *destination.Destination) {
	targets, instead, isTypo, ok := m.refs.Missing(c, l.Value)
	if !ok {
		return
	}
	line, column := positionOf(m.files[c.File].text, l.Start)
	skip := Skip{Rule: Ref, Code: check.UnresolvedRef, File: c.File, Line: line, Column: column, Value: l.Value}
	switch len(targets) {
	case 0:
		skip.Why = "no page has a similar name"
	case 1:
		e, err := m.newEdit(Edit{Rule: Ref, Code: check.UnresolvedRef, Likely: isTypo}, c.File, l, instead)
		if err == nil {
			m.add(e, "", check.InContent)
			return
		}
		skip.Why = whyNot(err)
	default:
		skip.Why = "it may mean several pages: " + strings.Join(slices.Sorted(slices.Values(targets)), " or ")
	}
	m.plan.Skips = append(m.plan.Skips, skip)
}

// resolvesMarkdown reports whether the site turns the paths of Markdown files into
// links to their pages: MkDocs and Docusaurus do, and elsewhere the first link of that
// kind to a file that exists shows it.
func (m *maker) resolvesMarkdown() bool {
	if m.markdown != nil {
		return *m.markdown
	}
	m.markdown = new(bool)
	if m.generator.Traits().ResolvesMarkdown {
		*m.markdown = true
		return true
	}
	exists := map[string]bool{}
	for i := range m.content {
		exists[m.content[i].Name] = true
	}
	for i := range m.content {
		c := &m.content[i]
		if c.Module != "" || !generator.IsMarkdown(c.File) {
			continue
		}
		of := m.open(c.File)
		for k := range of.destinations {
			l := &of.destinations[k]
			if name, _ := destination.CutTail(l.Value); l.Form == read.FormInline && generator.IsMarkdown(name) && exists[path.Join(path.Dir(c.Name), destination.PercentDecoded(name))] {
				*m.markdown = !m.broken[l.Value]
				return *m.markdown
			}
		}
	}
	return false
}

// improve adds to the repairs what only the history of the site shows: where a
// renamed heading and a moved page are now.
func (m *maker) improve(ctx context.Context, r *check.Result, repairs []check.Repair) []check.Repair {
	gone, known := m.audit.Gone(), byPlace(repairs)
	for i := range r.Findings {
		f := &r.Findings[i]
		at, has := known[linkPlace{f.Page, f.Offset, f.Code}]
		switch f.Code {
		case check.MissingFragment:
			if id := gone.NewID(f.AnsweringFile(audit.Handle(m.site)), destination.PercentDecoded(f.Fragment)); id != "" && has {
				before, _, _ := strings.Cut(f.Raw, "#")
				repairs[at].Value, repairs[at].Why, repairs[at].Likely = before+"#"+(&url.URL{Fragment: id}).EscapedFragment(), "", false
			}
		case check.MissingFile, check.MissingDirectory:
			if has && !repairs[at].Likely {
				continue
			}
			value := ""
			if to := gone.MovedTo(m.rooted(f)); to != "" {
				value = weburl.WithPath(f.Raw, m.site.BasePath()+"/"+f.Page, to)
			} else {
				if m.moves == nil {
					m.moves = m.renames(ctx)
				}
				value = m.renamedPage(m.moves, f)
			}
			node, _ := m.site.Lookup(f.Page)
			page, ok := m.site.PageOf(node)
			if value == "" || !ok {
				continue
			}
			if to, err := m.site.Follow(page, value); err != nil || !to.State.Answers() || to.Final != "" {
				continue // the host does not answer it there
			}
			if has {
				repairs[at].Value, repairs[at].Why = value, ""
			} else {
				repairs = append(repairs, check.Repair{Finding: *f, Rule: check.RepairMoved, Likely: true, Value: value})
			}
		}
	}
	return repairs
}

// rooted returns the decoded path that a link leads to, below the base path.
func (m *maker) rooted(f *check.Finding) string {
	target, _, _ := strings.Cut(f.Target, "?")
	return destination.PercentDecoded(strings.TrimPrefix(target, m.site.BasePath()))
}

// renames returns the renames of content files in git's history, the new name by the
// old one; nil without a repository.
func (m *maker) renames(ctx context.Context) map[string]string {
	moves := map[string]string{}
	out, err := git.Command{Dir: m.audit.Project.Root, Env: m.env, Untrusted: true}.Run(ctx, "log", "--diff-filter=R", "--name-status", "--find-renames", "--format=", "-z", "-n", "2000")
	if err != nil {
		return moves // without history, there are no renames to know
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i++ {
		if !strings.HasPrefix(strings.TrimSpace(fields[i]), "R") {
			continue
		}
		old, name := fields[i+1], fields[i+2]
		if _, ok := moves[old]; !ok { // the newest commits come first
			moves[old] = name
		}
		i += 2
	}
	return moves
}

// renamedPage returns a value for a link to the address that a content file had
// before git says it was renamed, "" if there is no such file or there are several.
func (m *maker) renamedPage(moves map[string]string, f *check.Finding) string {
	key := source.PageKey(m.rooted(f))
	dirs := map[string]bool{} // of content, with a final slash
	for i := range m.content {
		dirs[strings.TrimSuffix(m.content[i].File, m.content[i].Name)] = true
	}
	page := ""
	for old := range moves {
		if _, exists := m.byFile[old]; exists {
			continue
		}
		for dir := range dirs {
			rest, ok := strings.CutPrefix(old, dir)
			if !ok || source.NameKey(strings.TrimSuffix(rest, path.Ext(rest))) != key {
				continue
			}
			to := moves[old]
			for range 20 {
				if _, exists := m.byFile[to]; exists || moves[to] == "" {
					break
				}
				to = moves[to]
			}
			i, exists := m.byFile[to]
			if !exists || page != "" && page != m.content[i].Page {
				return ""
			}
			page = m.content[i].Page
		}
	}
	if page == "" {
		return ""
	}
	if node := m.pageNode(page); node != docroot.NoNode {
		return weburl.WithPath(f.Raw, m.site.BasePath()+"/"+f.Page, m.site.Link(node))
	}
	return ""
}

// The rules for links to other sites.
const (
	// Remote is the rule for pages that have moved permanently, or answer at another
	// form of their address, as the status cache says.
	Remote check.RepairRule = "remote-moved"
	// Archived is the rule for dead pages that have a copy in an archive.
	Archived check.RepairRule = "remote-archived"
	// Reported is the rule for pages that moved, as their own site reported
	// (UNLINKR, LINKMOD) and the receiver proved.
	Reported check.RepairRule = "reported"
)

// Replacement is the address of a page of another site that has changed.
type Replacement struct {
	// Rule is Remote, Archived or Reported.
	Rule check.RepairRule
	// Page is the address of the page of ours that has the link, "" for every page.
	Page string
	// Old and New are absolute URLs without fragment. New is empty if the page is
	// gone and no new address is known; then Why says so, and the link is listed.
	Old, New, Why string
	// Likely means that New is probably right.
	Likely bool
}

// replace adds a repair for each link to a page of another site that has another
// address now. A link that has a repair already keeps it.
func (m *maker) replace(ctx context.Context, repairs []check.Repair) ([]check.Repair, error) {
	// Replacements are found by the old address, and have the docroot paths of our pages.
	byURL := map[oldAddress][]Replacement{}
	for _, r := range m.opt.Replacements {
		key := oldAddress{reported: r.Rule == Reported, url: r.Old}
		if key.reported {
			key.url, _ = weburl.Canonical(r.Old)
		}
		if key.url == "" || r.New == r.Old {
			continue
		}
		if r.Page != "" {
			page, ok := m.pageAt(r.Page)
			if !ok {
				continue // the page is gone, and its link with it
			}
			r.Page = page
		}
		byURL[key] = append(byURL[key], r)
	}
	if len(byURL) == 0 {
		return repairs, nil
	}
	known := byPlace(repairs)
	_, err := check.Links(ctx, audit.Handle(m.site), audit.CheckOptions(m.audit.Project), check.Query{}, func(l *check.Link) error {
		if _, has := known[linkPlace{page: l.Page, offset: l.Offset}]; l.Code != check.External || has || !m.isPage(l.Page) {
			return nil
		}
		canonical, _ := weburl.Canonical(l.Target) // "" for an address that no request has
		for _, with := range slices.Concat(byURL[oldAddress{true, canonical}], byURL[oldAddress{false, l.Target}]) {
			if with.Page != "" && with.Page != l.Page {
				continue
			}
			f := l.Finding()
			f.Code = ""
			if with.New != "" && l.Fragment != "" && !strings.Contains(with.New, "#") {
				with.New += "#" + l.Fragment
			}
			repairs = append(repairs, check.Repair{Finding: f, Rule: with.Rule, Likely: with.Likely, Value: with.New, Why: with.Why})
			break
		}
		return nil
	})
	return repairs, err
}

// oldAddress is the address that a replacement is about: what a page's own site reported
// is about all spellings, what the status cache knows about the one that was asked for.
type oldAddress struct {
	reported bool
	url      string
}

// pageAt returns the docroot path of the page that answers an absolute URL of ours.
func (m *maker) pageAt(address string) (string, bool) {
	u, err := weburl.Parse(address)
	if err != nil {
		return "", false
	}
	to := m.site.Resolve(u, nil)
	if !to.State.Answers() || to.Node == docroot.NoNode {
		return "", false
	}
	id, ok := m.site.PageOf(to.Node)
	if !ok {
		return "", false
	}
	return m.site.Path(id), true
}

// isPage reports whether a file is a page that people read: the links of feeds and
// sitemaps are written elsewhere.
func (m *maker) isPage(name string) bool {
	node, ok := m.site.Lookup(name)
	id, isPage := m.site.PageOf(node)
	return ok && isPage && m.site.Page(id).Kind().IsHTML()
}
