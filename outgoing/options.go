package outgoing

import (
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"github.com/bmatcuk/doublestar/v4"
)

// Options say which pages speak to others, and which of their links count.
type Options struct {
	// Pages and Exclude are globs of docroot paths, with / between segments and
	// ** for any number of them. No Pages means all.
	Pages, Exclude []string
	// Allow and Deny are patterns of targets: HOST, *.HOST, or a glob of a whole
	// URL. No Allow means all; Deny comes before Allow.
	Allow, Deny []string
	// Content is a CSS selector of the elements whose links count, in place of
	// the rules of [Entries].
	Content string
	// Rel are the link types that keep a link from counting.
	Rel []string
	// Internal finds the links between the site's own pages too. All pages are
	// read then, and their targets are those of the pages.
	Internal bool
	// Hubs reads a feed and returns the hubs that are to be told when it
	// changes; nil when feeds tell nobody.
	Hubs func(feed []byte) []string
}

// DefaultRel are the link types by which an author says that a link is no
// recommendation of his.
var DefaultRel = []string{"nofollow", "ugc", "sponsored"}

// rules are options that were understood.
type rules struct {
	opt     Options
	content cascadia.SelectorGroup
	rel     map[string]bool
	// print tells options apart: with others, a page that did not change may
	// have other links that count.
	print uint64
}

// compile checks the options. The error names the field and the value.
func (o Options) compile() (*rules, error) {
	r := &rules{opt: o, rel: make(map[string]bool), print: fingerprint(o)}
	for _, list := range []struct {
		name  string
		globs []string
	}{{"pages", o.Pages}, {"exclude", o.Exclude}, {"allow", o.Allow}, {"deny", o.Deny}} {
		for _, glob := range list.globs {
			if !doublestar.ValidatePattern(glob) {
				return nil, fmt.Errorf("%s: %q is no pattern", list.name, glob)
			}
		}
	}
	for _, rel := range o.Rel {
		r.rel[strings.ToLower(rel)] = true
	}
	if o.Content != "" {
		sel, err := cascadia.ParseGroup(o.Content)
		if err != nil {
			return nil, fmt.Errorf("content: %q is no selector: %w", o.Content, err)
		}
		r.content = sel
	}
	return r, nil
}

// Check returns the error that working with these options would give.
func (o Options) Check() error {
	_, err := o.compile()
	return err
}

// takes tells whether the page at a docroot path speaks to others.
func (r *rules) takes(path string) bool {
	return !matches(r.opt.Exclude, path) && (len(r.opt.Pages) == 0 || matches(r.opt.Pages, path))
}

func matches(globs []string, path string) bool {
	for _, glob := range globs {
		if ok, _ := doublestar.Match(glob, path); ok { // checked by compile
			return true
		}
	}
	return false
}

// tells tells whether a target may be told.
func (r *rules) tells(host, url string) bool {
	return !names(r.opt.Deny, host, url) && (len(r.opt.Allow) == 0 || names(r.opt.Allow, host, url))
}

// names tells whether one of the patterns names a target.
func names(patterns []string, host, url string) bool {
	for _, p := range patterns {
		text := host
		if strings.Contains(p, "/") {
			text = url
		}
		if ok, _ := doublestar.Match(p, text); ok { // checked by compile
			return true
		}
	}
	return false
}
