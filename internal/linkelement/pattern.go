package linkelement

import (
	"bytes"
	"encoding/binary"
)

const (
	// needle is how every text starts that a pingback client takes for the
	// element (PB-25), anywhere on the page.
	needle = `<link rel="pingback" href="`
	// rare is the part that the search looks for. The rest of the needle
	// occurs in every other link of a page.
	rare = `<link rel="pingback" h`
)

// The search looks at four bytes of every stride; each occurrence covers one of
// these places. A table of the needle's four-byte parts says where the needle
// would start. This costs 1 % of a check (rust-doc, 478 MB); a search byte by
// byte costs 8 %.
const (
	gramBytes = 4
	stride    = len(rare) - gramBytes + 1
	gramBits  = 12
	gramMul   = 0x9E3779B3
)

// grams maps the hash of four bytes of rare to their offset in it plus one.
var grams = func() (table [1 << gramBits]uint8) {
	for i := range stride {
		h := gramHash(binary.LittleEndian.Uint32([]byte(rare[i:])))
		if table[h] != 0 {
			panic("two parts of the needle have one hash: choose another multiplier")
		}
		table[h] = uint8(i) + 1
	}
	return table
}()

func gramHash(gram uint32) uint32 { return gram * gramMul >> (32 - gramBits) }

// findPattern calls f with the offset of each text that matches the pattern of
// Pingback 1.0, 2.3: <link rel="pingback" href="([^"]+)" ?/?>.
func findPattern(text []byte, f func(off int)) {
	i := 0
	for ; i+3*stride+gramBytes <= len(text); i += 4 * stride {
		w := (*[3*stride + gramBytes]byte)(text[i:])
		if grams[gramHash(binary.LittleEndian.Uint32(w[:]))]|grams[gramHash(binary.LittleEndian.Uint32(w[stride:]))]|
			grams[gramHash(binary.LittleEndian.Uint32(w[2*stride:]))]|grams[gramHash(binary.LittleEndian.Uint32(w[3*stride:]))] == 0 {
			continue
		}
		for j := i; j < i+4*stride; j += stride {
			matchAt(text, j, f)
		}
	}
	for ; i+gramBytes <= len(text); i += stride {
		matchAt(text, i, f)
	}
}

// matchAt calls f if the four bytes at i belong to a match.
func matchAt(text []byte, i int, f func(off int)) {
	from := i + 1 - int(grams[gramHash(binary.LittleEndian.Uint32(text[i:]))])
	if from <= i && from >= 0 && bytes.HasPrefix(text[from:], []byte(needle)) && patternEnd(text, from+len(needle)) > 0 {
		f(from)
	}
}

// patternEnd returns the end of an element of that form whose value starts at
// i; 0 if the form differs.
func patternEnd(text []byte, i int) int {
	k := bytes.IndexByte(text[i:], '"')
	if k < 1 {
		return 0
	}
	j := i + k + 1
	if j < len(text) && text[j] == ' ' {
		j++
	}
	if j < len(text) && text[j] == '/' {
		j++
	}
	if j < len(text) && text[j] == '>' {
		return j + 1
	}
	return 0
}
