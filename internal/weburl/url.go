// Package weburl parses and resolves URLs as browsers do.
//
// A text enters, with the URL of the page as its base; a [URL] leaves, or an
// [*Error] with the reason. The rules are those of the WHATWG URL Standard
// (https://url.spec.whatwg.org/), for all schemes. The package performs no
// I/O, keeps no reference to its input, and everything in it is safe for
// concurrent use.
package weburl

// URL is a parsed URL record: its serialisation, and offsets into it. It is an
// immutable value and costs one allocation, the string. The zero value is no
// URL; as a base it is the same as none.
//
// Two URLs that are equal may differ in their [Note]s, so compare what
// [URL.String] returns, not the values.
//
// https://url.spec.whatwg.org/#concept-url
type URL struct {
	// s is scheme ":" ["//" [user [":" pass] "@"] host [":" port]] ["/."] path
	// ["?" query] ["#" fragment]. The "/." stands only where a URL without
	// host has a path that begins with "//"; it is no part of the path.
	s string

	schemeEnd uint32 // the ':' after the scheme
	userEnd   uint32 // end of the user name; equals hostStart without credentials
	hostStart uint32
	hostEnd   uint32
	pathStart uint32
	pathEnd   uint32 // the '?', or fragStart if there is no query
	fragStart uint32 // the '#', or len(s) if there is no fragment

	kind   kind
	opaque bool // the path is no list of segments: mailto:, data:, javascript:
	host   bool // there is a host, if only an empty one
	notes  Note
}

// Note tells what is odd about the text that was resolved, where the odd thing
// is no error: browsers repair it without a word.
type Note uint8

const (
	// NoteBackslash: \ was read as /.
	NoteBackslash Note = 1 << iota
	// NoteTabOrNewline: a tab or a line break inside the text was removed.
	NoteTabOrNewline
	// NoteAboveRoot: .. climbed above the root, where it has no effect.
	NoteAboveRoot
	// NoteCredentials: the text holds a user name or a password.
	NoteCredentials
	// NoteEmptySegment: the path, as written, holds //.
	NoteEmptySegment
)

// Notes returns what is odd about the text that this URL was made from. The
// base's own oddities are not repeated.
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

// HasCredentials tells whether the URL has a user name or a password.
func (u URL) HasCredentials() bool { return u.userEnd < u.hostStart }

// Host returns the serialised host without the port: a domain in ASCII, an
// IPv4 address in four decimal parts, an IPv6 address in brackets, or an
// opaque host. It is empty where there is none.
func (u URL) Host() string { return u.s[u.hostStart:u.hostEnd] }

// Port returns the port in decimal, empty if there is none or if it is the
// scheme's default.
func (u URL) Port() string {
	if !u.host || u.hostEnd == u.pathStart {
		return ""
	}
	return u.s[u.hostEnd+1 : u.pathStart]
}

// Path returns the serialised path, such as /a/b%20c, or the opaque path.
func (u URL) Path() string { return u.s[u.pathStart:u.pathEnd] }

// IsOpaque tells whether the path is opaque, as that of mailto: and data:
// URLs is. Only a fragment can be resolved against such a URL.
func (u URL) IsOpaque() bool { return u.opaque }

// Query returns the query, percent-encoded, without '?'.
func (u URL) Query() string {
	if !u.HasQuery() {
		return ""
	}
	return u.s[u.pathEnd+1 : u.fragStart]
}

// HasQuery tells whether there is a query, if only an empty one.
func (u URL) HasQuery() bool { return u.pathEnd < u.fragStart }

// Fragment returns the fragment, percent-encoded, without '#'.
func (u URL) Fragment() string {
	if !u.HasFragment() {
		return ""
	}
	return u.s[u.fragStart+1:]
}

// HasFragment tells whether there is a fragment, if only an empty one.
func (u URL) HasFragment() bool { return int(u.fragStart) < len(u.s) }
