package html

// haveVectors tells whether classify uses vector instructions: every arm64
// processor that Go runs on has NEON.
const haveVectors = true
