package weburl

import (
	"net/netip"
	"strconv"
	"strings"
)

// Canonical returns the same text for all spellings of a URL that name the same
// page: the key to compare and store URLs. Never send or fetch it, because it may
// name another resource at hosts that distinguish %2F from / or + from %20. The
// input must be an absolute http or https URL. The result has no credentials and
// no fragment. The error is an [*Error].
//
//	HTTP://WWW.Example.com:80/%7eme/./a b?q=%41#top
//	http://www.example.com/~me/a%20b?q=A
//
// The rules are those of WWWOFFLE (docs/reference/urls.md), which are idempotent. A core
// computes 5 to 7 million a second (BenchmarkCanonical, AMD EPYC).
func Canonical(raw string) (string, error) {
	var buf [256]byte
	dst := buf[:0]
	a, reason := split(raw)
	if reason == "" {
		dst, reason = appendAddress(dst, a)
	}
	// Otherwise a canonical URL could be too long to be parsed again.
	if reason == "" && len(dst) > maxURLBytes {
		reason = TooLong
	}
	if reason != "" {
		return "", newError(raw, reason)
	}
	return string(dst), nil
}

// appendAddress writes the canonical form.
func appendAddress(dst []byte, a address) ([]byte, Reason) {
	for i := 0; i < len(a.scheme); i++ {
		dst = append(dst, a.scheme[i]|0x20)
	}
	scheme := string(dst)
	dst = append(dst, "://"...)
	dst, reason := appendCanonicalHost(dst, a.host)
	if reason != "" {
		return dst, reason
	}
	if dst, reason = appendCanonicalPort(dst, scheme, a.port); reason != "" {
		return dst, reason
	}
	path, params, _ := strings.Cut(a.path, ";")
	dst = appendPath(dst, path)
	if params != "" {
		dst = RecodeArguments(append(dst, ';'), params)
	}
	if a.args != "" {
		dst = RecodeArguments(append(dst, '?'), a.args)
	}
	return dst, ""
}

// appendPath decodes the path once, removes dot segments and encodes it again. An
// escaped dot counts as a dot, and an escaped slash as a slash.
func appendPath(dst []byte, path string) []byte {
	root := len(dst)
	dst = append(dst, '/')
	path = strings.TrimPrefix(path, "/")
	segment := root + 1 // where the segment that is being written begins
	for i := 0; i < len(path); i++ {
		b, escaped := unescape(path, i)
		if escaped {
			i += 2
		}
		switch {
		case b == '/':
			var dots bool
			if dst, dots = dropDots(dst, root, segment); !dots {
				dst = append(dst, '/')
			}
			segment = len(dst)
		case canonClasses[b]&passPath != 0:
			dst = append(dst, b)
		default:
			dst = appendByte(dst, b)
		}
	}
	dst, _ = dropDots(dst, root, segment)
	return dst
}

// dropDots removes a last segment of one dot, or of two dots together with the
// segment before. The result then ends with a slash.
//
// https://www.rfc-editor.org/rfc/rfc3986#section-5.2.4
func dropDots(dst []byte, root, segment int) (_ []byte, dropped bool) {
	switch string(dst[segment:]) {
	case ".":
		return dst[:segment], true
	case "..":
		end := segment - 1
		for end > root && dst[end-1] != '/' {
			end--
		}
		return dst[:max(end, root+1)], true
	}
	return dst, false
}

// address is an http or https URL, split into parts that are not decoded
// yet. An empty part equals a missing one.
type address struct {
	scheme         string // in any letter case
	user, password string
	host, port     string
	path           string // with the parameters; empty or from a '/' on
	args           string
}

// split splits an absolute http or https URL without guessing.
func split(raw string) (address, Reason) {
	if strings.HasSuffix(raw, " ") {
		return address{}, OuterSpace
	}
	raw, _, _ = strings.Cut(raw, "#")
	if len(raw) > maxURLBytes {
		return address{}, TooLong
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] < ' ' || raw[i] == 0x7F {
			return address{}, ControlCharacter
		}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return address{}, NotAbsolute
	}
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return address{}, NotHTTP
	}
	a, reason := splitRest(scheme, rest)
	if strings.Contains(a.user, "@") || strings.Contains(a.password, "@") {
		return address{}, BareAt
	}
	return a, reason
}

// splitRest splits the text after "//". The authority ends at the first / or ?, so
// an '@' in the arguments is not part of it.
func splitRest(scheme, rest string) (address, Reason) {
	a := address{scheme: scheme}
	end := 0
	for end < len(rest) && rest[end] != '/' && rest[end] != '?' {
		end++
	}
	authority := rest[:end]
	a.path, a.args, _ = strings.Cut(rest[end:], "?")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		a.user, a.password, _ = strings.Cut(authority[:at], ":")
		authority = authority[at+1:]
	}
	host, port := splitPort(authority)
	a.host, a.port = host, strings.TrimPrefix(port, ":")
	if host == "" {
		return a, EmptyHost
	}
	return a, ""
}

// appendCanonicalHost writes a host name in lower case and ASCII without its last
// dot, or an IP address in the form of RFC 5952. It never truncates, and refuses
// numbers that some software reads as an address: they could pass guards.
func appendCanonicalHost(dst []byte, host string) ([]byte, Reason) {
	if strings.HasPrefix(host, "[") {
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !strings.HasSuffix(host, "]") || !addr.Is6() || addr.Zone() != "" {
			return dst, BadIPv6
		}
		return append(addr.AppendTo(append(dst, '[')), ']'), ""
	}
	start := len(dst)
	for i := 0; i < len(host); i++ {
		if b := host[i] | 0x20; canonClasses[host[i]]&inHost != 0 || 'a' <= b && b <= 'z' {
			continue
		}
		decoded, reason := appendDomainText(dst, host)
		if reason != "" {
			return dst, reason
		}
		dst = decoded
		break
	}
	if len(dst) == start {
		dst = appendLower(dst, host)
	}
	if last := len(dst) - 1; last > start && dst[last] == '.' {
		dst = dst[:last]
	}
	return checkCanonicalHost(dst, start)
}

// checkCanonicalHost refuses names with an empty label or an invalid character,
// and writes addresses in their canonical form.
func checkCanonicalHost(dst []byte, start int) ([]byte, Reason) {
	label := start
	for i := start; i < len(dst); i++ {
		switch {
		case canonClasses[dst[i]]&inHost == 0:
			return dst, ForbiddenHost
		case dst[i] == '.' && i == label:
			return dst, BadDomain
		case dst[i] == '.':
			label = i + 1
		}
	}
	if label == len(dst) {
		if len(dst) == start {
			return dst, EmptyHost
		}
		return dst, BadDomain
	}
	if b := dst[label]; b < '0' || b > '9' || !endsInNumber(string(dst[start:])) {
		return dst, ""
	}
	addr, err := netip.ParseAddr(string(dst[start:]))
	if err != nil || !addr.Is4() {
		return dst, BadIPv4
	}
	return addr.AppendTo(dst[:start]), ""
}

// appendCanonicalPort writes a port that is not the default of the scheme.
func appendCanonicalPort(dst []byte, scheme, port string) ([]byte, Reason) {
	if port == "" {
		return dst, ""
	}
	for i := 0; i < len(port); i++ {
		if port[i] < '0' || port[i] > '9' {
			return dst, BadPort
		}
	}
	for len(port) > 1 && port[0] == '0' {
		port = port[1:]
	}
	if port == strconv.Itoa(defaultPorts[kindOf([]byte(scheme))]) {
		return dst, ""
	}
	if len(port) > 5 || len(port) == 5 && port > "65535" {
		return dst, BadPort
	}
	return append(append(dst, ':'), port...), ""
}

// canonClass is a set of properties of a byte in the canonical form.
type canonClass uint8

const (
	passPath     canonClass = 1 << iota // stands for itself in a path
	passArgument                        // in arguments, escaped or not
	argumentRole                        // in arguments, if it came unescaped: it has a meaning there
	inHost                              // in host names
)

// canonClasses are WWWOFFLE's tables of bytes that stay unencoded, by place.
var canonClasses = buildCanonClasses()

func buildCanonClasses() (t [256]canonClass) {
	add := func(chars string, c canonClass) {
		for i := 0; i < len(chars); i++ {
			t[chars[i]] |= c
		}
	}
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	add(digits+lower+upper, passPath|passArgument)
	add(digits+lower+"-._", inHost)
	add("!$()*+,-./:=_~", passPath)
	add("!$()*,-./:_~|", passArgument)
	add("&=;+?", argumentRole)
	return t
}

// EncodePath appends s, percent-encoding all bytes that a canonical path does not
// contain literally.
func EncodePath(dst []byte, s string) []byte { return appendCanon(dst, s, passPath) }

// EncodeArgument is [EncodePath] for one name or value of form data, with '+' for
// a space: the encoding of application/x-www-form-urlencoded.
func EncodeArgument(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			dst = append(appendCanon(dst, s[start:i], passArgument), '+')
			start = i + 1
		}
	}
	return appendCanon(dst, s[start:], passArgument)
}

func appendCanon(dst []byte, s string, pass canonClass) []byte {
	for i := 0; i < len(s); i++ {
		if b := s[i]; canonClasses[b]&pass != 0 {
			dst = append(dst, b)
		} else {
			dst = appendByte(dst, b)
		}
	}
	return dst
}

// RecodeArguments appends arguments in their canonical form. It decodes needless
// escapes, escapes what needs it, and treats '+' as a space. The characters
// & = ; + ? keep their role if they are not escaped, and are text if they are. A
// '%' that does not start an escape is a literal character.
func RecodeArguments(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		start := i
		for i < len(s) && canonClasses[s[i]]&(passArgument|argumentRole) != 0 {
			i++
		}
		dst = append(dst, s[start:i]...)
		if i == len(s) {
			break
		}
		b, escaped := unescape(s, i)
		if escaped {
			i += 2
		}
		switch {
		case canonClasses[b]&passArgument != 0:
			dst = append(dst, b)
		case b == ' ':
			dst = append(dst, '+')
		default:
			dst = appendByte(dst, b)
		}
	}
	return dst
}

// unescape returns the byte at s[i], which may be escaped.
func unescape(s string, i int) (b byte, escaped bool) {
	if s[i] == '%' && i+2 < len(s) {
		if hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2]); hi|lo < 16 {
			return hi<<4 | lo, true
		}
	}
	return s[i], false
}
