package main

import (
	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/site"
)

// findingCodes are the codes that a finding can have, and so an ignore rule. A
// test holds the list to the constants of package check.
var findingCodes = []check.Code{
	check.MissingFile, check.MissingDirectory, check.MissingIndex, check.MissingFragment, check.MissingMap,
	check.WrongCase, check.OutsideDocroot, check.BrokenSymlink, check.Unreadable, check.SpecialFile,
	check.BadURL, check.EmptyLink, check.UnclosedComment, check.UnclosedElement, check.UnclosedTag, check.NotWellFormed,
	check.BaseDiffers, check.Credentials, check.Backslash, check.DoubleSlash, check.Autoindex,
	check.ScriptFragment, check.MappingLoop, check.TooLarge, check.ReadError, check.BadMapFile,
	check.ServerDependent, check.Changed, check.Fallback, check.ViaRedirect, check.EndlessRedirect, check.UnresolvedRef,
	check.RedirectSyntax, check.RedirectLimit, check.RedirectUnjudged, check.RedirectMissing, check.RedirectLoop,
	check.RedirectChain, check.RedirectHidden, check.RedirectShadowed,
	check.Orphan, check.Unreachable, check.UnmatchedLinkset, check.LimitReached,
	check.EndpointMissing, check.EndpointUnwanted, check.EndpointAddress, check.EndpointRelative, check.EndpointForm, check.EndpointUnquoted,
	check.EndpointTwice, check.EndpointSecondMatch, check.EndpointBody, check.EndpointLate, check.EndpointHeader, check.EndpointInvalidPage,
	check.SitemapEntry, check.FeedEntry, check.NoIndexInSitemap, check.SitemapLimit,
}

func codeNames() []string {
	names := make([]string, len(findingCodes))
	for i, c := range findingCodes {
		names[i] = string(c)
	}
	return names
}

func profileNames() []string {
	var names []string
	for _, p := range site.Profiles() {
		names = append(names, p.Name)
	}
	return names
}
