package html

// haveVectors reports whether classify uses vector instructions. Every arm64
// processor that Go supports has NEON.
const haveVectors = true
