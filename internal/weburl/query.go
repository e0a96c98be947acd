package weburl

import (
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// appendQuery appends the text of a query, percent-encoded. Beyond ASCII, the
// queries of http, https, ftp and file URLs are written in the page's
// encoding, and what that cannot express becomes &#N;, percent-encoded.
//
// https://url.spec.whatwg.org/#string-percent-encode-after-encoding
func appendQuery(dst []byte, s string, k kind, enc encoding.Encoding) []byte {
	set := encodeQuery
	if k.special() {
		set = encodeSpecialQuery
	}
	if enc == nil || !k.special() || k == kindWS || k == kindWSS || isASCII(s) || !writesASCII(enc) {
		return appendEncoded(dst, s, set)
	}
	src := appendValid(nil, s)
	e := enc.NewEncoder()
	e.Reset()
	var buf [256]byte
	for {
		nDst, nSrc, err := e.Transform(buf[:], src, true)
		for _, b := range buf[:nDst] {
			if classes[b]&set != 0 {
				dst = appendByte(dst, b)
			} else {
				dst = append(dst, b)
			}
		}
		src = src[nSrc:]
		switch {
		case err == nil:
			return dst
		case err == transform.ErrShortDst && nDst > 0:
			continue
		case len(src) == 0:
			return dst
		}
		// The encoder stands before a character that it cannot express, in
		// ASCII mode if it has modes.
		r, size := utf8.DecodeRune(src)
		dst = append(dst, "%26%23"...)
		dst = strconv.AppendInt(dst, int64(r), 10)
		dst = append(dst, "%3B"...)
		src = src[size:]
	}
}

// appendValid appends s with what is no UTF-8 replaced by U+FFFD.
func appendValid(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		dst = utf8.AppendRune(dst, r)
		i += size
	}
	return dst
}

// writesASCII is false for the encodings whose output encoding is UTF-8, those
// of UTF-16.
//
// https://encoding.spec.whatwg.org/#get-an-output-encoding
func writesASCII(enc encoding.Encoding) bool {
	out, err := enc.NewEncoder().String("a")
	return err == nil && out == "a"
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
