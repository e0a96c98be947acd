package weburl

import (
	"bytes"
	"strings"
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

// opaquePath reads a path that is no list of segments.
//
// https://url.spec.whatwg.org/#cannot-be-a-base-url-path-state
func (p *parser) opaquePath(s string) Reason {
	p.u.opaque = true
	end := strings.IndexAny(s, "?#")
	if end < 0 {
		end = len(s)
	}
	p.out = appendEncoded(p.out, s[:end], encodeControl)
	// A last space would be lost when the URL is parsed again without what
	// follows.
	if end > 0 && end < len(s) && s[end-1] == ' ' {
		p.out = append(p.out[:len(p.out)-1], "%20"...)
	}
	return p.tail(s[end:])
}

// path appends the segments of s to the path that begins at u.pathStart, and
// returns what follows it: nothing, or a text that begins with '?' or '#'.
// A segment is written as "/" and its text, so that the path's last slash
// begins its last segment.
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
// for any other. A dot may be written as %2e.
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

// guardPath writes "/." before a path that begins with "//" where no host
// stands before it, lest the path be read as one.
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
