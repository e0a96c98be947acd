package report

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// filePosition returns where a server that shows the project's files displays
// f: at the source file if it is known, or else at the built page. The file is
// relative to the root of the project. Sources outside of it are not used,
// because such a server does not have them. Line and column are 0 if they are
// not known.
func (o *Options) filePosition(f *check.Finding) (file string, line, column int) {
	if p := f.Source; p != nil && !absolute(p.File) {
		return p.File, p.Line, p.Column
	}
	return pageFile(o.Base, f.Page), f.Line, f.Column
}

// pageFile returns the path of a built page relative to the root of the project, or its address
// at a running site. base is [Options.Base].
func pageFile(base, page string) string {
	switch {
	case base == "" || base == ".":
		return page
	case weburl.IsWeb(base): // there is no file, and a browser opens the address
		return base + strings.TrimSuffix(page, "index.html")
	case strings.HasPrefix(page, "../"): // a project file outside the docroot
		return path.Join(base, page)
	}
	return strings.TrimSuffix(base, "/") + "/" + page
}

// appendSentence appends the message and the suggestion in one line, for
// servers that show nothing else. Values are quoted and cut as in text.
func appendSentence(dst []byte, f *check.Finding) []byte {
	dst = appendCut(dst, cmp.Or(f.Message, string(f.Code)), maxMessageBytes)
	return append(dst, suggested("; ", f)...)
}

// appendCauseSentence is [appendSentence] for a cause with the number of its
// links and files. f is its first finding.
func appendCauseSentence(dst []byte, f *check.Finding, c *check.Cause) []byte {
	dst = appendSentence(dst, f)
	if len(c.Findings) == 1 {
		return dst
	}
	return fmt.Appendf(dst, " (%s on %s)", text.Count(c.Links, "link"), files(c))
}

// appendURI appends a slash path as a URI reference (RFC 3986, section 4). It
// percent-encodes every byte that is neither unreserved nor a slash, so that no
// part of a path can be read as a scheme, query or fragment. An absolute path
// becomes a file URI. An address stays one.
func appendURI(dst []byte, file string) []byte {
	plain := "-._~/"
	if weburl.IsWeb(file) {
		plain += ":[]?&=+%"
	} else if absolute(file) {
		dst = append(dst, "file://"...)
		if file[0] != '/' { // C:/site
			dst = append(dst, '/')
		}
	}
	for i := range len(file) {
		c := file[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(plain, c) >= 0:
			dst = append(dst, c)
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

const upperHex = "0123456789ABCDEF"

// absolute reports whether a slash path is absolute on any system, /a or C:/a, or an address.
func absolute(file string) bool {
	return strings.HasPrefix(file, "/") || weburl.IsWeb(file) || len(file) > 2 && file[1] == ':' && file[2] == '/'
}

// DescribeSource says what kind of file a source position is in, such as "a
// template of module x". It returns "" for content of the project itself, which
// is what authors expect, and for none. The name of the module is quoted and cut, not
// escaped.
func DescribeSource(p *check.Position) string {
	if p == nil {
		return ""
	}
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

// appendRelated appends: heading "Set up" at content/a.md:30:4.
func appendRelated(dst []byte, r *check.Related, opt TextOptions) []byte {
	dst = appendCut(dst, r.Text, maxValueBytes)
	dst = append(dst, " at "...)
	dst = appendQuoted(dst, opt.Source(r.File))
	return appendLineColumn(dst, r.Line, r.Column)
}

// relatedOf returns appendRelated for the related position of a finding, "" if
// it has none.
func relatedOf(f *check.Finding) string {
	if f.Related == nil {
		return ""
	}
	return string(appendRelated(nil, f.Related, TextOptions{}))
}

// suggestionWords returns the text before and after a suggestion. For a link it
// is what the author meant, for endpoints it is what to do, and for an address or
// anchor that is gone where it went.
func suggestionWords(f *check.Finding) (before, after string) {
	switch {
	case isEndpoint(f.Code):
		return "cure: ", ""
	case f.Code == check.AddressGone:
		return "moved to ", "?"
	case f.Code == check.AnchorGone:
		return "renamed to ", "?"
	}
	return "did you mean ", "?"
}

// suggested returns the suggestion of a finding with its words after a separator, or
// "".
func suggested(separator string, f *check.Finding) string {
	if f.Suggestion == "" {
		return ""
	}
	before, after := suggestionWords(f)
	return separator + before + value(f.Suggestion) + after
}

// isEndpoint reports whether a code is about the elements that name endpoints.
func isEndpoint(c check.Code) bool { return strings.HasPrefix(string(c), "endpoint-") }
