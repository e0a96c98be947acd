package system

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file for reading. It refuses directories, and also pipes, devices and
// sockets, which an unpacked archive can bring along: opening or reading one may wait
// forever. The error does not contain the name.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, Cause(err)
	}
	f, err := os.Open(name)
	return f, Cause(err)
}

// Read returns the content of a file of at most limit bytes, see [Open].
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// Head returns the beginning of a regular file, nothing if it cannot be read.
func Head(root *os.Root, name string, most int64) []byte {
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, most))
	return data
}

// ReadFS is [Read] for a file in a file system.
func ReadFS(tree fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(tree, name)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, Cause(err)
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, Cause(err)
	}
	return readAll(f, limit)
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	}
	return nil
}

func readAll(f fs.File, limit int64) ([]byte, error) {
	defer f.Close()
	var data bytes.Buffer
	if info, err := f.Stat(); err == nil {
		data.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	}
	_, err := data.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && int64(data.Len()) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data.Bytes(), Cause(err)
}
