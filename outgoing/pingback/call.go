package pingback

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/kolo/xmlrpc"
)

// method is the only method that a pingback client calls (section 3).
const method = "pingback.ping"

// encode returns the body of the call: two strings, the source and the target as
// they are written (PB-36). An error says that one of them cannot be put into
// XML.
func encode(source, target string) ([]byte, error) {
	for _, u := range []string{source, target} {
		if !utf8.ValidString(u) {
			return nil, fmt.Errorf("address %.200q is not UTF-8", u)
		}
		if i := bytes.IndexFunc([]byte(u), unfit); i >= 0 {
			return nil, fmt.Errorf("address %.200q holds a control character or a space", u)
		}
	}
	call, err := xmlrpc.EncodeMethodCall(method, source, target)
	if err != nil {
		return nil, fmt.Errorf("encode the call of %s: %w", method, err)
	}
	// The library's prolog names the encoding, and some servers compare theirs
	// byte by byte: the specification's own example has the bare one.
	_, call, _ = bytes.Cut(call, []byte("?>"))
	return append(append([]byte("<?xml version=\"1.0\"?>\n"), call...), '\n'), nil
}

// unfit tells whether a character has no place in an address: XML has no way to
// write most of these.
func unfit(r rune) bool {
	return r <= ' ' || r == 0x7F || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF
}
