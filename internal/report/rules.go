package report

import (
	"slices"

	"github.com/sitelink/sitelink/check"
)

// rule is what servers show with a finding: what its code means and what to do
// about it.
type rule struct {
	code check.Code
	// level is the usual verdict of the code; a finding has its own.
	level check.Verdict
	// title is a few words, short one sentence, help one or two sentences about
	// the repair.
	title, short, help string
}

// rules has a row for each code of a finding. Add new ones at the end. A test
// compares it with the constants of package check.
var rules = []rule{
	{check.MissingFile, check.Error, "Missing file", "No file of the site answers this path.",
		"Correct the link, or restore the file. If the file moved, add a redirect for links from other sites."},
	{check.MissingDirectory, check.Error, "Missing directory", "The link ends in a slash, and the site has no such directory.",
		"Correct the link, or drop the slash if you mean a file."},
	{check.MissingIndex, check.Error, "Missing index file", "The directory exists, but has no file that the host would serve for it.",
		"Add an index file, link to a file in the directory, or set index to the names that your host uses."},
	{check.MissingFragment, check.Error, "Missing fragment", "The page exists, but has no anchor with the name after the #.",
		"Browsers show the top of the page instead. Correct the fragment, or give the element this id."},
	{check.MissingMap, check.Error, "Missing image map", "The usemap attribute names a map that the page does not have.",
		"Write # and the name of a map element of the same page."},
	{check.WrongCase, check.Error, "Wrong letter case", "The name exists only in a different letter case.",
		"Write the name as the file has it. The link works where file names ignore case, and fails on the host."},
	{check.OutsideDocroot, check.Error, "Outside the docroot", "The link climbs above the root of the site, or a symbolic link leaves the docroot.",
		"Shorten the leading ../, or copy the target of the symbolic link into the site."},
	{check.BrokenSymlink, check.Error, "Broken symbolic link", "The link leads to a symbolic link whose target does not exist.",
		"Repair the symbolic link, or replace it with the file."},
	{check.Unreadable, check.Error, "Unreadable file", "The file exists, but the server may not read it.",
		"Give all users read access to the file and its directories: chmod a+rX."},
	{check.SpecialFile, check.Error, "Not a regular file", "The link leads to a pipe, a socket or a device.",
		"Replace it with a regular file."},
	{check.BadURL, check.Error, "Bad URL", "The value is not a URL, or one that the host refuses.",
		"Percent-encode characters that a URL cannot hold, and look for a wrong port or host."},
	{check.EmptyLink, check.Error, "Empty link", "The attribute is empty, so browsers load nothing.",
		"Name a file, or remove the attribute."},
	{check.UnclosedComment, check.Warning, "Unclosed comment", "A comment never ends, so the rest of the file is inside it.",
		"End the comment with -->."},
	{check.UnclosedElement, check.Warning, "Unclosed element", "A script, style, title or textarea never ends, so the rest of the file is its text.",
		"Add the end tag."},
	{check.UnclosedTag, check.Warning, "Unclosed tag", "The file ends inside a tag, which browsers drop.",
		"Close the tag, and check whether the file was cut off."},
	{check.NotWellFormed, check.Warning, "Not well-formed", "An XHTML page or SVG file breaks a rule of XML, so browsers show an error.",
		"Repair the markup, or serve the page as HTML."},
	{check.BaseDiffers, check.Warning, "Ambiguous base", "Browsers and older programs read the base elements of this page differently.",
		"Keep one base element, before the first link."},
	{check.Credentials, check.Warning, "Credentials in a URL", "The URL contains a user name or a password.",
		"Remove them, and change the password: every reader of the page has it."},
	{check.Backslash, check.Warning, "Backslash in a link", "The link has a backslash instead of a slash.",
		"Write a slash. Browsers accept the backslash, other programs do not."},
	{check.DoubleSlash, check.Warning, "Empty path segment", "The path has two slashes in a row.",
		"Write one slash. Not every host merges them."},
	{check.Autoindex, check.Warning, "Only a directory listing", "The directory has no index file, so the host shows a list of its files.",
		"Add an index file, or link to a file. If your host shows no listings, set autoindex to error."},
	{check.ScriptFragment, check.Warning, "Fragment left to a script", "No element has these ids, but a script of the page can serve the fragments; the message names it.",
		"If the script serves them, set script-fragments to silent. To check each one, set it to error."},
	{check.MappingLoop, check.Error, "Mapping loop", "The rules of the key map form a loop.",
		"Correct the rules."},
	{check.ViaRedirect, check.Warning, "Link through a redirect", "A redirect rule or an alias page is between the link and what answers.",
		"Write the final address, which the suggestion gives. It saves visitors a request, and the link still works if the rule is removed."},
	{check.EndlessRedirect, check.Error, "Redirect loop", "The redirects of the host form a loop.",
		"Correct the rules that the message names."},
	{check.TooLarge, check.Warning, "File too large", "The file is larger than max-page-size and was not read.",
		"Raise max-page-size if the file is a page."},
	{check.ReadError, check.Error, "Unreadable page", "The file could not be read, so its links were not checked.",
		"The message has the error of the system."},
	{check.BadMapFile, check.Warning, "Bad image map file", "A line of an image map file is neither in NCSA nor in CERN format.",
		"Write a shape, a URL and its points."},
	{check.Fallback, check.Warning, "Answered by the fallback page", "The target does not exist, and the host answers with its fallback page and status 200.",
		"Correct the link. If the site is not a single-page application, add a 404.html to the docroot."},
	{check.ServerDependent, check.Warning, "Other servers refuse", "Your host answers this link, other servers would refuse it.",
		"Write the link so that every server answers it, or ignore it by rule."},
	{check.Changed, check.Error, "File changed", "The file changed during the check.",
		"Check again after the build has finished."},
	{check.SitemapEntry, check.Error, "Bad sitemap entry", "Search engines cannot use this entry of a sitemap.",
		"Correct the generator's base URL or the page's address, or remove the page from the sitemap."},
	{check.FeedEntry, check.Error, "Bad feed entry", "Nothing answers the address of this feed entry.",
		"Correct the generator's base URL or the page's address."},
	{check.FeedRelative, check.Error, "Links relative to a feed", "Links of a feed only work relative to the address of the feed, and feed readers resolve them against the address of the item.",
		"If Hugo's relativeURLs is on, set it to false; otherwise add xml:base with the address of the feed to the feed's root element."},
	{check.NoIndexInSitemap, check.Warning, "Sitemap entry that asks not to be indexed", "The sitemap lists a page that asks not to be indexed.",
		"Remove the page from the sitemap, or allow indexing."},
	{check.SitemapLimit, check.Warning, "Sitemap too large", "The sitemap has more entries or bytes than the protocol allows.",
		"Split the sitemap, and list the parts in a sitemap index."},
	{check.DeadLink, check.Error, "Dead link to another site", "The other site said in several runs that there is nothing, or did not answer.",
		"Link to another page, or remove the link."},
	{check.Doubtful, check.Warning, "Doubtful link to another site", "The other site failed, but not often enough to call the link dead.",
		"Wait for the next runs. Correct the link if you know that the page is gone."},
	{check.Moved, check.Warning, "Moved page of another site", "The other site redirects permanently.",
		"Write the new address."},
	{check.RedirectSyntax, check.Error, "Bad redirect rule", "The host ignores the rule, or refuses the file because of it.",
		"Correct the line; the message says what the host expects."},
	{check.RedirectLimit, check.Warning, "Too many redirect rules", "There are more rules, or longer ones, than the host accepts.",
		"Merge rules with placeholders, or remove unused ones."},
	{check.RedirectUnjudged, check.Warning, "Redirect rule not understood", "sitelink does not understand the rule: it may or may not apply.",
		"If the rule works, do nothing. Links that only it could answer are not checked."},
	{check.RedirectMissing, check.Error, "Redirect to nowhere", "Nothing answers the destination of the rule.",
		"Correct the destination."},
	{check.RedirectLoop, check.Error, "Redirect rules in a loop", "The rule leads back to itself, alone or with others.",
		"Correct the destination of one of the rules."},
	{check.RedirectChain, check.Warning, "Redirect to a redirect", "The rule leads to another redirect.",
		"Write the final address. Each redirect costs visitors a request."},
	{check.RedirectHidden, check.Warning, "Redirect rule without effect", "An earlier rule takes everything that this one matches.",
		"Remove the rule, or move it before the other."},
	{check.RedirectShadowed, check.Warning, "Redirect rule behind a file", "A file answers before the rule applies.",
		"Remove the file or the rule, or force the rule if the host can."},
	{check.Orphan, check.Warning, "Orphan", "No page links to this file.",
		"Link to it or delete it. Ignore files that only other sites link to by rule."},
	{check.Unreachable, check.Warning, "Unreachable page", "Pages link to this one, but no chain of links leads there from the start pages.",
		"Link to it from a page that readers reach."},
	{check.UnmatchedLinkset, check.Warning, "Linkset without pages", "A linkset of --from finds no page.",
		"Correct the linkset: it is a site path in which @ matches any text and # any text without a slash."},
	{check.LimitReached, check.Warning, "Limit reached", "--limit left pages out.",
		"Raise the limit, or accept that only a part of the site was checked."},
	{check.UnresolvedRef, check.Error, "Unresolved reference", "The generator found no page for a reference such as Hugo's ref, and wrote the address configured for that case.",
		"Name a page that exists. Hugo's refLinksErrorLevel decides whether its build fails."},
	{check.EndpointMissing, check.Error, "Missing endpoint", "The page does not have the pingback or webmention endpoint of the configuration.",
		"Add the element to the template or the built page with sitelink inject, or leave the page out with the keys of [templates]."},
	{check.EndpointUnwanted, check.Warning, "Unwanted endpoint", "An error page, a page that only redirects, or one that the keys of [templates] leave out has an endpoint.",
		"Remove the element there in the template, or correct the keys."},
	{check.EndpointAddress, check.Error, "Different endpoint", "The element has a different address than the configuration.",
		"Correct the template or the configuration; the suggestion is the correct element."},
	{check.EndpointRelative, check.Error, "Endpoint not absolute", "The address of the element is not absolute, which pingback requires.",
		"Write the address with scheme and host."},
	{check.EndpointForm, check.Error, "Endpoint that clients do not find", "The element is not written byte for byte as clients search for it.",
		"Write rel first, then href, in lower case and double quotes, and nothing else."},
	{check.EndpointUnquoted, check.Error, "Endpoint without quotes", "A minifier removed the quotes of the attributes, so clients do not find the element.",
		"Configure the minifier to keep quotes; for Hugo: minify.tdewolff.html.keepQuotes = true. Or remove the element from the template, and run sitelink inject --docroot after the minifier."},
	{check.EndpointTwice, check.Error, "Endpoint given twice", "The page has the element more than once; the specification allows one.",
		"Remove all but one. Perhaps the theme and the project both write it."},
	{check.EndpointSecondMatch, check.Error, "Text that looks like an endpoint", "Text in a comment, script or attribute matches the pattern by which clients find the pingback element.",
		"Write its < as &lt;, in scripts as \\x3c."},
	{check.EndpointBody, check.Error, "Endpoint in the body", "For the parser the element is not in the head: something before it ends the head.",
		"Move the element up, right after the charset declaration, or move down what ends the head."},
	{check.EndpointLate, check.Warning, "Endpoint too late", "The element ends after the first 5,000 bytes, where clients may stop searching.",
		"Move it up, right after the charset declaration."},
	{check.EndpointHeader, check.Error, "Header with a different endpoint", "A rule of the host sends a header with a different address, which takes precedence over the element.",
		"Write the same address in both."},
	{check.EndpointInvalidPage, check.Warning, "Invalid page with endpoints", "The page has two heads, and clients may refuse to search invalid pages.",
		"Merge the two heads."},
	{check.AddressGone, check.Warning, "Address gone", "An address that answered before does not answer any more, so links of other sites, bookmarks and search results break.",
		"Add an alias or a redirect to the page that replaced it. If it was removed permanently, accept the finding in the baseline."},
	{check.AnchorGone, check.Warning, "Anchor gone", "An id that the page had before is gone, so links of other sites to that place show the top of the page.",
		"Keep the old id on what replaced it. In Hugo, write it after the heading: {#old-id}."},
	{check.MissingBase, check.Error, "Missing base path", "The link leads to the site's host, but not below the path of the base URL; with that path added, the site has what it asks for.",
		"Put the base path before the path of the link, by the means of the generator where it has one. A link that is meant to lead to another site of the host names the host: https://example.org/."},
	{check.OutsideBase, check.Warning, "Outside the base path", "Many links lead to the site's host, but not below the path of the base URL, and are not checked.",
		"Correct base-url if these are the site's own pages. If other sites of the host answer them, ignore this code."},
}

// ruleIndex returns the index of a code in rules, -1 for none.
func ruleIndex(code check.Code) int {
	i, ok := ruleIndexes[code]
	if !ok {
		return -1
	}
	return i
}

var ruleIndexes = func() map[check.Code]int {
	m := make(map[check.Code]int, len(rules))
	for i := range rules {
		m[rules[i].code] = i
	}
	return m
}()

// Codes returns all codes of findings.
func Codes() []string {
	codes := make([]string, len(rules))
	for i := range rules {
		codes[i] = string(rules[i].code)
	}
	return codes
}

// DescribeCode returns what a code means and what to do, for a person.
func DescribeCode(code check.Code) (string, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.code == code })
	if i < 0 {
		return "", false
	}
	return rules[i].short + " " + rules[i].help, true
}
