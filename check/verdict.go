package check

import "github.com/sitelink/sitelink/internal/site"

// judgement is what a state of the docroot means for a link.
type judgement struct {
	verdict Verdict
	code    Code
}

// judgements says it for every state.
var judgements = map[site.State]judgement{
	site.StateOK:               {OK, ""},
	site.StateRedirect:         {OK, ""},
	site.StateAutoindex:        {Warning, Autoindex},
	site.StateAboveRoot:        {Warning, OutsideDocroot},
	site.StateBackslash:        {Warning, Backslash},
	site.StateDoubleSlash:      {Warning, DoubleSlash},
	site.StateServerDependent:  {Warning, ServerDependent},
	site.StateAlias:            {Warning, ViaRedirect},
	site.StateViaRedirect:      {Warning, ViaRedirect},
	site.StateFallback:         {Warning, Fallback},
	site.StatePrivate:          {Warning, Unreadable},
	site.StateMissingFile:      {Error, MissingFile},
	site.StateMissingDirectory: {Error, MissingDirectory},
	site.StateMissingIndex:     {Error, MissingIndex},
	site.StateWrongCase:        {Error, WrongCase},
	site.StateOutsideDocroot:   {Error, OutsideDocroot},
	site.StateBrokenSymlink:    {Error, BrokenSymlink},
	site.StateUnreadable:       {Error, Unreadable},
	site.StateSpecialFile:      {Error, SpecialFile},
	site.StateBadURL:           {Error, BadURL},
	site.StateEmptyLink:        {Error, EmptyLink},
	site.StateMappingLoop:      {Error, MappingLoop},
	site.StateRedirectLoop:     {Error, EndlessRedirect},
	site.StateUnresolvedRef:    {Error, UnresolvedRef},
	site.StateExternal:         {Unchecked, External},
	site.StateCredentials:      {Warning, Credentials},
	site.StateMailto:           {Unchecked, Mailto},
	site.StateTel:              {Unchecked, Tel},
	site.StateData:             {Unchecked, Data},
	site.StateJavaScript:       {Unchecked, JavaScript},
	site.StateOtherScheme:      {Unchecked, OtherScheme},
	site.StateInert:            {Unchecked, Inert},
	site.StateAction:           {Unchecked, Action},
	site.StateHint:             {Unchecked, Hint},
	site.StatePing:             {Unchecked, Ping},
	site.StateOutsideBase:      {Unchecked, OutsideBase},
	site.StateBehindSymlink:    {Warning, OutsideDocroot},
	site.StateRedirectsAway:    {Warning, ViaRedirect},
	site.StateProxied:          {Unchecked, Proxied},
	site.StateConditional:      {Unchecked, Conditional},
	site.StateLivereload:       {Unchecked, Livereload},
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
