package host

import "strings"

// portable warns where nginx answers and another of the four servers does not.
// TestPortable compares it with what they answered.
func (q *asking) portable(a *Answer, path, decoded string, segments []string) {
	warn := func(note string) { a.State, a.Note = StateServerDependent, note }
	plain := lenient(q.query)
	switch {
	case a.State == StatePrivate:
	case strings.Contains(decoded, "//"):
		a.State = StateDoubleSlash
	case strings.Contains(strings.ToLower(path), "%2f"):
		warn("nginx, Caddy and lighttpd take an encoded slash, Apache answers 404")
	case hasControl(decoded), hasControl(plain), strings.IndexByte(plain, 0) >= 0:
		warn("lighttpd answers 400 to a control character")
	case neverUTF8(decoded), neverUTF8(plain):
		warn("lighttpd answers 400 to bytes that never occur in UTF-8")
	case len(segments) > 0 && !q.slash && strings.HasPrefix(segments[len(segments)-1], ".ht"):
		warn("Apache answers 403 to names that begin with .ht")
	case a.State == StateRedirect && strings.ContainsAny(decoded, `?#%\`):
		warn(`Caddy loses an encoded ?, #, % or \ when it redirects to the final slash`)
	case len(path)+len(q.query) > maxLighttpdRequest:
		warn("lighttpd takes 8 KiB for the request line and the header fields together")
	}
}
