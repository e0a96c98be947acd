package fix

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
)

// earlier is a build that the author still had when the links were right.
type earlier struct {
	site *site.Site
	read *site.Reader
	// titles are the titles of the pages of the current site, nil until needed: the
	// pages by title.
	titles map[string][]docroot.NodeID
}

// openEarlier loads the earlier build, nil if none is named.
func (m *maker) openEarlier(ctx context.Context) (*earlier, error) {
	if m.opt.Since == "" {
		return nil, nil
	}
	if info, err := os.Stat(m.opt.Since); err != nil || !info.IsDir() {
		return nil, fault.Usage(fmt.Sprintf("--since %s: no such directory", m.opt.Since), "name the directory of an earlier build")
	}
	s, err := site.Load(ctx, m.opt.Since, m.audit.Project.SiteOptions())
	if err != nil {
		return nil, fmt.Errorf("read the earlier build %s: %w", m.opt.Since, err)
	}
	r, err := s.NewReader()
	return &earlier{site: s, read: r}, err
}

// improve adds to the repairs what only the history of the site shows: where a
// renamed heading and a moved page are now.
func (m *maker) improve(ctx context.Context, r *check.Result, repairs []check.Repair) ([]check.Repair, error) {
	if m.since != nil {
		defer m.since.read.Close()
	}
	reader, err := m.site.NewReader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	type key struct {
		page   string
		offset int64
		code   check.Code
	}
	known := map[key]int{}
	for i := range repairs {
		f := &repairs[i].Finding
		known[key{f.Page, f.Offset, f.Code}] = i
	}
	var moves map[string]string
	for i := range r.Findings {
		f := &r.Findings[i]
		at, has := known[key{f.Page, f.Offset, f.Code}]
		switch f.Code {
		case check.MissingFragment:
			if id := m.since.renamedHeading(m.site, reader, f); id != "" && has {
				repairs[at].Value, repairs[at].Why, repairs[at].Likely = withFragment(f.Raw, id), "", false
			}
		case check.MissingFile, check.MissingDirectory:
			if has && !repairs[at].Likely {
				continue
			}
			value := m.since.movedPage(m.site, reader, f)
			if value == "" {
				if moves == nil {
					moves = m.renames(ctx)
				}
				value = m.renamedPage(moves, f)
			}
			if value == "" || !m.answers(f, value) {
				continue
			}
			if has {
				repairs[at].Value, repairs[at].Why = value, ""
			} else {
				repairs = append(repairs, check.Repair{Finding: *f, Rule: check.RepairMoved, Likely: true, Value: value})
			}
		}
	}
	slices.SortStableFunc(repairs, func(a, b check.Repair) int {
		if c := strings.Compare(a.Finding.Page, b.Finding.Page); c != 0 {
			return c
		}
		return int(a.Finding.Offset - b.Finding.Offset)
	})
	return repairs, nil
}

// answers reports whether the host answers a value in place of a link.
func (m *maker) answers(f *check.Finding, value string) bool {
	node, _ := m.site.Lookup(f.Page)
	page, ok := m.site.PageOf(node)
	if !ok {
		return false
	}
	to, err := m.site.Follow(page, value)
	return err == nil && to.State.Answers() && to.Final == ""
}

// withFragment returns a value with another fragment.
func withFragment(raw, id string) string {
	before, _, _ := strings.Cut(raw, "#")
	return before + "#" + (&url.URL{Fragment: id}).EscapedFragment()
}

// renamedHeading returns the id of the heading that is where the earlier build has
// the one that a link asks for, "" if that is not certain: the headings around it
// are the same, and as many are between them.
func (e *earlier) renamedHeading(now *site.Site, reader *site.Reader, f *check.Finding) string {
	if e == nil {
		return ""
	}
	name := f.AnsweringFile(audit.Handle(now))
	before, after := shownHeadings(e.site, e.read, name), shownHeadings(now, reader, name)
	asked := unescape(f.Fragment)
	at := slices.IndexFunc(before, func(h source.ShownHeading) bool { return slices.Contains(h.IDs, asked) })
	if at < 0 {
		return ""
	}
	find := func(all []source.ShownHeading, h source.ShownHeading) int {
		return slices.IndexFunc(all, func(o source.ShownHeading) bool {
			return len(h.IDs) > 0 && len(o.IDs) > 0 && o.IDs[0] == h.IDs[0]
		})
	}
	first, from := -1, -1 // the nearest unchanged heading before, in both
	for i := at - 1; i >= 0 && from < 0; i-- {
		if k := find(after, before[i]); k >= 0 {
			first, from = i, k
		}
	}
	last, to := len(before), len(after)
	for i := at + 1; i < len(before); i++ {
		if k := find(after, before[i]); k >= 0 {
			last, to = i, k
			break
		}
	}
	if last-first != to-from || from+at-first >= to {
		return ""
	}
	h := after[from+at-first]
	if len(h.IDs) == 0 || find(before, h) >= 0 {
		return ""
	}
	return h.IDs[0]
}

// shownHeadings returns the headings of a page, nil if there is no such page.
func shownHeadings(s *site.Site, r *site.Reader, name string) []source.ShownHeading {
	text := pageText(s, r, name)
	return source.ShownHeadings(text)
}

func pageText(s *site.Site, r *site.Reader, name string) []byte {
	node, ok := s.Lookup(name)
	page, isPage := s.PageOf(node)
	if !ok || !isPage {
		return nil
	}
	text, err := r.Text(page)
	if err != nil {
		return nil // a page that cannot be read shows nothing
	}
	return slices.Clone(text)
}

var titleElement = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// pageTitle returns the first heading of a page with its title element.
func pageTitle(text []byte) string {
	title := ""
	if t := titleElement.FindSubmatch(text); t != nil {
		title = strings.Join(strings.Fields(html.UnescapeString(string(t[1]))), " ")
	}
	if h := source.ShownHeadings(text); len(h) > 0 {
		title += "\n" + h[0].Title
	}
	return title
}

// movedPage returns a value for a link to a page of the earlier build whose title is
// that of exactly one page now, which the earlier build does not have; "" if there
// is none.
func (e *earlier) movedPage(now *site.Site, reader *site.Reader, f *check.Finding) string {
	if e == nil {
		return ""
	}
	target, _, _ := strings.Cut(f.Target, "?")
	was := e.site.Answer(strings.TrimPrefix(target, e.site.BasePath()))
	if !was.State.Answers() || was.Node == docroot.NoNode {
		return ""
	}
	title := pageTitle(pageText(e.site, e.read, e.site.Tree().Path(was.Node)))
	if strings.TrimSpace(title) == "" {
		return ""
	}
	if e.titles == nil {
		e.titles = map[string][]docroot.NodeID{}
		for i := range now.Pages() {
			id := site.PageID(i)
			name := now.Path(id)
			if old, ok := e.site.Lookup(name); ok && e.site.Tree().Kind(old) == docroot.KindFile || path.Ext(name) != ".html" {
				continue
			}
			t := pageTitle(pageText(now, reader, name))
			e.titles[t] = append(e.titles[t], now.Page(id).Node())
		}
	}
	if at := e.titles[title]; len(at) == 1 {
		return withPath(f, now.BasePath(), now.Href(at[0]))
	}
	return ""
}

// withPath writes a rooted path in place of that of a link. The query and the
// fragment stay.
func withPath(f *check.Finding, base, href string) string {
	raw, tail := cutTail(strings.TrimSpace(f.Raw))
	if i := strings.Index(raw, "//"); i >= 0 {
		host, _, _ := strings.Cut(raw[i+2:], "/")
		return raw[:i+2] + host + href + tail
	}
	if strings.HasPrefix(raw, "/") || raw == "" {
		return href + tail
	}
	return relativePath(path.Dir(base+"/"+f.Page), href) + tail
}

// renames returns the renames of content files in git's history, the new name by the
// old one; nil without a repository.
func (m *maker) renames(ctx context.Context) map[string]string {
	moves := map[string]string{}
	out, err := git.Command{Dir: m.audit.Project.Root, Env: m.opt.Env}.Run(ctx, "log", "--diff-filter=R", "--name-status", "--find-renames", "--format=", "-z", "-n", "2000")
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
	target, _, _ := strings.Cut(f.Target, "?")
	key := source.PageKey(strings.TrimPrefix(target, m.site.BasePath()))
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
	for _, name := range []string{page + "/index.html", page + ".html"} {
		if node, ok := m.site.Lookup(name); ok {
			return withPath(f, m.site.BasePath(), m.site.Href(node))
		}
	}
	return ""
}
