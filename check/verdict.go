package check

import isite "github.com/sitelink/sitelink/internal/site"

// judgement is what a state of the docroot means for a link.
type judgement struct {
	verdict Verdict
	code    Code
}

// judgements says it for every state.
var judgements = map[isite.State]judgement{
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

// judgementOf is judgements as an array: it is asked for every link.
var judgementOf = func() (t [256]judgement) {
	for s, j := range judgements {
		t[s] = j
	}
	return t
}()

// cause is why a link is reported, in one byte: a state of the docroot, or one
// of the causes that only the check finds.
type cause uint8

const (
	causeFragment cause = 255 - iota
	causeMap
	causeMoved     // an entry of a sitemap that redirects
	causeNoIndex   // an entry of a sitemap whose page is not to be listed
	causeNoSitemap // an entry of a sitemap index that is no sitemap
)

// judgement returns what a cause means.
func (c cause) judgement() judgement {
	switch c {
	case causeFragment:
		return judgement{Error, MissingFragment}
	case causeMap:
		return judgement{Error, MissingMap}
	case causeMoved:
		return judgement{Warning, SitemapEntry}
	case causeNoIndex:
		return judgement{Warning, NoIndexInSitemap}
	case causeNoSitemap:
		return judgement{Error, SitemapEntry}
	}
	return judgementOf[c]
}
