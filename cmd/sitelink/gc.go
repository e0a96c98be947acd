package main

import (
	"os"
	"runtime/debug"
)

// youngHeapBytes are counted as heap and never touched. Without them the garbage
// collector runs at two, three and four megabytes; on rust-doc it runs ten times
// instead of twenty-five, for one megabyte more at the peak.
const youngHeapBytes = 16 << 20

// tuneGC lets the heap grow by half of what is live before it is collected, not
// by all of it: a run is short and its memory mostly lives until its end. What
// the user says with GOGC stands. The caller keeps what it returns until the end.
func tuneGC() []byte {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(50)
	return make([]byte, youngHeapBytes)
}
