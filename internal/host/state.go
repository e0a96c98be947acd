package host

// State is what resolving a link on the docroot came to, before fragments are
// looked at.
type State uint8

const (
	// StateOK: a file answers.
	StateOK State = iota
	// StateRedirect: a file answers after the host redirected.
	StateRedirect

	// The rest of the ok states are warnings: a file answers, but.
	StateAutoindex       // only a directory listing answers
	StateAboveRoot       // climbs above the root; browsers stop there
	StateBackslash       // \ stands for /
	StateDoubleSlash     // an empty segment, merged by the host
	StateServerDependent // other servers than the profile's refuse
	StateAlias           // a page answers that sends the visitor on at once
	StateViaRedirect     // a rule of the host redirects to it
	StateFallback        // the host's fallback page answers in place of what is missing
	StatePrivate         // other users may not read the file

	// Errors.
	StateMissingFile
	StateMissingDirectory
	StateMissingIndex
	StateWrongCase
	StateOutsideDocroot
	StateBrokenSymlink
	StateUnreadable
	StateSpecialFile
	StateBadURL
	StateEmptyLink
	StateMappingLoop
	StateRedirectLoop
	StateUnresolvedRef // the generator had no page for a reference, and wrote this instead

	// Not checked.
	StateExternal
	StateCredentials // external, with a password in the URL: a warning
	StateMailto
	StateTel
	StateData
	StateJavaScript
	StateOtherScheme
	StateInert
	StateAction
	StateHint
	StatePing
	StateOutsideBase
	StateBehindSymlink
	StateRedirectsAway // a rule of the host redirects to another host: a warning
	StateProxied       // another server answers, by a rule of the host
	StateConditional   // only a rule that may or may not apply answers
	StateLivereload    // the script of hugo server, which no other host has
)

// Answers tells whether a file of the docroot answers, so that a fragment can
// be looked for in it.
func (s State) Answers() bool { return s <= StatePrivate }

// IsError tells whether the link is broken.
func (s State) IsError() bool { return s >= StateMissingFile && s <= StateUnresolvedRef }

// IsWarning tells whether the link works, but somebody should look.
func (s State) IsWarning() bool {
	return s >= StateAutoindex && s <= StatePrivate || s == StateCredentials || s == StateBehindSymlink || s == StateRedirectsAway
}
