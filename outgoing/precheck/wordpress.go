package precheck

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// read is how much of a source WordPress looks at.
const read = 150 << 10

// The expressions that WordPress applies to a source, one after the other. Its
// \s and case are those of PCRE; the tags of blocks are in lower case only.
var (
	blanks     = regexp.MustCompile(`[\r\n\t ]+`)
	blocks     = regexp.MustCompile(`</*(h1|h2|h3|h4|h5|h6|p|th|td|li|dt|dd|pre|caption|input|textarea|button|body)[^>]*>`)
	titleText  = regexp.MustCompile(`(?is)<title>([^<]*?)</title>`)
	scripts    = regexp.MustCompile(`(?is)<script[^>]*?>.*?</script>|<style[^>]*?>.*?</style>`)
	linkText   = `[^>]*>([^>]+?)</a>`
	paragraphs = "\n\n"
)

// title returns what WordPress takes for a source's title. "0" counts as empty
// there.
func title(body []byte) string {
	body = blanks.ReplaceAll(body[:min(len(body), read)], []byte(" "))
	body = blocks.ReplaceAll(body, []byte(paragraphs))
	if m := titleText.FindSubmatch(body); m != nil && string(m[1]) != "0" {
		return string(m[1])
	}
	return ""
}

// linked tells whether WordPress finds a link to target in a source. It cuts the
// source into paragraphs at block tags, drops every tag but <a>, and wants text
// without a tag between <a> and </a>.
//
// An address that is no UTF-8 is none that anybody is sent.
func linked(body []byte, target string) bool {
	if !utf8.ValidString(target) {
		return false
	}
	body = body[:min(len(body), read)]
	body = bytes.ReplaceAll(body, []byte("<!DOC"), []byte("<DOC"))
	body = blanks.ReplaceAll(body, []byte(" "))
	body = blocks.ReplaceAll(body, []byte(paragraphs))
	body = scripts.ReplaceAll(body, nil)
	body = keepLinks(body)
	target = asWritten(target)
	link := regexp.MustCompile(`<a[^>]+?` + regexp.QuoteMeta(target) + linkText)
	for paragraph := range bytes.SplitSeq(body, []byte(paragraphs)) {
		if bytes.Contains(paragraph, []byte(target)) && link.Match(paragraph) {
			return true
		}
	}
	return false
}

// asWritten is a target as WordPress looks for it: each & is &amp;.
func asWritten(target string) string {
	return strings.ReplaceAll(strings.ReplaceAll(target, "&amp;", "&"), "&", "&amp;")
}

// keepLinks drops tags, comments and instructions, but for <a> and </a>, as
// PHP's strip_tags does: a < before white space is text, and a > within quotes
// ends no tag.
func keepLinks(body []byte) []byte {
	kept := make([]byte, 0, len(body))
	for len(body) > 0 {
		at := bytes.IndexByte(body, '<')
		if at < 0 {
			return append(kept, body...)
		}
		kept, body = append(kept, body[:at]...), body[at:]
		end := tagEnd(body)
		switch {
		case len(body) > 1 && isSpace(body[1]):
			kept, end = append(kept, '<'), 1
		case isLink(body[:end]):
			kept = append(kept, body[:end]...)
		}
		body = body[end:]
	}
	return kept
}

// tagEnd returns the length of the tag, comment or instruction at the start of
// body; all of it if it does not end.
func tagEnd(body []byte) int {
	if bytes.HasPrefix(body, []byte("<!--")) {
		if i := bytes.Index(body[4:], []byte("-->")); i >= 0 {
			return 4 + i + 3
		}
		return len(body)
	}
	var quote byte
	for i, c := range body {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(body)
}

// isLink tells whether a tag is <a ...> or </a>, in any case.
func isLink(tag []byte) bool {
	tag = bytes.TrimPrefix(tag[1:], []byte("/"))
	return len(tag) > 1 && tag[0]|0x20 == 'a' && (isSpace(tag[1]) || tag[1] == '>' || tag[1] == '/')
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
