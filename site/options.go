package site

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"

	isite "github.com/sitelink/sitelink/internal/site"
)

// Options describe how a docroot is published and how to read it. The zero
// value is a site at the root of a host that serves files as most servers do
// in their default configuration.
type Options struct {
	// BaseURLs are the addresses at which the docroot is published, such as
	// https://example.org/sub/. Each is absolute, http or https. A link to any
	// of them is internal, whichever of the two schemes it has. The path of the
	// first one is the site's base path.
	BaseURLs []string
	// BasePath is the base path, such as /sub/, of a site with an unknown host.
	// It counts only without BaseURLs and Roots.
	BasePath string
	// Roots replace BaseURLs if the directories of a docroot are published at
	// different addresses. A link from one root to another is internal.
	Roots []Root

	// Profile names the hosting profile, see [Profiles]; empty means generic.
	Profile string
	// Host overrides keys of the profile, as the table [host] of sitelink.toml
	// does: "index-file": {"redirect"}. A key that takes a list takes several
	// values, every other key takes one. docs/reference/profiles.md lists the keys.
	Host map[string][]string
	// Index replaces the profile's list of index files, in the order in which
	// the host tries them.
	Index []string
	// Autoindex says what the host sends for a directory without index file.
	Autoindex Autoindex
	// Base selects how <base href> is read.
	Base BaseRule
	// Maps rewrite the paths of links before the host is asked, in this order.
	Maps []Map
	// Redirects are redirects of the host that no file of the docroot or
	// project defines. The host tries them first.
	Redirects []Redirect
	// Project is the directory that holds rule files of the host outside the
	// docroot, such as netlify.toml; empty for none.
	Project string
	// NoRuleFiles turns off the reading of the host's rule files.
	NoRuleFiles bool

	// RefNotFound is the text that the site's generator writes in place of a
	// reference that it cannot resolve; empty for none.
	RefNotFound string
	// Generator is the program that wrote the docroot, in lower case: hugo, mkdocs,
	// docusaurus; empty if it is not known. The advice in messages is for that program.
	Generator string
	// RelativeURLs says that Hugo's setting relativeURLs is on.
	RelativeURLs bool
	// DefaultCharset is the encoding of pages that declare none, such as
	// windows-1252; empty means the profile's.
	DefaultCharset string
	// PageExtensions replaces the file extensions of HTML pages, without dot and
	// in any letter case; empty means html, htm and the like. Files with the
	// extension xhtml are read as XML.
	PageExtensions []string
	// MaxPageBytes is the size above which a page is not read; 0 means 1 GiB.
	MaxPageBytes int64
	// Jobs is the number of workers; 0 means one for each processor.
	Jobs int
	// Progress, when set, is called now and then with the number of pages read
	// so far and of all pages, by one goroutine at a time.
	Progress func(done, total int)
}

// Root is a directory of the docroot with an address of its own.
type Root struct {
	// Dir is a slash path relative to the docroot; "" is the docroot itself.
	Dir string
	// URL is the address, absolute, http or https.
	URL string
}

// Map replaces the beginning of a link's path. From and To are whole path
// segments; an empty To removes them.
type Map struct{ From, To string }

// Redirect is one redirect of the host.
type Redirect struct {
	// From is a path. A final * matches the rest of the path, which :splat
	// inserts into To; :name matches one segment.
	From string
	// To is a path of the site, or an http or https URL.
	To string
	// Status is the HTTP status; 0 means 301.
	Status int
	// Force applies the redirect even where a file answers From.
	Force bool
}

// Autoindex says what a host sends for a directory without index file.
type Autoindex string

const (
	AutoindexProfile Autoindex = ""      // as the profile says
	AutoindexList    Autoindex = "list"  // a listing of the directory
	AutoindexError   Autoindex = "error" // an error
)

// BaseRule selects how <base href> is read.
type BaseRule string

const (
	// BaseHTML5 applies the first base element to the whole page, as browsers
	// do.
	BaseHTML5 BaseRule = "html5"
	// BaseDocumentOrder applies each base element to what follows it.
	BaseDocumentOrder BaseRule = "document-order"
)

// Profiles returns the names of the hosting profiles, sorted.
func Profiles() []string {
	var names []string
	for _, p := range host.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// inner converts the options.
func (o *Options) inner() (isite.Options, error) {
	in := isite.Options{
		BaseURLs: o.BaseURLs, BasePath: o.BasePath, Index: o.Index, Project: o.Project, NoRuleFiles: o.NoRuleFiles,
		RefNotFound: o.RefNotFound, Generator: o.Generator, RelativeURLs: o.RelativeURLs, DefaultCharset: o.DefaultCharset, PageExtensions: o.PageExtensions,
		MaxPageBytes: o.MaxPageBytes, Jobs: o.Jobs, Progress: o.Progress,
	}
	for _, r := range o.Roots {
		in.Roots = append(in.Roots, host.Root{Dir: r.Dir, Base: r.URL})
	}
	for _, m := range o.Maps {
		in.Maps = append(in.Maps, host.MapRule{From: m.From, To: m.To})
	}
	if len(o.Redirects) > 0 {
		in.Rules = []*redirect.File{redirectFile(o.Redirects)}
	}
	var err error
	if in.Profile, err = profile(o.Profile, o.Host); err != nil {
		return in, err
	}
	in.HostUnknown = o.Profile == "" && len(o.Host) == 0
	switch o.Autoindex {
	case AutoindexProfile:
	case AutoindexList:
		in.Autoindex = host.AutoindexList
	case AutoindexError:
		in.Autoindex = host.AutoindexError
	default:
		return in, fmt.Errorf("option Autoindex is %q, want %q, %q or %q", o.Autoindex, AutoindexProfile, AutoindexList, AutoindexError)
	}
	switch o.Base {
	case "":
	case BaseHTML5:
		in.Base = host.BaseHTML5
	case BaseDocumentOrder:
		in.Base = host.BaseDocumentOrder
	default:
		return in, fmt.Errorf("option Base is %q, want %q, %q or nothing", o.Base, BaseHTML5, BaseDocumentOrder)
	}
	return in, nil
}

// profile returns the profile of that name with the given keys.
func profile(name string, keys map[string][]string) (host.Profile, error) {
	p := host.Generic
	if name != "" {
		var known bool
		if p, known = host.ProfileByName(name); !known {
			return p, fmt.Errorf("no hosting profile is named %q; Profiles lists the names", name)
		}
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := p.Set(key, keys[key]); err != nil {
			errs = append(errs, fmt.Errorf("host key %q: %w", key, err))
		}
	}
	if len(keys) > 0 {
		p.Name += ", changed"
	}
	return p, errors.Join(errs...)
}

// redirectFile puts the redirects into the form of a rule file. Messages about a
// rule give its number as the line.
func redirectFile(redirects []Redirect) *redirect.File {
	rules := make([]redirect.GenericRule, len(redirects))
	for i, r := range redirects {
		rules[i] = redirect.GenericRule{From: r.From, To: r.To, Status: r.Status, Force: r.Force, Line: i + 1}
	}
	return redirect.Generic("Options.Redirects", rules)
}
