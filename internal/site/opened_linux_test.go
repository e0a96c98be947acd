package site

import (
	"bytes"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watchOpen returns a function that returns which of the files were opened
// since. It asks the kernel, not the code under test.
func watchOpen(t *testing.T, names ...string) (opened func() []string) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skipf("no inotify: %v", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	byWatch := map[int32]string{}
	for _, name := range names {
		wd, err := unix.InotifyAddWatch(fd, name, unix.IN_OPEN)
		if err != nil {
			t.Skipf("inotify: %v", err)
		}
		byWatch[int32(wd)] = name
	}
	return func() []string {
		var out []string
		buf := make([]byte, 4096)
		for {
			n, err := unix.Read(fd, buf)
			if err != nil || n <= 0 {
				return out
			}
			for b := bytes.Clone(buf[:n]); len(b) >= unix.SizeofInotifyEvent; {
				ev := (*unix.InotifyEvent)(unsafe.Pointer(&b[0]))
				out = append(out, byWatch[ev.Wd])
				b = b[unix.SizeofInotifyEvent+int(ev.Len):]
			}
		}
	}
}
