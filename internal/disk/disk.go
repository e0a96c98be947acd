// Package disk replaces files atomically: at any time, the file has its complete old
// or its complete new content. [WriteFile] replaces a file in one call, [New] returns
// a [Replacement] to write to. Errors of a Replacement contain no path: the caller
// names the file as the user did.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Cause removes the operation and the path from an error of the system, for messages
// that name the file themselves. Cause(nil) is nil.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// Replacement is a new file that replaces another at Commit. Until then it has a
// temporary name in the same directory, since a rename works within one file system
// only. A Replacement is not safe for concurrent use.
type Replacement struct {
	// File is the new file, for setting owner or times before Prepare.
	File *os.File

	in        directory
	name      string // that it takes
	temporary string
	prepared  bool
	done      bool
}

// directory makes and renames files: below an [os.Root], or anywhere.
type directory interface {
	Open(name string) (*os.File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	Rename(from, to string) error
	Remove(name string) error
}

type anywhere struct{}

func (anywhere) Open(name string) (*os.File, error) { return os.Open(name) }
func (anywhere) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
func (anywhere) Rename(from, to string) error { return os.Rename(from, to) }
func (anywhere) Remove(name string) error     { return os.Remove(name) }

// New begins to replace the file at a path, whose directory must exist. A symbolic
// link is replaced itself. mode is the mode of the new file, 0 for 0666 less the
// umask.
func New(name string, mode fs.FileMode) (*Replacement, error) { return create(anywhere{}, name, mode) }

// tries is how many leftover files of runs with the same process id are skipped.
const tries = 100

func create(in directory, name string, mode fs.FileMode) (*Replacement, error) {
	dir, base := filepath.Split(name)
	for i := range tries {
		temporary := dir + temporaryStart(base) + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(i) + temporaryEnd
		f, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue // left over by a crash
		}
		if err != nil {
			return nil, Cause(err)
		}
		r := &Replacement{File: f, in: in, name: name, temporary: temporary}
		if mode != 0 {
			if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				r.Discard()
				return nil, Cause(err)
			}
		}
		return r, nil
	}
	return nil, fmt.Errorf("%d temporary files are in the way, remove %s*%s", tries, temporaryStart(base), temporaryEnd)
}

// Names of temporary files: .report.html.sitelink-4711-0.tmp for report.html.
const temporaryEnd = ".tmp"

func temporaryStart(base string) string { return "." + base + ".sitelink-" }

// IsTemporary reports whether name is a temporary name for the file base, which an
// interrupted run has left.
func IsTemporary(name, base string) bool {
	rest, ok := strings.CutPrefix(name, temporaryStart(base))
	if ok {
		rest, ok = strings.CutSuffix(rest, temporaryEnd)
	}
	return ok && rest != "" && strings.Trim(rest, "0123456789-") == ""
}

// Write appends to the new file.
func (r *Replacement) Write(p []byte) (int, error) {
	n, err := r.File.Write(p)
	return n, Cause(err)
}

// Prepare syncs the new file: the part of Commit that can fail when the disk is
// full. Nothing may be written after it. After an error the new file is removed.
func (r *Replacement) Prepare() error {
	if r.prepared {
		return nil
	}
	r.prepared = true
	err := r.File.Sync()
	if closeErr := r.File.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		r.Discard()
	}
	return Cause(err)
}

// Commit replaces the old file with the new one, prepared or not. After an error the
// old file is unchanged and the new one is removed.
func (r *Replacement) Commit() error {
	if err := r.Prepare(); err != nil {
		return err
	}
	if err := r.in.Rename(r.temporary, r.name); err != nil {
		r.Discard()
		return Cause(err)
	}
	r.done = true
	// The name must survive a crash too. Not every system can sync a directory,
	// and the contents are safe: an error changes nothing.
	if dir, err := r.in.Open(filepath.Dir(r.name)); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}

// Discard removes the new file. It does nothing after Commit.
func (r *Replacement) Discard() {
	if !r.done {
		r.done = true
		r.File.Close()
		r.in.Remove(r.temporary)
	}
}

// WriteFile replaces a file with data, see [New], and makes its directory if needed.
// After an error, which names the file, the file is unchanged.
func WriteFile(name string, data []byte, mode fs.FileMode) error {
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		err = write(anywhere{}, name, data, mode)
	}
	return writeError(name, err)
}

// WriteFileIn is [WriteFile] for a file below a root, in a directory that exists.
func WriteFileIn(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	return writeError(name, write(root, name, data, mode))
}

func write(in directory, name string, data []byte, mode fs.FileMode) error {
	r, err := create(in, name, mode)
	if err != nil {
		return err
	}
	defer r.Discard()
	if _, err := r.Write(data); err != nil {
		return err
	}
	return r.Commit()
}

func writeError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", name, Cause(err))
}
