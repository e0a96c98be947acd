package main

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// runRead reads every page of a docroot (every file with -all) and does nothing with
// it: the floor under every checker. Each processor has one worker with one buffer,
// and files are opened without the poller and finaliser of os.File.
func runRead(args []string, out io.Writer) error {
	all := len(args) > 0 && args[0] == "-all"
	dir := args[len(args)-1]
	names := make(chan string, 1024)
	var files, size atomic.Int64
	var workers sync.WaitGroup
	var failed atomic.Pointer[error]
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			buf := make([]byte, 128<<10)
			for name := range names {
				fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
				if err != nil {
					failed.Store(&err)
					continue
				}
				n := len(buf)
				for n == len(buf) { // a regular file fills the buffer unless its end is reached
					if n, err = syscall.Read(fd, buf); err != nil {
						failed.Store(&err)
						break
					}
					size.Add(int64(n))
				}
				syscall.Close(fd)
				files.Add(1)
			}
		})
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (all || isPage(name)) {
			names <- name
		}
		return err
	})
	close(names)
	workers.Wait()
	if err == nil && failed.Load() != nil {
		err = *failed.Load()
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", dir, err)
	}
	fmt.Fprintf(out, "read %d files, %d bytes\n", files.Load(), size.Load())
	return nil
}

// isPage tells by its suffix whether a checker parses a file, as hyperlink, lychee and
// htmltest do.
func isPage(name string) bool {
	for _, suffix := range []string{".html", ".htm", ".xhtml"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}
