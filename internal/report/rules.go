package report

import "github.com/sitelink/sitelink/check"

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
	{check.MissingFile, check.Error, "Missing file", "No file of the site answers the path of this link.",
		"Correct the link, or put back the file. If the file moved, a redirect keeps links from elsewhere alive."},
	{check.MissingDirectory, check.Error, "Missing directory", "The link ends in a slash, and the site has no such directory.",
		"Correct the link, or leave out the slash where a file is meant."},
	{check.MissingIndex, check.Error, "Missing index file", "The directory is there, but it has no file that the host would serve for it.",
		"Add an index file, link to a file in the directory, or set index to the names that the host looks for."},
	{check.MissingFragment, check.Error, "Missing fragment", "The page is there, but nothing on it has the name behind the #.",
		"Browsers show the top of the page instead. Correct the fragment, or give the element that is meant this id."},
	{check.MissingMap, check.Error, "Missing image map", "The usemap attribute names no map of its page.",
		"Write # and the name of a map element on the same page."},
	{check.WrongCase, check.Error, "Wrong letter case", "Only a name with other upper and lower case letters is there.",
		"Write the name as the file has it. It works where file names ignore case, and fails on the host."},
	{check.OutsideDocroot, check.Error, "Outside the docroot", "The link climbs above the root of the site, or goes through a symbolic link that leaves it.",
		"Shorten the ../ at its beginning, or copy what the symbolic link points to into the site."},
	{check.BrokenSymlink, check.Error, "Broken symbolic link", "The link leads to a symbolic link that points nowhere.",
		"Repair the symbolic link, or put the file in its place."},
	{check.Unreadable, check.Error, "Unreadable file", "The file is there, but the server may not read it.",
		"Let everybody read the file, and enter its directories (chmod a+rX)."},
	{check.SpecialFile, check.Error, "Not an ordinary file", "The link leads to a pipe, a socket or a device.",
		"Put an ordinary file in its place."},
	{check.BadURL, check.Error, "Bad URL", "The value is no URL, or one that the host refuses.",
		"Write it as the URL Standard has it: percent-encode what is no URL character, and look for a wrong port or host."},
	{check.EmptyLink, check.Error, "Empty link", "The attribute is empty, so that browsers load nothing.",
		"Name a file, or leave out the attribute."},
	{check.UnclosedComment, check.Warning, "Unclosed comment", "A comment never ends, so that the rest of the file is inside it.",
		"End the comment with -->."},
	{check.UnclosedElement, check.Warning, "Unclosed element", "A script, style, title or textarea never ends, so that the rest of the file is its text.",
		"Add the end tag."},
	{check.UnclosedTag, check.Warning, "Unclosed tag", "The file ends inside a tag, which browsers drop.",
		"Close the tag, and see whether the file was cut off when it was written."},
	{check.NotWellFormed, check.Warning, "Not well-formed", "An XHTML page or SVG file breaks a rule of XML, so that browsers show an error.",
		"Repair the markup, or serve the page as HTML."},
	{check.BaseDiffers, check.Warning, "Ambiguous base", "Browsers and older readers take the base elements of this page differently.",
		"Keep one base element, before the first link."},
	{check.Credentials, check.Warning, "Credentials in a URL", "The URL holds a user name or a password.",
		"Take them out, and change the password: whoever reads the page has it."},
	{check.Backslash, check.Warning, "Backslash in a link", "A backslash stands where a slash is meant.",
		"Write a slash. Browsers read it as one, other programs do not."},
	{check.DoubleSlash, check.Warning, "Empty path segment", "Two slashes follow each other in the path.",
		"Write one. Hosts differ in whether they merge them."},
	{check.Autoindex, check.Warning, "Only a directory listing", "The directory has no index file, so that the host shows a list of its files.",
		"Add an index file, or link to a file. Set autoindex to error if the host shows no lists."},
	{check.ScriptFragment, check.Warning, "Fragment left to a script", "The page has scripts, and fragments that only they can serve.",
		"Nothing, if the script serves them: set script-fragments to silent. Set it to error to have each one checked."},
	{check.MappingLoop, check.Error, "Mapping loop", "The rules of the key map lead round in a circle.",
		"Correct the rules."},
	{check.ViaRedirect, check.Warning, "Link through a redirect", "A rule of the host, or a page that only sends the visitor on, stands between the link and what answers.",
		"Write the final address, which the suggestion gives: it saves the visitor a request, and the link survives the end of the rule."},
	{check.EndlessRedirect, check.Error, "Redirect loop", "The redirects of the host lead round in a circle.",
		"Correct the rules that the message names."},
	{check.TooLarge, check.Warning, "File too large", "The file is larger than max-page-size and was not read.",
		"Raise max-page-size if the file is a page."},
	{check.ReadError, check.Error, "Unreadable page", "The file could not be read, so that its links were not checked.",
		"The message says what the system answered."},
	{check.BadMapFile, check.Warning, "Bad image map file", "A line of an image map file has neither NCSA nor CERN form.",
		"Write a shape, a URL and its points."},
	{check.Fallback, check.Warning, "Answered by the fallback page", "Nothing is there, and the host shows its fallback page with status 200.",
		"Correct the link, or put a 404.html into the docroot if the site is no single-page application."},
	{check.ServerDependent, check.Warning, "Other servers refuse", "The site's host answers this link, other servers would not.",
		"Write the link so that every server answers it, or accept it with an ignore rule."},
	{check.Changed, check.Error, "File changed", "The file changed while it was checked.",
		"Check again when the build has ended."},
	{check.SitemapEntry, check.Error, "Bad sitemap entry", "An entry of a sitemap that search engines cannot use.",
		"Correct the generator's base URL or the page's address, or leave the page out of the sitemap."},
	{check.FeedEntry, check.Error, "Bad feed entry", "Nothing answers the address of an entry of a feed.",
		"Correct the generator's base URL or the page's address."},
	{check.NoIndexInSitemap, check.Warning, "Sitemap entry that asks not to be indexed", "The sitemap lists a page that asks search engines not to list it.",
		"Leave the page out of the sitemap, or let it be indexed."},
	{check.SitemapLimit, check.Warning, "Sitemap too large", "The sitemap has more entries or bytes than the protocol allows.",
		"Split it, and list the parts in a sitemap index."},
	{check.RedirectSyntax, check.Error, "Bad redirect rule", "The host ignores the rule, or refuses the file.",
		"Correct the line; the message says what the host wants."},
	{check.RedirectLimit, check.Warning, "Too many redirect rules", "The host takes no more rules, or no longer ones.",
		"Merge rules with placeholders, or remove those that nobody follows any more."},
	{check.RedirectUnjudged, check.Warning, "Redirect rule not understood", "The rule may or may not apply: sitelink cannot say.",
		"Nothing, if it does what it should. Links that only it could answer are not checked."},
	{check.RedirectMissing, check.Error, "Redirect to nowhere", "Nothing answers the destination of the rule.",
		"Correct the destination."},
	{check.RedirectLoop, check.Error, "Redirect rules in a circle", "The rule leads back to itself, alone or with others.",
		"Correct the destination of one of the rules."},
	{check.RedirectChain, check.Warning, "Redirect to a redirect", "The rule leads to another redirect.",
		"Write the final address: each step costs the visitor a request."},
	{check.RedirectHidden, check.Warning, "Redirect rule without effect", "An earlier rule takes all that this one matches.",
		"Remove the rule, or put it before the other."},
	{check.RedirectShadowed, check.Warning, "Redirect rule behind a file", "A file answers before the rule is asked.",
		"Remove the file or the rule, or force the rule where the host can."},
	{check.Orphan, check.Warning, "Orphan", "No page links to this file.",
		"Link to it where readers look for it, or delete it. A file that only other sites link to can be ignored by rule."},
	{check.Unreachable, check.Warning, "Unreachable page", "Pages link to this one, but no chain of links leads there from the start.",
		"Link to it, or to a page that leads there, from a page that readers reach."},
	{check.UnmatchedLinkset, check.Warning, "Linkset without pages", "A linkset of --from finds no page.",
		"Correct the linkset: it is a site path, in which @ stands for any characters and # for any but a slash."},
	{check.LimitReached, check.Warning, "Limit reached", "Pages are left out because of --limit.",
		"Raise the limit, or accept that the check is of a part of the site."},
	{check.UnresolvedRef, check.Error, "Unresolved reference", "The generator found no page for a reference, such as Hugo's ref or relref, and wrote the address that is configured for that case.",
		"Name a page that exists. Hugo's refLinksErrorLevel decides whether its build fails."},
	{check.EndpointMissing, check.Error, "Endpoint not named", "The page does not name the pingback or webmention endpoint of the configuration.",
		"Let sitelink inject put the element into the template or the built page, or leave the page out by the keys of [templates]."},
	{check.EndpointUnwanted, check.Warning, "Endpoint named where it should not be", "An error page, a page that only redirects, or one that the keys of [templates] leave out names an endpoint.",
		"Let the template leave the element out there, or correct the keys."},
	{check.EndpointAddress, check.Error, "Another endpoint", "The element names another address than the configuration.",
		"Correct the template, or the configuration; the suggestion is the element as it should be."},
	{check.EndpointRelative, check.Error, "Endpoint not absolute", "The address of the element is not absolute, as it must be for pingbacks.",
		"Write it with scheme and host."},
	{check.EndpointForm, check.Error, "Endpoint in another form", "The element is not written, byte for byte, as clients look for it.",
		"Write rel first, then href, in lower case and double quotes, and nothing else."},
	{check.EndpointUnquoted, check.Error, "Endpoint without quotes", "A minifier took the quotes from the attributes, so that clients do not find the element.",
		"Let the minifier keep quotes: minify.tdewolff.html.keepQuotes = true for Hugo. Or take the element out of the template, and run sitelink inject --docroot after the minifier."},
	{check.EndpointTwice, check.Error, "Endpoint named twice", "The page has the element more than once; the specification allows one.",
		"Remove all but one: theme and project may both write it."},
	{check.EndpointSecondMatch, check.Error, "Text that looks like an endpoint", "Text in a comment, script or attribute matches the pattern by which clients find the pingback element.",
		"Write its < as &lt;, in scripts as \\x3c."},
	{check.EndpointBody, check.Error, "Endpoint in the body", "The element is not in the head as the parser sees it: something before it ends the head.",
		"Move the element up, right after the charset declaration, or what ends the head down."},
	{check.EndpointLate, check.Warning, "Endpoint too late", "The element ends behind the first 5,000 bytes, where clients may stop looking.",
		"Move it up, right after the charset declaration."},
	{check.EndpointHeader, check.Error, "Header with another endpoint", "A rule of the host sends a header that names another address, which wins over the element.",
		"Write the same address in both."},
	{check.EndpointInvalidPage, check.Warning, "Invalid page with endpoints", "The page has two heads: clients may refuse to search invalid pages.",
		"Merge the two heads."},
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
