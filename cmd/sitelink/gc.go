package main

import (
	"os"
	"runtime/debug"
)

// tuneGC lets the heap grow to three times what is live before it is collected,
// not to twice: a run is short and its memory mostly lives until its end. What
// the user says with GOGC stands.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
