//go:build !linux

package docroot

import (
	"io/fs"
	"os"
)

// Dir reads files beneath a directory.
type Dir struct{ root *os.Root }

// Open opens a directory. Close the Dir after use.
func Open(name string) (*Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// Close closes the directory.
func (d *Dir) Close() { d.root.Close() }

// Head reads the first n bytes of a file into buf, which grows as needed.
func (d *Dir) Head(name string, buf []byte, n int) ([]byte, error) {
	return headRoot(d.root, name, buf, n)
}

// Read reads a whole file into buf, which grows as needed. path ends with a zero
// byte. A file of more than limit bytes gives ErrTooLarge.
func (d *Dir) Read(path, buf []byte, limit int64) ([]byte, fs.FileMode, error) {
	return ReadRoot(d.root, string(path[:len(path)-1]), buf, limit)
}

// NewBuffer returns an empty buffer for the files of one worker, and a function
// that frees it. Call that when no slice of the buffer is used any more.
func NewBuffer() (buf []byte, free func()) { return make([]byte, 0, FirstBuffer), func() {} }
