package html

import (
	"bytes"
	"slices"

	"github.com/sitelink/sitelink/internal/scan"
)

// special handles what the tables cannot express: anchors by name, base, meta,
// the relations of link, image buttons and applets.
func (e *Elements) special() {
	set := &e.Attrs
	switch e.tag {
	case scan.TagA:
		if set.Has(scan.AttrName) {
			e.Anchor(scan.AttrName, scan.AnchorName)
		}
	case scan.TagMap:
		if set.Has(scan.AttrName) {
			e.Anchor(scan.AttrName, scan.AnchorMap)
		}
		if set.Has(scan.AttrID) && e.Tags == scan.Modern {
			e.Anchor(scan.AttrID, scan.AnchorMap)
		}
	case scan.TagBase:
		if set.Has(scan.AttrHref) && !e.Inert && !e.Shadow {
			sp := set.Val[scan.AttrHref]
			e.Page.Bases = append(e.Page.Bases, scan.Base{Value: e.value(sp), Off: sp.Start})
		}
	case scan.TagMeta:
		e.meta()
	case scan.TagLink:
		if !set.Has(scan.AttrRel) {
			break
		}
		kind, advert, loads := scan.Relations(e.source(scan.AttrRel))
		for i := len(e.Page.Links) - 1; i >= 0 && e.Page.Links[i].TagOff == e.at.Start; i-- {
			l := &e.Page.Links[i]
			if l.AtOnce = loads; l.Attr == scan.AttrHref && kind != scan.KindLink && e.Tags == scan.Modern {
				l.Kind = kind
			}
		}
		if advert != 0 && !e.Inert {
			e.Page.Adverts = append(e.Page.Adverts, scan.Advert{TagOff: e.at.Start, Rel: advert})
		}
	case scan.TagInput:
		if set.Has(scan.AttrSrc) && !(set.Has(scan.AttrType) && scan.EqualFold(e.source(scan.AttrType), "image")) {
			e.dropSource()
		}
	case scan.TagScript:
		if set.Has(scan.AttrSrc) && !e.runsScript() {
			e.dropSource()
		}
	case scan.TagIframe:
		if set.Has(scan.AttrSrcdoc) && e.Tags == scan.Modern {
			e.srcdoc()
		}
	case scan.TagApplet:
		e.applet()
	}
}

// dropSource removes the link in the src of the current tag, which browsers do
// not load.
func (e *Elements) dropSource() {
	links := e.Page.Links
	n := len(links)
	for n > 0 && links[n-1].TagOff == e.at.Start {
		n--
	}
	if e.Tags == scan.Modern {
		tail := slices.DeleteFunc(links[n:], func(l scan.Link) bool { return l.Attr == scan.AttrSrc })
		e.Page.Links = links[:n+len(tail)]
	}
}

// runsScript reports whether browsers run a script with the type of the current
// tag.
func (e *Elements) runsScript() bool {
	return !e.Attrs.Has(scan.AttrType) || isJavaScript(scan.Trim(e.source(scan.AttrType)))
}

// meta handles the three uses of meta: encoding, refresh and metadata.
func (e *Elements) meta() {
	set := &e.Attrs
	if set.Has(scan.AttrCharset) && !e.Inert {
		e.DeclareCharset(scan.Trim(e.source(scan.AttrCharset)))
	}
	if !set.Has(scan.AttrContent) {
		return
	}
	sp := set.Val[scan.AttrContent]
	if set.Has(scan.AttrHTTPEquiv) {
		switch equiv := e.source(scan.AttrHTTPEquiv); {
		case scan.EqualFold(equiv, "content-type"):
			if !set.Has(scan.AttrCharset) && !e.Inert {
				e.DeclareCharset(charsetOf(e.source(scan.AttrContent)))
			}
		case scan.EqualFold(equiv, "refresh"):
			v, places := e.composite(sp)
			if start, end, ok := refreshURL(v); ok {
				e.addLink(v[start:end], places.at(start), scan.AttrContent, scan.KindRefresh)
				if e.Page.Alias == 0 && !e.Inert && refreshAtOnce(v) && !e.inNoscript(sp.Start) {
					e.Page.Alias = e.Page.Links[len(e.Page.Links)-1].Off + 1
				}
			}
		}
		return
	}
	if e.Tags == scan.Linklint {
		return
	}
	if set.Has(scan.AttrName) && scan.EqualFold(e.source(scan.AttrName), "robots") && !e.Inert {
		e.Page.NoIndex = e.Page.NoIndex || scan.IndexFold(e.source(scan.AttrContent), "noindex") >= 0
	}
	named := false
	for _, a := range [...]scan.Attr{scan.AttrProperty, scan.AttrName, scan.AttrItemprop} {
		if set.Has(a) && metaURLs[string(bytes.ToLower(scan.Trim(e.source(a))))] {
			named = true
		}
	}
	v := e.value(sp)
	if t := scan.Trim(v); len(t) > 0 && (named || scan.IsWebURL(t)) {
		e.addLink(v, sp.Start, scan.AttrContent, scan.KindMetadata)
	}
}

// metaURLs are the names of metadata whose content is a URL, possibly a
// relative one.
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

// applet resolves code and archive against codebase (LL-40, LL-41). codebase is
// a directory, and archive replaces code.
func (e *Elements) applet() {
	set := &e.Attrs
	dir := []byte(nil)
	if set.Has(scan.AttrCodebase) {
		dir = scan.Trim(e.value(set.Val[scan.AttrCodebase]))
		if len(dir) > 0 && dir[len(dir)-1] != '/' {
			dir = append(bytes.Clone(dir), '/')
		}
	}
	join := func(name []byte) []byte {
		if len(name) > 0 && name[0] == '/' {
			return e.Keep(name)
		}
		return e.Keep(append(bytes.Clone(dir), name...))
	}
	if set.Has(scan.AttrArchive) {
		n := len(e.Page.Links)
		e.take(rule{scan.AttrArchive, scan.KindLink, shapeCommas})
		for i := n; i < len(e.Page.Links); i++ {
			e.SetRef(e.Page.Links[i].Off, join(e.Page.Links[i].Value))
		}
		return
	}
	if set.Has(scan.AttrCode) {
		sp := set.Val[scan.AttrCode]
		v := e.value(sp)
		name := scan.Trim(v)
		if len(name) > 0 && !bytes.HasSuffix(name, []byte(".class")) {
			name = append(bytes.Clone(name), ".class"...)
		}
		e.addLink(v, sp.Start, scan.AttrCode, scan.KindLink)
		e.SetRef(sp.Start, join(name))
	}
}

// ScriptText handles the text of a script element. JSON-LD and import maps have
// URLs, and any script that runs may serve fragments. at is the range of its
// tag.
func (e *Elements) ScriptText(at, content scan.Span) {
	set := &e.Attrs
	var kind []byte
	if set.Has(scan.AttrType) {
		kind = scan.Trim(e.source(scan.AttrType))
	}
	if e.dataScript(kind, at, content) {
		return
	}
	if !e.Inert && isJavaScript(kind) && (content.Start < content.End || set.Has(scan.AttrSrc)) {
		e.Page.Scripts = append(e.Page.Scripts, scan.Script{
			TagOff: at.Start, External: set.Has(scan.AttrSrc), Text: e.Page.Text[content.Start:content.End],
		})
	}
}

// isJavaScript reports whether the browser runs a script of this type (HTML
// 4.12.1).
func isJavaScript(kind []byte) bool {
	if len(kind) == 0 || scan.EqualFold(kind, "module") {
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

// refreshURL returns the range of the URL, without white space around it, in
// content. That is the value of a Refresh header or of the content attribute of
// <meta http-equiv=refresh>. ok is false if there is no URL: if browsers do not
// understand the content, or if it reloads the page itself ("5", "5; url=").
//
// The name before the URL may be "url=", as in the standard, or "href=", as in
// linklint's manual (LL-52, A-LL-5). For a browser "href=" is a part of the
// URL. That is not intended, so the range starts after it.
//
// Spec: HTML,
// https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
func refreshURL(content []byte) (start, end int, ok bool) {
	i := scan.SkipSpace(content, 0)
	// A time is necessary, in any of these forms: "5", "0.5", ".5", "1.9..5.".
	if i == len(content) || content[i] != '.' && !scan.IsDigit(content[i]) {
		return 0, 0, false
	}
	for i < len(content) && (content[i] == '.' || scan.IsDigit(content[i])) {
		i++
	}
	if i == len(content) {
		return 0, 0, false
	}
	if c := content[i]; c != ';' && c != ',' && !scan.IsSpace(c) {
		return 0, 0, false
	}
	i = scan.SkipSpace(content, i)
	if i < len(content) && (content[i] == ';' || content[i] == ',') {
		i = scan.SkipSpace(content, i+1)
	}
	end = len(content)
	next, named := refreshName(content, i, "url")
	if !named {
		next, named = refreshName(content, i, "href")
	}
	if named {
		i = next
	}
	// A quote can follow the name, or begin the URL if there is no name. After
	// a prefix of a name ("url foo") there cannot be one.
	if i < end && (content[i] == '"' || content[i] == '\'') {
		quote := content[i]
		i++
		if n := bytes.IndexByte(content[i:], quote); n >= 0 {
			end = i + n
		}
	}
	i = scan.SkipSpace(content[:end], i)
	for end > i && scan.IsSpace(content[end-1]) {
		end--
	}
	return i, end, i < end
}

// refreshAtOnce reports whether the time in content is zero, so that the
// visitor never sees the page. Fractions are ignored. [refreshURL] must have
// found a URL in content.
func refreshAtOnce(content []byte) bool {
	for _, c := range content[scan.SkipSpace(content, 0):] {
		if c != '0' {
			return !scan.IsDigit(c)
		}
	}
	return true
}

// inNoscript reports whether the tag at off is inside a noscript element, which
// a browser with scripts ignores. It searches the whole text, so call it only
// for pages with a refresh.
func (e *Elements) inNoscript(off uint32) bool {
	before := bytes.ToLower(e.Page.Text[:off])
	return bytes.LastIndex(before, []byte("<noscript")) > bytes.LastIndex(before, []byte("</noscript"))
}

// refreshName returns the offset after name, "=" and the white space around
// them, if content has them at i. name must be in lower case.
func refreshName(content []byte, i int, name string) (next int, ok bool) {
	if len(content)-i < len(name) || !scan.EqualFold(content[i:i+len(name)], name) {
		return i, false
	}
	i = scan.SkipSpace(content, i+len(name))
	if i == len(content) || content[i] != '=' {
		return i, false
	}
	return scan.SkipSpace(content, i+1), true
}

// charsetOf extracts the encoding from the content of a meta element (HTML
// 2.4.4, "extracting a character encoding from a meta element").
func charsetOf(content []byte) []byte {
	rest := content
	for {
		k := scan.IndexFold(rest, "charset")
		if k < 0 {
			return nil
		}
		rest = bytes.TrimLeft(rest[k+len("charset"):], scan.Space)
		if len(rest) > 0 && rest[0] == '=' {
			break
		}
	}
	rest = bytes.TrimLeft(rest[1:], scan.Space)
	if len(rest) == 0 {
		return nil
	}
	if q := rest[0]; q == '"' || q == '\'' {
		if k := bytes.IndexByte(rest[1:], q); k >= 0 {
			return rest[1 : 1+k]
		}
		return nil
	}
	if k := bytes.IndexAny(rest, "\t\n\f\r ;"); k >= 0 {
		return rest[:k]
	}
	return rest
}
