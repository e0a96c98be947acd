package fix

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/move"
	"github.com/sitelink/sitelink/internal/weburl"
)

// KeepAddress is the rule for addresses that answered before: the page that has the
// same content or title now gets an alias, or the rule file of the host a rule.
const KeepAddress check.RepairRule = "keep-address"

// keepAddresses adds an edit for each page that should answer addresses which are
// gone. One edit of its front matter adds all of them, and one edit of the host's rule
// file those that no front matter can add. It is likely: another page may have got the
// title.
func (m *maker) keepAddresses(r *check.Result) {
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
			name := m.audit.Project.FromRoot(m.audit.Project.Docroot)
			m.addKept(name, ruled, nil, fmt.Errorf("%s, and there is no file with redirect rules of the host: add one, or name the host with --profile", why))
		} else {
			e, err := m.ruleEdit(rules, ruled)
			m.addKept(rules.Name, ruled, e, err)
		}
	}
	slices.SortStableFunc(m.plan.Edits, func(a, b Edit) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.start, b.start)) })
}

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
			e.links = append(e.links, link{f.Page, f.Raw, f.Code})
		}
		e.Links = len(of)
		m.plan.Edits = append(m.plan.Edits, *e)
	}
}

// noAlias returns why no alias can be written for an address, "" if one can.
func (m *maker) noAlias(f *check.Finding) string {
	switch {
	case m.aliasKey() == "":
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
		Root: p.Root, Profile: p.Profile, Static: m.static,
		Exists: m.exists,
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
		h.Static = []string{p.FromRoot(p.Docroot)}
		h.New = h.Static[0]
	case m.generator == generator.Hugo:
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
	if m.exists(rules.Name) {
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
func (m *sources) below(address string) string {
	return string(weburl.PercentDecode(nil, strings.TrimPrefix(address, m.site.BasePath())))
}

// aliasKey returns the key of front matter that makes redirects, "" for none.
func (m *sources) aliasKey() string { return move.AliasKey(m.audit.Project, m.set) }

// aliasEdit returns the edit that adds the addresses of findings to the front matter
// of a file.
func (m *maker) aliasEdit(name string, of []*check.Finding) (*Edit, error) {
	file := m.open(name)
	if file.err != nil {
		return nil, file.err
	}
	text, key := string(file.text), m.aliasKey()
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
