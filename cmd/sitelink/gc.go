package main

import (
	"os"
	"runtime/debug"
)

// youngHeap is counted as heap and never touched. Without it the garbage
// collector runs at two, three and four megabytes; on rust-doc it runs nine times
// instead of twenty-five, for one megabyte more at the peak.
var youngHeap []byte

const youngHeapBytes = 16 << 20

// tuneGC lets the heap grow by half of what is live before it is collected, not
// by all of it: a run is short and its memory mostly lives until its end. What
// the user says with GOGC stands.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
		youngHeap = make([]byte, youngHeapBytes)
	}
}
