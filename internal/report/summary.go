package report

import (
	"io"

	"github.com/sitelink/sitelink/check"
)

// TextSummary writes the summary at the end of [Text]. `check --show all` calls
// it after the rows of [AppendText].
func TextSummary(w io.Writer, r *check.Result, opt TextOptions) error {
	s := sink{w: w}
	s.buf = appendTextSummary(s.buf, r, len(check.Causes(r.Findings)), opt)
	return s.flush()
}

// appendTextSummary appends one line for a clean site, otherwise the counts and
// what was not checked. causes is the number of causes.
func appendTextSummary(dst []byte, r *check.Result, causes int, opt TextOptions) []byte {
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
			dst = append(dst, ", detected from "...)
			dst = appendQuoted(dst, s.ProfileFrom)
		}
		dst = append(dst, ')')
	}
	next := "\n"
	if clean {
		next = "; "
	} else {
		dst = append(dst, ": "...)
		dst = appendVerdicts(dst, r, causes, p)
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
	dst = appendScriptFragments(dst, s.ScriptFragments, next)
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

// maxEvidence is how many pieces of evidence the summary lists.
const maxEvidence = 5

// appendScriptFragments appends which fragments were left to scripts, and on what
// evidence.
func appendScriptFragments(dst []byte, all []check.ScriptFragmentCount, next string) []byte {
	for i, c := range all[:min(len(all), maxEvidence)] {
		if i == 0 {
			dst = append(dst, next+"left to scripts: "...)
		} else {
			dst = append(dst, "; "...)
		}
		dst = appendCount(dst, c.Fragments, "fragment")
		dst = append(dst, " of "...)
		dst = appendCount(dst, c.Pages, "page")
		dst = append(dst, ": "...)
		dst = appendCut(dst, c.Evidence, maxValueBytes)
	}
	if rest := len(all) - maxEvidence; rest > 0 {
		dst = append(dst, "; and "...)
		dst = appendCount(dst, rest, "more script")
	}
	return dst
}

// appendScriptFragmentsJSON appends the list of appendScriptFragments as a JSON
// field.
func appendScriptFragmentsJSON(dst []byte, all []check.ScriptFragmentCount) []byte {
	dst = append(dst, `,"script_fragments":[`...)
	for i, c := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"evidence":`...)
		dst = AppendString(dst, c.Evidence)
		dst = appendIntField(dst, `,"fragments":`, c.Fragments)
		dst = appendIntField(dst, `,"pages":`, c.Pages)
		dst = append(appendIntField(dst, `,"links":`, c.Links), '}')
	}
	return append(dst, ']')
}

// capped reports whether the summary counts findings that the result does not have. The
// number of all causes is not known then.
func capped(s *check.Summary) bool { return s.UnlistedErrors+s.UnlistedWarnings > 0 }

// appendVerdicts appends "12 errors, 3 warnings". It counts the findings that
// the reader has just seen, and adds the number of links if they represent
// more, and the number of causes if it is smaller and known.
func appendVerdicts(dst []byte, r *check.Result, causes int, p painter) []byte {
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
	errors += r.Summary.UnlistedErrors
	warnings += r.Summary.UnlistedWarnings
	links += r.Summary.UnlistedErrors + r.Summary.UnlistedWarnings
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
	if causes > 0 && causes < errors+warnings && !capped(&r.Summary) {
		dst = append(dst, "; "...)
		dst = appendCount(dst, causes, "cause")
	}
	return dst
}

// appendRead appends which files were read besides pages and which were not,
// each on its own line, or after "; " on the line of a clean site.
func appendRead(dst []byte, s *check.Summary, next string) []byte {
	for _, list := range []struct {
		title string
		kinds []check.KindCount
	}{{"also read: ", s.Read}, {"files not read: ", s.NotRead}} {
		for i, k := range list.kinds {
			if i == 0 {
				dst = append(dst, next+list.title...)
			} else {
				dst = append(dst, ", "...)
			}
			dst = appendThousands(dst, k.Count)
			dst = append(dst, ' ')
			dst = appendCut(dst, k.Kind, maxValueBytes)
		}
	}
	if s.Canonical > 0 {
		dst = append(dst, next...)
		dst = appendCount(dst, s.Canonical, "page")
		dst = append(dst, " with another canonical address"...)
	}
	return dst
}

// appendNotes appends one line for each note.
func appendNotes(dst []byte, s *check.Summary) []byte {
	for _, note := range s.Notes {
		dst = append(dst, "note: "...)
		dst = appendCut(dst, note, maxMessageBytes)
		dst = append(dst, '\n')
	}
	return dst
}

// appendReadJSON appends the files of appendRead and the notes as JSON fields.
func appendReadJSON(dst []byte, s *check.Summary) []byte {
	dst = appendIntField(dst, `,"canonical":`, s.Canonical)
	dst = appendKindsJSON(append(dst, `,"read":[`...), s.Read)
	dst = appendKindsJSON(append(dst, `],"not_read":[`...), s.NotRead)
	dst = appendScriptFragmentsJSON(append(dst, ']'), s.ScriptFragments)
	dst = append(dst, `,"notes":[`...)
	for i, note := range s.Notes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, note)
	}
	return append(dst, ']')
}

func appendKindsJSON(dst []byte, kinds []check.KindCount) []byte {
	for i, k := range kinds {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"kind":`...)
		dst = AppendString(dst, k.Kind)
		dst = appendIntField(dst, `,"count":`, k.Count)
		dst = append(dst, '}')
	}
	return dst
}

// MaxUnneeded is how many unneeded entries of a baseline text lists. After a
// large repair there may be thousands, and one command removes them all.
const MaxUnneeded = 10

// appendBaseline appends what the baseline accepted to the counts of the
// summary. next separates two counts.
func appendBaseline(dst []byte, b *check.BaselineSummary, next string) []byte {
	if b == nil {
		return dst
	}
	if b.Links > 0 || b.Faults > 0 {
		dst = append(dst, next+"accepted by the baseline: "...)
		dst = appendAccepted(dst, b)
	}
	if b.Expired > 0 {
		dst = append(dst, next+"expired in the baseline: "...)
		dst = appendCount(dst, b.Expired, "finding")
	}
	return dst
}

// appendAccepted appends "45 links, 2 faults of files", without what is zero.
func appendAccepted(dst []byte, b *check.BaselineSummary) []byte {
	if b.Links > 0 {
		dst = appendCount(dst, b.Links, "link")
	}
	if b.Faults > 0 {
		if b.Links > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendCount(dst, b.Faults, "fault")
		dst = append(dst, " of files"...)
	}
	return dst
}

// baseline appends sentences about what the baseline accepted.
func (m *markdown) baseline(b *check.BaselineSummary) {
	if b == nil {
		return
	}
	if b.Links > 0 || b.Faults > 0 {
		m.buf = append(m.buf, " Accepted by the baseline: "...)
		m.buf = append(appendAccepted(m.buf, b), '.')
	}
	if b.Expired > 0 {
		m.buf = append(m.buf, " Expired in the baseline: "...)
		m.buf = append(appendCount(m.buf, b.Expired, "finding"), '.')
	}
}

// appendUnneeded appends a warning for each entry of the baseline that matches
// no finding.
func appendUnneeded(dst []byte, b *check.BaselineSummary, p painter) []byte {
	if b == nil {
		return dst
	}
	warning := func(text string) {
		dst = p.on(dst, sgrYellow)
		dst = append(dst, "warning:"...)
		dst = p.off(dst)
		dst = append(dst, text...)
	}
	for _, entry := range b.Unneeded[:min(len(b.Unneeded), MaxUnneeded)] {
		warning(" baseline entry no longer needed: ")
		dst = appendCut(dst, entry, maxMessageBytes)
		dst = append(dst, '\n')
	}
	if rest := len(b.Unneeded) - MaxUnneeded; rest > 0 {
		warning(" and ")
		dst = appendThousands(dst, rest)
		dst = append(dst, " more; sitelink baseline update removes them\n"...)
	}
	return dst
}

// appendBaselineObject appends the field baseline of the summary if b is not
// nil.
func appendBaselineObject(dst []byte, b *check.BaselineSummary) []byte {
	if b == nil {
		return dst
	}
	dst = append(dst, `,"baseline":{"name":`...)
	dst = AppendString(dst, b.Name)
	dst = appendIntField(dst, `,"links":`, b.Links)
	dst = appendIntField(dst, `,"faults":`, b.Faults)
	dst = appendIntField(dst, `,"expired":`, b.Expired)
	dst = append(dst, `,"unneeded":[`...)
	for i, entry := range b.Unneeded {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, entry)
	}
	return append(dst, "]}"...)
}
