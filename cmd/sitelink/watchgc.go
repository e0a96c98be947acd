package main

import (
	"os"
	"runtime/debug"
)

// How far, in percent, the heap of a watch may grow before it is collected: while
// a docroot is loaded, and between edits. What a watch knows of a site stays, and
// an edit leaves little behind, so that collecting it sooner costs little.
const (
	gcLoading = 50
	gcEditing = 20
)

// limitGC sets it, unless the user has with GOGC.
func limitGC(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
