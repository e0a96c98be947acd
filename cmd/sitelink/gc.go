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

var readyHeap = sync.OnceFunc(func() {
	tuneGC()
	reserveHeap()
})

// youngHeap is counted as heap and never touched. Without it the garbage
// collector runs at two, three and four megabytes; on rust-doc it runs ten times
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
