package weburl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reason says in a few words, for a person, why a text is no URL.
type Reason string

// The reasons. All that the standard does not treat as failure parses.
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

	// Of the canonical form only.
	NotAbsolute      Reason = "not an absolute URL"
	NotHTTP          Reason = "neither http nor https"
	BareAt           Reason = "an @ in the credentials that is not escaped"
	ControlCharacter Reason = "a control character"
	OuterSpace       Reason = "a space at the end"
)

// maxShownBytes is how much of the text an error message repeats.
const maxShownBytes = 200

// Error is a text that is no URL.
type Error struct {
	// Raw is the text as it was given.
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
