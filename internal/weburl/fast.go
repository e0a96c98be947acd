package weburl

import "strings"

// The fast path handles the references that most pages consist of: plain ASCII
// that needs no encoding, without dot segments except leading ../ and ./, without
// empty segments, user name and port. Everything else, and every text that gets a
// [Note], goes to the parser.
//
// TestFastPath and FuzzResolve compare the two. Measured on two cores of an
// AMD EPYC, ns a URL (one allocation; the parser makes two):
//
//	                                            here  parser
//	#method.new                                   46     134
//	struct.Entry.html                             76     172
//	../../vec/struct.Vec.html#method.push        100     230
//	https://doc.rust-lang.org/book/ch01-00.html   63     332

// resolvePlain resolves ref if it is plain, and base is a special URL other
// than file, or ref an http or https URL.
func (base URL) resolvePlain(ref string) (u URL, ok bool) {
	if strings.HasPrefix(ref, "http") {
		if u, ok = parsePlain(ref); ok {
			return u, true
		}
	}
	if base.kind == kindOther || base.kind == kindFile || len(ref) > maxURLBytes {
		return URL{}, false
	}
	u = base
	u.notes = 0
	if ref == "" {
		u.s = base.s[:base.fragStart]
		return u, true
	}
	keep, from := base.pathEnd, 0 // u is base.s[:keep] + ref[from:]
	pathEnd := 0                  // where the path ends in ref
	switch ref[0] {
	case '#':
		end := plainEnd(ref, 1, encodeFragment)
		if end < len(ref) {
			return URL{}, false
		}
		u.s = base.s[:base.fragStart] + ref
		return u, true
	case '?':
	case '/':
		keep = base.pathStart
		if pathEnd, ok = plainPath(ref, 1, false); !ok {
			return URL{}, false
		}
	default:
		dir := strings.LastIndexByte(base.Path(), '/')
		for from+1 < len(ref) && ref[from] == '.' {
			if ref[from+1] == '/' {
				from += 2
				continue
			}
			if dir <= 0 || !strings.HasPrefix(ref[from:], "../") {
				return URL{}, false
			}
			dir = strings.LastIndexByte(base.Path()[:dir], '/')
			from += 3
		}
		keep = base.pathStart + uint32(dir) + 1
		if pathEnd, ok = plainPath(ref, from, from == 0); !ok {
			return URL{}, false
		}
	}
	fragStart, ok := plainTail(ref, pathEnd)
	if !ok {
		return URL{}, false
	}
	u.s = base.s[:keep] + ref[from:]
	u.pathEnd = keep + uint32(pathEnd-from)
	u.fragStart = keep + uint32(fragStart-from)
	return u, true
}

// parsePlain parses an absolute http or https URL, if it is plain.
func parsePlain(s string) (u URL, ok bool) {
	switch {
	case len(s) > maxURLBytes:
		return URL{}, false
	case strings.HasPrefix(s, "https://"):
		u.schemeEnd, u.kind = 5, kindHTTPS
	case strings.HasPrefix(s, "http://"):
		u.schemeEnd, u.kind = 4, kindHTTP
	default:
		return URL{}, false
	}
	start := int(u.schemeEnd) + 3
	end, label := start, start
	for ; end < len(s) && classes[s[end]]&plainHost != 0; end++ {
		if s[end] == '.' {
			label = end + 1
		}
	}
	// A last label that starts with a digit may be part of an IPv4 address, and
	// an empty one may follow such a label.
	if end == label || s[label] <= '9' {
		return URL{}, false
	}
	var pathEnd, fragStart int
	switch {
	case end == len(s):
		u.s = s + "/"
		pathEnd, fragStart = len(u.s), len(u.s)
	case s[end] == '/':
		if pathEnd, ok = plainPath(s, end+1, false); !ok {
			return URL{}, false
		}
		if fragStart, ok = plainTail(s, pathEnd); !ok {
			return URL{}, false
		}
		u.s = strings.Clone(s)
	default:
		return URL{}, false
	}
	u.host, u.notes = true, NoteHost
	u.userEnd, u.hostStart = uint32(start), uint32(start)
	u.hostEnd, u.pathStart = uint32(end), uint32(end)
	u.pathEnd, u.fragStart = uint32(pathEnd), uint32(fragStart)
	return u, true
}

// plainPath returns the end of a path. Its first segment starts at s[i]. A path is
// not plain if a segment other than the last is empty, or if a segment starts with
// '.' or with '%', which may be an encoded dot. With mayBeScheme, a ':' in the
// first segment is not plain either.
func plainPath(s string, i int, mayBeScheme bool) (end int, ok bool) {
	atStart := true
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case classes[c]&pathSpecial != 0:
			return i, c == '?' || c == '#'
		case c == '/':
			if atStart {
				return i, false
			}
			atStart, mayBeScheme = true, false
			continue
		case atStart && (c == '.' || c == '%'), mayBeScheme && c == ':':
			return i, false
		}
		atStart = false
	}
	return i, true
}

// plainTail returns the offset of the fragment, or the end of s, after a path that
// ends at pathEnd.
func plainTail(s string, pathEnd int) (fragStart int, ok bool) {
	i := pathEnd
	if i < len(s) && s[i] == '?' {
		i = plainEnd(s, i+1, encodeSpecialQuery)
	}
	if i == len(s) {
		return i, true
	}
	return i, s[i] == '#' && plainEnd(s, i+1, encodeFragment) == len(s)
}

// plainEnd returns the index of the first byte from s[i] on that is in set.
func plainEnd(s string, i int, set class) int {
	for i < len(s) && classes[s[i]]&set == 0 {
		i++
	}
	return i
}
