package docroot

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// lister lists directories beneath the docroot. It is not safe for concurrent
// use.
//
// It makes five system calls per directory, relative to the docroot, and
// allocates no object per name. os.File.ReadDir with an lstat for the permissions
// makes ten, and allocates each name twice. Listing rust-doc, 941 directories with
// 34,000 names, takes 32 ms of processor time, most of it the kernel's, instead of 50.
type lister struct {
	real string
	fd   int // -1 where the kernel has no openat2
	buf  []byte
	read listing // reused for one directory after the other
}

func newLister(real string) *lister {
	l := &lister{real: real, fd: -1}
	if d, err := Open(real); err == nil && d.root == nil {
		l.fd, l.buf = d.fd, make([]byte, listBytes)
	} else if err == nil {
		d.Close()
	}
	return l
}

// listBytes is what one call of getdents64 may fill: some 1,500 names.
const listBytes = 64 << 10

func (l *lister) close() {
	if l.fd >= 0 {
		unix.Close(l.fd)
	}
}

// openDir does not follow symbolic links.
var openDir = unix.OpenHow{
	Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_DIRECTORY | unix.O_NOFOLLOW,
	Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
}

// list returns the contents of a directory; path is relative to the docroot.
func (l *lister) list(path []byte) *listing {
	if l.fd < 0 {
		return listPortable(l.real, string(path))
	}
	name := string(path)
	switch {
	case name == "":
		name = "."
	case len(l.real)+1+len(name) >= unix.PathMax: // no other program could open it by its path
		return &listing{err: syscall.ENAMETOOLONG}
	}
	out := &l.read
	*out = listing{text: out.text[:0], names: out.names[:0]}
	var fd int
	err := retry(func() (e error) { fd, e = unix.Openat2(l.fd, name, &openDir); return })
	var st unix.Stat_t
	if err != nil {
		out.err = err
		if unix.Fstatat(l.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			out.mode, out.known = fs.FileMode(st.Mode&0o777), true
		}
		return out.clone()
	}
	defer unix.Close(fd)
	if unix.Fstat(fd, &st) == nil {
		out.mode, out.known = fs.FileMode(st.Mode&0o777), true
	}
	for {
		var n int
		if err := retry(func() (e error) { n, e = unix.Getdents(fd, l.buf); return }); err != nil {
			out.err = err
			break
		}
		if n <= 0 {
			break
		}
		out.entries(fd, l.buf[:n])
	}
	out.sort()
	return out.clone()
}

// clone returns l with slices of its own.
func (l *listing) clone() *listing {
	c := *l
	c.text, c.names = slices.Clone(l.text), slices.Clone(l.names)
	return &c
}

// entries adds the records that getdents64 returned.
func (l *listing) entries(fd int, b []byte) {
	const head = 19 // inode, offset, size of the record, type
	for len(b) > head {
		size := int(binary.NativeEndian.Uint16(b[16:]))
		if size <= head || size > len(b) {
			return
		}
		inode, kind, name := binary.NativeEndian.Uint64(b), b[18], b[head:size]
		b = b[size:]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		if inode == 0 || string(name) == "." || string(name) == ".." {
			continue
		}
		switch kind {
		case unix.DT_REG:
			l.add(name, KindFile)
		case unix.DT_DIR:
			l.add(name, KindDir)
		case unix.DT_LNK:
			l.add(name, KindBroken)
		case unix.DT_SOCK:
			l.add(name, KindSocket)
		case unix.DT_FIFO:
			l.add(name, KindPipe)
		case unix.DT_CHR, unix.DT_BLK:
			l.add(name, KindDevice)
		default: // the file system does not report types
			var st unix.Stat_t
			if unix.Fstatat(fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
				l.add(name, kindOfStat(st.Mode))
			}
		}
	}
}

func kindOfStat(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFDIR:
		return KindDir
	case unix.S_IFLNK:
		return KindBroken
	case unix.S_IFSOCK:
		return KindSocket
	case unix.S_IFIFO:
		return KindPipe
	}
	return KindDevice
}
