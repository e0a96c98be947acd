//go:build amd64 || arm64

package html

import "unsafe"

// indexVectors writes, for each of the blocks of 64 bytes of text, base plus the
// offsets of "<" and double quotes to at, and to odd the bits of the bytes that
// may not stand for themselves in a value. It returns the number of offsets; up
// to eight more are written behind them.
//
//go:noescape
func indexVectors(text *byte, blocks int, base uint32, at *uint32, odd *uint64) int

// classify is classifyGo with vector instructions where the processor has
// them.
func classify(text []byte, base uint32, at []uint32, odd []uint64) int {
	if !haveVectors || len(odd) == 0 {
		return classifyGo(text, base, at, odd)
	}
	_, _ = text[len(odd)*64-1], at[len(odd)*64+7]
	return indexVectors(unsafe.SliceData(text), len(odd), base, unsafe.SliceData(at), unsafe.SliceData(odd))
}
