package weburl

import (
	"math"
	"strconv"
	"strings"
)

// endsInNumber tells whether a domain must be read as an IPv4 address.
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

// parseIPv4 reads one to four numbers, of which the last fills what is left.
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

// parseIPv6 reads what stands between the brackets.
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
