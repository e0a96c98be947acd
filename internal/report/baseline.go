package report

import "github.com/sitelink/sitelink/check"

// MaxUnneeded bounds the list of unneeded entries of a baseline in text: after a large repair
// there may be thousands, and one command drops them all.
const MaxUnneeded = 10

// appendBaseline appends what the baseline accepted, to the counts of the
// summary; next is what stands between two of them.
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

// appendAccepted appends "45 links, 2 faults of files", what there is of both.
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

// baseline appends sentences that say what the baseline accepted.
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

// maxUnneededHTML bounds the list in HTML, where it is read at leisure.
const maxUnneededHTML = 1000

// unneeded writes the entries of the baseline that serve no more.
func (h *htmlWriter) unneeded(b *check.BaselineSummary) {
	if b == nil || len(b.Unneeded) == 0 {
		return
	}
	h.raw("<h3>Entries of the baseline that no finding needs</h3>\n<ul class=\"mono\">\n")
	for _, entry := range b.Unneeded[:min(len(b.Unneeded), maxUnneededHTML)] {
		h.raw("<li>")
		h.value(entry)
		h.raw("</li>\n")
	}
	h.raw("</ul>\n")
	if rest := len(b.Unneeded) - maxUnneededHTML; rest > 0 {
		h.raw("<p>and ")
		h.number(rest)
		h.raw(" more</p>\n")
	}
}

// appendUnneeded appends a warning for each entry that serves no more.
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
		dst = append(dst, " more; sitelink baseline update drops them\n"...)
	}
	return dst
}

// appendBaselineObject appends the baseline as a field of the summary, if there
// was one.
func appendBaselineObject(dst []byte, b *check.BaselineSummary) []byte {
	if b == nil {
		return dst
	}
	dst = append(dst, `,"baseline":{"name":`...)
	dst = appendString(dst, b.Name)
	dst = appendIntField(dst, `,"links":`, b.Links)
	dst = appendIntField(dst, `,"faults":`, b.Faults)
	dst = appendIntField(dst, `,"expired":`, b.Expired)
	dst = append(dst, `,"unneeded":[`...)
	for i, entry := range b.Unneeded {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, entry)
	}
	return append(dst, "]}"...)
}
