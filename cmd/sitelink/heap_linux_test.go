//go:build amd64 || arm64

package main

import (
	"runtime"
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
