package site

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

// aliasTarget returns where the refresh link l leads, as a site path or
// absolute URL; empty when it is the page itself, which then only reloads, or
// nothing that a browser goes to.
//
// Generators write such pages for the old addresses of a page ("aliases" in
// Hugo). The host answers 200, so that only reading the page tells.
func (r *resolver) aliasTarget(page *scan.Page, l *scan.Link, rec *Link) string {
	if rec.State <= host.StateRedirect {
		if to, ok := r.plainTarget(page.Ref(l)); ok {
			if rec.Node == r.Page {
				return ""
			}
			return to
		}
	}
	res := r.slow(page.Ref(l), false)
	if res.Target == "" || res.State == host.StateJavaScript || res.State.Answers() && res.Node == r.Page {
		return ""
	}
	to := res.Target
	if res.Fragment != "" {
		to += "#" + res.Fragment
	}
	return strings.Clone(to)
}

// plainTarget is the Target of slow, with the fragment, of a value that a file
// answers and that is nothing but plain names and dots: most of rust-doc's 10,098
// alias pages have one (3.5 us each by slow, 0.2 us so).
func (r *resolver) plainTarget(v []byte) (target string, ok bool) {
	path, frag, hasFrag := bytes.Cut(v, hash)
	if frag, ok = host.PlainFragment(frag); !ok || !r.PlainBase || len(path) == 0 || len(path) > host.MaxPlain || r.Top != 0 || r.s.Rooted() {
		return "", false
	}
	var room [512]byte
	out := append(room[:0], '/')
	base := r.s.BasePath()
	switch {
	case path[0] == '/':
		if base != "" {
			return "", false
		}
		path = path[1:]
	case r.Dir != 0:
		out = append(r.s.tree.AppendPath(out, r.Dir), '/')
		if bytes.ContainsAny(out, "!'()*") {
			return "", false // escaped in the address of the page
		}
	}
	if !host.IsPlainPath(out) || !host.IsPlainPath(path) {
		return "", false
	}
	for len(path) > 0 {
		name, rest, more := bytes.Cut(path, []byte{'/'})
		switch {
		case len(name) == 0, !more && (string(name) == "." || string(name) == ".."):
			return "", false
		case string(name) == ".":
		case string(name) == "..":
			if len(out) == 1 {
				return "", false
			}
			out = out[:bytes.LastIndexByte(out[:len(out)-1], '/')+1]
		default:
			if out = append(out, name...); more {
				out = append(out, '/')
			}
		}
		path = rest
	}
	if !hasFrag || len(frag) == 0 {
		return base + string(out), true
	}
	return base + string(out) + "#" + string(frag), true
}
