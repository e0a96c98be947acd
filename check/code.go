package check

// Code is the machine-readable reason of a verdict. Codes are a contract:
// configuration, baselines and other programs use them. docs/reference/codes.md
// gives the cause and the cure of each.
type Code string

// Codes of findings.
const (
	MissingFile      Code = "missing-file"            // no file answers the path
	MissingDirectory Code = "missing-directory"       // the path ends in / and there is no such directory
	MissingIndex     Code = "missing-index"           // the directory exists, but has no index file
	MissingFragment  Code = "missing-fragment"        // the page exists, but lacks the fragment
	MissingMap       Code = "missing-map"             // usemap names no map of the page
	MissingBase      Code = "missing-base"            // the link lacks the path of the base URL, and works with it
	OutsideBase      Code = "outside-base"            // the site's host, but not below the base URL's path; unchecked
	WrongHost        Code = "wrong-host"              // the host of the URL is a path of the site, or a scheme
	LocalAddress     Code = "local-address"           // an address of the author's own machine or network
	MixedContent     Code = "mixed-content"           // a script, style sheet or frame by http: on an https site
	DeadScheme       Code = "dead-scheme"             // file:, a drive letter or a misspelt scheme
	WrongCase        Code = "wrong-case"              // the file's name differs in letter case
	OutsideDocroot   Code = "outside-docroot"         // climbs above the root, or leaves the docroot by a symbolic link
	BrokenSymlink    Code = "broken-symlink"          // a symbolic link whose target does not exist
	Unreadable       Code = "unreadable"              // the file or directory exists, but the server may not read it
	SpecialFile      Code = "special-file"            // a pipe, socket or device
	BadURL           Code = "bad-url"                 // not a URL, or one that the host refuses
	EmptyLink        Code = "empty-link"              // an empty src, mailto: or tel:
	UnclosedComment  Code = "unclosed-comment"        // the rest of the file is a comment
	UnclosedElement  Code = "unclosed-element"        // a script, style, title or textarea that never closes
	UnclosedTag      Code = "unclosed-tag"            // the file ends inside a tag
	NotWellFormed    Code = "not-well-formed"         // XML, CSS or JSON with an error in it
	BaseDiffers      Code = "base-differs"            // html5 and document-order read the base differently
	Credentials      Code = "credentials"             // user:password@ in a URL
	Backslash        Code = "backslash"               // \ in place of /
	DoubleSlash      Code = "double-slash"            // an empty path segment
	Autoindex        Code = "autoindex"               // only a directory listing answers
	ScriptFragment   Code = "script-fragment"         // fragments that are left to a script
	MappingLoop      Code = "mapping-loop"            // --map rules that never end
	TooLarge         Code = "too-large"               // the file is larger than max-page-size and was not read
	ReadError        Code = "read-error"              // the file could not be read
	BadMapFile       Code = "bad-map-file"            // a line of an image map that cannot be parsed
	ServerDependent  Code = "server-dependent"        // the host answers, other servers would refuse
	Changed          Code = "changed"                 // the file changed during the check
	Fallback         Code = "fallback"                // not found; the host answers with its fallback page
	ViaRedirect      Code = "via-redirect"            // a redirect rule or an alias page is between link and target
	EndlessRedirect  Code = "endless-redirect"        // redirects of the host that never end
	UnresolvedRef    Code = "unresolved-ref"          // the generator found no page for a reference
	RedirectSyntax   Code = "redirect-syntax"         // a rule that the host ignores, or for which it refuses the file
	RedirectLimit    Code = "redirect-limit"          // more rules, or longer ones, than the host accepts
	RedirectUnjudged Code = "redirect-unjudged"       // a rule that sitelink does not understand
	RedirectMissing  Code = "redirect-target-missing" // a rule whose destination is not found
	RedirectLoop     Code = "redirect-loop"           // a rule that leads back to itself
	RedirectChain    Code = "redirect-chain"          // a rule that leads to another redirect
	RedirectHidden   Code = "redirect-unreachable"    // a rule that never matches
	RedirectShadowed Code = "redirect-shadowed"       // a rule that a file hides
	Orphan           Code = "orphan"                  // no page links to the file
	Unreachable      Code = "unreachable"             // pages link to the page, but no chain of links from the start does
	UnmatchedLinkset Code = "unmatched-linkset"       // a linkset of --from that matches no page
	LimitReached     Code = "limit-reached"           // --limit left pages out
	AddressGone      Code = "address-gone"            // an address that answered before, and nothing answers it now
	AnchorGone       Code = "anchor-gone"             // an id that a page had before, and does not have now

	// Codes of links to other sites, which package check/remote judges.

	DeadLink Code = "dead-link" // the other site says repeatedly that there is nothing, or does not answer
	Doubtful Code = "doubtful"  // the other site failed, but not often enough
	Moved    Code = "moved"     // the other site redirects permanently

	// Codes of the link elements that name endpoints (docs/guide/link-elements.md).

	EndpointMissing     Code = "endpoint-missing"      // a page that should name an endpoint does not
	EndpointUnwanted    Code = "endpoint-unwanted"     // a page names an endpoint and should not
	EndpointAddress     Code = "endpoint-address"      // an address that differs from the configuration's
	EndpointRelative    Code = "endpoint-relative"     // an address that is not absolute
	EndpointForm        Code = "endpoint-form"         // not in the form that clients look for
	EndpointUnquoted    Code = "endpoint-unquoted"     // the same, because a minifier removed the quotes
	EndpointTwice       Code = "endpoint-twice"        // a second element
	EndpointSecondMatch Code = "endpoint-second-match" // text that clients mistake for an element
	EndpointBody        Code = "endpoint-body"         // the element is not in the head
	EndpointLate        Code = "endpoint-late"         // the element is after the first 5,000 bytes
	EndpointHeader      Code = "endpoint-header"       // a header that names another address
	EndpointInvalidPage Code = "endpoint-invalid-page" // a page with endpoints that has two heads

	// Codes of feeds and sitemaps (docs/reference/files.md).

	SitemapEntry     Code = "sitemap-entry"      // an entry of a sitemap or sitemap index that search engines cannot use
	FeedEntry        Code = "feed-entry"         // an entry of a feed whose page is not found
	FeedRelative     Code = "feed-relative"      // links that only work relative to the feed, which readers do not do
	NoIndexInSitemap Code = "noindex-in-sitemap" // an entry of a sitemap whose page asks not to be indexed
	SitemapLimit     Code = "sitemap-limit"      // a sitemap with more entries or bytes than the protocol allows
)

// Codes of links that were not checked.
const (
	External      Code = "external"        // another host
	Mailto        Code = "mailto"          // mailto:
	Tel           Code = "tel"             // tel:
	Data          Code = "data"            // data:
	JavaScript    Code = "javascript"      // javascript:
	OtherScheme   Code = "other-scheme"    // ftp:, news:, about:, blob: ...
	Inert         Code = "inert"           // inside <template>
	Exempted      Code = "exempted"        // data-sitelink-ignore or data-proofer-ignore on the element or around it
	Action        Code = "action"          // the action of a form: a program, not a file
	Hint          Code = "hint"            // preconnect and dns-prefetch name a host, not a page
	NotHTML       Code = "not-html"        // a fragment of a target that is not an HTML page
	NotScanned    Code = "not-scanned"     // a fragment of a page that could not be read
	IgnoredByRule Code = "ignored"         // an ignore rule matched
	Ping          Code = "ping"            // the target of a ping attribute, which takes POST only
	Proxied       Code = "proxied"         // another server or a program answers, by a rule of the host
	Conditional   Code = "conditional"     // only a rule that depends on country, cookie, header ... answers
	Livereload    Code = "livereload"      // what only a development server has
	Blocked       Code = "blocked"         // another site answers people, but not us
	Budget        Code = "external-budget" // the budget for requests to other sites was spent
	Skipped       Code = "skipped"         // a fragment of a page, or an address of a server, that --from, --skip or a limit leaves out

	AcceptedByBaseline Code = "baseline" // a link whose finding the baseline accepts
)
