package check

// Code is the machine-readable reason of a verdict. Codes are a contract:
// configuration, baselines and other tools name them.
type Code string

// Codes of findings.
const (
	MissingFile      Code = "missing-file"            // no file answers the path
	MissingDirectory Code = "missing-directory"       // the path ends in / and no such directory exists
	MissingIndex     Code = "missing-index"           // the directory is there, its index file is not
	MissingFragment  Code = "missing-fragment"        // the page is there, the fragment is not
	MissingMap       Code = "missing-map"             // usemap names no map of the page
	WrongCase        Code = "wrong-case"              // only a name of other letter case is there
	OutsideDocroot   Code = "outside-docroot"         // climbs above the root, or goes through a symbolic link that leaves it
	BrokenSymlink    Code = "broken-symlink"          // a symbolic link that leads nowhere
	Unreadable       Code = "unreadable"              // the file or directory is there, the server may not read it
	SpecialFile      Code = "special-file"            // a pipe, socket or device
	BadURL           Code = "bad-url"                 // no URL, or one the host refuses
	EmptyLink        Code = "empty-link"              // an empty src
	UnclosedComment  Code = "unclosed-comment"        // the rest of the file is a comment
	UnclosedElement  Code = "unclosed-element"        // script, style, title or textarea never closes
	UnclosedTag      Code = "unclosed-tag"            // the file ends inside a tag
	NotWellFormed    Code = "not-well-formed"         // an XHTML page or SVG file that is no XML
	BaseDiffers      Code = "base-differs"            // html5 and document-order read the base differently
	Credentials      Code = "credentials"             // user:password@ in a URL
	Backslash        Code = "backslash"               // \ where / is meant
	DoubleSlash      Code = "double-slash"            // an empty path segment
	Autoindex        Code = "autoindex"               // only a directory listing answers
	ScriptFragment   Code = "script-fragment"         // fragments that only a script can serve
	MappingLoop      Code = "mapping-loop"            // --map rules lead round in a circle
	TooLarge         Code = "too-large"               // the file is larger than max-page-size and was not read
	ReadError        Code = "read-error"              // the file could not be read
	BadMapFile       Code = "bad-map-file"            // a line of an image map cannot be parsed
	ServerDependent  Code = "server-dependent"        // the host answers, other servers would refuse
	Changed          Code = "changed"                 // the file changed while it was checked
	Fallback         Code = "fallback"                // nothing is there; the host answers with its fallback page
	ViaRedirect      Code = "via-redirect"            // a redirect rule of the host stands between
	EndlessRedirect  Code = "endless-redirect"        // the host's redirects lead round in a circle
	UnresolvedRef    Code = "unresolved-ref"          // the generator had no page for a reference
	RedirectSyntax   Code = "redirect-syntax"         // the host ignores the rule or refuses the file
	RedirectLimit    Code = "redirect-limit"          // more or longer than the host accepts
	RedirectUnjudged Code = "redirect-unjudged"       // a rule that is not understood
	RedirectMissing  Code = "redirect-target-missing" // nothing answers the destination of a rule
	RedirectLoop     Code = "redirect-loop"           // a rule that leads round in a circle
	RedirectChain    Code = "redirect-chain"          // a rule that leads to another redirect
	RedirectHidden   Code = "redirect-unreachable"    // a rule that never matches
	RedirectShadowed Code = "redirect-shadowed"       // a rule that a file hides
	Orphan           Code = "orphan"                  // no page links to the file
	Unreachable      Code = "unreachable"             // pages link to the page, but no chain of links leads there
	UnmatchedLinkset Code = "unmatched-linkset"       // a linkset of --from that finds no page
	LimitReached     Code = "limit-reached"           // --limit left pages out

	// Of the elements that name the endpoints (docs/guide/link-elements.md).

	EndpointMissing     Code = "endpoint-missing"      // a page that should name an endpoint does not
	EndpointUnwanted    Code = "endpoint-unwanted"     // a page names an endpoint and should not
	EndpointAddress     Code = "endpoint-address"      // another address than the configuration's
	EndpointRelative    Code = "endpoint-relative"     // an address that is not absolute
	EndpointForm        Code = "endpoint-form"         // not in the form that clients look for
	EndpointUnquoted    Code = "endpoint-unquoted"     // likewise, since a minifier took the quotes
	EndpointTwice       Code = "endpoint-twice"        // a second element
	EndpointSecondMatch Code = "endpoint-second-match" // text that is no element, and looks like one to clients
	EndpointBody        Code = "endpoint-body"         // the element is not in the head
	EndpointLate        Code = "endpoint-late"         // behind the first 5,000 bytes
	EndpointHeader      Code = "endpoint-header"       // a header that names another address
	EndpointInvalidPage Code = "endpoint-invalid-page" // a page with endpoints that has two heads

	// Of feeds and sitemaps (docs/reference/files.md).

	SitemapEntry     Code = "sitemap-entry"      // an entry of a sitemap or sitemap index that search engines cannot use
	FeedEntry        Code = "feed-entry"         // an entry of a feed whose page is not there
	NoIndexInSitemap Code = "noindex-in-sitemap" // an entry of a sitemap whose page asks not to be indexed
	SitemapLimit     Code = "sitemap-limit"      // a sitemap with more entries or bytes than the protocol allows
)

// Codes of links that were not checked.
const (
	External      Code = "external"     // another host
	Mailto        Code = "mailto"       //
	Tel           Code = "tel"          //
	Data          Code = "data"         //
	JavaScript    Code = "javascript"   //
	OtherScheme   Code = "other-scheme" // ftp, news, about, blob ...
	Inert         Code = "inert"        // inside <template>
	Action        Code = "action"       // form action: a program, not a file
	Hint          Code = "hint"         // preconnect and dns-prefetch name a host, no page
	NotHTML       Code = "not-html"     // a fragment on a target that is no HTML page
	NotScanned    Code = "not-scanned"  // a fragment on a page that could not be read
	IgnoredByRule Code = "ignored"      // an ignore rule matched
	Ping          Code = "ping"         // a ping target takes POST only
	OutsideBase   Code = "outside-base" // own host, but not below the base URL's path
	Proxied       Code = "proxied"      // another server or a program answers, by a rule of the host
	Conditional   Code = "conditional"  // only a rule that depends on country, cookie, header ... answers
	Livereload    Code = "livereload"   // a script that only hugo server has
	Skipped       Code = "skipped"      // a fragment on a page that --from, --skip or --limit leaves out

	AcceptedByBaseline Code = "baseline" // a row of a finding that the baseline accepts
)
