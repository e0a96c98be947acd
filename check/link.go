package check

import (
	"cmp"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Link is one link of a page with its verdict: a row of `check --show all`. Its
// fields up to Final are a contract, see docs/reference/formats.md.
type Link struct {
	// Page is the docroot-relative slash path of the file that holds the link.
	Page string
	// Line and Column count from 1, Column in Unicode code points. They are the
	// place of the first character of the attribute's value.
	Line, Column int
	// Offset counts bytes from the start of the file.
	Offset int64
	// Element and Attribute are lower case. Attribute is empty where the text of
	// the element holds the link, as in style elements and JSON-LD.
	Element, Attribute string
	// Raw is the value as the DOM has it: with character references decoded, not
	// trimmed, and for srcset the URL of one candidate.
	Raw string
	// Target is the site path as a browser would request it, percent-encoded,
	// with its query, such as /a/b.html?q. For an external link it is the
	// absolute URL. It is empty where the value is no URL.
	Target string
	// Fragment is the part of the resolved URL after #.
	Fragment string
	Verdict  Verdict
	// Code says why; it is empty when the link is fine.
	Code Code
	// Status is the HTTP status of the host's final answer, 0 when not known.
	Status int
	// Final is the site path that answers after the host's redirects, when it
	// is not Target.
	Final string

	// File is the docroot path of the file that answers, if Target or Final is
	// the path of a directory; else it is empty (LL-85).
	File string
	// Message says in one line what is wrong; it is empty for a link that is
	// fine or was not checked.
	Message string

	node docroot.NodeID // the file that answers or was meant
	was  Code           // the code that the entry of a sitemap or feed would have as a plain link
}

// AnsweringFile returns the docroot path of the file, or of the directory whose
// listing, the host sends for the link; "" when there is none. s is the site
// that was checked.
func (l *Link) AnsweringFile(s *site.Site) string { return fileOf(s, l.Status, l.node) }

// AnsweringFile returns the docroot path of the file, or of the directory whose
// listing, the host sends for the link; "" when there is none. s is the site
// that was checked.
func (f *Finding) AnsweringFile(s *site.Site) string { return fileOf(s, f.Status, f.node) }

func fileOf(s *site.Site, status int, node docroot.NodeID) string {
	if status != 200 || node == docroot.NoNode {
		return ""
	}
	return isite.Unwrap(s).Tree().Path(node)
}

// Finding returns the link as a finding, without suggestion.
func (l *Link) Finding() Finding {
	return Finding{
		Page: l.Page, Line: l.Line, Column: l.Column, Offset: l.Offset, Element: l.Element, Attribute: l.Attribute,
		Raw: l.Raw, Target: l.Target, Fragment: l.Fragment, Verdict: l.Verdict, Code: l.Code, Status: l.Status, Final: l.Final,
		File: l.File, Message: l.Message, Count: 1, node: l.node, was: l.was,
	}
}

// Link returns the link that the finding is about. For a fault of a file it has
// no Element and no Raw.
func (f *Finding) Link() Link {
	return Link{
		Page: f.Page, Line: f.Line, Column: f.Column, Offset: f.Offset, Element: f.Element, Attribute: f.Attribute,
		Raw: f.Raw, Target: f.Target, Fragment: f.Fragment, Verdict: f.Verdict, Code: f.Code, Status: f.Status, Final: f.Final,
		File: f.File, Message: f.Message, node: f.node, was: f.was,
	}
}

// linkOf describes a link of a page. Its Raw and Fragment last as long as those
// of d.
func linkOf(s *isite.Site, page string, d *isite.Detail, j judgement) Link {
	l := Link{
		Page: page, Line: d.Line, Column: d.Column, Offset: d.Offset, Element: d.Element, Attribute: d.Attribute,
		Raw: d.Raw, Target: d.Target, Fragment: d.Fragment, Verdict: j.verdict, Code: j.code, Status: d.Status, Final: d.Final,
		node: d.Node, was: underlying(d, j.code),
	}
	path, _, _ := strings.Cut(cmp.Or(d.Final, d.Target), "?")
	if d.State.Answers() && d.Node != docroot.NoNode && strings.HasSuffix(path, "/") {
		l.File = s.Tree().Path(d.Node)
	}
	return l
}
