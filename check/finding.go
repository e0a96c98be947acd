package check

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// Finding is one fault: a link that is broken or doubtful, or something wrong
// with a file. The fields up to Final mean what they mean for a [Link].
type Finding struct {
	// Page is the docroot-relative slash path of the file that has the fault.
	Page string
	// Line and Column count from 1, Column in Unicode code points; Offset
	// counts bytes from the start of the file. They are 0 when the fault has no
	// place in the file.
	Line, Column int
	Offset       int64
	// Element, Attribute and Raw are the link as written. All are empty for a
	// fault of the file itself, such as unclosed-comment.
	Element, Attribute, Raw string
	// Target and Fragment are where the link leads.
	Target, Fragment string
	// Verdict is Error or Warning.
	Verdict Verdict
	// Code says what kind of fault it is.
	Code Code
	// Status is the HTTP status of the host's final answer, 0 when not known.
	Status int
	// Final is the site path that answers after the host's redirects, when it
	// is not Target.
	Final string
	// File is the docroot path of the file that answers, if Target or Final is
	// the path of a directory; else it is empty (LL-85).
	File string

	// Message says in one line what is wrong.
	Message string
	// Suggestion is what the author most likely meant, ready to be written in
	// place of Raw; empty when nothing similar exists.
	Suggestion string
	// Source is the place in the sources of the site, nil when not known. Run
	// does not set it.
	Source *Position
	// Related is a place in the sources that helps to repair the link, such as
	// the heading that Suggestion leads to; nil when there is none. Run does not
	// set it.
	Related *Related
	// Remote is what is remembered of a link to another site that was asked for, else
	// nil. Run does not set it.
	Remote *Remote
	// Concerns says who relies on what is gone, for address-gone and anchor-gone; nil
	// when that is not known. Run does not set it.
	Concerns *Concerns
	// Count is the number of links that the finding stands for: 1, or more for a
	// code that is reported once for each target (script-fragment).
	Count int

	// about distinguishes faults of one file with the same code, such as the text
	// of a redirect rule. See [Fingerprints].
	about string
	// evidence is that of a [ScriptFragment], or the rule of the host for [ViaRedirect].
	evidence string
	// linkCode is the code that the entry of a sitemap or feed would have as a
	// plain link.
	linkCode Code
	node     docroot.NodeID // the file that answers or was meant
	hasBase  bool           // the page has a base element
	// translation: the link is to the page itself in another language, as that of a switcher.
	translation bool
	// temporary: a temporary redirect answers, so the address of the link is the right one.
	temporary bool
	// context identifies the markup around the link, see [isite.Detail].
	context uint64
	isFeed  bool // Page is a feed
	// meant is the site path or the URL that the link means, as the host knows it.
	meant string
	// others has a bit for each of Result.others that would answer the link.
	others uint32
	// lacking is the length of the first part of Target that the docroot lacks.
	lacking int
}

// Position is a place in a source file.
type Position struct {
	// File is a slash path relative to the project's root, or absolute for a
	// file outside of it, such as one of a Hugo module.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Kind says what kind of file it is.
	Kind SourceKind `json:"kind,omitempty"`
	// Module names the theme or module that File belongs to; it is empty for
	// the project itself.
	Module string `json:"module,omitempty"`
}

// SourceKind is a kind of source file.
type SourceKind string

// The kinds of source files.
const (
	// InContent is a file that pages are written in, or one of unknown kind.
	InContent SourceKind = ""
	// InTemplate is a template, layout or partial. One repair there repairs all
	// pages that it writes.
	InTemplate SourceKind = "template"
	// InData is a data file, or a file of translations.
	InData SourceKind = "data"
	// InConfiguration is a configuration file of the generator, such as one that
	// defines menus.
	InConfiguration SourceKind = "configuration"
	// InAsset is a style sheet or script that the generator processes.
	InAsset SourceKind = "asset"
	// InStatic is a file that is published as it is.
	InStatic SourceKind = "static"
)

// Related is a place that helps to repair a finding.
type Related struct {
	Position
	// Text describes the place in a few words, such as: heading "Set up".
	Text string `json:"text"`
}

// Concerns says who relies on an address or an anchor, as far as it is known.
type Concerns struct {
	// Links counts the links of the site that lead there, Mentions the received
	// mentions of it, and Requests those in an access log.
	Links    int `json:"links"`
	Mentions int `json:"mentions"`
	Requests int `json:"requests"`
	// Pages are pages of the site that have such links, Sources those of other
	// sites that mention it, and Referrers those that visitors came from: at most
	// three of each.
	Pages     []string `json:"pages"`
	Sources   []string `json:"sources"`
	Referrers []string `json:"referrers"`
}

// AnsweringFile returns the docroot path of the file that the host sends for
// the link, or of the directory if it sends a listing, or "". s is the site
// that was checked.
func (f *Finding) AnsweringFile(s *site.Site) string { return answeringFile(s, f.Status, f.node) }

func answeringFile(s *site.Site, status int, node docroot.NodeID) string {
	if status != 200 || node == docroot.NoNode {
		return ""
	}
	return isite.Unwrap(s).Tree().Path(node)
}

// Link returns the link that the finding is about. For a fault of a file it has
// no Element and no Raw.
func (f *Finding) Link() Link {
	return Link{
		Page: f.Page, Line: f.Line, Column: f.Column, Offset: f.Offset, Element: f.Element, Attribute: f.Attribute,
		Raw: f.Raw, Target: f.Target, Fragment: f.Fragment, Verdict: f.Verdict, Code: f.Code, Status: f.Status, Final: f.Final,
		File: f.File, Message: f.Message, Remote: f.Remote, node: f.node, linkCode: f.linkCode, meant: f.meant,
	}
}

// plainCode returns the code, for the entry of a sitemap or feed that of the
// link alone.
func (f *Finding) plainCode() Code { return cmp.Or(f.linkCode, f.Code) }

// own gives a finding strings of its own: those of a detail last only until
// the next page is read.
func (f *Finding) own() {
	f.Raw, f.Fragment = strings.Clone(f.Raw), strings.Clone(f.Fragment)
}

// isFileFault reports whether a finding is about a file, not about a link. A
// link has an element, or a value if it is in an image map.
func isFileFault(f *Finding) bool { return f.Element == "" && f.Raw == "" }

func compareFindings(a, b Finding) int {
	if c := strings.Compare(a.Page, b.Page); c != 0 || a.Offset != b.Offset {
		return cmp.Or(c, cmp.Compare(a.Offset, b.Offset))
	}
	return cmp.Or(strings.Compare(string(a.Code), string(b.Code)),
		strings.Compare(a.Target, b.Target), strings.Compare(a.Fragment, b.Fragment),
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Message, b.Message))
}

// mergeFindings returns both lists in one, sorted. The findings of all are
// usually in order already, and sorting them again would take as long as finding
// them. They are moved in place if all has room for more.
func mergeFindings(all, more []Finding) []Finding {
	if !slices.IsSortedFunc(all, compareFindings) {
		slices.SortFunc(all, compareFindings)
	}
	slices.SortFunc(more, compareFindings)
	i, j := len(all), len(more)
	all = append(all, more...)
	for k := len(all) - 1; j > 0; k-- {
		if i > 0 && compareFindings(all[i-1], more[j-1]) > 0 {
			i--
			all[k] = all[i]
		} else {
			j--
			all[k] = more[j]
		}
	}
	return all
}

// kept is a finding with what [Causes] and [Fingerprints] know of it beside its exported
// fields.
type kept struct {
	Finding
	About    string `json:",omitempty"`
	Evidence string `json:",omitempty"`
	LinkCode Code   `json:",omitempty"`
	Context  uint64 `json:",omitempty"`
	IsFeed   bool   `json:",omitempty"`
	Lacking  int    `json:",omitempty"`
}

// MarshalFindings returns findings as JSON, to be read by [UnmarshalFindings] of the same
// version. Their [Causes] and [Fingerprints] stay the same.
func MarshalFindings(findings []Finding) ([]byte, error) {
	all := make([]kept, len(findings))
	for i, f := range findings {
		all[i] = kept{f, f.about, f.evidence, f.linkCode, f.context, f.isFeed, f.lacking}
	}
	return json.Marshal(all)
}

// UnmarshalFindings returns the findings that [MarshalFindings] wrote.
func UnmarshalFindings(text []byte) ([]Finding, error) {
	var all []kept
	err := json.Unmarshal(text, &all)
	findings := make([]Finding, len(all))
	for i, k := range all {
		f := k.Finding
		f.about, f.evidence, f.linkCode, f.context, f.isFeed, f.lacking = k.About, k.Evidence, k.LinkCode, k.Context, k.IsFeed, k.Lacking
		findings[i] = f
	}
	return findings, err
}

// IsTranslation reports whether a link to a missing page asks for the page itself in another
// language, as the language switcher of a theme does: zh/a.html from a.html.
func (f *Finding) IsTranslation() bool { return f.translation }
