//go:build !amd64 && !arm64

package html

// haveVectors tells whether classify uses vector instructions: none are written
// for this processor.
const haveVectors = false

func classify(text []byte, base uint32, at []uint32, odd []uint64) int {
	return classifyGo(text, base, at, odd)
}
