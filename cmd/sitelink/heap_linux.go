//go:build amd64 || arm64

package main

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeHeap is the part of the heap for which the kernel is asked for huge pages,
// taken in pieces of pieceBytes.
const (
	hugeHeap   = 160 << 20
	pieceBytes = 4 << 20
)

// reserveHeap has the kernel back the first 160 MB of the heap with pages of 2 MB
// where it does so on request only, as Debian and Ubuntu have it. A check touches
// most of its memory once: on rust-doc 37,800 faults become 2,900, worth 0.07 s of
// 1.21 s of processor time, for 5 MB more at the peak.
//
// The runtime has no setting for it. So it is made to map that much, which costs
// address space and no memory, and gets it back before anything is written there.
// In pieces, since it zeroes a block that begins in memory used before: as one
// block that were 160 MB of real memory, in some runs of a hundred, and the time
// of the check once more.
func reserveHeap() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur != unix.RLIM_INFINITY {
		return // somebody counts address space
	}
	var pieces [hugeHeap / pieceBytes][]byte
	for i := range pieces {
		pieces[i] = make([]byte, pieceBytes)
		start := uintptr(unsafe.Pointer(unsafe.SliceData(pieces[i])))
		// To the bounds of huge pages beyond the piece: all of that is heap, whose
		// arenas begin and end at such bounds.
		const page = 2 << 20
		from, to := start&^(page-1), (start+pieceBytes+page-1)&^(page-1)
		_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE) // without it all goes on as before
	}
	runtime.KeepAlive(&pieces)
	pieces = [hugeHeap / pieceBytes][]byte{}
	runtime.GC()
}
