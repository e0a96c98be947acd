package commits

import (
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/text"
)

// maxFindings is how many lines of findings a blocked push shows.
const maxFindings = 10

// Report prints one line for a push that passes, and at most 14 lines for one
// that does not, with the offer to accept old findings. Lines for the user go to
// line, the text of findings to w. It reports whether findings block the push,
// even if they cannot be printed.
func (p *Push) Report(all []githook.TreeResult, line func(text string), w io.Writer) (blocked bool) {
	bad := slices.DeleteFunc(slices.Clone(all), func(v githook.TreeResult) bool { return len(v.Findings) == 0 })
	if len(bad) == 0 {
		sites := map[string][]githook.TreeResult{}
		for _, v := range all {
			sites[v.Site] = append(sites[v.Site], v)
		}
		for _, site := range slices.Sorted(maps.Keys(sites)) {
			where := ""
			if len(sites) > 1 {
				where = filepath.ToSlash(site) + " in "
			}
			line(where + passed(sites[site]))
		}
		return false
	}
	const mostTrees = 3
	left, hidden := maxFindings-(min(len(bad), mostTrees)-1), 0
	lists := make([][]entry, len(bad))
	lines := 0
	for i := range bad {
		lists[i] = entries(&bad[i])
		for _, e := range lists[i] {
			lines += 1 + len(e.more)
		}
	}
	whole := lines <= left
	for i, v := range bad {
		if i >= mostTrees {
			hidden += len(v.Findings)
			continue
		}
		line(p.headline(v))
		var text []byte
		for n, e := range lists[i] {
			if n >= left {
				hidden += e.findings
				continue
			}
			text = append(text, e.first...)
			if whole {
				text = append(text, strings.Join(e.more, "")...)
			}
		}
		left = max(left-len(lists[i]), 0)
		if _, err := w.Write(text); err != nil {
			break
		}
	}
	if hidden > 0 {
		line("and " + text.Count(hidden, "more finding") + "; sitelink check lists all of them")
	}
	for _, v := range bad {
		if v.OldCopy != "" && slices.ContainsFunc(v.Findings, func(f check.Finding) bool { return strings.HasPrefix(f.Page, v.OldCopy+"/") }) {
			line("hint: the committed docroot " + v.OldCopy + " is not what this commit builds: " + updateCopy(v.OldCopy, p.usual))
			break
		}
	}
	if offer := p.offer(bad); offer != "" {
		line("hint: " + offer)
	}
	return true
}

// offer says how to accept findings that existed before the push, "" if there are
// none.
func (p *Push) offer(bad []githook.TreeResult) string {
	old, noBase, unfetched := 0, false, false
	for _, v := range bad {
		old, noBase, unfetched = max(old, v.OldFindings), noBase || v.NoBase, unfetched || v.Unfetched
	}
	switch {
	case unfetched:
		return "every finding counts as new, because the commit of the remote is not here to compare with; run git fetch and push again"
	case noBase:
		return "every finding counts as new, because no earlier push could be checked; " + p.accept
	case old > 0:
		return text.Count(old, "finding") + " existed before this push and did not block it; " + p.accept
	}
	return ""
}

// entry is a cause of findings: its first line, and lines that are left out when
// there are many.
type entry struct {
	first    string
	more     []string
	findings int
}

// entries returns the causes of the findings of a tree.
func entries(v *githook.TreeResult) []entry {
	causes := check.Causes(v.Findings)
	list := make([]entry, len(causes))
	for i := range causes {
		list[i].findings = len(causes[i].Findings)
		text := string(report.AppendCause(nil, v.Findings, &causes[i], report.TextOptions{Prefix: v.Docroot}))
		lines := slices.Collect(strings.Lines(text))
		list[i].first = lines[0]
		for n, l := range lines[1:] {
			if where := n == len(lines)-2 && list[i].findings > 1; where || strings.HasPrefix(l, "    did you mean ") {
				list[i].more = append(list[i].more, l)
			}
		}
	}
	return list
}

// headline returns the line for a tree that does not pass.
func (p *Push) headline(v githook.TreeResult) string {
	what := "finding"
	if v.OldFindings > 0 {
		what = "new finding"
	}
	where := " in what is pushed to "
	if p.byHand {
		where = " in "
	}
	line := text.Count(len(v.Findings), what) + where + refNames(v.Refs)
	if v.Origin == githook.FromCache {
		line += ", as last time"
	}
	if v.OldFindings > 0 {
		line += ", beside " + text.Count(v.OldFindings, "old one")
	}
	return line
}

// passed returns the line for a push that passes.
func passed(all []githook.TreeResult) string {
	var refs []string
	old, remembered, there := 0, 0, 0
	for _, v := range all {
		refs, old = append(refs, v.Refs...), max(old, v.OldFindings)
		switch v.Origin {
		case githook.FromCache:
			remembered++
		case githook.FromRemote:
			there++
		}
	}
	line := refNames(refs) + ": "
	switch {
	case there == len(all):
		return line + "the remote has the files that the site is built from"
	case old > 0:
		return line + "no new finding, " + text.Count(old, "old one")
	case there > 0: // these may have old findings
		return line + "no new finding"
	case remembered == len(all):
		return line + "passed before"
	}
	return line + "links are fine"
}

// refNames lists the first few refs, by the names that a user knows.
func refNames(refs []string) string {
	const most = 3
	var names []string
	for _, r := range refs[:min(len(refs), most)] {
		names = append(names, strings.TrimPrefix(r, "refs/heads/"))
	}
	list := strings.Join(names, ", ")
	if len(refs) > most {
		list += " and " + text.Count(len(refs)-most, "other")
	}
	return list
}
