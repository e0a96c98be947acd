package weburl

import (
	"net/netip"
	"strconv"
	"strings"
)

// appendCanonicalHost writes a host name in lower case and ASCII without its
// last dot, or an IP address as RFC 5952 has it. Nothing is ever cut off, and
// numbers that some software takes for an address are refused: they are a way
// past guards.
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

// checkCanonicalHost refuses names that hold an empty label or a character of
// no host name, and writes addresses in their one form.
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

// appendCanonicalPort writes a port that is not the scheme's own.
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
