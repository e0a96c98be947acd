package weburl

import (
	"math"
	"strings"

	"golang.org/x/text/encoding"
)

// kind identifies the special schemes, which have their own rules.
//
// https://url.spec.whatwg.org/#special-scheme
type kind uint8

const (
	kindOther kind = iota
	kindHTTP
	kindHTTPS
	kindFTP
	kindWS
	kindWSS
	kindFile
)

func (k kind) special() bool { return k != kindOther }

func kindOf(scheme []byte) kind {
	switch string(scheme) {
	case "http":
		return kindHTTP
	case "https":
		return kindHTTPS
	case "ftp":
		return kindFTP
	case "ws":
		return kindWS
	case "wss":
		return kindWSS
	case "file":
		return kindFile
	}
	return kindOther
}

// defaultPorts are the ports that a URL of each kind omits. Port 0 is never
// omitted.
var defaultPorts = [...]int{kindHTTP: 80, kindHTTPS: 443, kindFTP: 21, kindWS: 80, kindWSS: 443, kindFile: 0}

// The standard has no length limits. The limit for special schemes and relative
// URLs is the one of Chromium. The other one is for data: URLs; it keeps every
// offset below 2^31, even though one byte can become the nine of %EF%BF%BD.
const (
	maxURLBytes  = 2 << 20
	maxDataBytes = 128 << 20
)

// Parse parses an absolute URL. The error is an [*Error].
//
// https://url.spec.whatwg.org/#concept-basic-url-parser
func Parse(raw string) (URL, error) { return URL{}.ResolveWith(raw, nil) }

// Resolve parses ref, an absolute or a relative URL, against base. The error
// is an [*Error].
//
// https://url.spec.whatwg.org/#concept-basic-url-parser
func (base URL) Resolve(ref string) (URL, error) { return base.ResolveWith(ref, nil) }

// ResolveWith is [URL.Resolve] for a page in an encoding other than UTF-8. It
// writes non-ASCII characters of the query in that encoding, or as %26%23N%3B
// (&#N;) when the encoding lacks the character. Path and fragment are always
// UTF-8. A nil encoding or UTF-16 means UTF-8.
func (base URL) ResolveWith(ref string, queryEncoding encoding.Encoding) (URL, error) {
	if u, ok := base.resolvePlain(ref); ok {
		return u, nil
	}
	return base.resolveByParser(ref, queryEncoding)
}

func (base URL) resolveByParser(ref string, queryEncoding encoding.Encoding) (URL, error) {
	p := parser{out: make([]byte, 0, len(base.s)+len(ref)+16)}
	reason := p.parse(ref, base)
	if reason == "" {
		reason = p.finish(queryEncoding)
	}
	if reason != "" {
		return URL{}, newError(ref, reason)
	}
	return p.u, nil
}

// parser is the state machine of the standard with one function per state. Each
// function takes the rest of the text and appends to out, the serialised URL.
type parser struct {
	out []byte
	u   URL
	// rest is the text after the path: empty, or starting with '?' or '#'.
	// finish reads it.
	rest string
}

func (p *parser) parse(raw string, base URL) Reason {
	if len(raw) > maxDataBytes {
		return TooLong
	}
	s := p.clean(raw)
	n := schemeLen(s)
	if n == 0 {
		return p.noScheme(s, base)
	}
	p.out = appendLower(p.out, s[:n])
	p.u.kind = kindOf(p.out)
	p.u.schemeEnd = uint32(n)
	p.out = append(p.out, ':')
	s = s[n+1:]
	switch k := p.u.kind; {
	case k.special() && len(s) > maxURLBytes:
		return TooLong
	case k == kindFile:
		if base.kind != kindFile {
			base = URL{}
		}
		return p.file(s, base)
	case k.special() && base.kind == k && !strings.HasPrefix(s, "//"):
		return p.relative(s, base)
	case k.special():
		if !strings.HasPrefix(s, "//") || strings.HasPrefix(s, "///") {
			p.u.notes |= NoteSlashes
		}
		return p.authority(p.skipSlashes(s))
	case strings.HasPrefix(s, "//"):
		return p.authority(s[2:])
	case strings.HasPrefix(s, "/"):
		p.noHost()
		return p.tail(p.path(s[1:]))
	}
	p.noHost()
	return p.opaquePath(s)
}

// clean removes control characters and spaces around s, and tabs and line
// breaks in it.
func (p *parser) clean(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	p.u.notes |= NoteTabOrNewline
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c := s[i]; classes[c]&tabOrNewline == 0 {
			b = append(b, c)
		}
	}
	return string(b)
}

// schemeLen returns the length of the scheme at the start of s, or 0.
func schemeLen(s string) int {
	if s == "" || !isLetter(s[0]) {
		return 0
	}
	for i := 1; i < len(s); i++ {
		if s[i] == ':' {
			return i
		}
		if classes[s[i]]&inScheme == 0 {
			return 0
		}
	}
	return 0
}

// noScheme is the state for a text that is relative to base.
//
// https://url.spec.whatwg.org/#no-scheme-state
func (p *parser) noScheme(s string, base URL) Reason {
	switch {
	case base.s == "":
		return MissingScheme
	case len(s) > maxURLBytes:
		return TooLong
	case base.opaque:
		if !strings.HasPrefix(s, "#") {
			return OpaqueBase
		}
		p.inherit(base, base.fragStart)
		p.rest = s
		return ""
	case base.kind == kindFile:
		p.inherit(base, base.schemeEnd+1)
		return p.file(s, base)
	}
	return p.relative(s, base)
}

// inherit copies base up to end, which is one of its offsets.
func (p *parser) inherit(base URL, end uint32) {
	p.out = append(p.out[:0], base.s[:end]...)
	notes := p.u.notes
	p.u = base
	p.u.s, p.u.notes = "", notes
	if !base.host {
		// finish writes the "/." before a path without host again.
		p.out = append(p.out[:base.schemeEnd+1], base.s[base.pathStart:max(base.pathStart, end)]...)
		shift := base.pathStart - (base.schemeEnd + 1)
		p.noHost()
		p.u.pathEnd -= shift
	}
}

// relative is the state for a text that is relative to base, which has a list of
// segments and is not a file URL.
//
// https://url.spec.whatwg.org/#relative-state
func (p *parser) relative(s string, base URL) Reason {
	special := base.kind.special()
	slash := func(s string) bool {
		if special && strings.HasPrefix(s, "\\") {
			p.u.notes |= NoteBackslash
			return true
		}
		return strings.HasPrefix(s, "/")
	}
	switch {
	case slash(s):
		if !slash(s[1:]) {
			p.inherit(base, base.pathStart)
			return p.tail(p.path(s[1:]))
		}
		p.inherit(base, base.schemeEnd+1)
		s = s[2:]
		if special {
			s = p.skipSlashes(s)
		}
		p.u.notes |= NoteSlashes
		return p.authority(s)
	case s == "" || s[0] == '#':
		p.inherit(base, base.fragStart)
		p.rest = s
		return ""
	case s[0] == '?':
		p.inherit(base, base.pathEnd)
		return p.tail(s)
	}
	p.inherit(base, base.pathEnd)
	p.shorten()
	return p.tail(p.path(s))
}

// tail ends the path.
func (p *parser) tail(rest string) Reason {
	p.u.pathEnd = uint32(len(p.out))
	p.rest = rest
	return ""
}

// finish reads query and fragment and completes the URL.
//
// https://url.spec.whatwg.org/#query-state
func (p *parser) finish(enc encoding.Encoding) Reason {
	end := strings.IndexByte(p.rest, '#')
	if end < 0 {
		end = len(p.rest)
	}
	if end > 0 {
		p.out = appendQuery(append(p.out, '?'), p.rest[1:end], p.u.kind, enc)
	}
	p.u.fragStart = uint32(len(p.out))
	if end < len(p.rest) {
		p.out = appendEncoded(append(p.out, '#'), p.rest[end+1:], encodeFragment)
	}
	p.guardPath()
	if len(p.out) > math.MaxInt32 {
		return TooLong
	}
	p.u.s = string(p.out)
	return ""
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
