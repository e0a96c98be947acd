package check

import (
	"github.com/sitelink/sitelink/site"
)

// Options say what counts as a finding. The zero value reports everything.
type Options struct {
	// Ignore lists the findings the user accepts.
	Ignore []Ignore
	// ScriptFragments says what becomes of fragments that only scripts can
	// serve.
	ScriptFragments ScriptFragments
	// NoFragments turns the check of fragments and map names off (LL-63).
	NoFragments bool
	// Jobs is the number of workers; 0 means one per processor.
	Jobs int
	// From lists linksets, see [ParseLinkset]: only pages of them have their
	// links judged, as far as links lead to them from the seeds. Empty means
	// every page of the docroot.
	From []string
	// Skip lists linksets of pages whose links are not judged (LL-22).
	Skip []string
	// Limit is the number of pages whose links are judged at most, 0 for all
	// (LL-23).
	Limit int
	// More, when set, returns findings about files that this package does not
	// know of; Element and Raw are empty.
	More func(s *site.Site) []Finding
	// Orphans reports files that no page links to, and pages that no chain of
	// links leads to (LL-109).
	Orphans bool
	// Memo, when set, lets the next [Run] reuse what this one finds out.
	Memo *Memo

	scope *scope // set by Run and Links
}

// Ignore is one ignore rule. A finding is ignored when every non-empty field
// matches it. Patterns are doublestar globs: * stays within a path segment,
// ** crosses slashes.
type Ignore struct {
	// URL matches the link as written, its target without query, or its target.
	URL string
	// Page matches the docroot-relative path of the page.
	Page string
	// Fragment matches the link's fragment, percent-decoded or as written.
	Fragment string
	// Code is one of the finding codes.
	Code Code
	// Reason says why, for the reader of the configuration.
	Reason string
	// Origin names the rule in messages: "sitelink.toml:12" or "--ignore".
	Origin string
	// MayBeUnused keeps the rule out of [Summary.UnusedIgnores].
	MayBeUnused bool
}

// ScriptFragments says how fragments that only scripts can serve are judged.
type ScriptFragments uint8

const (
	// ScriptWarn reports them once per target page as a warning.
	ScriptWarn ScriptFragments = iota
	// ScriptError judges them like any other fragment.
	ScriptError
	// ScriptSilent counts them as unchecked and says nothing.
	ScriptSilent
)
