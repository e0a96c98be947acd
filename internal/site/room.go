package site

// readRoom is how much address space the read buffer of a worker takes while
// a site is loaded. Only what is read into it becomes memory, so that no buffer
// has to grow on most sites: growing to rust-doc's largest file, of 10 MB, cost
// two workers 44 MB, most of it garbage.
const readRoom = 16 << 20

// firstBuffer is the least size of a buffer that does grow.
const firstBuffer = 256 << 10
