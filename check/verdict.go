package check

import (
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
)

// How a link gets its verdict:
//
//  1. Package internal/site resolves the link and asks the host's profile what
//     it answers. The result is a [host.State].
//  2. This package looks for the fragment, if there is one, and at what the
//     entries of sitemaps are for. The result is a state: an host.State, or one
//     of the few that only a check can find.
//  3. A table turns the state into a decision: a [Verdict] and the [Code] that
//     says why. The same code can stand for an error or for a warning.
//
// What options and ignore rules do comes after that.

// Verdict is the judgement on one link.
type Verdict uint8

const (
	// OK: a visitor who follows the link gets what it asks for.
	OK Verdict = iota
	// Error: the link is broken on the site's host.
	Error
	// Warning: the link works, or may work, but deserves a look.
	Warning
	// Unchecked: the link was not checked; the [Code] says why.
	Unchecked
)

var verdictNames = [...]string{"ok", "error", "warning", "unchecked"}

// String returns the verdict as reports write it: ok, error, warning or
// unchecked.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// decision is a verdict with its reason.
type decision struct {
	verdict Verdict
	code    Code
}

// hostDecisions are the decisions for what the host answers.
var hostDecisions = map[host.State]decision{
	host.StateOK:               {OK, ""},
	host.StateRedirect:         {OK, ""},
	host.StateAutoindex:        {Warning, Autoindex},
	host.StateAboveRoot:        {Warning, OutsideDocroot},
	host.StateBackslash:        {Warning, Backslash},
	host.StateDoubleSlash:      {Warning, DoubleSlash},
	host.StateServerDependent:  {Warning, ServerDependent},
	host.StateAlias:            {Warning, ViaRedirect},
	host.StateViaRedirect:      {Warning, ViaRedirect},
	host.StateMixedOwn:         {Warning, MixedContent},
	host.StateFallback:         {Warning, Fallback},
	host.StatePrivate:          {Warning, Unreadable},
	host.StateHomePage:         {Error, Fallback},
	host.StateMissingFile:      {Error, MissingFile},
	host.StateMissingDirectory: {Error, MissingDirectory},
	host.StateMissingIndex:     {Error, MissingIndex},
	host.StateWrongCase:        {Error, WrongCase},
	host.StateMissingBase:      {Error, MissingBase},
	host.StateGluedBase:        {Error, MissingBase},
	host.StateWrongHost:        {Error, WrongHost},
	host.StateLocal:            {Error, LocalAddress},
	host.StateOutsideDocroot:   {Error, OutsideDocroot},
	host.StateBrokenSymlink:    {Error, BrokenSymlink},
	host.StateUnreadable:       {Error, Unreadable},
	host.StateSpecialFile:      {Error, SpecialFile},
	host.StateBadURL:           {Error, BadURL},
	host.StateEmptyLink:        {Error, EmptyLink},
	host.StateMappingLoop:      {Error, MappingLoop},
	host.StateRedirectLoop:     {Error, EndlessRedirect},
	host.StateUnresolvedRef:    {Error, UnresolvedRef},
	host.StateExternal:         {Unchecked, External},
	host.StateCredentials:      {Warning, Credentials},
	host.StateMixed:            {Warning, MixedContent},
	host.StateDevServer:        {Warning, LocalAddress},
	host.StateDeadScheme:       {Warning, DeadScheme},
	host.StateNoRecipient:      {Warning, EmptyLink},
	host.StateMailto:           {Unchecked, Mailto},
	host.StateTel:              {Unchecked, Tel},
	host.StateData:             {Unchecked, Data},
	host.StateJavaScript:       {Unchecked, JavaScript},
	host.StateOtherScheme:      {Unchecked, OtherScheme},
	host.StateInert:            {Unchecked, Inert},
	host.StateAction:           {Unchecked, Action},
	host.StateHint:             {Unchecked, Hint},
	host.StatePing:             {Unchecked, Ping},
	host.StateOutsideBase:      {Unchecked, OutsideBase},
	host.StateBehindSymlink:    {Warning, OutsideDocroot},
	host.StateRedirectsAway:    {Warning, ViaRedirect},
	host.StateProxied:          {Unchecked, Proxied},
	host.StateConditional:      {Unchecked, Conditional},
	host.StateLivereload:       {Unchecked, Livereload},
	host.StateNotAsked:         {Unchecked, Skipped},
}

// state is what a link came to, in one byte, since there may be millions: an
// [host.State] or one of these.
type state uint8

const (
	stateNoFragment     state = 255 - iota // the page lacks the fragment
	stateNoFont                            // the SVG font lacks the fragment, and is the only source
	stateNoMap                             // the page lacks the map of a usemap attribute
	stateEntryRedirects                    // an entry of a sitemap that redirects
	stateEntryNoIndex                      // an entry of a sitemap whose page asks not to be indexed
	stateEntryNoSitemap                    // an entry of a sitemap index that is not a sitemap
)

// decisions is indexed by state: it is used for every link.
var decisions = func() (t [256]decision) {
	for s, d := range hostDecisions {
		t[s] = d
	}
	t[stateNoFragment] = decision{Error, MissingFragment}
	t[stateNoFont] = decision{Warning, MissingFragment}
	t[stateNoMap] = decision{Error, MissingMap}
	t[stateEntryRedirects] = decision{Warning, SitemapEntry}
	t[stateEntryNoIndex] = decision{Warning, NoIndexInSitemap}
	t[stateEntryNoSitemap] = decision{Error, SitemapEntry}
	return t
}()

// decide returns the decision on a bad link of a page. An error in a sitemap or
// feed has a code of its own: search engines and readers follow its entries.
func decide(s *isite.Site, id isite.PageID, b badLink) decision {
	d := decisions[b.state]
	if p := s.Page(id); d.verdict == Error && p.All()[b.link].IsEntry() {
		switch p.Kind() {
		case isite.PageSitemap, isite.PageIndex:
			d.code = SitemapEntry
		case isite.PageFeed, isite.PageJSONFeed:
			d.code = FeedEntry
		}
	}
	return d
}

// withDetail returns the decision for what only the detail of a link tells.
func (is decision) withDetail(d *isite.Detail) decision {
	if d.FeedRelative && is.verdict == Error && is.code != FeedEntry {
		is.code = FeedRelative
	}
	return is
}

// linkCode returns the code that the entry of a sitemap or feed would have as a
// plain link; "" if it is not an entry, or if the link alone would be fine.
func linkCode(d *isite.Detail, code Code) Code {
	if (code == SitemapEntry || code == FeedEntry) && d.State.IsError() {
		return decisions[d.State].code
	}
	return ""
}

// entryState returns the state of the entry of a sitemap or sitemap index that
// is reported although a file answers; 0 when nothing is wrong with it.
func entryState(s *isite.Site, kind isite.PageKind, l *isite.Link, answer host.State) state {
	if kind != isite.PageSitemap && kind != isite.PageIndex || !answer.Answers() {
		return 0
	}
	target, isPage := s.PageOf(l.Node)
	switch {
	case answer == host.StateRedirect: // one finding for the file
	case answer == host.StateViaRedirect, answer == host.StateAlias:
		return stateEntryRedirects
	case kind == isite.PageSitemap:
		if isPage && s.Page(target).NoIndex() {
			return stateEntryNoIndex
		}
	case isPage && s.Page(target).Kind() == isite.PageSitemap:
	case !isPage && strings.HasSuffix(s.Tree().Name(l.Node), ".txt"):
		// A plain list of addresses is a sitemap, too.
	default:
		return stateEntryNoSitemap
	}
	return 0
}
