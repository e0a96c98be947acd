package weburl

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// pathStart reads the path after an authority, and the rest.
//
// https://url.spec.whatwg.org/#path-start-state
func (p *parser) pathStart(s string) Reason {
	p.u.pathStart = uint32(len(p.out))
	switch {
	case strings.HasPrefix(s, "/"):
		s = p.path(s[1:])
	case p.u.kind.special():
		if strings.HasPrefix(s, "\\") {
			p.u.notes |= NoteBackslash
			s = s[1:]
		}
		s = p.path(s)
	}
	return p.tail(s)
}

// opaquePath reads a path that is not a list of segments.
//
// https://url.spec.whatwg.org/#cannot-be-a-base-url-path-state
func (p *parser) opaquePath(s string) Reason {
	p.u.opaque = true
	end := strings.IndexAny(s, "?#")
	if end < 0 {
		end = len(s)
	}
	p.out = appendEncoded(p.out, s[:end], encodeControl)
	// A trailing space would be lost if the URL were parsed again without the
	// rest.
	if end > 0 && end < len(s) && s[end-1] == ' ' {
		p.out = append(p.out[:len(p.out)-1], "%20"...)
	}
	return p.tail(s[end:])
}

// path appends the segments of s to the path that starts at u.pathStart. It
// returns the rest: empty, or starting with '?' or '#'. Each segment is written as
// "/" and its text, so the last slash of the path starts its last segment.
//
// https://url.spec.whatwg.org/#path-state
func (p *parser) path(s string) (rest string) {
	special := p.u.kind.special()
	for {
		end := 0
		for end < len(s) && s[end] != '/' && s[end] != '?' && s[end] != '#' && (s[end] != '\\' || !special) {
			end++
		}
		segment := s[:end]
		more := end < len(s) && (s[end] == '/' || s[end] == '\\')
		if more && s[end] == '\\' {
			p.u.notes |= NoteBackslash
		}
		switch dots(segment) {
		case 2:
			before := len(p.out)
			if p.shorten(); len(p.out) == before {
				p.u.notes |= NoteAboveRoot
			}
			if !more {
				p.out = append(p.out, '/')
			}
		case 1:
			if !more {
				p.out = append(p.out, '/')
			}
		default:
			if segment == "" && more {
				p.u.notes |= NoteEmptySegment
			}
			first := len(p.out) == int(p.u.pathStart)
			p.out = append(p.out, '/')
			if first && p.u.kind == kindFile && isDriveLetter(segment) {
				p.out = append(p.out, segment[0], ':')
			} else {
				p.out = appendEncoded(p.out, segment, encodePath)
			}
		}
		if !more {
			return s[end:]
		}
		s = s[end+1:]
	}
}

// shorten removes the path's last segment, but not a drive letter.
//
// https://url.spec.whatwg.org/#shorten-a-urls-path
func (p *parser) shorten() {
	path := p.out[p.u.pathStart:]
	last := bytes.LastIndexByte(path, '/')
	if last < 0 || last == 0 && p.u.kind == kindFile && isNormalizedDriveLetter(string(path[1:])) {
		return
	}
	p.out = p.out[:int(p.u.pathStart)+last]
}

// dots returns 1 for a single-dot segment, 2 for a double-dot segment, and 0
// for any other. %2e counts as a dot.
func dots(segment string) int {
	n := 0
	for ; segment != ""; n++ {
		switch {
		case n == 2:
			return 0
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && strings.EqualFold(segment[:3], "%2e"):
			segment = segment[3:]
		default:
			return 0
		}
	}
	return n
}

// guardPath writes "/." before a path that starts with "//" in a URL without host,
// so that the path is not read as a host.
//
// https://url.spec.whatwg.org/#url-serializing
func (p *parser) guardPath() {
	at := p.u.pathStart
	path := p.out[at:p.u.pathEnd]
	if p.u.host || p.u.opaque || len(path) < 2 || path[0] != '/' || path[1] != '/' {
		return
	}
	p.out = append(p.out, "/."...)
	copy(p.out[at+2:], p.out[at:])
	copy(p.out[at:], "/.")
	p.u.pathStart += 2
	p.u.pathEnd += 2
	p.u.fragStart += 2
}

// appendQuery appends a query, percent-encoded. Non-ASCII characters in queries of
// http, https, ftp and file URLs use the encoding of the page. A character that
// the encoding lacks becomes &#N;, percent-encoded.
//
// https://url.spec.whatwg.org/#string-percent-encode-after-encoding
func appendQuery(dst []byte, s string, k kind, enc encoding.Encoding) []byte {
	set := encodeQuery
	if k.special() {
		set = encodeSpecialQuery
	}
	if enc == nil || !k.special() || k == kindWS || k == kindWSS || isASCII(s) || !writesASCII(enc) {
		return appendEncoded(dst, s, set)
	}
	src := appendValid(nil, s)
	e := enc.NewEncoder()
	e.Reset()
	var buf [256]byte
	for {
		nDst, nSrc, err := e.Transform(buf[:], src, true)
		for _, b := range buf[:nDst] {
			if classes[b]&set != 0 {
				dst = appendByte(dst, b)
			} else {
				dst = append(dst, b)
			}
		}
		src = src[nSrc:]
		switch {
		case err == nil:
			return dst
		case err == transform.ErrShortDst && nDst > 0:
			continue
		case len(src) == 0:
			return dst
		}
		// The encoder stopped before a character that it cannot express, in
		// ASCII mode if it has modes.
		r, size := utf8.DecodeRune(src)
		dst = append(dst, "%26%23"...)
		dst = strconv.AppendInt(dst, int64(r), 10)
		dst = append(dst, "%3B"...)
		src = src[size:]
	}
}

// appendValid appends s with invalid UTF-8 replaced by U+FFFD.
func appendValid(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}

// writesASCII is false for the UTF-16 encodings: their output encoding is UTF-8.
//
// https://encoding.spec.whatwg.org/#get-an-output-encoding
func writesASCII(enc encoding.Encoding) bool {
	out, err := enc.NewEncoder().String("a")
	return err == nil && out == "a"
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// file is the state after "file:", and for text that is relative to a file URL.
// base is a file URL or the zero value.
//
// https://url.spec.whatwg.org/#file-state
func (p *parser) file(s string, base URL) Reason {
	slash := func(s string) bool {
		if strings.HasPrefix(s, "\\") {
			p.u.notes |= NoteBackslash
			return true
		}
		return strings.HasPrefix(s, "/")
	}
	switch {
	case slash(s) && slash(s[1:]):
		return p.fileHost(s[2:])
	case base.s == "":
		p.emptyHost()
		if slash(s) {
			s = s[1:]
		}
		return p.tail(p.path(s))
	case slash(s):
		p.inherit(base, base.pathStart)
		first, _, _ := strings.Cut(base.Path()[1:], "/")
		if !startsWithDriveLetter(s[1:]) && isNormalizedDriveLetter(first) {
			p.out = append(append(p.out, '/'), first...)
		}
		return p.tail(p.path(s[1:]))
	case s == "" || s[0] == '#':
		p.inherit(base, base.fragStart)
		p.rest = s
		return ""
	case s[0] == '?':
		p.inherit(base, base.pathEnd)
		return p.tail(s)
	case startsWithDriveLetter(s):
		p.inherit(base, base.pathStart)
		return p.tail(p.path(s))
	}
	p.inherit(base, base.pathEnd)
	p.shorten()
	return p.tail(p.path(s))
}

// fileHost reads the host of a file URL. A drive letter in its place starts the
// path.
//
// https://url.spec.whatwg.org/#file-host-state
func (p *parser) fileHost(s string) Reason {
	end := strings.IndexAny(s, "/\\?#")
	if end < 0 {
		end = len(s)
	}
	p.emptyHost()
	if isDriveLetter(s[:end]) {
		return p.tail(p.path(s))
	}
	if end > 0 {
		var reason Reason
		if p.out, reason = appendHost(p.out, s[:end], true); reason != "" {
			return reason
		}
		if string(p.out[p.u.hostStart:]) == "localhost" {
			p.out = p.out[:p.u.hostStart]
		}
		p.u.hostEnd = uint32(len(p.out))
	}
	return p.pathStart(s[end:])
}

// isDriveLetter reports whether s is a Windows drive letter: C: or C|.
func isDriveLetter(s string) bool {
	return len(s) == 2 && isLetter(s[0]) && (s[1] == ':' || s[1] == '|')
}

func isNormalizedDriveLetter(s string) bool {
	return len(s) == 2 && isLetter(s[0]) && s[1] == ':'
}

// startsWithDriveLetter reports whether the first segment of s is a drive letter.
func startsWithDriveLetter(s string) bool {
	return len(s) >= 2 && isDriveLetter(s[:2]) && (len(s) == 2 || strings.IndexByte("/\\?#", s[2]) >= 0)
}
