package fix

import (
	"context"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/weburl"
)

// improve adds to the repairs what only the history of the site shows: where a
// renamed heading and a moved page are now.
func (m *maker) improve(ctx context.Context, r *check.Result, repairs []check.Repair) []check.Repair {
	gone := m.audit.Gone()
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
	for i := range r.Findings {
		f := &r.Findings[i]
		at, has := known[key{f.Page, f.Offset, f.Code}]
		switch f.Code {
		case check.MissingFragment:
			if id := gone.NewID(f.AnsweringFile(audit.Handle(m.site)), destination.PercentDecoded(f.Fragment)); id != "" && has {
				repairs[at].Value, repairs[at].Why, repairs[at].Likely = withFragment(f.Raw, id), "", false
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
	return repairs
}

// rooted returns the decoded path that a link leads to, below the base path.
func (m *sources) rooted(f *check.Finding) string {
	target, _, _ := strings.Cut(f.Target, "?")
	return destination.PercentDecoded(strings.TrimPrefix(target, m.site.BasePath()))
}

// answers reports whether the host answers a value in place of a link.
func (m *sources) answers(f *check.Finding, value string) bool {
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

// renames returns the renames of content files in git's history, the new name by the
// old one; nil without a repository.
func (m *sources) renames(ctx context.Context) map[string]string {
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
func (m *sources) renamedPage(moves map[string]string, f *check.Finding) string {
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
	for _, name := range []string{page + "/index.html", page + ".html"} {
		if node, ok := m.site.Lookup(name); ok {
			return weburl.WithPath(f.Raw, m.site.BasePath()+"/"+f.Page, m.site.Href(node))
		}
	}
	return ""
}
