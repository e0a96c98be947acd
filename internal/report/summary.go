package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
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
	dst = fmt.Appendf(dst, "checked %s, %s, %s", text.Count(s.Pages, "page"), text.Count(s.Links, "link"), text.Count(s.Anchors, "anchor"))
	if s.Docroot != "" {
		dst = append(dst, " in "+quoted(s.Docroot)...)
	}
	if s.Profile != "" {
		dst = append(dst, " (profile "+quoted(s.Profile)...)
		if s.ProfileFrom != "" {
			dst = append(dst, ", detected from "+quoted(s.ProfileFrom)...)
		}
		dst = append(dst, ')')
	}
	next := "; "
	if !clean {
		next = "\n"
		dst = append(dst, ": "+verdicts(r, causes, p)...)
	}
	// The counts follow the first line.
	var parts []string
	list := func(title string, items []string) {
		if len(items) > 0 {
			parts = append(parts, title+strings.Join(items, ", "))
		}
	}
	kinds := func(all []check.KindCount) (items []string) {
		for _, k := range all {
			items = append(items, text.Thousands(k.Count)+" "+value(k.Kind))
		}
		return items
	}
	list("not checked: ", reasons(s, value))
	scripts := s.ScriptFragments
	var evidence []string
	for _, c := range scripts[:min(len(scripts), maxEvidence)] {
		evidence = append(evidence, fmt.Sprintf("%s of %s: %s", text.Count(c.Fragments, "fragment"), text.Count(c.Pages, "page"), value(c.Evidence)))
	}
	if rest := len(scripts) - maxEvidence; rest > 0 {
		evidence = append(evidence, "and "+text.Count(rest, "more script"))
	}
	if len(evidence) > 0 {
		parts = append(parts, "left to scripts: "+strings.Join(evidence, "; "))
	}
	if len(s.Skipped) > 0 {
		parts = append(parts, "left out: "+text.Count(len(s.Skipped), "page"))
	}
	parts = append(parts, ignored(s)...)
	if b := s.Baseline; b != nil {
		list("accepted by the baseline: ", accepted(b))
		if b.Expired > 0 {
			parts = append(parts, "expired in the baseline: "+text.Count(b.Expired, "finding"))
		}
	}
	list("also read: ", kinds(s.Read))
	list("files not read: ", kinds(s.NotRead))
	if s.Canonical > 0 {
		parts = append(parts, text.Count(s.Canonical, "page")+" with another canonical address")
	}
	for _, part := range parts {
		dst = append(dst, next+part...)
	}
	dst = append(dst, '\n')
	for _, note := range s.Notes {
		dst = append(dst, "note: "+sentence(note)+"\n"...)
	}
	warning := p.paint(sgrYellow, "warning:")
	for _, rule := range s.UnusedIgnores {
		dst = append(dst, warning+" ignore rule matches nothing: "+sentence(rule)+"\n"...)
	}
	if s.Baseline != nil {
		unneeded := s.Baseline.Unneeded
		for _, entry := range unneeded[:min(len(unneeded), MaxUnneeded)] {
			dst = append(dst, warning+" baseline entry no longer needed: "+sentence(entry)+"\n"...)
		}
		if rest := len(unneeded) - MaxUnneeded; rest > 0 {
			dst = append(dst, warning+" and "+text.Thousands(rest)+" more\n"...)
		}
	}
	return dst
}

// MaxUnneeded is how many unneeded entries of a baseline text lists. After a
// large repair there may be thousands, and one command removes them all.
const MaxUnneeded = 10

// reasons returns how many links were not checked, by reason.
func reasons(s *check.Summary, show func(string) string) (items []string) {
	for _, r := range s.Reasons {
		items = append(items, text.Thousands(r.Count)+" "+show(reasonWord(r.Code)))
	}
	return items
}

// reasonWord returns the word for the reason why links were not checked: its code, unless a
// reader of the summary could not guess what that means.
func reasonWord(code check.Code) string {
	switch code {
	case check.Hint:
		return "preconnect or dns-prefetch"
	case check.Data:
		return "inline (data:)"
	}
	return string(code)
}

// ignored returns how many links rules accept, and how many lead to the site's endpoints.
func ignored(s *check.Summary) (parts []string) {
	if n := s.Ignored - s.Endpoints; n > 0 {
		parts = append(parts, "ignored by rule: "+text.Count(n, "link"))
	}
	if s.Endpoints > 0 {
		parts = append(parts, "accepted: "+text.Count(s.Endpoints, "link")+" to the site's endpoints, where programs answer")
	}
	return parts
}

// maxEvidence is how many pieces of evidence the summary lists.
const maxEvidence = 5

// capped reports whether the summary counts findings that the result does not have. The
// number of all causes is not known then.
func capped(s *check.Summary) bool { return s.UnlistedErrors+s.UnlistedWarnings > 0 }

// verdicts returns "12 errors, 3 warnings". It counts the findings that
// the reader has just seen, and adds the number of links if they represent
// more, and the number of causes if it is smaller and known.
func verdicts(r *check.Result, causes int, p painter) string {
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
	var parts []string
	if errors > 0 {
		parts = append(parts, p.paint(sgrRed, text.Count(errors, "error")))
	}
	if warnings > 0 {
		parts = append(parts, p.paint(sgrYellow, text.Count(warnings, "warning")))
	}
	words := strings.Join(parts, ", ")
	if links > errors+warnings {
		words += ", on " + text.Count(links, "link")
	}
	if causes > 0 && causes < errors+warnings && !capped(&r.Summary) {
		words += "; " + text.Count(causes, "cause")
	}
	return words
}

// accepted returns "45 links" and "2 faults of files", without what is zero.
func accepted(b *check.BaselineSummary) (items []string) {
	if b.Links > 0 {
		items = append(items, text.Count(b.Links, "link"))
	}
	if b.Faults > 0 {
		items = append(items, text.Count(b.Faults, "fault")+" of files")
	}
	return items
}
