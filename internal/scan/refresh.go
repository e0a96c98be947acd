package scan

import "bytes"

// refreshURL returns the half-open byte range of the URL in content, the value
// of a Refresh header or of the content attribute of <meta
// http-equiv=refresh>, white space at its ends left out. ok is false when
// there is none: a content that a browser does not understand, or one that
// reloads the page itself ("5", "5; url=").
//
// The name before the URL may be "url=", as the standard has it, or "href=",
// as linklint's manual printed it (LL-52, A-LL-5). To a browser the latter is
// part of the URL; nobody means that, so the range begins behind it.
//
// Spec: HTML, https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
func refreshURL(content []byte) (start, end int, ok bool) {
	i := skipASCIISpace(content, 0)
	// The time is needed, but only its presence: "5", "0.5", ".5", "1.9..5.".
	if i == len(content) || content[i] != '.' && !isASCIIDigit(content[i]) {
		return 0, 0, false
	}
	for i < len(content) && (content[i] == '.' || isASCIIDigit(content[i])) {
		i++
	}
	if i == len(content) {
		return 0, 0, false
	}
	if c := content[i]; c != ';' && c != ',' && !isASCIISpace(c) {
		return 0, 0, false
	}
	i = skipASCIISpace(content, i)
	if i < len(content) && (content[i] == ';' || content[i] == ',') {
		i = skipASCIISpace(content, i+1)
	}
	end = len(content)
	behind, named := refreshName(content, i, "url")
	if !named {
		behind, named = refreshName(content, i, "href")
	}
	if named {
		i = behind
	}
	// Quotes are looked for behind the name, and where no name is. What begins
	// like the name but is none ("url foo") cannot begin with a quote.
	if i < end && (content[i] == '"' || content[i] == '\'') {
		quote := content[i]
		i++
		if n := bytes.IndexByte(content[i:], quote); n >= 0 {
			end = i + n
		}
	}
	i = skipASCIISpace(content[:end], i)
	for end > i && isASCIISpace(content[end-1]) {
		end--
	}
	return i, end, i < end
}

// refreshAtOnce tells whether the time in content, for which [refreshURL] has
// found a URL, is zero: the visitor never sees the page. Fractions count for
// nothing.
func refreshAtOnce(content []byte) bool {
	for _, c := range content[skipASCIISpace(content, 0):] {
		if c != '0' {
			return !isASCIIDigit(c)
		}
	}
	return true
}

// inNoscript tells whether the tag at off stands in a noscript element, whose
// contents mean nothing to a browser that runs scripts. It is asked for pages
// with a refresh only.
func (s *Scanner) inNoscript(off uint32) bool {
	before := bytes.ToLower(s.page.Text[:off])
	return bytes.LastIndex(before, []byte("<noscript")) > bytes.LastIndex(before, []byte("</noscript"))
}

// refreshName returns the offset behind name, "=" and the white space around
// them, if these stand at i. The name is lower case, content any case.
func refreshName(content []byte, i int, name string) (behind int, ok bool) {
	if len(content)-i < len(name) || !foldEqual(content[i:i+len(name)], name) {
		return i, false
	}
	i = skipASCIISpace(content, i+len(name))
	if i == len(content) || content[i] != '=' {
		return i, false
	}
	return skipASCIISpace(content, i+1), true
}

// skipASCIISpace returns the offset of the first byte of b from i on that is
// no ASCII white space, or len(b).
func skipASCIISpace(b []byte, i int) int {
	for i < len(b) && isASCIISpace(b[i]) {
		i++
	}
	return i
}

func isASCIIDigit(c byte) bool { return c-'0' < 10 }
