//go:build amd64 || arm64

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestReserveHeap: the address space is there, and nothing of it is in use.
func TestReserveHeap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	reserveHeap()
	runtime.ReadMemStats(&after)
	if after.HeapInuse > before.HeapInuse+hugeHeap/10 {
		t.Errorf("%d MB in use, %d MB before", after.HeapInuse>>20, before.HeapInuse>>20)
	}
	if after.HeapSys < hugeHeap {
		t.Errorf("only %d MB reserved", after.HeapSys>>20)
	}
}

// TestReserveHeapUntouched: what is reserved stays address space, even behind
// memory that was used before.
func TestReserveHeapUntouched(t *testing.T) {
	const child = "SITELINK_TEST_RESERVE"
	if os.Getenv(child) == "" { // in a process that has reserved nothing yet
		cmd := exec.Command(os.Args[0], "-test.run", "^TestReserveHeapUntouched$")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	used := make([][]byte, 16)
	for i := range used {
		used[i] = bytes.Repeat([]byte{1}, 1<<20)
	}
	runtime.KeepAlive(used)
	used = nil
	debug.FreeOSMemory()
	before := residentBytes(t)
	reserveHeap()
	if after := residentBytes(t); after > before+hugeHeap/4 {
		t.Errorf("%d MB resident, %d MB before", after>>20, before>>20)
	}
}

// residentBytes is the memory of this process.
func residentBytes(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return resident * os.Getpagesize()
}
