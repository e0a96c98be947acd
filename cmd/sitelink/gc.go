package main

import (
	"context"
	"os"
	"runtime/debug"
	"sync"

	"github.com/sitelink/sitelink/internal/site"
)

// loadSite is [site.Load], after the memory was made ready for what it makes.
// Commands that load no site are spared that: a hook has milliseconds.
func loadSite(ctx context.Context, docroot string, opt site.Options) (*site.Site, error) {
	readyHeap()
	return site.Load(ctx, docroot, opt)
}

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

// How far, in percent, the heap may grow before it is collected: by half of what
// is live, not by all of it, since a run is short and its memory mostly lives
// until its end; and between the edits of a watch, which leave little behind, so
// that collecting it sooner costs little.
const (
	gcLoading = 50
	gcEditing = 20
)

// limitGC sets the limit, unless the user has with GOGC.
func limitGC(percent int) {
	if !ownGOGC() {
		debug.SetGCPercent(percent)
	}
}

func ownGOGC() bool { return os.Getenv("GOGC") != "" }
