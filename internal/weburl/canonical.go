package weburl

import "strings"

// Rules are choices in the canonical form. The zero value is what sitelink
// uses everywhere.
type Rules struct {
	// KeepEscapedSlash keeps %2F apart from /, for sites that use both.
	KeepEscapedSlash bool
	// ParamsInPath takes what follows a ';' in the path as a part of it,
	// as RFC 3986 does, and not as parameters that are written like a query.
	ParamsInPath bool
}

// Canonical returns the one text of all those that name the same page: the key
// under which a URL is compared and stored. It is never sent or fetched,
// because it may name another resource at hosts that tell %2F from / or + from
// %20. The input must be an absolute http or https URL, as is due from the
// network. Credentials and fragment are left out. The error is an [*Error].
//
//	HTTP://WWW.Example.com:80/%7eme/./a b?q=%41#top
//	http://www.example.com/~me/a%20b?q=A
//
// The rules are those of WWWOFFLE (docs/reference/urls.md), which are idempotent. A URL
// that is canonical already is returned without an allocation, 29 to 45
// million a second and core; of others it is 5 to 7 million (BenchmarkCanonical,
// AMD EPYC).
func Canonical(raw string) (string, error) { return Rules{}.Canonical(raw) }

// CanonicalHeuristic is [Canonical] for what people write: configuration and
// links on pages, never what comes from the network. It understands a missing
// scheme, slashes and escapes, and ftp URLs besides. A path that begins with
// one slash belongs to site, the base URL or host of the own site; without
// site it is an error.
func CanonicalHeuristic(raw, site string) (string, error) {
	return Rules{}.CanonicalHeuristic(raw, site)
}

// Canonical is [Canonical] by these rules.
func (r Rules) Canonical(raw string) (string, error) {
	if r == (Rules{}) {
		if end, ok := canonicalEnd(raw); ok {
			return raw[:end], nil
		}
	}
	a, reason := splitStrict(raw)
	return r.finish(raw, a, reason)
}

// CanonicalHeuristic is [CanonicalHeuristic] by these rules.
func (r Rules) CanonicalHeuristic(raw, site string) (string, error) {
	if r == (Rules{}) {
		if end, ok := canonicalEnd(raw); ok {
			return raw[:end], nil
		}
	}
	a, reason := splitHeuristic(raw, site)
	return r.finish(raw, a, reason)
}

func (r Rules) finish(raw string, a address, reason Reason) (string, error) {
	var buf [256]byte
	dst := buf[:0]
	if reason == "" {
		dst, reason = r.appendAddress(dst, a)
	}
	// Else what is canonical might be too long for this very function.
	if reason == "" && len(dst) > maxURLBytes {
		reason = TooLong
	}
	if reason != "" {
		return "", newError(raw, reason)
	}
	return string(dst), nil
}

// appendAddress writes the canonical form.
func (r Rules) appendAddress(dst []byte, a address) ([]byte, Reason) {
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
	path, params := a.path, ""
	if !r.ParamsInPath {
		path, params, _ = strings.Cut(path, ";")
	}
	dst = r.appendPath(dst, path)
	if params != "" {
		dst = RecodeArguments(append(dst, ';'), params)
	}
	if a.args != "" {
		dst = RecodeArguments(append(dst, '?'), a.args)
	}
	return dst, ""
}

// appendPath writes the path, decoded once, without dot segments, and encoded
// again. An escaped dot is a dot, and an escaped slash a slash unless the rules
// keep it.
func (r Rules) appendPath(dst []byte, path string) []byte {
	pass := passPath
	if r.ParamsInPath {
		pass |= passSemicolon
	}
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
		case b == '/' && escaped && r.KeepEscapedSlash:
			dst = append(dst, "%2F"...)
		case b == '/':
			var dots bool
			if dst, dots = dropDots(dst, root, segment); !dots {
				dst = append(dst, '/')
			}
			segment = len(dst)
		case canonClasses[b]&pass != 0:
			dst = append(dst, b)
		default:
			dst = appendByte(dst, b)
		}
	}
	dst, _ = dropDots(dst, root, segment)
	return dst
}

// dropDots removes a last segment of one dot, or of two with the segment
// before. What is left ends with a slash then.
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
