package check

import (
	"fmt"
	"strings"

	isite "github.com/sitelink/sitelink/internal/site"
)

// How a link gets its verdict:
//
//  1. Package internal/site resolves the link and asks the host's profile what
//     it answers. The result is a [isite.State].
//  2. This package looks for the fragment, if there is one, and at what the
//     entries of sitemaps are for. The result is a state: an isite.State, or one
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
	// Warning: the link works, or may work, but somebody should look at it.
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
var hostDecisions = map[isite.State]decision{
	isite.StateOK:               {OK, ""},
	isite.StateRedirect:         {OK, ""},
	isite.StateAutoindex:        {Warning, Autoindex},
	isite.StateAboveRoot:        {Warning, OutsideDocroot},
	isite.StateBackslash:        {Warning, Backslash},
	isite.StateDoubleSlash:      {Warning, DoubleSlash},
	isite.StateServerDependent:  {Warning, ServerDependent},
	isite.StateAlias:            {Warning, ViaRedirect},
	isite.StateViaRedirect:      {Warning, ViaRedirect},
	isite.StateFallback:         {Warning, Fallback},
	isite.StatePrivate:          {Warning, Unreadable},
	isite.StateMissingFile:      {Error, MissingFile},
	isite.StateMissingDirectory: {Error, MissingDirectory},
	isite.StateMissingIndex:     {Error, MissingIndex},
	isite.StateWrongCase:        {Error, WrongCase},
	isite.StateOutsideDocroot:   {Error, OutsideDocroot},
	isite.StateBrokenSymlink:    {Error, BrokenSymlink},
	isite.StateUnreadable:       {Error, Unreadable},
	isite.StateSpecialFile:      {Error, SpecialFile},
	isite.StateBadURL:           {Error, BadURL},
	isite.StateEmptyLink:        {Error, EmptyLink},
	isite.StateMappingLoop:      {Error, MappingLoop},
	isite.StateRedirectLoop:     {Error, EndlessRedirect},
	isite.StateUnresolvedRef:    {Error, UnresolvedRef},
	isite.StateExternal:         {Unchecked, External},
	isite.StateCredentials:      {Warning, Credentials},
	isite.StateMailto:           {Unchecked, Mailto},
	isite.StateTel:              {Unchecked, Tel},
	isite.StateData:             {Unchecked, Data},
	isite.StateJavaScript:       {Unchecked, JavaScript},
	isite.StateOtherScheme:      {Unchecked, OtherScheme},
	isite.StateInert:            {Unchecked, Inert},
	isite.StateAction:           {Unchecked, Action},
	isite.StateHint:             {Unchecked, Hint},
	isite.StatePing:             {Unchecked, Ping},
	isite.StateOutsideBase:      {Unchecked, OutsideBase},
	isite.StateBehindSymlink:    {Warning, OutsideDocroot},
	isite.StateRedirectsAway:    {Warning, ViaRedirect},
	isite.StateProxied:          {Unchecked, Proxied},
	isite.StateConditional:      {Unchecked, Conditional},
	isite.StateLivereload:       {Unchecked, Livereload},
}

// state is what a link came to, in one byte, since there may be millions: an
// [isite.State] or one of these.
type state uint8

const (
	stateNoFragment     state = 255 - iota // the page lacks the fragment
	stateNoMap                             // the page lacks the map of a usemap attribute
	stateEntryRedirects                    // an entry of a sitemap that redirects
	stateEntryNoIndex                      // an entry of a sitemap whose page asks not to be indexed
	stateEntryNoSitemap                    // an entry of a sitemap index that is no sitemap
)

// decisions is indexed by state: it is used for every link.
var decisions = func() (t [256]decision) {
	for s, d := range hostDecisions {
		t[s] = d
	}
	t[stateNoFragment] = decision{Error, MissingFragment}
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

// linkCode returns the code that the entry of a sitemap or feed would have as a
// plain link; "" if it is no entry, or if the link alone would be fine.
func linkCode(d *isite.Detail, code Code) Code {
	if (code == SitemapEntry || code == FeedEntry) && d.State.IsError() {
		return decisions[d.State].code
	}
	return ""
}

// entryState returns the state of the entry of a sitemap or sitemap index that
// is reported although a file answers; 0 when nothing is wrong with it.
func entryState(s *isite.Site, kind isite.PageKind, l *isite.Link, answer isite.State) state {
	if kind != isite.PageSitemap && kind != isite.PageIndex || !answer.Answers() {
		return 0
	}
	target, isPage := s.PageOf(l.Node)
	switch {
	case answer == isite.StateRedirect, answer == isite.StateViaRedirect, answer == isite.StateAlias:
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
