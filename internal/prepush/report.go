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
// that does not. Lines for the user go to line, the text of findings to w. It
// reports whether findings block the push, even if they cannot be printed.
func Report(all []githook.TreeResult, line func(text string), w io.Writer) (blocked bool) {
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
	return true
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
	old, remembered := 0, true
	for _, v := range all {
		refs, old, remembered = append(refs, v.Refs...), old+v.OldFindings, remembered && v.Origin == githook.FromCache
	}
	line := refNames(refs) + ": "
	switch {
	case remembered:
		return line + "passed before"
	case old > 0:
		return line + "no new finding, " + text.Count(old, "old one")
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
