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

// Replacement is a new file that takes the place of another at Commit. Until then
// it lies beside it under a name of its own: a rename works within one file
// system only. It is for one goroutine.
type Replacement struct {
	// File is the new file, for what else has to be set on it before Prepare.
	File *os.File

	in        directory
	name      string // that it takes
	temporary string
	prepared  bool
	done      bool
}

// directory is where files are made and renamed: below an [os.Root], or anywhere.
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

// New begins a replacement of the file at a path, whose directory must be there.
// A symbolic link would be replaced itself. mode is what the file gets, 0 for what
// the umask leaves of 0666.
func New(name string, mode fs.FileMode) (*Replacement, error) { return create(anywhere{}, name, mode) }

// NewIn is [New] for a file below a root, which is never left.
func NewIn(root *os.Root, name string, mode fs.FileMode) (*Replacement, error) {
	return create(root, name, mode)
}

// tries is how many files that runs with the same process id have left may be in
// the way.
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

// IsTemporary tells whether the file called name was made beside one called base
// to replace it, and left there by a run that was cut off.
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

// Prepare brings the new file to the disk: all of Commit's work that can fail for
// want of room. Nothing may be written after it. After an error nothing is left of
// the new file.
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

// Commit puts the new file in the place of the old one, prepared or not. After an
// error the old one is as it was, and nothing is left of the new one.
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

// Discard gives the new file up. It does nothing after Commit.
func (r *Replacement) Discard() {
	if !r.done {
		r.done = true
		r.File.Close()
		r.in.Remove(r.temporary)
	}
}
