// Package endpoint reads and writes how a site names its pingback and webmention endpoints: link elements and Link
// header fields. It performs no I/O.
package endpoint

import "strings"

// HeaderLink is one link of a Link header field: its target as written, and the
// parameters needed here. Of parameters with the same name, the first counts.
type HeaderLink struct {
	Target string
	// Rel holds the relation types, separated by white space. If Anchored, the
	// link is about the resource named by Anchor instead of the page.
	Rel      string
	Anchor   string
	Anchored bool
}

// Links parses a Link header field (RFC 8288, section 3 and appendix B.2). It is as
// lenient as the algorithm there: it stops at text that does not start a link,
// parameters may be unquoted, and names are case-insensitive. whole is false if it
// did not understand all of the field.
func Links(field string) (links []HeaderLink, whole bool) {
	rest, whole := field, true
	for {
		rest = strings.TrimLeft(rest, " \t,")
		if !strings.HasPrefix(rest, "<") {
			return links, whole && rest == ""
		}
		target, after, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return links, false
		}
		link := HeaderLink{Target: target}
		var junk string
		rest, junk = link.parameters(after)
		whole = whole && junk == ""
		links = append(links, link)
	}
}

// parameters reads the parameters after a target. It returns the text after the
// comma that ends the link, and the text before it that is not a parameter.
func (l *HeaderLink) parameters(s string) (rest, junk string) {
	seen := false
	for {
		s = strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(s, ";") {
			junk, rest, _ = strings.Cut(s, ",")
			return rest, junk
		}
		s = strings.TrimLeft(s[1:], " \t")
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			end = len(s)
		}
		name := strings.ToLower(strings.TrimRight(s[:end], " \t"))
		s = s[end:]
		var value string
		if strings.HasPrefix(s, "=") {
			value, s = parameterValue(strings.TrimLeft(s[1:], " \t"))
		}
		switch {
		case name == "rel" && !seen:
			// Later rel parameters must be ignored (section 3.3).
			l.Rel, seen = value, true
		case name == "anchor" && !l.Anchored:
			l.Anchor, l.Anchored = value, true
		}
	}
}

// parameterValue reads a token or a quoted string and returns the text after it.
func parameterValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimRight(s[:end], " \t"), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
