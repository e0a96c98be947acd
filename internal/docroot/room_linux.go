package docroot

import "golang.org/x/sys/unix"

// readRoom is how much address space the read buffer of a worker takes while
// a site is loaded. Only what is read into it becomes memory, so that no buffer
// has to grow on most sites: growing to rust-doc's largest file, of 10 MB, cost
// two workers 44 MB, most of it garbage.
const readRoom = 16 << 20

// NewBuffer returns an empty buffer for the files of one worker and what
// gives it back, when nothing that aliases it is used any more.
//
// It lies outside of the heap: there, room that was used before would be cleared,
// and so touched, as a whole.
func NewBuffer() (buf []byte, free func()) {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	m, err := unix.Mmap(-1, 0, readRoom, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil { // address space is scarce
		return nil, func() {}
	}
	_ = unix.Madvise(m, unix.MADV_HUGEPAGE) // saves faults; without it all goes on as before
	return m[:0], func() { _ = unix.Munmap(m) }
}
