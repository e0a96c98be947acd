package site

// readRoom is the address space that the read buffers of all workers of a load
// take from the beginning. Only what is written to becomes memory: no buffer
// has to grow on most sites (rust-doc, whose largest file has 10 MB: 22 MB
// touched instead of 44 MB), and the garbage collector, which counts it, leaves a
// young heap alone.
const readRoom = 32 << 20

// readBuffers returns a buffer for each worker.
func readBuffers(workers int) [][]byte {
	out := make([][]byte, workers)
	for i := range out {
		out[i] = make([]byte, 0, max(firstBuffer, readRoom/workers))
	}
	return out
}
