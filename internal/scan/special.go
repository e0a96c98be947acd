package scan

import "bytes"

// special handles what no table row can say: names, base, meta, the relations
// of link, image buttons, applets.
func (e *emitter) special() {
	s := e.s
	set := &s.attrs
	switch e.tag {
	case TagA:
		if set.has(AttrName) && !e.inert {
			s.anchor(AttrName, AnchorName)
		}
	case TagMap:
		if set.has(AttrName) && !e.inert {
			s.anchor(AttrName, AnchorMap)
		}
	case TagBase:
		if set.has(AttrHref) && !e.inert {
			sp := set.val[AttrHref]
			s.page.Bases = append(s.page.Bases, Base{Value: s.value(sp), Off: sp.start})
		}
	case TagMeta:
		e.meta()
	case TagLink:
		if !set.has(AttrRel) {
			break
		}
		kind, advert := relationKind(s.raw(AttrRel))
		if kind != KindLink && s.opt.Tags == Modern {
			e.mark(AttrHref, kind)
		}
		if advert != 0 && !e.inert {
			s.page.Adverts = append(s.page.Adverts, Advert{TagOff: e.at.start, Rel: advert})
		}
	case TagInput:
		if set.has(AttrType) && foldEqual(bytes.Trim(s.raw(AttrType), asciiSpace), "image") && s.opt.Tags == Modern {
			e.mark(AttrSrc, KindResource)
		}
	case TagApplet:
		e.applet()
	}
}

// raw returns an attribute's source text.
func (s *Scanner) raw(a Attr) []byte {
	sp := s.attrs.val[a]
	return s.page.Text[sp.start:sp.end]
}

// mark changes the kind of the link that this tag's attribute gave.
func (e *emitter) mark(a Attr, kind Kind) {
	links := e.s.page.Links
	for i := len(links) - 1; i >= 0 && links[i].TagOff == e.at.start; i-- {
		if links[i].Attr == a {
			links[i].Kind = kind
		}
	}
}

// relationKind tells what a link element with these relations is for: a hint
// when all of them name a host only. advert is what it advertises, 0 if nothing.
func relationKind(rel []byte) (kind Kind, advert AdvertRel) {
	hint, others := false, false
	for len(rel) > 0 {
		i := 0
		for i < len(rel) && byteClass[rel[i]]&clsSpace == 0 {
			i++
		}
		if word := rel[:i]; i > 0 {
			switch {
			case foldEqual(word, "preconnect"), foldEqual(word, "dns-prefetch"):
				hint = true
			case foldEqual(word, "canonical"):
				kind, others = KindCanonical, true
			case foldEqual(word, "manifest"):
				kind, others = KindManifest, true
			case len(word) == len("pingback") && foldEqual(word, "pingback"):
				advert, others = advert|AdvertPingback, true
			case len(word) == len("webmention") && foldEqual(word, "webmention"):
				advert, others = advert|AdvertWebmention, true
			default:
				others = true
			}
		}
		rel = rel[min(i+1, len(rel)):]
	}
	if hint && !others {
		return KindHint, 0
	}
	return kind, advert
}

// meta handles the three uses of meta: encoding, refresh, metadata.
func (e *emitter) meta() {
	s := e.s
	set := &s.attrs
	if set.has(AttrCharset) && !e.inert {
		s.declareCharset(bytes.Trim(s.raw(AttrCharset), asciiSpace))
	}
	if !set.has(AttrContent) {
		return
	}
	sp := set.val[AttrContent]
	if set.has(AttrHTTPEquiv) {
		switch equiv := s.raw(AttrHTTPEquiv); {
		case foldEqual(equiv, "content-type"):
			if !set.has(AttrCharset) && !e.inert {
				s.declareCharset(charsetOf(s.raw(AttrContent)))
			}
		case foldEqual(equiv, "refresh"):
			v, places := s.composite(sp)
			if start, end, ok := refreshURL(v); ok {
				e.add(v[start:end], places.at(start), AttrContent, KindRefresh)
				if s.page.Alias == 0 && !e.inert && refreshAtOnce(v) && !s.inNoscript(sp.start) {
					s.page.Alias = s.page.Links[len(s.page.Links)-1].Off + 1
				}
			}
		}
		return
	}
	if s.opt.Tags == Linklint {
		return
	}
	if set.has(AttrName) && foldEqual(s.raw(AttrName), "robots") && !e.inert {
		s.page.NoIndex = s.page.NoIndex || indexFold(s.raw(AttrContent), "noindex") >= 0
	}
	named := false
	for _, a := range [...]Attr{AttrProperty, AttrName, AttrItemprop} {
		if set.has(a) && metaURLs[string(bytes.ToLower(bytes.Trim(s.raw(a), asciiSpace)))] {
			named = true
		}
	}
	v := s.value(sp)
	if t := bytes.Trim(v, asciiSpace); len(t) > 0 && (named || isWebURL(t)) {
		e.add(v, sp.start, AttrContent, KindMetadata)
	}
}

// isWebURL tells whether b is one absolute http or https URL and nothing else.
func isWebURL(b []byte) bool {
	if len(b) < len("http://x") || !foldEqual(b[:4], "http") {
		return false
	}
	rest := b[4:]
	if rest[0]|0x20 == 's' {
		rest = rest[1:]
	}
	return bytes.HasPrefix(rest, []byte("://")) && len(rest) > 3 && !bytes.ContainsAny(rest, asciiSpace)
}

// metaURLs are the metadata whose content is a URL, relative ones included.
var metaURLs = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range []string{"og:url", "og:image", "og:image:url", "og:image:secure_url", "og:video",
		"og:video:url", "og:video:secure_url", "og:audio", "og:audio:url", "og:audio:secure_url", "og:see_also",
		"twitter:image", "twitter:image:src", "twitter:url", "twitter:player", "twitter:player:stream",
		"msapplication-tileimage", "msapplication-square70x70logo", "msapplication-square150x150logo",
		"msapplication-wide310x150logo", "msapplication-square310x310logo", "msapplication-starturl",
		"thumbnail", "thumbnailurl", "contenturl", "embedurl", "image", "logo", "url", "dcterms.uri"} {
		m[n] = true
	}
	return m
}()

// applet resolves code and archive against codebase (LL-40, LL-41): codebase
// names a directory, and an archive replaces the class.
func (e *emitter) applet() {
	s := e.s
	set := &s.attrs
	dir := []byte(nil)
	if set.has(AttrCodebase) {
		dir = bytes.Trim(s.value(set.val[AttrCodebase]), asciiSpace)
		if len(dir) > 0 && dir[len(dir)-1] != '/' {
			dir = append(bytes.Clone(dir), '/')
		}
	}
	join := func(name []byte) []byte {
		if len(name) > 0 && name[0] == '/' {
			return s.keep(name)
		}
		return s.keep(append(bytes.Clone(dir), name...))
	}
	if set.has(AttrArchive) {
		n := len(s.page.Links)
		e.take(rule{AttrArchive, KindLink, shapeCommas})
		for i := n; i < len(s.page.Links); i++ {
			s.setRef(s.page.Links[i].Off, join(s.page.Links[i].Value))
		}
		return
	}
	if set.has(AttrCode) {
		sp := set.val[AttrCode]
		v := s.value(sp)
		name := bytes.Trim(v, asciiSpace)
		if len(name) > 0 && !bytes.HasSuffix(name, []byte(".class")) {
			name = append(bytes.Clone(name), ".class"...)
		}
		e.add(v, sp.start, AttrCode, KindLink)
		s.setRef(sp.start, join(name))
	}
}

func (s *Scanner) setRef(off uint32, ref []byte) {
	if s.page.refs == nil {
		s.page.refs = map[uint32][]byte{}
	}
	s.page.refs[off] = ref
}

// scriptText handles the text of a script element: JSON-LD holds URLs, and
// anything that runs may serve fragments.
func (s *Scanner) scriptText(at, content span) {
	set := &s.attrs
	var kind []byte
	if set.has(AttrType) {
		kind = bytes.Trim(s.raw(AttrType), asciiSpace)
	}
	if foldEqual(kind, "application/ld+json") {
		if s.opt.Tags == Modern {
			text := s.page.Text[content.start:content.end]
			s.noteBytes(text)
			e := s.emitter(TagScript, at)
			jsonLD(text, func(start, end int, value []byte) {
				if start != end && (len(value) != end-start || &value[0] != &text[start]) {
					value = s.keep(value)
				}
				e.add(value, content.start+uint32(start), AttrText, KindMetadata)
			})
		}
		return
	}
	if !s.inert && isJavaScript(kind) && (content.start < content.end || set.has(AttrSrc)) {
		s.page.HasScript = true
	}
}

// isJavaScript tells whether a script of this type runs (HTML 4.12.1).
func isJavaScript(kind []byte) bool {
	if len(kind) == 0 || foldEqual(kind, "module") {
		return true
	}
	return len(kind) < 40 && javaScriptTypes[string(bytes.ToLower(kind))]
}

var javaScriptTypes = func() map[string]bool {
	m := map[string]bool{}
	for _, t := range []string{"application/ecmascript", "application/javascript", "application/x-ecmascript",
		"application/x-javascript", "text/ecmascript", "text/javascript", "text/javascript1.0", "text/javascript1.1",
		"text/javascript1.2", "text/javascript1.3", "text/javascript1.4", "text/javascript1.5", "text/jscript",
		"text/livescript", "text/x-ecmascript", "text/x-javascript"} {
		m[t] = true
	}
	return m
}()
