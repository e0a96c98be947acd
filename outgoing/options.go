package outgoing

import (
	"fmt"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"github.com/cespare/xxhash/v2"
	"github.com/sitelink/sitelink/internal/glob"
)

// Options select the pages and links that cause notices. The zero value selects
// all.
type Options struct {
	// Pages and Exclude are globs of docroot paths, in which ** matches any
	// number of segments. Without Pages, all pages are selected.
	Pages, Exclude []string
	// Allow and Deny are patterns of targets: HOST, *.HOST, or a glob of a whole
	// URL. Without Allow, all targets are selected. Deny overrides Allow.
	Allow, Deny []string
	// Content is a CSS selector: links count if they are in elements that it
	// matches. It replaces the rules of [Read].
	Content string
	// Rel are link types; links with one of them do not count.
	Rel []string
	// Updates says which targets learn that a page with a link to them changed.
	Updates Updates
	// Now is when the plan is made: the current time if zero. A target that took no
	// notices is asked again 30 days later, at most ten such targets in a plan.
	Now time.Time
	// Internal also collects the links between the site's own pages, in
	// [Entry.Internal]. All pages are read then.
	Internal bool
	// Hubs returns the hubs to notify when a feed changes, from the bytes of the
	// feed, as Hubs of package send does. If nil, feeds are not
	// entries.
	Hubs func(feed []byte) []string
}

// Updates selects the links that get an update when their page changed and they
// stayed. It does not affect other notices: new links are always announced, and so are
// links to targets that accepted no notices before. A removed link, or a page that
// moved or was deleted, is announced if the target was notified of the link. Hubs
// always learn that a feed changed.
type Updates string

const (
	// UpdateAnnounced selects the links that were announced before. Links that the
	// first run only recorded get no update when their page is edited. It is the
	// default: "" means the same.
	UpdateAnnounced Updates = "announced"
	// UpdateAll selects all links, and takes all targets for notified, such as by another
	// program before. UpdateNever selects none.
	UpdateAll   Updates = "all"
	UpdateNever Updates = "never"
)

// DefaultRel are the link types with which authors mark links that they do not
// recommend.
var DefaultRel = []string{"nofollow", "ugc", "sponsored"}

// rules are parsed options.
type rules struct {
	opt     Options
	content cascadia.SelectorGroup
	rel     map[string]bool
	// fingerprint is a hash of the options that decide which links of a file
	// count. A cache made with other options is not used.
	fingerprint uint64
}

// compile checks the options. The error names the field and the value.
func (o Options) compile() (*rules, error) {
	r := &rules{opt: o, rel: make(map[string]bool), fingerprint: fingerprint(o)}
	for _, list := range []struct {
		name  string
		globs []string
	}{{"pages", o.Pages}, {"exclude", o.Exclude}, {"allow", o.Allow}, {"deny", o.Deny}} {
		for _, pattern := range list.globs {
			if err := glob.Check(pattern); err != nil {
				return nil, fmt.Errorf("%s: %.100q: %w", list.name, pattern, err)
			}
		}
	}
	switch o.Updates {
	case "", UpdateAnnounced, UpdateAll, UpdateNever:
	default:
		return nil, fmt.Errorf("updates: must be %q, %q or %q, not %q", UpdateAnnounced, UpdateAll, UpdateNever, o.Updates)
	}
	for _, rel := range o.Rel {
		r.rel[strings.ToLower(rel)] = true
	}
	if o.Content != "" {
		sel, err := cascadia.ParseGroup(o.Content)
		if err != nil {
			return nil, fmt.Errorf("content: %q is not a valid selector: %w", o.Content, err)
		}
		r.content = sel
	}
	return r, nil
}

// Check returns the error that [Read] would return for these options.
func (o Options) Check() error {
	_, err := o.compile()
	return err
}

// includesPage reports whether the page with a docroot path is selected.
func (r *rules) includesPage(path string) bool {
	return !matches(r.opt.Exclude, path) && (len(r.opt.Pages) == 0 || matches(r.opt.Pages, path))
}

func matches(globs []string, path string) bool {
	for _, pattern := range globs {
		if glob.Match(pattern, path) { // checked by compile
			return true
		}
	}
	return false
}

// includesTarget reports whether a target is selected.
func (r *rules) includesTarget(host, url string) bool {
	return !matchesTarget(r.opt.Deny, host, url) && (len(r.opt.Allow) == 0 || matchesTarget(r.opt.Allow, host, url))
}

// matchesTarget reports whether one of the patterns matches a target.
func matchesTarget(patterns []string, host, url string) bool {
	for _, p := range patterns {
		text := host
		if strings.Contains(p, "/") {
			text = url
		}
		if glob.Match(p, text) { // checked by compile
			return true
		}
	}
	return false
}

// contentVersion is the version of the rules for content and hash. Increase it
// with every change of them, so that caches of earlier versions are not used.
const contentVersion = 3

// fingerprint returns [rules.fingerprint]. Pages, Exclude and Updates are not part
// of it: they are applied in every run.
func fingerprint(o Options) uint64 {
	return xxhash.Sum64String(fmt.Sprintf("%d %q %t %t", contentVersion, [][]string{o.Allow, o.Deny, {o.Content}, o.Rel}, o.Internal, o.Hubs != nil))
}
