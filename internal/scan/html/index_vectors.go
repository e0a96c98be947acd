//go:build amd64 || arm64

package html

import "unsafe"

// indexVectors reads blocks of 64 bytes. It writes base plus the offset of each
// "<" and double quote to at, and for each block the bits of the special bytes
// to special. It returns the number of offsets. It writes up to eight more
// values after them.
//
//go:noescape
func indexVectors(text *byte, blocks int, base uint32, at *uint32, special *uint64) int

// classify is classifyGo with vector instructions if the processor has them.
func classify(text []byte, base uint32, at []uint32, special []uint64) int {
	if !haveVectors || len(special) == 0 {
		return classifyGo(text, base, at, special)
	}
	_, _ = text[len(special)*64-1], at[len(special)*64+7]
	return indexVectors(unsafe.SliceData(text), len(special), base, unsafe.SliceData(at), unsafe.SliceData(special))
}
