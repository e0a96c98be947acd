// Package system has what sitelink asks of the machine that it runs on: it replaces
// files atomically and without following links out of a directory, waits for locks,
// runs commands with all that they start, and keeps the state of a project in its
// directory .sitelink.
package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrLocked means that another process has locked a file; see [TryLock].
var ErrLocked = errors.New("locked by another process")

// Lock opens a file, or makes it, and locks it until it is closed. While another process
// has it locked, Lock waits, and calls waiting once, unless that is nil. The errors come
// from opening and locking, or are the cause of ctx.
func Lock(ctx context.Context, name string, waiting func()) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, Cause(err)
	}
	for err = TryLock(f); errors.Is(err, ErrLocked); err = TryLock(f) {
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err != nil {
		f.Close()
		return nil, Cause(err)
	}
	return f, nil
}

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
	// File is the new file.
	File File

	in        FileSystem
	name      string // that it takes
	temporary string
	prepared  bool
	done      bool
}

// FileSystem is the part of a file system that changes files durably. Tests have one that
// loses power, see outgoing/ledger.
type FileSystem interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes the names in a directory durable. It has no error: not every
	// system can do it, and the contents of the files do not depend on it.
	SyncDir(name string)
}

// File is an open file of a [FileSystem].
type File interface {
	io.Writer
	io.Seeker
	Truncate(size int64) error
	Sync() error
	Chmod(mode fs.FileMode) error
	Close() error
	Name() string
}

// OS is the file system of the operating system.
var OS FileSystem = anywhere{}

type anywhere struct{}

func (anywhere) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return opened(os.OpenFile(name, flag, perm))
}
func (anywhere) Rename(from, to string) error { return os.Rename(from, to) }
func (anywhere) Remove(name string) error     { return os.Remove(name) }
func (anywhere) SyncDir(name string)          { syncDir(os.Open(name)) }

// below is the file system below a root.
type below struct{ *os.Root }

func (b below) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return opened(b.Root.OpenFile(name, flag, perm))
}
func (b below) SyncDir(name string) { syncDir(b.Open(name)) }

// opened keeps a nil *os.File from becoming a File that is not nil.
func opened(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func syncDir(dir *os.File, err error) {
	if err == nil {
		dir.Sync()
		dir.Close()
	}
}

// NewReplacement begins to replace the file at a path. Its directory must exist. A symbolic
// link is replaced itself. mode is the mode of the new file, 0 for 0666 less the umask.
func NewReplacement(name string, mode fs.FileMode) (*Replacement, error) {
	return NewReplacementIn(OS, name, mode)
}

// tries is how many leftover files of runs with the same process id are skipped.
const tries = 100

// NewReplacementIn is [NewReplacement] for a file of a file system.
func NewReplacementIn(in FileSystem, name string, mode fs.FileMode) (*Replacement, error) {
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
	r.in.SyncDir(filepath.Dir(r.name)) // the name must survive a crash too
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

// Files are replaced atomically: at any time, a file has its complete old or its complete new content. Errors of a
// [Replacement] contain no path: the caller names the file as the user did.

// WriteFile replaces a file with data, see [NewReplacement], and makes its directory if needed.
// After an error, which names the file, the file is unchanged.
func WriteFile(name string, data []byte, mode fs.FileMode) error {
	return WriteFileIn(nil, name, data, mode)
}

// WriteFileIn is [WriteFile] for a file below a root: no name and no symbolic link
// leads out of it. Without a root, it writes anywhere.
func WriteFileIn(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	in, makeDir := OS, os.MkdirAll
	if root != nil {
		in, makeDir = below{root}, root.MkdirAll
	}
	err := makeDir(filepath.Dir(name), 0o777)
	if err == nil {
		var r *Replacement
		if r, err = written(in, name, data, mode); err == nil {
			err = r.Commit()
		}
	}
	return writeError(name, err)
}

// written returns a replacement that has its content and only needs its name.
func written(in FileSystem, name string, data []byte, mode fs.FileMode) (*Replacement, error) {
	r, err := NewReplacementIn(in, name, mode)
	if err != nil {
		return nil, err
	}
	if _, err = r.Write(data); err == nil {
		err = r.Prepare()
	}
	if err != nil {
		r.Discard()
		return nil, err
	}
	return r, nil
}

func writeError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", name, Cause(err))
}
