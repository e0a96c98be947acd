package host

import "github.com/sitelink/sitelink/internal/weburl"

// Profile describes how a host maps URL paths to files and what it answers. It
// is plain data; a copy with other values describes another host. [Profile.Set]
// sets fields by their names in the configuration, which the tags have with the values of
// a word and the help: one line, lower case, no full stop. docs/reference/profiles.md
// documents where each value comes from.
type Profile struct {
	// Name is what --profile takes.
	Name string

	// Index are the names of index files, in the order in which the host tries
	// them.
	Index []string `key:"index" help:"default index files of a directory, in the order tried"`
	// AnyCase: names match in any letter case where none matches exactly.
	AnyCase bool `key:"any-case" help:"names match in any letter case where none matches exactly"`
	// FoldIndex: when all names of Index are lower case they match files in
	// any letter case (LL-81).
	FoldIndex bool `key:"index-any-case" help:"index files match in any letter case"`
	// Autoindex is the answer for a directory without index file.
	Autoindex Autoindex
	// Charset is the encoding in the host's Content-Type header for HTML and CSS;
	// empty if the header gives none. It overrides what a file says about itself.
	Charset string `key:"charset" help:"encoding that the host's Content-Type gives for HTML and CSS, whatever the files say; empty for none"`
	// Base is how the profile applies <base href>.
	Base BaseRule

	// Directory says what /dir answers when dir is a directory: Redirect to
	// /dir/, Serve its index file, RedirectIndex (to /dir/, but only when
	// there is an index file or the host lists directories) or Missing.
	Directory Way `key:"directory" values:"redirect redirect-index serve missing" help:"/dir: redirect to /dir/, the same only when it has an index file or is listed, serve that file, or missing"`
	// DirectorySlash says what /dir/ answers when it has an index file: Serve
	// it, or Redirect to /dir.
	DirectorySlash Way `key:"directory-slash" values:"serve redirect" help:"/dir/ with index file: serve it, or redirect to /dir"`
	// IndexFile says what /dir/index.html answers: Serve, or Redirect to the
	// directory, RedirectBare to /dir without the slash.
	IndexFile Way `key:"index-file" values:"serve redirect redirect-bare" help:"/dir/index.html: serve it, or redirect to /dir/ or, bare, to /dir"`
	// IndexName says what /dir/index answers, whether there is an index file or
	// not: Missing (the name has no special meaning), Redirect to /dir/ unless
	// a file has that name, RedirectBare to /dir unless a file or a directory
	// with index file has it, or RedirectAlways to /dir.
	IndexName Way `key:"index-name" values:"missing redirect redirect-bare redirect-always" help:"/dir/index: missing, redirect to /dir/ unless it is a file, or, bare or always, to /dir"`
	// EmptyDirectory is the status of a directory without index file.
	EmptyDirectory int `key:"empty-directory" help:"status of a directory without index file"`

	// Page says what /page answers when there is page.html: Missing, Serve, or
	// Redirect to /page/.
	Page Way `key:"page" values:"missing serve redirect" help:"/page when there is page.html: missing, serve it, or redirect to /page/"`
	// PageSuffixes are suffixes that a page's address may leave out, in the order tried.
	PageSuffixes []string `key:"page-suffixes" help:"suffixes that a page's address may leave out, in the order tried"`
	// PageFile says what /page.html answers: Serve, Redirect to /page unless
	// there is a file of that name, or RedirectAlways.
	PageFile Way `key:"page-file" values:"serve redirect redirect-always" help:"/page.html: serve it, redirect to /page unless that is a file, or redirect always, file or not"`
	// PageSlash says what /page/ answers when there is page.html and no
	// directory: Missing, Serve, or Redirect to /page.
	PageSlash Way `key:"page-slash" values:"missing serve redirect" help:"/page/ when there is page.html and no directory: missing, serve it, or redirect to /page"`
	// PageFirst: /page is page.html even if there is a directory page. With
	// PageSlashFirst, so is /page/.
	PageFirst      bool `key:"page-first" help:"/page is page.html even if there is a directory of that name"`
	PageSlashFirst bool `key:"page-slash-first" help:"/page/ is page.html even if there is a directory of that name"`
	// TrailingSlash is applied to every path before looking for a file: Keep,
	// Add a slash unless the last name has a suffix, or Remove it.
	TrailingSlash Way `key:"trailing-slash" values:"keep add remove" help:"every path: keep, add a slash where the last name has no suffix, or remove it, by a redirect"`

	// FileSlash says what a slash or path after a file answers: Missing, Serve
	// (it is path info), ServeSlash (a slash alone), or Redirect to the file (a
	// slash alone).
	FileSlash Way `key:"file-slash" values:"missing serve serve-slash redirect" help:"a slash or path after a file: missing, serve the file, the same for a slash alone, or redirect to it"`
	// Slashes says what happens to empty segments: Merge, Keep (nothing answers
	// then), or Redirect to the path without them.
	Slashes Way `key:"slashes" values:"merge keep redirect" help:"empty segments: merge, keep (nothing answers), or redirect to the path without them"`
	// EncodedSlash says what %2F is: a slash (Serve), part of a name (Keep),
	// or Missing: always 404.
	EncodedSlash Way `key:"encoded-slash" values:"serve keep missing" help:"%2F: a slash, part of a name, or missing"`
	// ReservedEscape says what the escape of a character with a meaning in URLs
	// (; / ? : @ & = + $ , #) is: that character (Serve), or part of a name
	// (Keep).
	ReservedEscape Way `key:"reserved-escape" values:"serve keep" help:"the escape of a character with a meaning in URLs (;/?:@&=+$,#): that character, or part of a name"`
	// AboveRoot is the status for encoded dots that lead above the root; 0
	// means that the path stops at the root.
	AboveRoot int `key:"above-root" help:"status of encoded dots above the root; 0: they stop there"`
	// BadEscape is the status for a percent sign that does not begin an escape;
	// 0 means that it is taken literally.
	BadEscape int `key:"bad-escape" help:"status of a percent sign without two hexadecimal digits after it; 0: the sign is part of the name"`
	// InvalidUTF8 is the status for a path that is not valid UTF-8; 0 for none.
	InvalidUTF8 int `key:"invalid-utf8" help:"status of a path that is not UTF-8; 0 for none"`
	// Deny are patterns (path.Match) for names of files and directories that
	// the host does not serve; Denied is the status.
	Deny   []string `key:"deny" help:"patterns of names that the host does not serve"`
	Denied int      `key:"denied" help:"status of those names"`

	// Rules says which rule files the host reads: those in the row of a kind, or RulesNone.
	Rules Way `key:"rules" help:"rule files that the host reads: none, or those of a host: "`

	// DropQuery: a redirect of the host loses the query.
	DropQuery bool `key:"drop-query" help:"a redirect of the host loses the query"`
	// RawLocation: a redirect of the host escapes nothing, so that browsers
	// find a query or a fragment if a name contains "?" or "#".
	RawLocation bool `key:"raw-location" help:"a redirect of the host escapes nothing"`
	// ErrorPage is the file at the root that is sent with 404 even when
	// requested by name; empty for none.
	ErrorPage string `key:"error-page" help:"file at the root that is sent with 404 even when asked for by name; empty for none"`
	// Fallback is the file that answers every missing path with 200 (a
	// single-page application), unless a file called FallbackUnless is in the
	// directory of the path or above it.
	Fallback       string `key:"fallback" help:"file that is sent with status 200 for every missing path; empty for none"`
	FallbackUnless string `key:"fallback-unless" help:"file that turns the fallback off for its directory and all below"`
	// Forge, if not nil, says that the docroot is a repository, and a forge shows its
	// Markdown.
	Forge *Forge
	// Portable: warn about links that other servers answer differently.
	Portable bool `key:"portable" help:"warn about links that other servers answer differently"`
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

// Form returns the form of the address at which the host answers without a redirect,
// if that is the only one. It asks for page.html, or for the index file of a directory
// if index is set; then the address with the name of that file does not count. It
// returns "" if several forms answer alike.
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
