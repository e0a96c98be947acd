package report

import (
	"cmp"
	"io"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// A target that breaks on fewer pages than minTopPages is no template's fault;
// more lines than maxTops would be a second list of findings.
const (
	minTopPages = 3
	maxTops     = 5
)

// TextSummary writes only the last lines of [Text]. `check --show all` in text
// calls it after the rows of [AppendText].
func TextSummary(w io.Writer, r *check.Result, opt TextOptions) error {
	s := sink{w: w}
	s.buf = appendTextSummary(s.buf, r, opt)
	return s.flush()
}

// appendTextSummary appends one line when the site is clean, otherwise the
// counts, the targets whose repair removes most findings, and what was left
// out of the check.
func appendTextSummary(dst []byte, r *check.Result, opt TextOptions) []byte {
	s, p := &r.Summary, painter(opt.Color)
	clean := len(r.Findings) == 0 && !r.HasErrors() && !r.HasWarnings()
	if clean {
		dst = append(dst, "ok: "...)
	}
	dst = append(dst, "checked "...)
	dst = appendCount(dst, s.Pages, "page")
	dst = append(dst, ", "...)
	dst = appendCount(dst, s.Links, "link")
	dst = append(dst, ", "...)
	dst = appendCount(dst, s.Anchors, "anchor")
	if s.Docroot != "" {
		dst = append(dst, " in "...)
		dst = appendQuoted(dst, s.Docroot)
	}
	if s.Profile != "" {
		dst = append(dst, " (profile "...)
		dst = appendQuoted(dst, s.Profile)
		if s.ProfileFrom != "" {
			dst = append(dst, ", told by "...)
			dst = appendQuoted(dst, s.ProfileFrom)
		}
		dst = append(dst, ')')
	}
	next := "\n"
	if clean {
		next = "; "
	} else {
		dst = append(dst, ": "...)
		dst = appendVerdicts(dst, r, p)
		dst = appendTops(dst, r.Findings)
	}
	if len(s.Reasons) > 0 {
		dst = append(dst, next+"not checked: "...)
		for i, reason := range s.Reasons {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendThousands(dst, reason.Count)
			dst = append(dst, ' ')
			dst = appendCut(dst, string(reason.Code), maxValueBytes)
		}
	}
	if len(s.Skipped) > 0 {
		dst = append(dst, next+"left out: "...)
		dst = appendCount(dst, len(s.Skipped), "page")
	}
	if s.Ignored > 0 {
		dst = append(dst, next+"ignored by rule: "...)
		dst = appendCount(dst, s.Ignored, "link")
	}
	dst = appendBaseline(dst, s.Baseline, next)
	dst = appendRead(dst, s, next)
	dst = append(dst, '\n')
	dst = appendNotes(dst, s)
	for _, rule := range s.UnusedIgnores {
		dst = p.on(dst, sgrYellow)
		dst = append(dst, "warning:"...)
		dst = p.off(dst)
		dst = append(dst, " ignore rule matches nothing: "...)
		dst = appendCut(dst, rule, maxMessageBytes)
		dst = append(dst, '\n')
	}
	return appendUnneeded(dst, s.Baseline, p)
}

// appendVerdicts appends "12 errors, 3 warnings". It counts the findings the
// reader has just seen; when they stand for more links, it says so.
func appendVerdicts(dst []byte, r *check.Result, p painter) []byte {
	errors, warnings, links := 0, 0, 0
	for i := range r.Findings {
		f := &r.Findings[i]
		switch f.Verdict {
		case check.Error:
			errors++
		case check.Warning:
			warnings++
		}
		links += max(1, f.Count)
	}
	if len(r.Findings) == 0 { // only the summary was kept
		errors = r.Summary.Errors + r.Summary.FileErrors
		warnings = r.Summary.Warnings + r.Summary.FileWarnings
	}
	if errors > 0 {
		dst = p.on(dst, sgrRed)
		dst = appendCount(dst, errors, "error")
		dst = p.off(dst)
	}
	if warnings > 0 {
		if errors > 0 {
			dst = append(dst, ", "...)
		}
		dst = p.on(dst, sgrYellow)
		dst = appendCount(dst, warnings, "warning")
		dst = p.off(dst)
	}
	if links > errors+warnings {
		dst = append(dst, ", on "...)
		dst = appendCount(dst, links, "link")
	}
	return dst
}

// top is one broken target with the number of pages that link to it.
type top struct {
	what  topKey
	pages int
	last  string // page counted last; findings come sorted by page
}

type topKey struct {
	target, fragment string
	code             check.Code
}

// appendTops appends the targets that break on most pages: nearly always one
// link of a template.
func appendTops(dst []byte, findings []check.Finding) []byte {
	all := topTargets(findings)
	if len(all) == 0 {
		return dst
	}
	dst = append(dst, "\nbroken on most pages:"...)
	for _, t := range all[:min(len(all), maxTops)] {
		dst = append(dst, '\n')
		dst = append(dst, indent...)
		dst = appendCut(dst, t.what.target, maxValueBytes)
		if t.what.fragment != "" {
			dst = append(dst, '#')
			dst = appendCut(dst, t.what.fragment, maxValueBytes)
		}
		dst = append(dst, " is linked from "...)
		dst = appendCount(dst, t.pages, "page")
		dst = append(dst, " ["...)
		dst = appendCut(dst, string(t.what.code), maxValueBytes)
		dst = append(dst, ']')
	}
	if rest := len(all) - maxTops; rest > 0 {
		dst = append(dst, '\n')
		dst = append(dst, indent+"and "...)
		dst = appendCount(dst, rest, "more target")
		dst = append(dst, " on "...)
		dst = appendThousands(dst, minTopPages)
		dst = append(dst, " or more pages"...)
	}
	return dst
}

// keyOf returns what f leads to; false for a fault of the file, or an empty
// link.
func keyOf(f *check.Finding) (key topKey, ok bool) {
	key = topKey{target: f.Target, code: f.Code}
	if key.target == "" {
		key.target = f.Raw // no URL at all
	}
	if f.Code == check.MissingFragment || f.Code == check.MissingMap {
		key.fragment = f.Fragment
	}
	return key, key.target != ""
}

// topTargets returns the targets that break on minTopPages or more pages, most
// pages first, then by name.
func topTargets(findings []check.Finding) []top {
	byKey := map[topKey]*top{}
	for i := range findings {
		f := &findings[i]
		key, ok := keyOf(f)
		if !ok {
			continue
		}
		t := byKey[key]
		if t == nil {
			t = &top{what: key}
			byKey[key] = t
		}
		if t.pages == 0 || t.last != f.Page {
			t.pages++
			t.last = f.Page
		}
	}
	var tops []top
	for _, t := range byKey {
		if t.pages >= minTopPages {
			tops = append(tops, *t)
		}
	}
	slices.SortFunc(tops, func(a, b top) int {
		return cmp.Or(
			cmp.Compare(b.pages, a.pages),
			cmp.Compare(a.what.target, b.what.target),
			cmp.Compare(a.what.fragment, b.what.fragment),
			cmp.Compare(a.what.code, b.what.code))
	})
	return tops
}
