package prepush

import (
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/text"
)

// maxFindings is how many findings a blocked push shows.
const maxFindings = 10

// Report prints one line for a push that passes, and at most 14 lines for one
// that does not, with the offer to accept old findings. Lines for the user go to
// line, the text of findings to w. It reports whether findings block the push,
// even if they cannot be printed.
func (p *Push) Report(all []githook.TreeResult, line func(text string), w io.Writer) (blocked bool) {
	bad := slices.DeleteFunc(slices.Clone(all), func(v githook.TreeResult) bool { return len(v.Findings) == 0 })
	if len(bad) == 0 {
		if len(all) > 0 {
			line(passed(all))
		}
		return false
	}
	const mostTrees = 3
	left, hidden := maxFindings-(min(len(bad), mostTrees)-1), 0
	suggest := countLines(bad) <= left
	for i, v := range bad {
		if i >= mostTrees {
			hidden += len(v.Findings)
			continue
		}
		line(headline(v))
		var lines []byte
		shown := min(left, len(v.Findings))
		for j := range v.Findings[:shown] {
			lines = appendFinding(lines, &v.Findings[j], v.Docroot, suggest)
		}
		left, hidden = left-shown, hidden+len(v.Findings)-shown
		if _, err := w.Write(lines); err != nil {
			break
		}
	}
	if hidden > 0 {
		line("and " + text.Count(hidden, "more finding") + "; sitelink check lists all of them")
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
		return "every finding counts as new, because the remote has no commit to compare with; " + p.accept
	case old > 0:
		return text.Count(old, "finding") + " existed before this push and did not block it; " + p.accept
	}
	return ""
}

// countLines counts the lines of all findings and their suggestions.
func countLines(bad []githook.TreeResult) (n int) {
	for _, v := range bad {
		n += len(v.Findings)
		for i := range v.Findings {
			if v.Findings[i].Suggestion != "" {
				n++
			}
		}
	}
	return n
}

// appendFinding appends the line of a finding, and with suggest the line of its
// suggestion.
func appendFinding(dst []byte, f *check.Finding, docroot string, suggest bool) []byte {
	first := true
	for line := range strings.Lines(string(report.AppendText(nil, f, report.TextOptions{Prefix: docroot}))) {
		if first || suggest && strings.HasPrefix(line, "    did you mean ") {
			dst = append(dst, line...)
		}
		first = false
	}
	return dst
}

// headline returns the line for a tree that does not pass.
func headline(v githook.TreeResult) string {
	what := "finding"
	if v.OldFindings > 0 {
		what = "new finding"
	}
	line := text.Count(len(v.Findings), what) + " in what is pushed to " + refNames(v.Refs)
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
		return line + "the remote has the same files"
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
