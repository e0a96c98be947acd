package check

import "github.com/sitelink/sitelink/internal/host"

// judgement is what a state of the docroot means for a link.
type judgement struct {
	verdict Verdict
	code    Code
}

// judgements says it for every state.
var judgements = map[host.State]judgement{
	host.StateOK:               {OK, ""},
	host.StateRedirect:         {OK, ""},
	host.StateAutoindex:        {Warning, Autoindex},
	host.StateAboveRoot:        {Warning, OutsideDocroot},
	host.StateBackslash:        {Warning, Backslash},
	host.StateDoubleSlash:      {Warning, DoubleSlash},
	host.StateServerDependent:  {Warning, ServerDependent},
	host.StateAlias:            {Warning, ViaRedirect},
	host.StateViaRedirect:      {Warning, ViaRedirect},
	host.StateFallback:         {Warning, Fallback},
	host.StatePrivate:          {Warning, Unreadable},
	host.StateMissingFile:      {Error, MissingFile},
	host.StateMissingDirectory: {Error, MissingDirectory},
	host.StateMissingIndex:     {Error, MissingIndex},
	host.StateWrongCase:        {Error, WrongCase},
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
