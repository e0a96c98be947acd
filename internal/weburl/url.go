// Package weburl parses and resolves URLs as browsers do.
//
// [Parse] and [URL.Resolve] turn a text into a [URL], or into an [*Error] with the
// reason. They follow the WHATWG URL Standard (https://url.spec.whatwg.org/) for
// all schemes. [Canonical] writes a URL in the one form that is used to compare
// and store URLs. The package performs no I/O, keeps no reference to its input,
// and is safe for concurrent use.
package weburl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// URL is a parsed URL record: its serialisation, and offsets into it. It is an
// immutable value and costs one allocation, the string. The zero value is not a
// valid URL; as a base it means that there is no base.
//
// Two URLs that are equal may differ in their [Note]s, so compare what
// [URL.String] returns, not the values.
//
// https://url.spec.whatwg.org/#concept-url
type URL struct {
	// s is scheme ":" ["//" [user [":" pass] "@"] host [":" port]] ["/."] path
	// ["?" query] ["#" fragment]. The "/." occurs only in a URL without host
	// and with a path that starts with "//"; it is not part of the path.
	s string

	schemeEnd uint32 // the ':' after the scheme
	userEnd   uint32 // end of the user name; equals hostStart without credentials
	hostStart uint32
	hostEnd   uint32
	pathStart uint32
	pathEnd   uint32 // the '?', or fragStart if there is no query
	fragStart uint32 // the '#', or len(s) if there is no fragment

	kind   kind
	opaque bool // the path is not a list of segments: mailto:, data:, javascript:
	host   bool // the URL has a host, possibly an empty one
	notes  Note
}

// IsWeb reports whether a text begins as an absolute web address does: with http:// or https://,
// in lower case.
func IsWeb(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// Note is a set of peculiarities of the resolved text that are not errors:
// browsers repair them silently.
type Note uint8

const (
	// NoteBackslash: \ was read as /.
	NoteBackslash Note = 1 << iota
	// NoteTabOrNewline: a tab or a line break inside the text was removed.
	NoteTabOrNewline
	// NoteAboveRoot: .. climbed above the root, where it has no effect.
	NoteAboveRoot
	// NoteCredentials: the text contains a user name or a password.
	NoteCredentials
	// NoteEmptySegment: the path, as written, contains //.
	NoteEmptySegment
	// NoteHost: the text names a host.
	NoteHost
	// NoteSlashes: the text names a host, but not after a scheme and two slashes.
	NoteSlashes
)

// Notes returns the peculiarities of the text that this URL was parsed from,
// without those of its base.
func (u URL) Notes() Note { return u.notes }

// String returns the serialised URL, ASCII only.
//
// https://url.spec.whatwg.org/#url-serializing
func (u URL) String() string { return u.s }

// WithoutFragment returns the serialised URL up to its '#'.
func (u URL) WithoutFragment() string { return u.s[:u.fragStart] }

// Scheme returns the scheme in lower case, without ':'.
func (u URL) Scheme() string { return u.s[:u.schemeEnd] }

// Username returns the user name, percent-encoded.
func (u URL) Username() string {
	if !u.HasCredentials() {
		return ""
	}
	return u.s[u.schemeEnd+3 : u.userEnd]
}

// Password returns the password, percent-encoded.
func (u URL) Password() string {
	if !u.HasCredentials() || u.s[u.userEnd] != ':' {
		return ""
	}
	return u.s[u.userEnd+1 : u.hostStart-1]
}

// HasCredentials reports whether the URL has a user name or a password.
func (u URL) HasCredentials() bool { return u.userEnd < u.hostStart }

// Host returns the serialised host without the port: a domain in ASCII, an
// IPv4 address in four decimal parts, an IPv6 address in brackets, or an
// opaque host. It is empty when the URL has no host.
func (u URL) Host() string { return u.s[u.hostStart:u.hostEnd] }

// Port returns the port in decimal, or "" for the scheme's default.
func (u URL) Port() string {
	if !u.host || u.hostEnd == u.pathStart {
		return ""
	}
	return u.s[u.hostEnd+1 : u.pathStart]
}

// Authority returns the host, with its port unless that is the default of the scheme.
func (u URL) Authority() string {
	if u.Port() == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.Port()
}

// Path returns the serialised path, such as /a/b%20c, or the opaque path.
func (u URL) Path() string { return u.s[u.pathStart:u.pathEnd] }

// IsOpaque reports whether the path is opaque, as in mailto: and data: URLs.
// Only a fragment can be resolved against such a URL.
func (u URL) IsOpaque() bool { return u.opaque }

// Query returns the query, percent-encoded, without '?'.
func (u URL) Query() string {
	if !u.HasQuery() {
		return ""
	}
	return u.s[u.pathEnd+1 : u.fragStart]
}

// HasQuery reports whether the URL has a query, possibly an empty one.
func (u URL) HasQuery() bool { return u.pathEnd < u.fragStart }

// Fragment returns the fragment, percent-encoded, without '#'.
func (u URL) Fragment() string {
	if !u.HasFragment() {
		return ""
	}
	return u.s[u.fragStart+1:]
}

// HasFragment reports whether the URL has a fragment, possibly an empty one.
func (u URL) HasFragment() bool { return int(u.fragStart) < len(u.s) }

// Reason is a short explanation of why a text is not a valid URL.
type Reason string

// The reasons. Every text parses that the standard does not treat as a failure.
const (
	MissingScheme Reason = "missing scheme"
	OpaqueBase    Reason = "the base cannot hold a relative URL"
	EmptyHost     Reason = "empty host"
	ForbiddenHost Reason = "forbidden host code point"
	BadDomain     Reason = "domain name not allowed by IDNA"
	DomainTooLong Reason = "domain name too long"
	BadIPv4       Reason = "bad IPv4 address"
	BadIPv6       Reason = "bad IPv6 address"
	UnclosedIPv6  Reason = "IPv6 address without ]"
	BadPort       Reason = "bad port"
	TooLong       Reason = "too long"

	// Reasons of [Canonical] only.
	NotAbsolute      Reason = "not an absolute URL"
	NotHTTP          Reason = "neither http nor https"
	BareAt           Reason = "an @ in the credentials that is not escaped"
	ControlCharacter Reason = "a control character"
	OuterSpace       Reason = "a space at the end"
)

// maxShownBytes is how much of the text an error message repeats.
const maxShownBytes = 200

// Error describes a text that is not a valid URL.
type Error struct {
	// Raw is the text.
	Raw    string
	Reason Reason
}

// Error returns the text, shortened if it is long, and the reason.
func (e *Error) Error() string {
	raw := e.Raw
	if len(raw) > maxShownBytes {
		cut := maxShownBytes
		for cut > 0 && !utf8.RuneStart(raw[cut]) {
			cut--
		}
		return "URL " + strconv.Quote(raw[:cut]) + "...: " + string(e.Reason)
	}
	return "URL " + strconv.Quote(raw) + ": " + string(e.Reason)
}

func newError(raw string, reason Reason) *Error {
	return &Error{Raw: strings.Clone(raw), Reason: reason}
}
