package weburl

import "strings"

// canonicalEnd tells whether raw, up to its fragment, is canonical already, by
// one look at each byte, and where it ends. It may say no where the answer is
// yes: to ports, addresses in numbers, parameters, and segments that begin with
// a dot. FuzzCanonical holds it against the rules.
func canonicalEnd(raw string) (end int, ok bool) {
	i := 0
	switch {
	case len(raw) > maxURLBytes, strings.HasSuffix(raw, " "): // be it in the fragment
		return 0, false
	case strings.HasPrefix(raw, "https://"):
		i = len("https://")
	case strings.HasPrefix(raw, "http://"):
		i = len("http://")
	default:
		return 0, false
	}
	label := i
	for ; i < len(raw) && canonClasses[raw[i]]&inHost != 0; i++ {
		if raw[i] == '.' {
			if i == label {
				return 0, false
			}
			label = i + 1
		}
	}
	// A last label that begins with a digit may be a part of an IPv4 address.
	if i == label || i == len(raw) || raw[i] != '/' || raw[label] <= '9' {
		return 0, false
	}
	for i++; ; i++ {
		if i == len(raw) || raw[i] == '#' {
			return i, true
		}
		switch b := raw[i]; {
		case b == '.' && raw[i-1] == '/':
			return 0, false
		case canonClasses[b]&passPath != 0:
		case b == '%' && isCanonicalEscape(raw[i:], passPath):
			i += 2
		case b == '?':
			return canonicalArgs(raw, i+1)
		default:
			return 0, false
		}
	}
}

// canonicalArgs is canonicalEnd for the arguments, which begin at raw[start].
func canonicalArgs(raw string, start int) (end int, ok bool) {
	for i := start; ; i++ {
		if i == len(raw) || raw[i] == '#' {
			return i, i > start // no arguments, no '?'
		}
		switch b := raw[i]; {
		case canonClasses[b]&(passArgument|argumentRole) != 0:
		case b == '%' && isCanonicalEscape(raw[i:], passArgument|isSpace):
			i += 2
		default:
			return 0, false
		}
	}
}

// isCanonicalEscape tells whether s begins with an escape as we write it, of a
// byte that is none of unescaped.
func isCanonicalEscape(s string, unescaped canonClass) bool {
	if len(s) < 3 || s[1] >= 'a' || s[2] >= 'a' {
		return false
	}
	hi, lo := hexDigit(s[1]), hexDigit(s[2])
	return hi|lo < 16 && canonClasses[hi<<4|lo]&unescaped == 0
}
