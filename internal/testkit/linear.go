package testkit

import (
	"bytes"
	"runtime"
	"testing"
)

// Linear fails a test if the cost of read grows faster than its input. read gets text
// repeated to 4 KiB and to four times that. Linear counts allocated bytes, because they do
// not depend on the machine. A reader that expands what it reads, or keeps what it has
// read for each new element, allocates 16 times as much for the larger input. Linear does
// not see loops that allocate nothing.
func Linear(t testing.TB, text []byte, read func(text []byte)) {
	t.Helper()
	if len(text) == 0 || len(text) > 64 {
		return // a motif is short, and the seeds of other tests need not run twice
	}
	steps := func(size int) uint64 {
		repeated := bytes.Repeat(text, 1+size/len(text))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(repeated)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const small, slack = 4 << 10, 1 << 20
	steps(small) // fills caches
	one, four := steps(small), steps(4*small)
	if four > 6*one+slack {
		t.Errorf("%q repeated to %d bytes takes %d steps, to %d bytes %d", text, small, one, 4*small, four)
	}
}
