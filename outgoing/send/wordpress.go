package send

import (
	"bytes"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// wordpressReads is how much of a source WordPress reads.
const wordpressReads = 150 << 10

// The expressions that WordPress applies to a source, one after the other. White
// space and letter case follow PCRE; block tags match in lower case only.
var (
	blanks     = text.Regexp(`[\r\n\t ]+`)
	blocks     = text.Regexp(`</*(h1|h2|h3|h4|h5|h6|p|th|td|li|dt|dd|pre|caption|input|textarea|button|body)[^>]*>`)
	titleText  = text.Regexp(`(?is)<title>([^<]*?)</title>`)
	scripts    = text.Regexp(`(?is)<script[^>]*?>.*?</script>|<style[^>]*?>.*?</style>`)
	linkText   = `[^>]*>([^>]+?)</a>`
	paragraphs = "\n\n"
)

// title returns what WordPress takes as the title of a source. It treats "0" as
// empty.
func title(body []byte) string {
	body = blanks().ReplaceAll(body[:min(len(body), wordpressReads)], []byte(" "))
	body = blocks().ReplaceAll(body, []byte(paragraphs))
	if m := titleText().FindSubmatch(body); m != nil && string(m[1]) != "0" {
		return string(m[1])
	}
	return ""
}

// linked reports whether WordPress finds a link to target in a source. It splits
// the source into paragraphs at block tags, drops every tag except <a>, and
// requires text without a tag between <a> and </a>.
//
// A target that is not UTF-8 is never sent.
func linked(body []byte, target string) bool {
	if !utf8.ValidString(target) {
		return false
	}
	body = body[:min(len(body), wordpressReads)]
	body = bytes.ReplaceAll(body, []byte("<!DOC"), []byte("<DOC"))
	body = blanks().ReplaceAll(body, []byte(" "))
	body = blocks().ReplaceAll(body, []byte(paragraphs))
	body = scripts().ReplaceAll(body, nil)
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

// asWritten returns a target as WordPress searches for it: with &amp; for each &.
func asWritten(target string) string {
	return strings.ReplaceAll(strings.ReplaceAll(target, "&amp;", "&"), "&", "&amp;")
}

// keepLinks drops tags, comments and instructions except <a> and </a>, as PHP's
// strip_tags does: a < before white space is text, and a > in quotes does not end
// a tag.
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
// body, or the length of body if it does not end.
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

// isLink reports whether a tag is <a ...> or </a>, in any letter case.
func isLink(tag []byte) bool {
	tag = bytes.TrimPrefix(tag[1:], []byte("/"))
	return len(tag) > 1 && tag[0]|0x20 == 'a' && (isSpace(tag[1]) || tag[1] == '>' || tag[1] == '/')
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// anchor is one <a href> element.
type anchor struct {
	offset, end int    // of the start tag
	tag         string // the start tag as written
	href        string // the value, entities decoded
}

// linkProblems returns what is wrong with the links to target in the body of the
// page source. One good link is enough.
func linkProblems(source string, body []byte, target string) []Problem {
	links := linksTo(source, body, target)
	if len(links) == 0 {
		return []Problem{{Code: NoLink, Offset: -1,
			Message: fmt.Sprintf("the page has no link to %s", target),
			Cure:    "link to it with <a href>, or do not notify it"}}
	}
	if linked(body, target) {
		return nil
	}
	want := asWritten(target)
	var problems []Problem
	seen := map[ProblemCode]bool{}
	for _, a := range links {
		problem := Problem{Protocol: ledger.Pingback, Offset: a.offset}
		switch {
		case a.end > wordpressReads:
			problem.Code = LinkLate
			problem.Message = fmt.Sprintf("the link starts %d bytes into the page, but WordPress reads only the first %d", a.offset, wordpressReads)
			problem.Cure = "move style sheets, scripts and drawings into separate files"
		case !strings.Contains(a.tag, want):
			problem.Code = LinkBytes
			problem.Message = fmt.Sprintf("the page does not contain the URL in the form that WordPress searches for: %s", want)
			problem.Cure = cureBytes(a, target)
		case !strings.HasPrefix(a.tag, "<a"):
			problem.Code = LinkBytes
			problem.Message = "WordPress recognises links in lower case only: <a href>"
			problem.Cure = "write <a>, not <A>"
		case !plainText(body[a.end:]):
			problem.Code = LinkText
			problem.Message = "the link has no plain text, and WordPress ignores such links"
			problem.Cure = "put words between <a> and </a>, and put headings and paragraphs around the link, not inside it"
		default:
			problem.Code = LinkHidden
			problem.Message = "markup before the link hides it from WordPress"
			problem.Cure = "close every script, style element, comment and quote before the link"
		}
		if !seen[problem.Code] {
			seen[problem.Code] = true
			problems = append(problems, problem)
		}
	}
	return problems
}

// cureBytes says how the URL must be written.
func cureBytes(a anchor, target string) string {
	switch {
	case strings.HasPrefix(a.href, "//"):
		return "write the URL with its scheme, https:"
	case strings.Contains(target, "&") && a.href == target:
		return "write each & in the URL as &amp;, and keep the minifier from changing it"
	case a.href == target:
		return "write the URL without character references other than &amp;"
	}
	return "write the URL in full, exactly as in this message"
}

// linksTo returns the links to target in page order.
func linksTo(source string, body []byte, target string) []anchor {
	base, _ := weburl.Parse(source) // without it, only absolute links are found
	rebased := false
	var found []anchor
	for tag := range scanhtml.Tags(body) {
		href, has := tag.Attribute("href")
		switch {
		case !has:
		case tag.Data == "base" && !rebased: // only the first counts
			if u, err := base.Resolve(href); err == nil {
				base = u
			}
			rebased = true
		case tag.Data == "a":
			if href = strings.TrimSpace(href); isTarget(base, href, target) {
				found = append(found, anchor{offset: tag.Offset, end: tag.Offset + len(tag.Raw), tag: string(tag.Raw), href: href})
			}
		}
	}
	return found
}

// isTarget reports whether href is target, as written or resolved.
func isTarget(base weburl.URL, href, target string) bool {
	if href == target {
		return true
	}
	u, err := base.Resolve(href)
	return err == nil && u.String() == target
}

// plainText reports whether WordPress finds text after a start tag <a>: block tags
// end it, other tags are dropped, and a > makes it invalid.
func plainText(after []byte) bool {
	after = after[:min(len(after), wordpressReads)]
	end := bytes.Index(after, []byte("</a>"))
	if end < 0 {
		return false
	}
	inner := blocks().ReplaceAll(blanks().ReplaceAll(after[:end], []byte(" ")), []byte(paragraphs))
	if bytes.Contains(inner, []byte(paragraphs)) {
		return false
	}
	inner = keepLinks(scripts().ReplaceAll(inner, nil))
	return len(inner) > 0 && bytes.IndexByte(inner, '>') < 0
}

var titleTag = text.Regexp(`(?i)<title`)

// noTitle returns the problem of a page in which WordPress finds no title.
func noTitle(body []byte) (Problem, bool) {
	if title(body) != "" {
		return Problem{}, false
	}
	problem := Problem{Code: NoTitle, Protocol: ledger.Pingback, Offset: -1,
		Message: "the page has no <title> with text, and WordPress refuses such pages (fault 32)",
		Cure:    "give the page a title"}
	if m := titleTag().FindIndex(body); m != nil {
		at := m[0]
		problem.Offset = at
		switch {
		case at >= wordpressReads:
			problem.Message = fmt.Sprintf("the title starts %d bytes into the page, but WordPress reads only the first %d", at, wordpressReads)
			problem.Cure = "move the title to the start of the head"
		case !bytes.HasPrefix(body[m[1]:], []byte(">")):
			problem.Message = "the title element has attributes, and WordPress recognises only <title>"
			problem.Cure = "write <title> without attributes"
		}
	}
	return problem, true
}

// refusedSource says why WordPress does not fetch a source with that URL, or
// returns "" if it does (wp_http_validate_url). WordPress trusts its own host and
// port, which are those of the target. It also looks up whether the host is
// public; that is not repeated here.
func refusedSource(raw, target string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "its URL cannot be parsed"
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "its URL is not an http or https URL"
	}
	if u.User != nil {
		return "its URL contains a user name"
	}
	if strings.HasPrefix(u.Host, "[") {
		return "its host is an IPv6 address"
	}
	if own, err := url.Parse(target); err == nil && own.Host == u.Host {
		return ""
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && isInternal(ip) {
		return "its host is not on the public internet"
	}
	switch u.Port() {
	case "", "80", "443", "8080":
		return ""
	}
	return "its port is not 80, 443 or 8080"
}

// isInternal reports whether WordPress refuses to connect to an address.
func isInternal(ip netip.Addr) bool {
	return ip.IsPrivate() || ip.IsLoopback() || ip.Is4() && ip.As4()[0] == 0
}
