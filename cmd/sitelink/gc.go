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

// tightenGC lets the heap grow by a fifth only: what a watch knows of a site stays,
// and an edit leaves little behind, so that collecting it sooner costs little.
func tightenGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(20)
	}
}
