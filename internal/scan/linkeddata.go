package scan

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth limits how deeply nested JSON-LD is read. Real documents stay below
// ten.
const maxDepth = 256

// A stringRole is the meaning of a string at a position in the document.
type stringRole uint8

const (
	rolePlain    stringRole = iota // text, or the value of a property without links
	roleLink                       // the value of a property with links
	roleMedia                      // the same, and a file name is a link too
	roleURL                        // the value of a property that has nothing but URLs
	rolePage                       // the same, and an object there names its page by @id
	roleTemplate                   // a link unless it has {variables}
	roleIgnored                    // nothing here or below is a link
)

// A frame is an open array or object.
type frame struct {
	array bool
	role  stringRole // of the value that is the array or object
}

// rest returns the role of a string in the frame that does not follow a key.
func (f frame) rest() stringRole {
	if f.array || f.role == roleIgnored {
		return f.role
	}
	return rolePlain
}

// LinkedData calls emit for each link in JSON-LD text with schema.org vocabulary, in
// the order of the text. start and end are the range between the quotes, and
// value is the string with its JSON escapes decoded. value aliases text or, if
// there are escapes, a buffer that is reused, and is valid during the call
// only.
//
// A string is a link if its property holds links (see propertyRole) and it
// looks like one: it begins with http:// or https://, or it is a path that
// begins with /, ./, ../ or ?. Any other string may be a name: "image": "Logo
// of the company". But it is a relative link if the property holds nothing but
// URLs ("url": "about.html"), or if the property is about media and the string
// is the name of a file ("image": "img/logo.png"), as long as it has neither
// white space nor a scheme.
//
// The text need not be valid JSON. LinkedData skips unknown bytes, ends a string at
// the end of its line at the latest, and takes any string before a colon for a
// key. So one error does not hide the links after it. It takes linear time.
//
// Spec: RFC 8259; https://schema.org/docs/full.html; JSON-LD 1.1
func LinkedData(text []byte, emit func(start, end int, value []byte)) {
	var (
		frames  [maxDepth + 1]frame // those around top
		depth   int                 // may exceed len(frames)
		top     frame
		role    stringRole // of the next value
		scratch []byte
	)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth < len(frames) {
				frames[depth] = top
			}
			depth++
			top = frame{array: text[i] == '[', role: role}
			if depth > maxDepth {
				top.role = roleIgnored
			}
			role = top.rest()
		case '}', ']':
			if depth > 0 {
				depth--
				if depth < len(frames) {
					top = frames[depth]
				}
			}
			role = top.rest()
		case ',':
			role = top.rest()
		case '"':
			start := i + 1
			end, escaped, ok := stringEnd(text, start)
			if !ok {
				i = end - 1
				continue
			}
			next := SkipSpace(text, end+1)
			i = next - 1
			isKey := next < len(text) && text[next] == ':'
			if !isKey && (role == rolePlain || role == roleIgnored) {
				role = top.rest()
				continue
			}
			value := text[start:end]
			if escaped {
				scratch = unescape(scratch[:0], value)
				value = scratch
			}
			if isKey {
				role = propertyRole(value, top)
				continue
			}
			if role.isLink(value) {
				emit(start, end, value)
			}
			role = top.rest()
		}
	}
}

// stringEnd returns the offset of the quote that ends a string. The first byte
// of the string is at i. If the line or the text ends first, ok is false and
// end is the offset of that end.
func stringEnd(text []byte, i int) (end int, escaped, ok bool) {
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i, escaped, true
		case '\n', '\r':
			return i, escaped, false
		case '\\':
			escaped = true
			if i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r' {
				i++
			}
		}
	}
	return len(text), escaped, false
}

// unescape appends raw to dst with its escapes decoded. A lone surrogate and a
// \u without four digits become U+FFFD. Any other unknown escape becomes the
// character itself.
func unescape(dst, raw []byte) []byte {
	dst = slices.Grow(dst, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			dst = append(dst, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := hex4(raw[i+1:])
			if !ok {
				dst = utf8.AppendRune(dst, utf8.RuneError)
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				r2, pair := rune(0), false
				if rest := raw[i+1:]; len(rest) > 1 && rest[0] == '\\' && rest[1] == 'u' {
					r2, pair = hex4(rest[2:])
				}
				if r = utf16.DecodeRune(r, r2); pair && r != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// hex4 reads the four hexadecimal digits at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		d, ok := HexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// isLink reports whether a string in that role is a link.
func (r stringRole) isLink(v []byte) bool {
	switch r {
	case roleTemplate:
		return looksLikeURL(v) && bytes.IndexByte(v, '{') < 0
	case roleURL:
		return looksLikeURL(v) || isRelative(v)
	case roleMedia:
		return looksLikeURL(v) || isRelative(v) && namesFile(v)
	}
	return looksLikeURL(v)
}

// isRelative reports whether v can be a relative reference to another file: it
// has no scheme, white space or variable.
func isRelative(v []byte) bool {
	v = Trim(v)
	if len(v) == 0 || v[0] == '#' || bytes.ContainsAny(v, Space+"{}<>") {
		return false
	}
	k := bytes.IndexAny(v, ":/?#")
	return k < 0 || v[k] != ':'
}

// namesFile reports whether v ends in a file name extension that begins with a
// letter.
func namesFile(v []byte) bool {
	v = Trim(v)
	if k := bytes.IndexAny(v, "?#"); k >= 0 {
		v = v[:k]
	}
	dot := bytes.LastIndexByte(v, '.')
	return dot > 0 && len(v)-dot-1 >= 2 && len(v)-dot-1 <= 5 && IsLetter(v[dot+1]) && bytes.IndexByte(v[dot:], '/') < 0
}

// looksLikeURL reports whether the value of a property that may hold links or
// text is a link.
func looksLikeURL(v []byte) bool {
	v = v[SkipSpace(v, 0):]
	if len(v) == 0 {
		return false
	}
	switch v[0] {
	case '/', '?':
		return true
	case '.':
		return bytes.HasPrefix(v, []byte("./")) || bytes.HasPrefix(v, []byte("../"))
	case 'h', 'H':
		const scheme = "http"
		if len(v) < len("http://") || !EqualFold(v[:len(scheme)], scheme) {
			return false
		}
		v = v[len(scheme):]
		if v[0]|0x20 == 's' {
			v = v[1:]
		}
		return bytes.HasPrefix(v, []byte("://"))
	}
	return false
}

// propertyRole returns the role of the value of property key in an object or,
// in faulty text, an array. The list has the properties of schema.org that have
// URL in their range, or that name a page or file by a URL in practice.
//
// @id is an identifier, often one without a page (https://…/#website). Only
// below mainEntityOfPage and item is it the page's URL. identifier, propertyID,
// @type, additionalType and schemaVersion are identifiers too.
func propertyRole(key []byte, in frame) stringRole {
	if in.role == roleIgnored {
		return roleIgnored
	}
	switch string(key) {
	case "@context":
		return roleIgnored // defines terms: {"url": "https://schema.org/url"}
	case "@id":
		if in.role == rolePage && !in.array {
			return roleURL
		}
		return rolePlain
	case "mainEntityOfPage", "item":
		return rolePage
	case "target", "targetUrl", "urlTemplate":
		return roleTemplate
	case "url", "sameAs", "relatedLink", "significantLink", "significantLinks", "isBasedOnUrl", "archivedAt",
		"thumbnailUrl", "contentUrl", "embedUrl", "downloadUrl", "installUrl",
		"discussionUrl", "replyToUrl", "codeRepository", "serviceUrl", "trackingUrl",
		"paymentUrl", "tourBookingPage", "benefitsSummaryUrl", "merchantReturnLink",
		"productReturnLink", "shippingSettingsLink":
		return roleURL
	case "image", "logo", "photo", "photos", "thumbnail", "screenshot", "primaryImageOfPage",
		"audio", "video", "trailer", "associatedMedia", "encoding":
		return roleMedia
	case "itemListElement", "isPartOf", "isBasedOn",

		"license", "sdLicense", "usageInfo", "acquireLicensePage", "termsOfService",
		"publishingPrinciples", "correctionsPolicy", "ethicsPolicy", "diversityPolicy",
		"diversityStaffingReport", "masthead", "missionCoveragePrioritiesPolicy",
		"noBylinesPolicy", "ownershipFundingInfo", "unnamedSourcesPolicy",
		"verificationFactCheckingPolicy", "actionableFeedbackPolicy",

		"webFeed", "documentation", "releaseNotes", "softwareHelp",

		"hasMap", "map", "maps", "menu", "hasMenu", "feesAndCommissionsSpecification":
		return roleLink
	}
	return rolePlain
}
