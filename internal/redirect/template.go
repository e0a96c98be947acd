package redirect

import (
	"slices"
	"strings"
)

// template is a destination with placeholders for captured text. Without
// placeholders, it is only a literal.
type template struct {
	literal string
	parts   []part
}

// isEmpty reports whether the rule has no destination.
func (t template) isEmpty() bool { return t.literal == "" && len(t.parts) == 0 }

// with returns t with one more part.
func (t template) with(p part) template {
	return template{parts: append(t.split(), p)}
}

// split returns the parts; a literal has one part.
func (t template) split() []part {
	if t.literal != "" {
		return []part{{literal: t.literal, group: isLiteral}}
	}
	return t.parts
}

// part is a literal, the capture of a group, or a variable of the request.
type part struct {
	literal string
	group   int // from 0, or one of the negative constants below
	escape  escaping
}

// Values of [part].group that are not captures.
const (
	isLiteral  = -1
	takesHost  = -2
	takesPath  = -3
	takesQuery = -4
)

// escaping is the way in which a captured value is inserted into a destination.
type escaping uint8

const (
	verbatim     escaping = iota // the capture is still percent-encoded
	formEscape                   // a decoded query value, written as HTML forms do
	pathEscape                   // a decoded part of a path
	apacheEscape                 // the same, with lower-case hexadecimal digits
)

// literalTemplate returns a destination without placeholders.
func literalTemplate(to string) template { return template{literal: to} }

// colonTemplate compiles a destination with :name placeholders. Like the hosts, it
// replaces the names in the order of the captures: if a is replaced first, ":ab"
// becomes the value of a followed by "b".
func colonTemplate(to string, names []string, escape func(group int) escaping) template {
	t := literalTemplate(to)
	var seen map[string]bool
	if len(names) > 1 {
		seen = map[string]bool{}
	}
	for group, name := range names {
		if name == "" || seen[name] {
			continue // an earlier capture has this name
		}
		if seen != nil {
			seen[name] = true
		}
		t = t.replace(":"+name, group, escape(group))
	}
	return t
}

// replace replaces each mark in the literals with a capture.
func (t template) replace(mark string, group int, escape escaping) template {
	if !t.contains(mark) {
		return t
	}
	var out []part
	for _, p := range t.split() {
		rest := p.literal
		for p.group == isLiteral {
			before, after, found := strings.Cut(rest, mark)
			if before != "" {
				out = append(out, part{literal: before, group: isLiteral})
			}
			if !found {
				break
			}
			out = append(out, part{group: group, escape: escape})
			rest = after
		}
		if p.group != isLiteral {
			out = append(out, p)
		}
	}
	return template{parts: out}
}

func (t template) contains(mark string) bool {
	return strings.Contains(t.literal, mark) || slices.ContainsFunc(t.parts, func(p part) bool {
		return p.group == isLiteral && strings.Contains(p.literal, mark)
	})
}

// isFixed reports whether the destination is the same for every request.
func (t template) isFixed() bool {
	for _, p := range t.parts {
		if p.group != isLiteral {
			return false
		}
	}
	return true
}

// MaxAddress is the longest path with query, in bytes, that nginx, Apache and lighttpd
// accept: 8 KiB for the request line, of lighttpd with the field Host.
const MaxAddress = 8<<10 - len("GET  HTTP/1.1\r\nHost: 127.0.0.1:65535\r\n\r\n")

// fill returns the destination for a request. Captures of groups that did not
// match are empty. A destination that is longer than [MaxAddress] ends after one byte
// more: $1$1 doubles an address at each redirect.
func (t template) fill(captured []string, req *Request) string {
	switch {
	case len(t.parts) == 0:
		return t.literal[:min(len(t.literal), MaxAddress+1)]
	case len(t.parts) == 1 && t.parts[0].group == isLiteral:
		return t.parts[0].literal[:min(len(t.parts[0].literal), MaxAddress+1)]
	}
	var out strings.Builder
	for _, p := range t.parts {
		if out.Len() > MaxAddress {
			return out.String()[:MaxAddress+1]
		}
		value := ""
		switch {
		case p.group == isLiteral:
			out.WriteString(p.literal)
			continue
		case p.group == takesHost && req != nil:
			value = req.Host
		case p.group == takesPath && req != nil:
			out.WriteString(req.Path) // percent-encoded already
			continue
		case p.group == takesQuery && req != nil:
			value = req.Query
		case p.group >= 0 && p.group < len(captured):
			value = captured[p.group]
		}
		if p.escape == verbatim {
			out.WriteString(value)
		} else {
			escapeInto(&out, value, p.escape)
		}
	}
	to := out.String()
	return to[:min(len(to), MaxAddress+1)]
}

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// escapeInto percent-encodes a decoded value: for a query as the URL Standard's
// application/x-www-form-urlencoded serializer does, for a path as Apache's
// ap_os_escape_path does.
func escapeInto(out *strings.Builder, s string, how escaping) {
	hex := upperHex
	if how == apacheEscape {
		hex = lowerHex
	}
	for i := range len(s) {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		switch {
		case plain,
			how == formEscape && strings.IndexByte("*-._", c) >= 0,
			how != formEscape && strings.IndexByte("!$&'()*+,-./:;=@_~", c) >= 0:
			out.WriteByte(c)
		case how == formEscape && c == ' ':
			out.WriteByte('+')
		default:
			out.WriteByte('%')
			out.WriteByte(hex[c>>4])
			out.WriteByte(hex[c&15])
		}
	}
}

// withQuery adds query to an address, before its fragment. If the address has a
// query, withQuery appends to it if join is set, otherwise it changes nothing.
func withQuery(to, query string, join bool) string {
	if query == "" || to == "" {
		return to
	}
	address, fragment, hasFragment := strings.Cut(to, "#")
	switch {
	case !strings.Contains(address, "?"):
		address += "?" + query
	case !join:
		return to
	case strings.HasSuffix(address, "?"):
		address += query
	default:
		address += "&" + query
	}
	if hasFragment {
		address += "#" + fragment
	}
	return address
}
