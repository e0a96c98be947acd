package host

// State is the host's answer to the request that a link makes, before fragments
// are looked at: which kind of answer it is and, if it is a warning or an error,
// why. Each link of a page is stored with its State.
//
// A State is a fact about the docroot and the host. What follows from it is for
// package check to decide: it adds the result of looking for the fragment, and
// turns both into the verdict and the code that reports contain.
//
// The states are in four groups, in this order: a file answers, a file answers
// but the link deserves a warning, the link is broken, the link was not checked.
// [State.Answers], [State.IsWarning] and [State.IsError] depend on the order.
type State uint8

// The target answers.
const (
	// StateOK: a file answers at the address of the link.
	StateOK State = iota
	// StateRedirect: a file answers after the host redirected, as hosts do to add
	// the final slash of a directory.
	StateRedirect

	// A file answers, but the link deserves a warning.

	// StateAutoindex: only a listing of the directory answers.
	StateAutoindex
	// StateAboveRoot: the link climbs above the root, where browsers stop.
	StateAboveRoot
	// StateBackslash: the link has \ instead of /.
	StateBackslash
	// StateDoubleSlash: the path has an empty segment, which the host drops.
	StateDoubleSlash
	// StateServerDependent: other servers than the profile's refuse.
	StateServerDependent
	// StateAlias: the page that answers redirects the visitor at once.
	StateAlias
	// StateViaRedirect: a rule of the host redirects to the file.
	StateViaRedirect
	// StateMixedOwn: browsers do not load the file from the page, because the link
	// has the scheme http and the site https.
	StateMixedOwn
	// StateFallback: the target is missing, and the host's fallback page answers.
	StateFallback
	// StatePrivate: only the file's owner may read it.
	StatePrivate

	// The link is broken.

	// StateMissingFile: no file has that name.
	StateMissingFile
	// StateMissingDirectory: no directory has that name.
	StateMissingDirectory
	// StateMissingIndex: the directory has no index file.
	StateMissingIndex
	// StateWrongCase: the file exists, in other letter case.
	StateWrongCase
	// StateMissingBase: the link is on the site's host, but not below its base
	// path; with the base path added, a file answers.
	StateMissingBase
	// StateGluedBase: the slash between the base path and the rest is missing; with
	// it, a file answers.
	StateGluedBase
	// StateWrongHost: the host of the URL is a path of the docroot, or a scheme.
	StateWrongHost
	// StateLocal: a public page loads or names an address that only the machine or
	// the network of its author has.
	StateLocal
	// StateOutsideDocroot: the link climbs above the root to a missing file.
	StateOutsideDocroot
	// StateBrokenSymlink: a symbolic link leads nowhere, or to itself.
	StateBrokenSymlink
	// StateUnreadable: the host refuses to send the file.
	StateUnreadable
	// StateSpecialFile: the name is a pipe, socket or device.
	StateSpecialFile
	// StateBadURL: the value is not a URL, or the host refuses the path.
	StateBadURL
	// StateEmptyLink: the value of a link to a resource is empty.
	StateEmptyLink
	// StateMappingLoop: the --map rules never end.
	StateMappingLoop
	// StateRedirectLoop: the host's redirects never end.
	StateRedirectLoop
	// StateUnresolvedRef: the generator wrote this value because it had no page
	// for a reference.
	StateUnresolvedRef
	// StateHomePage: the target is missing, and the home page answers, as for a single-page
	// application; but the site has other pages.
	StateHomePage

	// The link was not checked.

	// StateExternal: the link leads to another host.
	StateExternal
	// StateCredentials: so does this one, with a password in the URL: a warning.
	StateCredentials
	// StateMixed: browsers do not load the target, because the link has the scheme
	// http and the site https: a warning.
	StateMixed
	// StateDevServer: a link to a page of the site at the address of the generator's
	// server: a warning.
	StateDevServer
	// StateDeadScheme: no browser follows the scheme from a page: a warning.
	StateDeadScheme
	// StateNoRecipient: mailto: or tel: without address: a warning.
	StateNoRecipient
	StateMailto
	StateTel
	StateData
	StateJavaScript
	// StateOtherScheme: the URL has a scheme of another kind.
	StateOtherScheme
	// StateInert: the element is in a template or otherwise has no effect.
	StateInert
	// StateAction: the target of a form, which gets data.
	StateAction
	// StateHint: a hint to connect to a host, such as preconnect.
	StateHint
	// StatePing: a target of the ping attribute.
	StatePing
	// StateOutsideBase: on the site's host, but not below its base path.
	StateOutsideBase
	// StateBehindSymlink: the file is outside the docroot: a warning.
	StateBehindSymlink
	// StateRedirectsAway: a rule redirects to another host: a warning.
	StateRedirectsAway
	// StateProxied: a rule lets another server or a program answer.
	StateProxied
	// StateConditional: only a rule that may or may not apply answers.
	StateConditional
	// StateLivereload: what only a development server has, such as the script of hugo server.
	StateLivereload
	// StateNotAsked: the server was not asked for the address, see [Crawled].
	StateNotAsked
)

// Answers reports whether a file of the docroot answers, so that a fragment can
// be looked up in it.
func (s State) Answers() bool { return s <= StatePrivate }

// IsError reports whether the link is broken.
func (s State) IsError() bool { return s >= StateMissingFile && s <= StateHomePage }

// IsMeant reports whether the link is broken, and the file that it means is known.
func (s State) IsMeant() bool { return s >= StateWrongCase && s <= StateWrongHost }

// Leaves reports whether the link leads out of the docroot.
func (s State) Leaves() bool {
	return s >= StateExternal && s <= StateDevServer || s == StateLocal || s == StateOutsideBase
}

// IsOutbound reports whether the link leads to another site, which may want to know of it.
func (s State) IsOutbound() bool {
	return s == StateExternal || s == StateCredentials || s == StateOutsideBase
}

// IsWarning reports whether the link deserves a warning.
func (s State) IsWarning() bool {
	return s >= StateAutoindex && s <= StatePrivate || s >= StateCredentials && s <= StateNoRecipient || s == StateBehindSymlink || s == StateRedirectsAway
}
