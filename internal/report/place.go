package report

import (
	"path"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// place returns where a server that shows the project's files puts f: the
// source file where it is known, else the built page. The file is relative to
// the root of the project. Line and column are 0 when they are not known.
func (o *Options) place(f *check.Finding) (file string, line, column int) {
	if p := f.Source; p != nil {
		return p.File, p.Line, p.Column
	}
	return o.page(f.Page), f.Line, f.Column
}

// page is the built page as seen from the root of the project.
func (o *Options) page(page string) string {
	if o.Base == "" || o.Base == "." {
		return page
	}
	return path.Join(o.Base, page)
}

// appendSentence appends what is wrong and what the author most likely meant,
// in one line, for servers that show nothing else. Values are quoted and cut as
// in text.
func appendSentence(dst []byte, f *check.Finding) []byte {
	if f.Message == "" {
		dst = appendCut(dst, string(f.Code), maxValueBytes)
	} else {
		dst = appendCut(dst, f.Message, maxMessageBytes)
	}
	if f.Suggestion != "" {
		before, after := hint(f)
		dst = append(dst, "; "+before...)
		dst = appendCut(dst, f.Suggestion, maxValueBytes)
		dst = append(dst, after...)
	}
	return dst
}

// appendURI appends a slash path as an URI reference (RFC 3986, section 4): what
// is neither unreserved nor a slash is percent-encoded, byte by byte, so that no
// part of a path reads as scheme, query or fragment. An absolute path becomes a
// file URI.
func appendURI(dst []byte, file string) []byte {
	if absolute(file) {
		dst = append(dst, "file://"...)
		if file[0] != '/' { // C:/site
			dst = append(dst, '/')
		}
	}
	for i := range len(file) {
		c := file[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			dst = append(dst, c)
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// absolute tells whether a slash path is absolute on any system: /a or C:/a.
func absolute(file string) bool {
	return strings.HasPrefix(file, "/") || len(file) > 2 && file[1] == ':' && file[2] == '/'
}
