//go:build !linux

package site

import (
	"io/fs"
	"os"
)

// docroot reads files beneath a directory.
type docroot struct{ root *os.Root }

func openDocroot(name string) (*docroot, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &docroot{root}, nil
}

func (d *docroot) close() { d.root.Close() }

// head reads the first n bytes of a file into buf, which grows as needed.
func (d *docroot) head(name string, buf []byte, n int) ([]byte, error) {
	return headRoot(d.root, name, buf, n)
}

// read reads a whole file into buf, which grows as needed. path ends with a zero
// byte. A file of more than limit bytes gives errTooLarge.
func (d *docroot) read(path, buf []byte, limit int64) ([]byte, fs.FileMode, error) {
	return readRoot(d.root, string(path[:len(path)-1]), buf, limit)
}
