package host

import "github.com/sitelink/sitelink/internal/weburl"

// Profile describes how a host maps URL paths to files and what it answers. It
// is plain data; a copy with other values describes another host. [Profile.Set]
// sets fields by their names in the configuration. docs/reference/profiles.md
// documents where each value comes from.
type Profile struct {
	// Name is what --profile takes.
	Name string

	// Index are the names of index files, in the order in which the host tries
	// them.
	Index []string
	// AnyCase: names match in any letter case where none matches exactly.
	AnyCase bool
	// FoldIndex: when all names of Index are lower case they match files in
	// any letter case (LL-81).
	FoldIndex bool
	// Autoindex is the answer for a directory without index file.
	Autoindex Autoindex
	// Charset is the encoding in the host's Content-Type header for HTML and CSS;
	// empty if the header gives none. It overrides what a file says about itself.
	Charset string
	// Base is how the profile applies <base href>.
	Base BaseRule

	// Directory says what /dir answers when dir is a directory: Redirect to
	// /dir/, Serve its index file, RedirectIndex (to /dir/, but only when
	// there is an index file or the host lists directories) or Missing.
	Directory Way
	// DirectorySlash says what /dir/ answers when it has an index file: Serve
	// it, or Redirect to /dir.
	DirectorySlash Way
	// IndexFile says what /dir/index.html answers: Serve, or Redirect to the
	// directory, RedirectBare to /dir without the slash.
	IndexFile Way
	// IndexName says what /dir/index answers, whether there is an index file or
	// not: Missing (the name has no special meaning), Redirect to /dir/ unless
	// a file has that name, RedirectBare to /dir unless a file or a directory
	// with index file has it, or RedirectAlways to /dir.
	IndexName Way
	// EmptyDirectory is the status of a directory without index file.
	EmptyDirectory int

	// Page says what /page answers when there is page.html: Missing, Serve, or
	// Redirect to /page/.
	Page Way
	// PageSuffixes are suffixes that a page's address may leave out, in the order tried.
	PageSuffixes []string
	// PageFile says what /page.html answers: Serve, Redirect to /page unless
	// there is a file of that name, or RedirectAlways.
	PageFile Way
	// PageSlash says what /page/ answers when there is page.html and no
	// directory: Missing, Serve, or Redirect to /page.
	PageSlash Way
	// PageFirst: /page is page.html even if there is a directory page. With
	// PageSlashFirst, so is /page/.
	PageFirst, PageSlashFirst bool
	// TrailingSlash is applied to every path before looking for a file: Keep,
	// Add a slash unless the last name has a suffix, or Remove it.
	TrailingSlash Way

	// FileSlash says what a slash or path after a file answers: Missing, Serve
	// (it is path info), ServeSlash (a slash alone), or Redirect to the file (a
	// slash alone).
	FileSlash Way
	// Slashes says what happens to empty segments: Merge, Keep (nothing answers
	// then), or Redirect to the path without them.
	Slashes Way
	// EncodedSlash says what %2F is: a slash (Serve), part of a name (Keep),
	// or Missing: always 404.
	EncodedSlash Way
	// ReservedEscape says what the escape of a character with a meaning in URLs
	// (; / ? : @ & = + $ , #) is: that character (Serve), or part of a name
	// (Keep).
	ReservedEscape Way
	// AboveRoot is the status for encoded dots that lead above the root; 0
	// means that the path stops at the root.
	AboveRoot int
	// BadEscape is the status for a percent sign that does not begin an escape;
	// 0 means that it is taken literally.
	BadEscape int
	// InvalidUTF8 is the status for a path that is not valid UTF-8; 0 for none.
	InvalidUTF8 int
	// Deny are patterns (path.Match) for names of files and directories that
	// the host does not serve; Denied is the status.
	Deny   []string
	Denied int

	// Rules says which rule files the host reads: those in the row of a kind, or RulesNone.
	Rules Way

	// DropQuery: a redirect of the host loses the query.
	DropQuery bool
	// RawLocation: a redirect of the host escapes nothing, so that browsers
	// find a query or a fragment if a name contains "?" or "#".
	RawLocation bool
	// ErrorPage is the file at the root that is sent with 404 even when
	// requested by name; empty for none.
	ErrorPage string
	// Fallback is the file that answers every missing path with 200 (a
	// single-page application), unless a file called FallbackUnless is in the
	// directory of the path or above it.
	Fallback, FallbackUnless string
	// Portable: warn about links that other servers answer differently.
	Portable bool
}

// Way is how a host treats a kind of path.
type Way string

// The ways; each field of [Profile] documents which it takes.
const (
	Serve          Way = "serve"
	Redirect       Way = "redirect"
	RedirectIndex  Way = "redirect-index"
	RedirectBare   Way = "redirect-bare"
	RedirectAlways Way = "redirect-always"
	ServeSlash     Way = "serve-slash"
	Add            Way = "add"
	Remove         Way = "remove"
	Missing        Way = "missing"
	Refuse         Way = "refuse"
	Merge          Way = "merge"
	Keep           Way = "keep"

	RulesNone       Way = "none"
	RulesNetlify    Way = "netlify"
	RulesCloudflare Way = "cloudflare"
	RulesVercel     Way = "vercel"
	RulesFirebase   Way = "firebase"
	RulesAzure      Way = "azure"
	RulesHtaccess   Way = "htaccess"
	RulesGitLab     Way = "gitlab"
	RulesWorkers    Way = "workers"
	RulesRender     Way = "render"
	RulesAmplify    Way = "amplify"
	// rulesShared are those rules of _redirects that Netlify and Cloudflare read
	// alike.
	rulesShared Way = "netlify or cloudflare"
)

// WithURLs returns the profile with the settings cleanUrls and trailingSlash of
// vercel.json or firebase.json applied; trailingSlash is nil if the file does
// not set it. trailingSlash of staticwebapp.config.json sets cleanURLs, and
// trailingSlash unless it is "auto"; so does html_handling of wrangler.json and its like.
// Profiles of other hosts are returned unchanged.
//
// The answers were measured on serve-handler, superstatic and wrangler, those of Azure are
// documented; see docs/reference/profiles.md.
func (p Profile) WithURLs(cleanURLs bool, trailingSlash *bool) Profile {
	switch p.Rules { // the name may say that the profile was changed
	case RulesVercel:
		p.vercelURLs(cleanURLs, trailingSlash)
	case RulesFirebase:
		p.firebaseURLs(cleanURLs, trailingSlash)
	case RulesWorkers:
		if trailingSlash != nil {
			p.firebaseURLs(true, trailingSlash)
		}
	case RulesAzure:
		p.firebaseURLs(cleanURLs, trailingSlash)
		if cleanURLs && trailingSlash == nil {
			p.Directory, p.IndexFile, p.IndexName, p.PageSlash = RedirectIndex, Redirect, Redirect, Redirect
		}
	}
	return p
}

// vercelURLs: Vercel redirects by the text of a path, whether the file exists
// or not.
func (p *Profile) vercelURLs(cleanURLs bool, trailingSlash *bool) {
	if cleanURLs {
		p.Page, p.PageFile, p.PageSlash = Serve, RedirectAlways, Serve
		p.IndexFile, p.IndexName = RedirectBare, RedirectAlways
	}
	switch {
	case trailingSlash == nil:
	case *trailingSlash:
		p.TrailingSlash = Add
	default:
		p.TrailingSlash = Remove
	}
}

// firebaseURLs: Firebase redirects only between the addresses of a file that
// exists.
func (p *Profile) firebaseURLs(cleanURLs bool, trailingSlash *bool) {
	if cleanURLs {
		p.Page, p.PageFile, p.Directory = Serve, Redirect, Serve
		p.IndexFile, p.IndexName = RedirectBare, RedirectBare
	}
	switch {
	case trailingSlash == nil:
	case *trailingSlash:
		p.Directory, p.DirectorySlash = RedirectIndex, Serve
		if cleanURLs {
			p.Page, p.PageSlash, p.IndexFile, p.IndexName = Redirect, Serve, Redirect, Redirect
		}
	default:
		p.Directory, p.DirectorySlash = Serve, Redirect
		if cleanURLs {
			p.PageSlash = Redirect
		}
	}
}

// Form returns the form of the only address at which the host answers with a page,
// without a redirect: page.html, or the index file of a directory if index is set, for
// which the name of that file does not count. It is "" if several forms answer alike.
func (p *Profile) Form(index bool) weburl.Form {
	bare, slash := p.Page == Serve, p.PageSlash == Serve
	if index {
		bare, slash = p.Directory == Serve, p.DirectorySlash == Serve
	}
	bare, slash = bare && p.TrailingSlash != Add, slash && p.TrailingSlash != Remove
	file := !index && p.PageFile == Serve
	switch {
	case bare && !slash && !file:
		return weburl.BareForm
	case slash && !bare && !file:
		return weburl.SlashForm
	case file && !bare && !slash:
		return weburl.FileForm
	}
	return ""
}
