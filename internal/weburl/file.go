package weburl

import "strings"

// file is the state after "file:", and for what is relative to a file URL.
// base is a file URL, or zero.
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

// fileHost reads the host of a file URL. A drive letter in its place is the
// beginning of the path.
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

// isDriveLetter tells whether s is a Windows drive letter: C: or C|.
func isDriveLetter(s string) bool {
	return len(s) == 2 && isLetter(s[0]) && (s[1] == ':' || s[1] == '|')
}

func isNormalizedDriveLetter(s string) bool {
	return len(s) == 2 && isLetter(s[0]) && s[1] == ':'
}

// startsWithDriveLetter tells whether the first segment of s is a drive letter.
func startsWithDriveLetter(s string) bool {
	return len(s) >= 2 && isDriveLetter(s[:2]) && (len(s) == 2 || strings.IndexByte("/\\?#", s[2]) >= 0)
}
