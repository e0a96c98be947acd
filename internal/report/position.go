package report

import (
	"path"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// place returns where a server that shows the project's files puts f: the
// source file where it is known, else the built page. The file is relative to
// the root of the project: a module that lies outside of it is not shown there.
// Line and column are 0 when they are not known.
func (o *Options) place(f *check.Finding) (file string, line, column int) {
	if p := f.Source; p != nil && !absolute(p.File) {
		return p.File, p.Line, p.Column
	}
	return o.page(f.Page), f.Line, f.Column
}

// page is the built page as seen from the root of the project.
func (o *Options) page(page string) string {
	if o.Base == "" || o.Base == "." {
		return page
	}
	return path.Join(o.Base, page)
}

// appendSentence appends what is wrong and what the author most likely meant,
// in one line, for servers that show nothing else. Values are quoted and cut as
// in text.
func appendSentence(dst []byte, f *check.Finding) []byte {
	if f.Message == "" {
		dst = appendCut(dst, string(f.Code), maxValueBytes)
	} else {
		dst = appendCut(dst, f.Message, maxMessageBytes)
	}
	if f.Suggestion != "" {
		before, after := hint(f)
		dst = append(dst, "; "+before...)
		dst = appendCut(dst, f.Suggestion, maxValueBytes)
		dst = append(dst, after...)
	}
	return dst
}

// appendURI appends a slash path as an URI reference (RFC 3986, section 4): what
// is neither unreserved nor a slash is percent-encoded, byte by byte, so that no
// part of a path reads as scheme, query or fragment. An absolute path becomes a
// file URI.
func appendURI(dst []byte, file string) []byte {
	if absolute(file) {
		dst = append(dst, "file://"...)
		if file[0] != '/' { // C:/site
			dst = append(dst, '/')
		}
	}
	for i := range len(file) {
		c := file[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			dst = append(dst, c)
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// absolute tells whether a slash path is absolute on any system: /a or C:/a.
func absolute(file string) bool {
	return strings.HasPrefix(file, "/") || len(file) > 2 && file[1] == ':' && file[2] == '/'
}

// sourceWords says what kind of file a place in the sources is in: "a template
// of module x". It is empty for content of the project itself, which is what
// authors expect. The module's name is as the project has it, not made safe.
func sourceWords(p *check.Position) string {
	words := map[check.SourceKind]string{
		check.InTemplate: "a template", check.InData: "a data file", check.InConfiguration: "the configuration",
		check.InAsset: "an asset", check.InStatic: "a static file",
	}[p.Kind]
	if p.Module == "" {
		return words
	}
	if words == "" {
		words = "a file"
	}
	return words + " of module " + string(appendCut(nil, p.Module, maxValueBytes))
}

// appendSource appends the field source of a finding or link, if p is not nil.
func appendSource(dst []byte, p *check.Position) []byte {
	if p == nil {
		return dst
	}
	dst = append(dst, `,"source":{`...)
	return append(appendPosition(dst, p), '}')
}

// appendPosition appends the fields of a place in the sources.
func appendPosition(dst []byte, p *check.Position) []byte {
	dst = append(dst, `"file":`...)
	dst = appendString(dst, p.File)
	dst = appendIntField(dst, `,"line":`, p.Line)
	dst = appendIntField(dst, `,"column":`, p.Column)
	if p.Kind != check.InContent {
		dst = append(dst, `,"kind":`...)
		dst = appendString(dst, string(p.Kind))
	}
	if p.Module != "" {
		dst = append(dst, `,"module":`...)
		dst = appendString(dst, p.Module)
	}
	return dst
}

// appendRelatedObject appends the field related, where there is one.
func appendRelatedObject(dst []byte, r *check.Related) []byte {
	if r == nil {
		return dst
	}
	dst = append(dst, `,"related":[{`...)
	dst = appendPosition(dst, &r.Position)
	dst = append(dst, `,"text":`...)
	dst = appendString(dst, r.Text)
	return append(dst, "}]"...)
}

// appendRelated appends: heading "Set up" at content/a.md:30:4.
func appendRelated(dst []byte, r *check.Related) []byte {
	dst = appendCut(dst, r.Text, maxValueBytes)
	dst = append(dst, " at "...)
	dst = appendQuoted(dst, r.File)
	return appendPlace(dst, r.Line, r.Column)
}

// writtenBy is [sourceWords] of the source of a finding that has one.
func writtenBy(f *check.Finding) string {
	if f.Source == nil {
		return ""
	}
	return sourceWords(f.Source)
}

// relatedOf is [appendRelated] of a finding that has such a place.
func relatedOf(f *check.Finding) string {
	if f.Related == nil {
		return ""
	}
	return string(appendRelated(nil, f.Related))
}

// hint returns what stands before and after a suggestion: of a link it is what
// was meant, of the elements in the head what to do.
func hint(f *check.Finding) (before, after string) {
	if isEndpoint(f.Code) {
		return "cure: ", ""
	}
	return "did you mean ", "?"
}

// isEndpoint tells whether a code is about the elements that name endpoints.
func isEndpoint(c check.Code) bool { return strings.HasPrefix(string(c), "endpoint-") }
