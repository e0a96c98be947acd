package weburl

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// idnaProfile is Unicode ToASCII with the flags that the standard sets for a
// domain without strict checks: CheckBidi and CheckJoiners.
//
// https://url.spec.whatwg.org/#concept-domain-to-ascii
var idnaProfile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.CheckJoiners(true),
	idna.BidiRule(),
	idna.VerifyDNSLength(false),
)

// maxUnicodeDomain is the maximum length, in bytes, of a non-ASCII domain. The time
// for Punycode grows with the square of the length, and names in the DNS have at
// most 253 bytes.
const maxUnicodeDomain = 1024

// appendHost appends the serialised host.
//
// https://url.spec.whatwg.org/#concept-host-parser
func appendHost(dst []byte, s string, special bool) ([]byte, Reason) {
	switch {
	case strings.HasPrefix(s, "["):
		if !strings.HasSuffix(s, "]") {
			return dst, UnclosedIPv6
		}
		addr, ok := parseIPv6(s[1 : len(s)-1])
		if !ok {
			return dst, BadIPv6
		}
		return append(appendIPv6(append(dst, '['), addr), ']'), ""
	case special:
		return appendDomain(dst, s)
	}
	for i := 0; i < len(s); i++ {
		if classes[s[i]]&forbiddenHost != 0 {
			return dst, ForbiddenHost
		}
	}
	return appendEncoded(dst, s, encodeControl), ""
}

// appendDomain appends the domain in ASCII, or the IPv4 address that s means. It
// takes an ASCII domain as it is, whatever Punycode it contains.
//
// https://url.spec.whatwg.org/#concept-domain-parser
func appendDomain(dst []byte, s string) ([]byte, Reason) {
	start := len(dst)
	dst, reason := appendDomainText(dst, s)
	if domain := string(dst[start:]); reason == "" && endsInNumber(domain) {
		addr, ok := parseIPv4(domain)
		if !ok {
			return dst, BadIPv4
		}
		dst = appendIPv4(dst[:start], addr)
	}
	return dst, reason
}

// appendDomainText appends the domain in ASCII, even if it is a number.
func appendDomainText(dst []byte, s string) ([]byte, Reason) {
	if strings.IndexByte(s, '%') >= 0 || !utf8.ValidString(s) {
		decoded := PercentDecode(nil, s)
		if !utf8.Valid(decoded) {
			return dst, BadDomain
		}
		s = string(decoded)
	}
	start := len(dst)
	if isASCII(s) {
		dst = appendLower(dst, s)
	} else {
		if len(s) > maxUnicodeDomain {
			return dst, DomainTooLong
		}
		// Before Unicode 15.1 the tables mapped capital sharp s to "ss".
		domain, err := idnaProfile.ToASCII(strings.ReplaceAll(s, "\u1E9E", "\u00DF"))
		if err != nil {
			return dst, BadDomain
		}
		dst = append(dst, domain...)
	}
	domain := dst[start:]
	if len(domain) == 0 {
		return dst, EmptyHost
	}
	for _, b := range domain {
		if classes[b]&forbiddenDomain != 0 {
			return dst, ForbiddenHost
		}
	}
	return dst, ""
}

// appendLower appends s with A-Z in lower case.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}

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

// authority reads user name, password, host and port, and the rest.
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
	p.u.notes |= NoteHost
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

// credentials appends user name, password and the '@' after them, if present.
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

// port appends the port if it is not the default of the scheme. It returns false
// if s is not a number below 65536.
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

// endsInNumber reports whether a domain must be read as an IPv4 address.
//
// https://url.spec.whatwg.org/#ends-in-a-number-checker
func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	if last == "" || last[0] < '0' || last[0] > '9' {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := parseIPv4Number(last)
	return ok
}

// parseIPv4 reads one to four numbers; the last one fills the remaining bytes.
//
// https://url.spec.whatwg.org/#concept-ipv4-parser
func parseIPv4(s string) (addr uint32, ok bool) {
	s = strings.TrimSuffix(s, ".")
	for i := 0; ; i++ {
		part, rest, more := strings.Cut(s, ".")
		n, ok := parseIPv4Number(part)
		switch {
		case !ok || i == 3 && more:
			return 0, false
		case !more:
			left := uint(4 - i)
			return addr | uint32(n), n < 1<<(8*left)
		case n > 255:
			return 0, false
		}
		addr |= uint32(n) << (24 - 8*i)
		s = rest
	}
}

// parseIPv4Number reads a decimal, octal (0...) or hexadecimal (0x...) number.
// Numbers above 32 bits all come out as some number above 32 bits.
//
// https://url.spec.whatwg.org/#ipv4-number-parser
func parseIPv4Number(s string) (n uint64, ok bool) {
	if s == "" {
		return 0, false
	}
	radix := uint64(10)
	if len(s) >= 2 && s[0] == '0' {
		if s[1]|0x20 == 'x' {
			s, radix = s[2:], 16
		} else {
			s, radix = s[1:], 8
		}
	}
	for i := 0; i < len(s); i++ {
		d := uint64(hexDigit(s[i]))
		if d >= radix {
			return 0, false
		}
		n = min(n*radix+d, math.MaxUint32+1)
	}
	return n, true
}

// appendIPv4 appends the address in four decimal parts.
//
// https://url.spec.whatwg.org/#concept-ipv4-serializer
func appendIPv4(dst []byte, addr uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		dst = strconv.AppendUint(dst, uint64(addr>>shift&255), 10)
		if shift > 0 {
			dst = append(dst, '.')
		}
	}
	return dst
}

// parseIPv6 reads the text between the brackets.
//
// https://url.spec.whatwg.org/#concept-ipv6-parser
func parseIPv6(s string) (addr [8]uint16, ok bool) {
	piece, compress := 0, -1
	if strings.HasPrefix(s, ":") {
		if !strings.HasPrefix(s, "::") {
			return addr, false
		}
		s = s[2:]
		piece, compress = 1, 1
	}
	for s != "" {
		if piece == 8 {
			return addr, false
		}
		if s[0] == ':' {
			if compress >= 0 {
				return addr, false
			}
			s = s[1:]
			piece++
			compress = piece
			continue
		}
		value, n := uint16(0), 0
		for n < 4 && n < len(s) && hexDigit(s[n]) < 16 {
			value = value<<4 | uint16(hexDigit(s[n]))
			n++
		}
		switch {
		case n < len(s) && s[n] == '.':
			high, low, ok := parseEmbeddedIPv4(s)
			if n == 0 || piece > 6 || !ok {
				return addr, false
			}
			addr[piece], addr[piece+1] = high, low
			piece += 2
			s = ""
			continue
		case n < len(s) && s[n] == ':':
			if n+1 == len(s) {
				return addr, false
			}
			s = s[n+1:]
		case n < len(s):
			return addr, false
		default:
			s = ""
		}
		addr[piece] = value
		piece++
	}
	switch {
	case compress >= 0:
		moved := piece - compress
		var tail [8]uint16
		copy(tail[:moved], addr[compress:piece])
		clear(addr[compress:])
		copy(addr[8-moved:], tail[:moved])
	case piece != 8:
		return addr, false
	}
	return addr, true
}

// parseEmbeddedIPv4 reads the dotted address that may end an IPv6 address:
// four decimal numbers without leading zeros.
func parseEmbeddedIPv4(s string) (high, low uint16, ok bool) {
	var bytes [4]uint16
	for i := range bytes {
		part, rest, more := strings.Cut(s, ".")
		if part == "" || len(part) > 3 || len(part) > 1 && part[0] == '0' || more != (i < 3) {
			return 0, 0, false
		}
		for j := 0; j < len(part); j++ {
			if part[j] < '0' || part[j] > '9' {
				return 0, 0, false
			}
			bytes[i] = bytes[i]*10 + uint16(part[j]-'0')
		}
		if bytes[i] > 255 {
			return 0, 0, false
		}
		s = rest
	}
	return bytes[0]<<8 | bytes[1], bytes[2]<<8 | bytes[3], true
}

// appendIPv6 appends the address without brackets, its first longest run of
// two or more zero pieces as "::".
//
// https://url.spec.whatwg.org/#concept-ipv6-serializer
func appendIPv6(dst []byte, addr [8]uint16) []byte {
	from, run := -1, 1
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && addr[j] == 0 {
			j++
		}
		if j-i > run {
			from, run = i, j-i
		}
		i = max(i, j-1)
	}
	for i := 0; i < 8; i++ {
		if i == from {
			if i == 0 {
				dst = append(dst, ':')
			}
			dst = append(dst, ':')
			i += run - 1
			continue
		}
		dst = strconv.AppendUint(dst, uint64(addr[i]), 16)
		if i < 7 {
			dst = append(dst, ':')
		}
	}
	return dst
}
