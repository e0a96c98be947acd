package webmention

import (
	"strings"
)

// headerLink is one link of a Link header field: its target as written, and the
// parameters that matter here, the first of each name.
type headerLink struct {
	target string
	// rel are the relation types, parted by white space; anchored: the link is
	// of the resource anchor and not of the one that has the header.
	rel      string
	anchor   string
	anchored bool
}

// parseLinkHeader reads a Link header field (RFC 8288, section 3 and appendix
// B.2). Like the algorithm there it is lenient: what begins no link ends the
// reading, parameters need no quotes, and names count without regard to case.
func parseLinkHeader(field string) []headerLink {
	var links []headerLink
	rest := field
	for {
		rest = strings.TrimLeft(rest, " \t,")
		if !strings.HasPrefix(rest, "<") {
			return links
		}
		target, after, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return links
		}
		link := headerLink{target: target}
		rest = link.parameters(after)
		links = append(links, link)
	}
}

// parameters reads the parameters behind a target and returns what follows the
// comma that ends the link.
func (l *headerLink) parameters(s string) string {
	seen := false
	for {
		s = strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(s, ";") {
			// What stands before the comma is no parameter.
			_, after, _ := strings.Cut(s, ",")
			return after
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
			// Further ones are to be ignored (section 3.3).
			l.rel, seen = value, true
		case name == "anchor" && !l.anchored:
			l.anchor, l.anchored = value, true
		}
	}
}

// parameterValue reads a token or a quoted string and returns what follows it.
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

// hasRelation tells whether a list of relation types holds webmention. Types
// are compared without regard to case (RFC 8288, section 2.1; HTML Standard,
// 4.6.7).
func hasRelation(rel string) bool {
	for token := range strings.FieldsFuncSeq(rel, asciiSpace) {
		if strings.EqualFold(token, "webmention") {
			return true
		}
	}
	return false
}

// asciiSpace is the white space of HTML.
func asciiSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\r'
}
