package site

import (
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// docroot reads files beneath a directory. On Linux openat2 confines each
// open to the docroot in one system call; os.Root needs one per directory of
// the path (rust-doc, 32,101 pages, warm: 0.31 s instead of 0.20 s).
type docroot struct {
	fd   int
	root *os.Root // where the kernel has no openat2
}

func openDocroot(name string) (*docroot, error) {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	d := &docroot{fd: fd}
	f, err := unix.Openat2(fd, ".", &openHow)
	if err == nil {
		unix.Close(f)
		return d, nil
	}
	unix.Close(fd)
	d.fd = -1
	if d.root, err = os.OpenRoot(name); err != nil {
		return nil, err
	}
	return d, nil
}

// openHow: no symbolic link may lead out, a pipe must not block.
var openHow = unix.OpenHow{
	Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY,
	Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
}

func (d *docroot) close() {
	if d.root != nil {
		d.root.Close()
		return
	}
	unix.Close(d.fd)
}

// head reads the first n bytes of a file into buf, which grows as needed.
func (d *docroot) head(name string, buf []byte, n int) ([]byte, error) {
	if d.root != nil {
		return headRoot(d.root, name, buf, n)
	}
	var fd int
	err := retry(func() (e error) { fd, e = unix.Openat2(d.fd, name, &openHow); return })
	if err != nil {
		return buf[:0], err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return buf[:0], errNotRegular
	}
	buf = slices.Grow(buf[:0], n)[:n]
	read := 0
	err = retry(func() (e error) { read, e = unix.Read(fd, buf); return })
	return buf[:max(read, 0)], err
}

// read reads a whole file into buf, which grows as needed. A file of more
// than limit bytes gives errTooLarge.
func (d *docroot) read(name string, buf []byte, limit int64) ([]byte, fs.FileMode, error) {
	if d.root != nil {
		return readRoot(d.root, name, buf, limit)
	}
	var fd int
	err := retry(func() (e error) { fd, e = unix.Openat2(d.fd, name, &openHow); return })
	if err != nil {
		return buf[:0], 0, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return buf[:0], 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return buf[:0], 0, errNotRegular
	}
	mode := fs.FileMode(st.Mode & 0o777)
	if st.Size > limit {
		return buf[:0], mode, errTooLarge
	}
	// What the file had when it was opened: more that is written meanwhile
	// belongs to the next run.
	size := int(st.Size)
	if cap(buf) < size {
		buf = make([]byte, size+size/4)
	}
	buf = buf[:size]
	n := 0
	for n < size {
		var m int
		if err := retry(func() (e error) { m, e = unix.Read(fd, buf[n:]); return }); err != nil {
			return buf[:n], mode, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return buf[:n], mode, nil
}

func retry(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR && err != syscall.EAGAIN {
			return err
		}
	}
}
