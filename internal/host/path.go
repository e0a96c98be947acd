package host

import (
	"net/http"
	"net/url"
	pathpkg "path"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// maxFilePath is PATH_MAX without the final NUL.
const maxFilePath = 4095

// decode decodes percent escapes once. refused is set if the host rejects the
// path.
func (q *request) decode(path, query string) (p string, refused *Answer) {
	refuse := func(state State, status int, note string) (string, *Answer) {
		return "", &Answer{State: state, Node: docroot.NoNode, Status: status, Note: note}
	}
	p = path
	if q.p.BadEscape != 0 && badEscape(path) {
		return refuse(StateBadURL, q.p.BadEscape, "a percent sign is not followed by two hexadecimal digits")
	}
	if strings.IndexByte(path, '%') >= 0 {
		out := make([]byte, 0, len(path))
		for i := 0; i < len(path); i++ {
			c := path[i]
			if c != '%' || !isEscape(path[i:]) {
				out = append(out, c)
				continue
			}
			c = byte(unhex(path[i+1])<<4 | unhex(path[i+2]))
			switch {
			case c == 0 && !q.p.FileFirst:
				return refuse(StateBadURL, q.p.NUL, "the path contains an encoded NUL byte")
			case c == '/' && q.p.EncodedSlash == Missing:
				return refuse(StateMissingFile, http.StatusNotFound, "the host rejects encoded slashes")
			case c == '/' && q.p.EncodedSlash == Keep:
				return refuse(StateMissingFile, http.StatusNotFound, "the host treats an encoded slash as part of a name, and no file has such a name")
			case q.p.ReservedEscape == Keep && strings.IndexByte(";/?:@&=+$,#", c) >= 0:
				out = append(out, path[i:i+3]...)
				i += 2
				continue
			}
			out = append(out, c)
			i += 2
		}
		p = string(out)
	}
	if q.p.Control != 0 || q.p.BadUTF8 != 0 {
		query = decodeLenient(query)
	}
	switch {
	case q.p.Control != 0 && (hasControl(p) || hasControl(query)):
		return refuse(StateBadURL, q.p.Control, "the path or query contains a control character")
	case q.p.InvalidUTF8 != 0 && !utf8.ValidString(p):
		return refuse(StateMissingFile, q.p.InvalidUTF8, "the path is not valid UTF-8, which the host requires")
	case q.p.BadUTF8 != 0 && (neverUTF8(p) || neverUTF8(query)):
		return refuse(StateBadURL, q.p.BadUTF8, "the path or query contains a byte that never occurs in UTF-8")
	}
	return p, nil
}

// isEscape reports whether s, which begins with a percent sign, begins with an
// escape.
func isEscape(s string) bool { return len(s) > 2 && unhex(s[1]) >= 0 && unhex(s[2]) >= 0 }

// badEscape reports whether s contains a percent sign that does not begin an
// escape.
func badEscape(s string) bool {
	for i := strings.IndexByte(s, '%'); i >= 0 && i < len(s); i++ {
		if s[i] == '%' && !isEscape(s[i:]) {
			return true
		}
	}
	return false
}

// decodeLenient decodes the percent escapes of s and keeps everything else.
func decodeLenient(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	return string(weburl.PercentDecode(nil, s))
}

func hasControl(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] < 0x20 || p[i] == 0x7F {
			return true
		}
	}
	return false
}

// neverUTF8 reports whether p contains a byte that never occurs in UTF-8.
func neverUTF8(p string) bool {
	for i := 0; i < len(p); i++ {
		if c := p[i]; c == 0xC0 || c == 0xC1 || c >= 0xF5 {
			return true
		}
	}
	return false
}

// hasDots reports whether a segment of the decoded path p is "." or "..".
func hasDots(p string) bool {
	for seg := range strings.SplitSeq(p, "/") {
		if seg == "." || seg == ".." {
			return true
		}
	}
	return false
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// splitPath cuts a decoded path into segments and removes empty ones and dots.
// slash reports whether the path names a directory, which a final dot segment
// does if dots is set. above reports whether ".." leads above the root; with
// stops, the path ends at the root instead.
func splitPath(p string, stops, dots bool) (segments []string, slash, above bool) {
	slash = true
	for seg := range strings.SplitSeq(p, "/") {
		slash = false
		switch seg {
		case "":
			slash = true
		case ".":
			slash = dots
		case "..":
			slash = dots
			if len(segments) > 0 {
				segments = segments[:len(segments)-1]
			} else if !stops {
				return nil, false, true
			}
		default:
			segments = append(segments, seg)
		}
	}
	return segments, slash, false
}

// location returns the path and query that a browser requests after the host
// redirects to a decoded path.
func (q *request) location(path, query string) string {
	p := q.p
	switch {
	case p.DropQuery, query == "?" && !p.EmptyQuery:
		query = ""
	case p.NormalQuery:
		query = normalQuery(query)
	}
	hex := upperHex
	if p.LowerHex {
		hex = lowerHex
	}
	switch {
	case p.GoLocation:
		return goLocation(path) + query
	case p.RawLocation:
		return browserPath(path + query)
	}
	return escapePath(path, p.Literal, hex) + query
}

// goLocation returns what a browser requests after Go's net/http.Redirect was
// called with a decoded path.
func goLocation(path string) string {
	for strings.HasPrefix(path, "//") { // Caddy does not redirect to another host
		path = path[1:]
	}
	// net/http cleans dots and slashes only in paths that parse as a URL.
	if _, err := url.Parse(path); err == nil {
		name, query, hasQuery := strings.Cut(path, "?")
		clean := pathpkg.Clean(name)
		if strings.HasSuffix(name, "/") && !strings.HasSuffix(clean, "/") {
			clean += "/"
		}
		if hasQuery {
			clean += "?" + query
		}
		path = clean
	}
	// net/http percent-encodes bytes beyond ASCII one by one, and writes line
	// breaks, which a header cannot hold, as spaces.
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\n' || c == '\r':
			b.WriteByte(' ')
		case c >= 0x80:
			b.WriteByte('%')
			b.WriteByte(lowerHex[c>>4])
			b.WriteByte(lowerHex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return browserPath(b.String())
}

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// escapePath percent-encodes all bytes but letters, digits and those in
// literal.
func escapePath(p, literal, hex string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		if isAlnum(c) || strings.IndexByte(literal, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// normalQuery rewrites a query as lighttpd does: it decodes letters, digits and
// -._~, and encodes brackets and the like and percent signs that do not begin
// an escape.
func normalQuery(query string) string {
	if !strings.ContainsAny(query, "%[]{}|^`\\") {
		return query
	}
	var b strings.Builder
	for i := 0; i < len(query); i++ {
		c := query[i]
		if c != '%' {
			if strings.IndexByte("[]{}|^`\\", c) < 0 {
				b.WriteByte(c)
			} else {
				b.WriteByte('%')
				b.WriteByte(upperHex[c>>4])
				b.WriteByte(upperHex[c&15])
			}
			continue
		}
		if i+2 >= len(query) || unhex(query[i+1]) < 0 || unhex(query[i+2]) < 0 {
			b.WriteString("%25")
			continue
		}
		c = byte(unhex(query[i+1])<<4 | unhex(query[i+2]))
		if isAlnum(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
		i += 2
	}
	return b.String()
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
