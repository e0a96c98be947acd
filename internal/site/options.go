package site

import (
	"context"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Options describe how the docroot is published and how to read it. The zero
// value is a site at the top of an unknown host that follows the generic
// profile.
type Options struct {
	// BaseURLs are the addresses at which the docroot is published, such as
	// https://example.org/sub/. Links to any of them are internal, whatever
	// their scheme (http or https); the path of the first one is the base path.
	// Each must be absolute, http or https.
	BaseURLs []string
	// BasePath is the path, such as /sub/, at which a docroot without BaseURLs and
	// Roots is published on a host that is not known; empty for its root.
	BasePath string
	// Roots, when not empty, replace BaseURLs: parts of the docroot that are
	// published at addresses of their own. Links from one to another are
	// internal.
	Roots []host.Root
	// RefNotFound is the value that the generator writes for a reference that
	// it cannot resolve; empty for none.
	RefNotFound string
	// Generator is the program that wrote the docroot, in lower case: hugo, mkdocs,
	// docusaurus; empty if it is not known. The advice in messages is for that program.
	Generator string
	// ServerPort is the port at which the generator serves the site to its author; 0 if
	// it is not known.
	ServerPort int
	// RelativeURLs says that Hugo's setting relativeURLs is on.
	RelativeURLs bool
	// Profile says how the host answers; the zero value is [host.Generic].
	Profile host.Profile
	// ProfileFrom names the file that decided the profile, for reports; empty
	// if the user chose it.
	ProfileFrom string
	// HostUnknown says that Profile is a guess: neither the user nor a file names the host.
	HostUnknown bool
	// Form is how the site writes the addresses of its pages, which suggestions follow where
	// the host answers that; "" if it is not known.
	Form weburl.Form
	// Index, when not empty, replaces the profile's index files, in this order
	// (LL-80).
	Index []string
	// Autoindex is the answer for a directory without index file.
	Autoindex host.Autoindex
	// Base selects how <base href> applies to a page (A-LL-4).
	Base host.BaseRule
	// Tags selects what counts as a link (A-LL-7).
	Tags scan.Tags
	// Maps are the rules of --map, in the order given (LL-90, LL-91).
	Maps []host.MapRule
	// Rules are redirect rules that are in no file; they apply before those of
	// rule files.
	Rules []*redirect.File
	// Project is the directory of rule files outside the docroot, such as
	// netlify.toml; empty for none.
	Project string
	Show    func(path string) string // [host.Options.Show]
	// Repository, Branches and Tracked are those of [host.Options].
	Repository string
	Branches   []string
	Tracked    func(ctx context.Context) (map[string]bool, error)
	// Input is the path of a page of Markdown that has the text InputText, whatever the file
	// system has there; "" for none.
	Input     string
	InputText []byte
	// Crawled is that of [host.Options].
	Crawled *host.Crawled
	// NoRuleFiles: the host's rule files are not read.
	NoRuleFiles bool
	// DefaultCharset is the encoding of pages that declare none and come
	// without a charset from the server; empty means the profile's.
	DefaultCharset string
	// PageExtensions, when not empty, replaces the extensions of HTML pages
	// (LL-27), see [DefaultPageExtensions]: without dot, in any letter case.
	// Files named xhtml are read as XML. An extension of another kind of file
	// becomes HTML.
	PageExtensions []string
	// MaxPageBytes is the size of the largest page that is read; 0 means 1 GiB.
	MaxPageBytes int64
	// Sums keeps a hash of each page's file, see [Page.Sum].
	Sums bool
	// Jobs is the number of workers; 0 means one per processor.
	Jobs int
	// Inspect, when set, is called once for each worker, from one goroutine at
	// a time, and returns a function that examines the HTML pages that the
	// worker reads.
	Inspect func() Inspector
	// FirstBroken, when set, is called when the first link is found that is
	// broken whatever the anchors of its target are. It must return at once.
	FirstBroken func()
	// Progress, when set, is called now and then, from one goroutine at a
	// time, with the number of pages read so far and of all pages.
	Progress func(done, total int)
}

// host returns the options of the host.
func (o *Options) host() host.Options {
	return host.Options{
		BaseURLs: o.BaseURLs, BasePath: o.BasePath, Roots: o.Roots, Profile: o.Profile, ProfileFrom: o.ProfileFrom,
		Form: o.Form, Index: o.Index, Autoindex: o.Autoindex, Maps: o.Maps, Rules: o.Rules, Project: o.Project, Show: o.Show, NoRuleFiles: o.NoRuleFiles, Jobs: o.Jobs,
		Repository: o.Repository, Branches: o.Branches, Tracked: o.Tracked, Input: o.Input, Crawled: o.Crawled,
	}
}

// Inspector examines an HTML page while its text is in memory. It must not keep
// any part of page.
type Inspector func(kind PageKind, page *scan.Page) Inspected

// Inspected is what an [Inspector] found on a page. Only the inspector knows
// what its numbers mean.
type Inspected struct {
	Flags uint8
	// Marks are positions in the page's text, see [Reader.Position].
	Marks []Mark
}

// Mark is a position on a page.
type Mark struct {
	Off  uint32
	What uint8
}

// Inspected returns what [Options.Inspect] found on the page.
func (p *Page) Inspected() Inspected { return p.inspected }
