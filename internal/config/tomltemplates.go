package config

import (
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Templates is the table [templates]: which addresses the pages of the site
// name in their heads, and which pages do. It is set in the file alone:
// `sitelink inject`, the build and `sitelink check` must mean the same.
type Templates struct {
	// Pingback and Webmention are absolute URIs as they are published, "" for
	// none; see [Request.Endpoint].
	Pingback, Webmention string
	// Pages and Exclude are patterns of page paths in the docroot, without
	// leading slash. No Pages means all.
	Pages, Exclude []string
	// Kinds are words of [PageKinds]: the kinds of pages that are chosen.
	Kinds []string
	// Themes are the rows of [[templates.theme]].
	Themes []Theme
	// Headers: the host sends the endpoints in headers, as the user says.
	Headers bool
}

// PageKinds are the kinds of pages in the order of the manual: the site's
// first page, a page of content, a list of pages such as a section, a tag or
// the second page of an archive. Error pages and pages that only redirect are
// of no kind and never chosen.
var PageKinds = []string{"home", "page", "list"}

// templatesKeys are the keys of the table, each with what takes its value.
var templatesKeys = []struct {
	name string
	set  func(f *tomlFile, n *unstable.Node) error
}{
	{"pingback", func(f *tomlFile, n *unstable.Node) error { return f.endpoint(n, &f.cfg.Templates.Pingback) }},
	{"webmention", func(f *tomlFile, n *unstable.Node) error { return f.endpoint(n, &f.cfg.Templates.Webmention) }},
	{"pages", func(f *tomlFile, n *unstable.Node) error { return pagePatterns(n, &f.cfg.Templates.Pages) }},
	{"exclude", func(f *tomlFile, n *unstable.Node) error { return pagePatterns(n, &f.cfg.Templates.Exclude) }},
	{"kinds", pageKinds},
	{"headers", func(f *tomlFile, n *unstable.Node) error {
		if n.Kind != unstable.Bool {
			return fmt.Errorf("want true or false, got %s", describe(n))
		}
		f.cfg.Templates.Headers = string(n.Data) == "true"
		return nil
	}},
}

// templatesKey takes one key of the table [templates].
func (f *tomlFile) templatesKey(name string, at *Error, n *unstable.Node) {
	var names []string
	for _, k := range templatesKeys {
		if k.name == name {
			if err := k.set(f, n); err != nil {
				f.failAt(at, hintOf(err), "%s: %v", name, err)
			}
			return
		}
		names = append(names, k.name)
	}
	f.failAt(at, didYouMean(name, names), "unknown key %q in [templates]", name)
}

// endpoint has the function of the request check an address: what one is,
// package templates knows.
func (f *tomlFile) endpoint(n *unstable.Node, field *string) error {
	text, err := hookText(n)
	if err == nil && f.req.Endpoint != nil {
		if text, err = f.req.Endpoint(text); err != nil {
			return &hintError{err.Error(), "endpoints look like https://example.org/webmention"}
		}
	}
	if err == nil {
		*field = text
	}
	return err
}

func pagePatterns(n *unstable.Node, field *[]string) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v == "" || v[0] == '/' || !doublestar.ValidatePattern(v) {
			return fmt.Errorf("want a pattern of page paths such as post/**, without leading slash, got %q", v)
		}
	}
	*field = values
	return nil
}

func pageKinds(f *tomlFile, n *unstable.Node) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	for _, v := range values {
		if !slices.Contains(PageKinds, v) {
			return &hintError{fmt.Sprintf("want %s, got %q", oneOf(PageKinds), v), didYouMean(v, PageKinds)}
		}
	}
	if len(values) == 0 {
		return fmt.Errorf("want at least one of %s", oneOf(PageKinds))
	}
	f.cfg.Templates.Kinds = values
	return nil
}
