package host

import (
	"net/url"
	pathpkg "path"
	"strings"
)

// location is where a redirect of the host to a decoded path leads: the path
// and query that the browser then asks for.
func (q *asking) location(path, query string) string {
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

// goLocation is what a browser asks for when Go's net/http.Redirect is given
// a decoded path.
func goLocation(path string) string {
	for strings.HasPrefix(path, "//") { // Caddy: no redirect to another host
		path = path[1:]
	}
	// Dots and slashes are cleaned only in what parses as a URL.
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
	// Bytes beyond ASCII are percent-encoded one by one. A header holds no line
	// breaks: the server writes spaces for them.
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

// escapePath percent-encodes all but letters, digits and literal.
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

// normalQuery writes a query as lighttpd does: letters, digits and -._~ not
// encoded, brackets and the like and what is no escape encoded.
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
