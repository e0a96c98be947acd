package docroot

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sitelink/sitelink/internal/system"
)

var (
	ErrTooLarge   = errors.New("larger than the page size limit")
	errNotRegular = errors.New("not a regular file")
)

// ReadRoot is [Dir.Read] with the standard library, for any platform.
func ReadRoot(root *os.Root, name string, buf []byte, limit int64) ([]byte, fs.FileMode, error) {
	f, err := root.Open(name)
	if err != nil {
		return buf[:0], 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return buf[:0], 0, err
	}
	mode := info.Mode()
	switch {
	case !mode.IsRegular():
		return buf[:0], mode, errNotRegular
	case info.Size() > limit:
		return buf[:0], mode, ErrTooLarge
	}
	size := int(info.Size())
	if cap(buf) < size {
		buf = make([]byte, max(size+size/4, FirstBuffer))
	}
	n, err := io.ReadFull(f, buf[:size])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // the file shrank meanwhile
	}
	return buf[:n], mode, err
}

// headRoot is [Dir.Head] with the standard library.
func headRoot(root *os.Root, name string, buf []byte, n int) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return buf[:0], err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return buf[:0], errNotRegular
	}
	buf = slices.Grow(buf[:0], n)[:n]
	n, err = io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:n], err
}

// ErrVanished reports that a file is gone although its directory listed it.
var ErrVanished = errors.New("it vanished while the docroot was read")

// FileError returns the cause of an error about a file, without its path.
func FileError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrVanished
	}
	return system.Cause(err)
}

// FirstBuffer is the initial size of a read buffer.
const FirstBuffer = 256 << 10
