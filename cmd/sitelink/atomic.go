package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// replacement is a new file that takes the place of target at Commit.
type replacement struct {
	name, target string // as the user wrote it, and where it leads
	file         *os.File
	prepared     bool
}

// newReplacement creates the file in the directory of target: a rename works
// within one file system only. mode is that of the file to replace, 0 for a
// new one, which gets what the umask leaves.
func newReplacement(name, target string, mode fs.FileMode) (*replacement, error) {
	dir, base := filepath.Split(target)
	const tries = 100
	for i := range tries {
		temporary := filepath.Join(dir, "."+base+".sitelink-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i))
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue // left over by a crash
		}
		if err != nil {
			return nil, writeFailure(name, err)
		}
		r := &replacement{name: name, target: target, file: f}
		if mode != 0 {
			if err := f.Chmod(mode); err != nil {
				r.Discard()
				return nil, writeFailure(name, err)
			}
		}
		return r, nil
	}
	return nil, writeFailure(name, fmt.Errorf("%d temporary files are in the way, remove .%s.sitelink-*", tries, base))
}

func (r *replacement) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%s: %w", r.name, cause(err))
	}
	return n, err
}

func (r *replacement) Prepare() error {
	if r.prepared {
		return nil
	}
	r.prepared = true
	err := r.file.Sync()
	if closeErr := r.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		r.Discard()
	}
	return writeFailure(r.name, err)
}

func (r *replacement) Commit() error {
	if err := r.Prepare(); err != nil {
		return err
	}
	if err := os.Rename(r.file.Name(), r.target); err != nil {
		r.Discard()
		var link *os.LinkError
		if errors.As(err, &link) {
			err = link.Err
		}
		return writeFailure(r.name, err)
	}
	r.file = nil
	// The name must survive a crash too. Not every system can sync a
	// directory, and the contents are safe: an error changes nothing.
	if dir, err := os.Open(filepath.Dir(r.target)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}

func (r *replacement) Discard() {
	if r.file != nil {
		r.file.Close()
		os.Remove(r.file.Name())
		r.file = nil
	}
}
