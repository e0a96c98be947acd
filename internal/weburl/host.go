package weburl

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// idnaProfile is Unicode ToASCII with the flags that the standard sets for a
// domain that is not to be strict: CheckBidi and CheckJoiners.
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

// maxUnicodeDomain is the length in bytes above which a domain beyond ASCII is
// refused. Punycode takes time that grows with the square of the length, and
// what the DNS holds has 253 bytes at most.
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

// appendDomain appends the domain in ASCII, or the IPv4 address that s stands
// for. A domain of ASCII characters is taken as it is, whatever Punycode it
// holds.
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

// appendDomainText appends the domain in ASCII, though it may be a number.
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
