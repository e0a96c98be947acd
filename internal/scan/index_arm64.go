package scan

import "unsafe"

// haveVectors tells whether classify uses vector instructions: every arm64
// processor that Go runs on has NEON.
const haveVectors = true

//go:noescape
func indexNEON(text *byte, blocks int, base uint32, at *uint32, odd *uint64) int

// classify is classifyGo with vector instructions.
func classify(text []byte, base uint32, at []uint32, odd []uint64) int {
	if len(odd) == 0 {
		return 0
	}
	_, _ = text[len(odd)*64-1], at[len(odd)*64+7]
	return indexNEON(unsafe.SliceData(text), len(odd), base, unsafe.SliceData(at), unsafe.SliceData(odd))
}
