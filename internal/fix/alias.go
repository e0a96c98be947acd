package fix

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/edit"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/move"
	"github.com/sitelink/sitelink/internal/weburl"
)

// KeepAddress is the rule for addresses that answered before: the page that has the
// same content or title now gets an alias.
const KeepAddress check.RepairRule = "keep-address"

// keepAddresses adds an edit for each page that should answer addresses which are
// gone. One edit of its front matter adds all of them. It is likely: another page may
// have got the title.
func (m *maker) keepAddresses(r *check.Result) {
	byFile := map[string][]*check.Finding{}
	var order []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Code != check.AddressGone || f.Suggestion == "" || !m.wants(KeepAddress, f.Code) {
			continue
		}
		if why := m.noAlias(f); why != "" {
			m.plan.Skips = append(m.plan.Skips, Skip{Rule: KeepAddress, Code: f.Code, File: path.Join(m.audit.Project.FromRoot(m.audit.Project.Docroot), f.Page), Line: 1, Column: 1, Value: f.Target, Why: why})
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
		of := byFile[name]
		e, err := m.aliasEdit(name, of)
		switch {
		case err != nil:
			for _, f := range of {
				m.plan.Skips = append(m.plan.Skips, Skip{Rule: KeepAddress, Code: f.Code, File: name, Line: 1, Column: 1, Value: f.Target, Why: err.Error()})
			}
		case !m.opt.Likely:
			m.plan.Likely++
		default:
			m.plan.Edits = append(m.plan.Edits, *e)
		}
	}
	slices.SortStableFunc(m.plan.Edits, func(a, b Edit) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.start, b.start)) })
}

// noAlias returns why no alias can be written for an address, "" if one can.
func (m *maker) noAlias(f *check.Finding) string {
	switch {
	case m.aliasKey() == "":
		return "the generator makes no redirects of front matter: add a rule for the address to your host's rule file"
	case f.Related == nil:
		return "the source of " + f.Suggestion + " is not known"
	case m.owner(&f.Related.Position) != "":
		return m.owner(&f.Related.Position)
	case !generator.IsMarkdown(f.Related.File) && path.Ext(f.Related.File) != ".html":
		return f.Related.File + " has no front matter"
	}
	return ""
}

// aliasKey returns the key of front matter that makes redirects, "" for none.
func (m *maker) aliasKey() string {
	g := m.audit.Project.Generator
	if g == nil {
		return ""
	}
	return move.AliasKey(&g.Project, func(name string) []byte {
		text, _, err := m.set.Read(path.Join(m.prefix, name))
		if err != nil {
			return nil // the generator reads it, or fails and says so
		}
		return text
	})
}

// aliasEdit returns the edit that adds the addresses of findings to the front matter
// of a file.
func (m *maker) aliasEdit(name string, of []*check.Finding) (*Edit, error) {
	file := m.open(name)
	if file.err != nil {
		return nil, file.err
	}
	text, key := string(file.text), m.aliasKey()
	var names []string
	e := &Edit{Rule: KeepAddress, Code: check.AddressGone, Likely: true, File: name, Links: len(of), hash: file.hash}
	for _, f := range of {
		address := string(weburl.PercentDecode(nil, strings.TrimPrefix(f.Target, m.site.BasePath())))
		at, insert, err := move.InsertAlias([]byte(text), key, address)
		if err != nil {
			return nil, err
		}
		text = text[:at] + insert + text[at:]
		names = append(names, address)
		e.links = append(e.links, link{f.Page, f.Raw, f.Code})
	}
	e.New = fmt.Sprintf("%s to %s", strings.Join(names, ", "), key)
	change := edit.Between(string(file.text), text)
	e.start, e.end, e.text = change.Start, change.End, change.Text
	e.Line, e.Column = positionOf(file.text, e.start)
	return e, nil
}
