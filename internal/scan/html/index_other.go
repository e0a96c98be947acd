//go:build !amd64 && !arm64

package html

// haveVectors reports whether classify uses vector instructions. There is no
// assembly for this processor.
const haveVectors = false

func classify(text []byte, base uint32, at []uint32, special []uint64) int {
	return classifyGo(text, base, at, special)
}
