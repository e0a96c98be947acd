package host

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// maxFilePath is PATH_MAX without the final NUL.
const maxFilePath = 4095

// decode decodes percent escapes once. refused is set if the host rejects the
// path.
func (q *request) decode(path string) (p string, refused *Answer) {
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
			case c == 0:
				return refuse(StateBadURL, http.StatusBadRequest, "the path contains an encoded NUL byte")
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
	if q.p.InvalidUTF8 != 0 && !utf8.ValidString(p) {
		return refuse(StateMissingFile, q.p.InvalidUTF8, "the path is not valid UTF-8, which the host requires")
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
// slash reports whether the path names a directory, as a final dot segment does.
// above reports whether ".." leads above the root; with
// stops, the path ends at the root instead.
func splitPath(p string, stops bool) (segments []string, slash, above bool) {
	segments = make([]string, 0, strings.Count(p, "/")+1)
	for start, i := 0, 0; i <= len(p); i++ { // four times as fast as strings.SplitSeq on short names
		if i < len(p) && p[i] != '/' {
			continue
		}
		seg := p[start:i]
		start, slash = i+1, seg == "" || seg == "." || seg == ".."
		switch seg {
		case "", ".":
		case "..":
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
	if q.p.DropQuery || query == "?" {
		query = ""
	}
	if q.p.RawLocation {
		return browserPath(path + query)
	}
	return escapePath(path) + query
}

// escapePath percent-encodes what a path must not contain as it is.
func escapePath(p string) string {
	const literal, hex = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=:@[]", "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		if strings.IndexByte(literal, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
