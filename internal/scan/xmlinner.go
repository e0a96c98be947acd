package scan

import "bytes"

// html adds the links of HTML that stands in a value of another format, each
// at its place in the page's text. Fragments of CSS (url(#a)) and image maps
// mean the document that shows the content, which is not known.
func (s *Scanner) html(c content) {
	if s.inner == nil {
		s.inner = &Scanner{}
	}
	p := s.inner.HTML(c.text, Options{Tags: s.opt.Tags, Charset: "utf-8"})
	at := func(off uint32) uint32 {
		switch {
		case c.from == nil:
			return c.off + off
		case int(off) < len(c.from):
			return c.from[off]
		}
		return c.from[len(c.from)-1]
	}
	first := len(s.page.Links)
	for i := range p.Links {
		l := p.Links[i]
		if l.Kind == KindReference || l.Kind == KindMap {
			continue
		}
		l.element, l.attribute = s.label(p.Element(&l)), s.label(l.Attr.String())
		ref, joined := p.refs[l.Off]
		l.Value, l.Off, l.TagOff = s.keep(l.Value), at(l.Off), at(l.TagOff)
		s.page.Links = append(s.page.Links, l)
		if joined {
			s.setRef(l.Off, s.keep(ref))
		}
	}
	s.rebase(first, c.base)
}

// maxBase is the longest base that counts; no server takes a longer address.
const maxBase = 1 << 10

// rebase lets the links of the page from number first on resolve against base,
// itself a reference that the page's address completes. nil is no base.
func (s *Scanner) rebase(first int, base []byte) {
	p := &s.page
	if len(base) == 0 || len(base) > maxBase || first == len(p.Links) {
		return
	}
	// One base after the other rules many links.
	if n := len(p.bases); n == 0 || !bytes.Equal(p.bases[n-1], base) {
		p.bases = append(p.bases, AppendUTF8(nil, base))
	}
	if p.rebased == nil {
		p.rebased = map[uint32]int32{}
	}
	for i := first; i < len(p.Links); i++ {
		l := &p.Links[i]
		if len(l.Value) == 0 && l.Kind == KindResource || l.Kind == KindReference || l.Kind == KindMap {
			continue
		}
		p.rebased[l.Off] = int32(len(p.bases) - 1)
	}
}

// merge resolves the reference ref against base as text, where base may be
// relative itself (RFC 3986, 5.2.2 and 5.2.3). Dot segments stay: whoever
// resolves the result against an absolute address removes them. The result may
// alias ref.
func merge(base, ref []byte) []byte {
	ref = bytes.Trim(ref, asciiSpace)
	base, _, _ = bytes.Cut(base, []byte("#"))
	if len(base) == 0 || schemeLen(ref) > 0 {
		return ref
	}
	path := schemeLen(base)
	if bytes.HasPrefix(base[path:], []byte("//")) {
		path += 2
		for path < len(base) && base[path] != '/' && base[path] != '?' {
			path++
		}
	}
	query := len(base)
	if k := bytes.IndexByte(base[path:], '?'); k >= 0 {
		query = path + k
	}
	keep := path // bytes of base before ref
	switch {
	case len(ref) == 0, ref[0] == '#':
		keep = len(base)
	case ref[0] == '?':
		keep = query
	case bytes.HasPrefix(ref, []byte("//")):
		keep = schemeLen(base)
	case ref[0] != '/':
		if k := bytes.LastIndexByte(base[path:query], '/'); k >= 0 {
			keep = path + k + 1
		} else if path > 0 {
			return join(base[:path], []byte("/"), ref)
		}
	}
	return join(base[:keep], ref)
}

// join concatenates.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// schemeLen returns the length of the scheme that ref begins with, its colon
// included; 0 when it has none.
func schemeLen(ref []byte) int {
	for i, c := range ref {
		switch {
		case byteClass[c]&clsLetter != 0:
		case c == ':' && i > 0:
			return i + 1
		case i > 0 && (isASCIIDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}
