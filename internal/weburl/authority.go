package weburl

import (
	"math"
	"strconv"
	"strings"
)

// skipSlashes is the special authority ignore slashes state.
func (p *parser) skipSlashes(s string) string {
	for s != "" && (s[0] == '/' || s[0] == '\\') {
		if s[0] == '\\' {
			p.u.notes |= NoteBackslash
		}
		s = s[1:]
	}
	return s
}

// authority reads user name, password, host and port, and what follows them.
//
// https://url.spec.whatwg.org/#authority-state
func (p *parser) authority(s string) Reason {
	special := p.u.kind.special()
	end := 0
	for end < len(s) && s[end] != '/' && s[end] != '?' && s[end] != '#' && (s[end] != '\\' || !special) {
		end++
	}
	p.out = append(p.out, "//"...)
	p.u.host = true
	at := strings.LastIndexByte(s[:end], '@')
	p.credentials(s[:max(at, 0)])

	host, port := splitPort(s[at+1 : end])
	// A URL of another scheme may have an empty host, but nothing around it.
	if host == "" && (special || at >= 0 || port != "") {
		return EmptyHost
	}
	p.u.hostStart = uint32(len(p.out))
	var reason Reason
	if p.out, reason = appendHost(p.out, host, special); reason != "" {
		return reason
	}
	p.u.hostEnd = uint32(len(p.out))
	if port != "" && !p.port(port[1:]) {
		return BadPort
	}
	return p.pathStart(s[end:])
}

// credentials appends user name and password and the '@' after them, if there
// are any.
func (p *parser) credentials(s string) {
	user, password, _ := strings.Cut(s, ":")
	p.out = appendEncoded(p.out, user, encodeUserinfo)
	p.u.userEnd = uint32(len(p.out))
	if password != "" {
		p.out = appendEncoded(append(p.out, ':'), password, encodeUserinfo)
	}
	if user != "" || password != "" {
		p.u.notes |= NoteCredentials
		p.out = append(p.out, '@')
	}
}

// splitPort cuts s before the first ':' that is not in brackets.
func splitPort(s string) (host, port string) {
	inBrackets := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			inBrackets = true
		case ']':
			inBrackets = false
		case ':':
			if !inBrackets {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}

// port appends the port, if it is not the scheme's own. It is false for what
// is no number below 65536.
//
// https://url.spec.whatwg.org/#port-state
func (p *parser) port(s string) bool {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		if n = n*10 + int(s[i]-'0'); n > math.MaxUint16 {
			return false
		}
	}
	if s != "" && (!p.u.kind.special() || n != defaultPorts[p.u.kind]) {
		p.out = strconv.AppendInt(append(p.out, ':'), int64(n), 10)
	}
	return true
}

// emptyHost writes the authority of a file URL on this machine.
func (p *parser) emptyHost() {
	p.out = append(p.out, "//"...)
	at := uint32(len(p.out))
	p.u.host = true
	p.u.userEnd, p.u.hostStart, p.u.hostEnd, p.u.pathStart = at, at, at, at
}

// noHost sets the offsets of a URL that has no authority.
func (p *parser) noHost() {
	at := p.u.schemeEnd + 1
	p.u.host = false
	p.u.userEnd, p.u.hostStart, p.u.hostEnd, p.u.pathStart = at, at, at, at
}
