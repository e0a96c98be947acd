package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The bare reader is the floor under every checker: it finds and reads the
// same files and does nothing with them. It is as fast as we could make it:
// one worker a processor, directories from getdents64, names handed to openat
// as they stand in its buffer, no stat, and one small buffer a worker that
// stays in the processor's cache however large the file.
const (
	// Measured on rust-doc: 32 KiB to 1 MiB take the same CPU time (0.19 s), so
	// a reader that holds whole files would be no slower.
	readBufferBytes = 128 << 10
	direntBytes     = 64 << 10
	// filesPerTask is small enough that one directory of 10,000 pages keeps
	// all workers busy.
	filesPerTask = 128
)

// openDir is a directory that stays open until its last file is read.
type openDir struct {
	fd   int
	refs atomic.Int32
}

func (d *openDir) release() {
	if d.refs.Add(-1) == 0 {
		syscall.Close(d.fd)
	}
}

// task is a directory to list, or some of a listed one's files to read.
type task struct {
	path  string   // of the directory, when names is nil
	dir   *openDir // owner of names
	names []byte   // NUL-terminated
}

type reader struct {
	wanted func(name []byte) bool

	mu      sync.Mutex
	wake    sync.Cond
	queue   []task
	pending int // tasks queued or being worked on
	err     error

	files, bytes atomic.Int64
}

// readTree reads every file below dir whose name wanted accepts, and returns
// their number and size. Symbolic links are not followed.
func readTree(dir string, workers int, wanted func(name []byte) bool) (files, size int64, err error) {
	r := &reader{wanted: wanted, queue: []task{{path: dir}}, pending: 1}
	r.wake.L = &r.mu
	var wg sync.WaitGroup
	for range workers {
		wg.Go(r.work)
	}
	wg.Wait()
	return r.files.Load(), r.bytes.Load(), r.err
}

func (r *reader) work() {
	buf := make([]byte, readBufferBytes)
	dirents := make([]byte, direntBytes)
	for {
		r.mu.Lock()
		for len(r.queue) == 0 && r.pending > 0 {
			r.wake.Wait()
		}
		if r.pending == 0 {
			r.mu.Unlock()
			return
		}
		t := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		r.mu.Unlock()

		var err error
		if t.names == nil {
			err = r.list(t.path, dirents, buf)
		} else {
			err = r.read(t, buf)
		}

		r.mu.Lock()
		if err != nil && r.err == nil {
			r.err = err
		}
		if r.pending--; r.pending == 0 {
			r.wake.Broadcast()
		}
		r.mu.Unlock()
	}
}

func (r *reader) push(t task) {
	r.mu.Lock()
	r.queue = append(r.queue, t)
	r.pending++
	r.mu.Unlock()
	r.wake.Signal()
}

// list queues the directories in path, hands its files out in portions and
// reads the last portion itself.
func (r *reader) list(path string, dirents, buf []byte) error {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open directory %s: %w", path, err)
	}
	dir := &openDir{fd: fd}
	dir.refs.Store(1)
	defer dir.release()
	var names []byte
	count := 0
	for {
		n, err := syscall.ReadDirent(fd, dirents)
		if err != nil {
			return fmt.Errorf("read directory %s: %w", path, err)
		}
		if n == 0 {
			break
		}
		for rest := dirents[:n]; len(rest) > 0; {
			// struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name.
			reclen := int(rest[16]) | int(rest[17])<<8
			kind, name := rest[18], cstring(rest[19:reclen])
			rest = rest[reclen:]
			switch kind {
			case syscall.DT_DIR:
				if s := string(name); s != "." && s != ".." {
					r.push(task{path: path + "/" + s})
				}
			case syscall.DT_UNKNOWN:
				return fmt.Errorf("read directory %s: the file system does not tell files from directories", path)
			case syscall.DT_REG:
				if !r.wanted(name) {
					continue
				}
				names = append(append(names, name...), 0)
				if count++; count == filesPerTask {
					dir.refs.Add(1)
					r.push(task{dir: dir, names: names})
					names, count = nil, 0
				}
			}
		}
	}
	dir.refs.Add(1)
	return r.read(task{dir: dir, names: names}, buf)
}

// read reads the files of t and gives up its hold on the directory.
func (r *reader) read(t task, buf []byte) error {
	defer t.dir.release()
	var files, size int64
	for rest := t.names; len(rest) > 0; {
		name := cstring(rest)
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(t.dir.fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(rest))), syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
		if errno != 0 {
			return fmt.Errorf("open file %s: %w", name, errno)
		}
		for {
			n, err := syscall.Read(int(fd), buf)
			if err != nil {
				syscall.Close(int(fd))
				return fmt.Errorf("read file %s: %w", name, err)
			}
			size += int64(n)
			// A regular file fills the buffer unless its end is reached.
			if n < len(buf) {
				break
			}
		}
		syscall.Close(int(fd))
		files++
		rest = rest[len(name)+1:]
	}
	r.files.Add(files)
	r.bytes.Add(size)
	return nil
}

// cstring returns b up to its first NUL.
func cstring(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i]
		}
	}
	return b
}

// runRead is what compare starts as a process of its own: read [-all] DIR.
func runRead(_ context.Context, args []string, out io.Writer) error {
	wanted := isPage[[]byte]
	if len(args) > 0 && args[0] == "-all" {
		wanted = func([]byte) bool { return true }
		args = args[1:]
	}
	if len(args) != 1 {
		return fmt.Errorf("%w: read [-all] DIR", errUsage)
	}
	if _, err := os.Stat(args[0]); err != nil {
		return fmt.Errorf("read docroot: %w", err)
	}
	files, size, err := readTree(args[0], runtime.GOMAXPROCS(0), wanted)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "read %s files, %s bytes\n", thousands(int(files)), thousands(int(size)))
	return nil
}
