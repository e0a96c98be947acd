package main

import (
	"os"
	"runtime/debug"
	"sync"
)

// readyHeap keeps what is counted as heap and never touched. Without it the
// garbage collector runs at two, three and four megabytes; on rust-doc it runs
// ten times instead of twenty-five, for one megabyte more at the peak.
var readyHeap = sync.OnceValue(func() (young []byte) {
	percent := debug.SetGCPercent(-1) // not for memory that is only reserved
	if !ownGOGC() {
		young, percent = make([]byte, youngHeapBytes), gcLoading
	}
	reserveHeap()
	debug.SetGCPercent(percent)
	return young
})

const youngHeapBytes = 16 << 20

// gcLoading is how far, in percent, the heap may grow before it is collected: by
// half of what is live, not by all of it, since a run is short and its memory
// mostly lives until its end.
const gcLoading = 50

func ownGOGC() bool { return os.Getenv("GOGC") != "" }
