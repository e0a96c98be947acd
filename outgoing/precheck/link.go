package precheck

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// anchor is one <a href> of a page.
type anchor struct {
	offset, end int    // of its start tag
	tag         string // the start tag as written
	href        string // the value, entities decoded
}

// linkProblems returns what is wrong with the page's links to target. One good link is
// enough.
func linkProblems(p Page, target string) []Problem {
	links := anchors(p, target)
	if len(links) == 0 {
		return []Problem{{Code: NoLink, Offset: -1,
			Message: fmt.Sprintf("the page has no link to %s", target),
			Cure:    "link to it by <a href>, or send nothing"}}
	}
	if linked(p.Body, target) {
		return nil
	}
	want := asWritten(target)
	var problems []Problem
	seen := map[Code]bool{}
	for _, a := range links {
		problem := Problem{Protocol: ledger.Pingback, Offset: a.offset}
		switch {
		case a.end > read:
			problem.Code = LinkLate
			problem.Message = fmt.Sprintf("the link begins %d bytes into the page, and WordPress reads %d", a.offset, read)
			problem.Cure = "move style sheets, scripts and drawings into files of their own"
		case !strings.Contains(a.tag, want):
			problem.Code = LinkBytes
			problem.Message = fmt.Sprintf("the page does not write the address as WordPress looks for it: %s", want)
			problem.Cure = cureBytes(a, target)
		case !strings.HasPrefix(a.tag, "<a"):
			problem.Code = LinkBytes
			problem.Message = "WordPress sees links in lower case only: <a href>"
			problem.Cure = "write <a>, not <A>"
		case !plainText(p.Body[a.end:]):
			problem.Code = LinkText
			problem.Message = "the link holds no plain text, and WordPress sees no other links"
			problem.Cure = "put some words between <a> and </a>, and headings and paragraphs around the link, not into it"
		default:
			problem.Code = LinkHidden
			problem.Message = "WordPress does not see the link, for markup before it hides it"
			problem.Cure = "look for a script, style element, comment or quote before the link that is not closed"
		}
		if !seen[problem.Code] {
			seen[problem.Code] = true
			problems = append(problems, problem)
		}
	}
	return problems
}

// cureBytes says how the address has to be written.
func cureBytes(a anchor, target string) string {
	switch {
	case strings.HasPrefix(a.href, "//"):
		return "write the address with its scheme, https:"
	case strings.Contains(target, "&") && a.href == target:
		return "write each & of the address as &amp;, and keep the minifier from changing it"
	case a.href == target:
		return "write the address without character references but &amp;"
	}
	return "write the address in full, as it stands in this message"
}

// anchors returns the page's links whose address is target, in the page's order.
func anchors(p Page, target string) []anchor {
	base, _ := weburl.Parse(p.URL) // without it, absolute links are found
	rebased := false
	var found []anchor
	z := html.NewTokenizer(bytes.NewReader(p.Body))
	offset := 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return found
		}
		raw := z.Raw()
		start := offset
		offset += len(raw)
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag := string(raw)
		name, attributes := z.TagName()
		if isBase := string(name) == "base"; !attributes || string(name) != "a" && (!isBase || rebased) {
			continue
		} else if isBase {
			base, rebased = rebase(z, base)
			continue
		}
		for more := true; more; {
			var key, value []byte
			key, value, more = z.TagAttr()
			if string(key) != "href" {
				continue
			}
			if href := strings.TrimSpace(string(value)); leads(base, href, target) {
				found = append(found, anchor{offset: start, end: offset, tag: tag, href: href})
			}
			break
		}
	}
}

// rebase resolves the base element that z stands at; only the first with an href
// counts.
func rebase(z *html.Tokenizer, base weburl.URL) (weburl.URL, bool) {
	for more := true; more; {
		var key, value []byte
		if key, value, more = z.TagAttr(); string(key) == "href" {
			if u, err := base.Resolve(string(value)); err == nil {
				base = u
			}
			return base, true
		}
	}
	return base, false
}

// leads tells whether href is target, as written or made absolute.
func leads(base weburl.URL, href, target string) bool {
	if href == target {
		return true
	}
	u, err := base.Resolve(href)
	return err == nil && u.String() == target
}

// plainText tells whether what follows a start tag <a> is text that WordPress
// sees: tags of blocks end it, other tags are dropped, a > spoils it.
func plainText(after []byte) bool {
	after = after[:min(len(after), read)]
	end := bytes.Index(after, []byte("</a>"))
	if end < 0 {
		return false
	}
	inner := blocks.ReplaceAll(blanks.ReplaceAll(after[:end], []byte(" ")), []byte(paragraphs))
	if bytes.Contains(inner, []byte(paragraphs)) {
		return false
	}
	inner = keepLinks(scripts.ReplaceAll(inner, nil))
	return len(inner) > 0 && bytes.IndexByte(inner, '>') < 0
}

var titleTag = regexp.MustCompile(`(?i)<title`)

// noTitle is the problem of a page in which WordPress finds no title.
func noTitle(body []byte) (Problem, bool) {
	if title(body) != "" {
		return Problem{}, false
	}
	problem := Problem{Code: NoTitle, Protocol: ledger.Pingback, Offset: -1,
		Message: "the page has no <title> with text, without which WordPress refuses it (as fault 32)",
		Cure:    "give the page a title"}
	if m := titleTag.FindIndex(body); m != nil {
		at := m[0]
		problem.Offset = at
		switch {
		case at >= read:
			problem.Message = fmt.Sprintf("the title begins %d bytes into the page, and WordPress reads %d", at, read)
			problem.Cure = "put the title at the beginning of the head"
		case !bytes.HasPrefix(body[m[1]:], []byte(">")):
			problem.Message = "the title element has attributes, and WordPress sees <title> only"
			problem.Cure = "write <title> without attributes"
		}
	}
	return problem, true
}
