package site

import (
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/scan"
)

// Options say how the docroot is published and read. The zero value is a site
// at the root of an unknown host, served as the generic profile says.
type Options struct {
	// BaseURLs are the addresses at which the docroot is published, such as
	// https://example.org/sub/. Links to any of them are internal, whatever
	// their scheme (http or https); the path of the first one is the base path.
	// Each must be absolute, http or https.
	BaseURLs []string
	// BasePath is the path, such as /sub/, at which a docroot without BaseURLs and
	// Roots is published on a host that is not known; empty for its root.
	BasePath string
	// Roots, when not empty, take the place of BaseURLs: parts of the docroot
	// that are published at addresses of their own. Links from one to another are
	// internal.
	Roots []host.Root
	// RefNotFound is the value, as written, that the generator puts in the place of
	// a reference in a page that it cannot resolve; empty for none.
	RefNotFound string
	// Profile says how the host answers; the zero value is [Generic].
	Profile host.Profile
	// ProfileFrom names the file that told the profile, for reports; empty when
	// somebody chose it.
	ProfileFrom string
	// Index, when not empty, replaces the profile's list of default index
	// files, in this order (LL-80).
	Index []string
	// Autoindex says what answers a directory without index file.
	Autoindex host.Autoindex
	// Base selects how <base href> rules a page (A-LL-4).
	Base host.BaseRule
	// Tags selects the table of what counts as a link (A-LL-7).
	Tags scan.Tags
	// Maps are the rules of --map, in the order given (LL-90, LL-91).
	Maps []host.MapRule
	// Rules are redirect rules that stand in no file of the docroot or project;
	// the host asks them first.
	Rules []*redirect.File
	// Project is the directory where the host's files lie that are no part of
	// the docroot, such as netlify.toml; empty for none.
	Project string
	// NoRuleFiles: the host's rule files are not read.
	NoRuleFiles bool
	// DefaultCharset is the encoding of pages that declare none and come
	// without a charset from the server; empty means the profile's.
	DefaultCharset string
	// PageExtensions, when not empty, replaces the endings of the names of HTML
	// pages (LL-27), see [DefaultPageExtensions]: without dot, in any letter
	// case. Those named xhtml are read as XML. An ending that would have been
	// read as something else is HTML then.
	PageExtensions []string
	// MaxPageBytes is the size above which a page is not read; 0 means 1 GiB.
	MaxPageBytes int64
	// Sums keeps a hash of each page's file, see [Page.Sum].
	Sums bool
	// Jobs is the number of workers; 0 means one per processor.
	Jobs int
	// Inspect, when set, is called once for each worker, from one goroutine at a
	// time, and returns what looks at the HTML pages that the worker reads.
	Inspect func() Inspector
	// Progress, when set, is called now and then, from one goroutine at a
	// time, with the number of pages read so far and of all pages.
	Progress func(done, total int)
}

// host returns the options of the host.
func (o *Options) host() host.Options {
	return host.Options{
		BaseURLs: o.BaseURLs, BasePath: o.BasePath, Roots: o.Roots, Profile: o.Profile, ProfileFrom: o.ProfileFrom,
		Index: o.Index, Autoindex: o.Autoindex, Maps: o.Maps, Rules: o.Rules, Project: o.Project, NoRuleFiles: o.NoRuleFiles, Jobs: o.Jobs,
	}
}

// Inspector looks at an HTML page while its text is in memory. It must keep
// nothing of page.
type Inspector func(kind PageKind, page *scan.Page) Inspected

// Inspected is what an [Inspector] found on a page. What its numbers mean, only
// the inspector knows.
type Inspected struct {
	Flags uint8
	// Marks are places of the page's text, see [Reader.Place].
	Marks []Mark
}

// Mark is a place on a page.
type Mark struct {
	Off  uint32
	What uint8
}

// Inspected returns what [Options.Inspect] found on the page.
func (p *Page) Inspected() Inspected { return p.inspected }

// inspect has the worker's inspector look at a page.
func (w *worker) inspect(p *Page, page *scan.Page) {
	if w.inspector != nil && p.kind.IsHTML() {
		p.inspected = w.inspector(p.kind, page)
	}
}
