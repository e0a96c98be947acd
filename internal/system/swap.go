package system

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged means that another program has changed a file.
var ErrChanged = errors.New("changed since sitelink read it")

// Exchange replaces the file at a path, as [WriteFile] does, if its content is old. Otherwise the error is
// [ErrChanged], and the file is as the other program left it.
//
// A program that saves the file meanwhile loses nothing, whether it writes a new file or into this one. The two files
// swap their names first. Then the old file has a name that no other program knows, so its content is final unless a
// program still has it open. If it is not the expected one, the names are swapped back. Where the system cannot swap
// names, the content is compared just before the file is replaced.
func Exchange(name string, old, data []byte, mode fs.FileMode) error {
	return writeError(name, exchange(name, old, data, mode))
}

func exchange(name string, old, data []byte, mode fs.FileMode) error {
	r, err := written(OS, name, data, mode)
	if err != nil {
		return err
	}
	defer r.Discard()
	err = rename(r.temporary, name, swap)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		if !settled(name, old) {
			return ErrChanged
		}
		return r.Commit()
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return err
	case settled(r.temporary, old):
		r.in.SyncDir(filepath.Dir(name))
		return nil // Discard removes the old file
	}
	err = rename(r.temporary, name, swap)
	if err == nil && !settled(r.temporary, data) { // the program saved again in between: its last version stays
		err = rename(r.temporary, name, swap)
	}
	if err != nil {
		r.done = true // the other program's file keeps its temporary name
		return errors.Join(ErrChanged, errors.New("the other program's version is "+r.temporary), Cause(err))
	}
	return ErrChanged
}

// RemoveIf removes a file if its content is old. Otherwise the error is [ErrChanged]. Like [Exchange], it first takes
// the name away.
func RemoveIf(name string, old []byte) error {
	r, err := NewReplacement(name, 0) // for a name that is free
	if err != nil {
		return err
	}
	r.Discard()
	if err := Rename(name, r.temporary); err != nil {
		return err
	}
	if settled(r.temporary, old) {
		return Cause(os.Remove(r.temporary))
	}
	if err := Rename(r.temporary, name); err != nil {
		return errors.Join(ErrChanged, errors.New("the other program's version is "+r.temporary), err)
	}
	return ErrChanged
}

// WriteNew writes a file that must not exist, see [WriteFile]; the error is [fs.ErrExist] if it does.
func WriteNew(name string, data []byte, mode fs.FileMode) error {
	r, err := written(OS, name, data, mode)
	if err != nil {
		return writeError(name, err)
	}
	defer r.Discard()
	if err = Rename(r.temporary, name); err == nil {
		r.done = true
		r.in.SyncDir(filepath.Dir(name))
	}
	return writeError(name, err)
}

// Rename gives a file a name that is free; the error is [fs.ErrExist] if it is not. It may change the case of a name.
func Rename(from, to string) error {
	err := rename(from, to, noReplace)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrExist) {
		before, fromErr := os.Lstat(from)
		after, toErr := os.Lstat(to)
		switch {
		case fromErr != nil:
			return Cause(fromErr)
		case toErr == nil && !os.SameFile(before, after):
			return fs.ErrExist
		}
		err = os.Rename(from, to)
	}
	return Cause(err)
}

// settled reports whether a file has this content and no program has it open for writing, as far as the system can
// tell.
func settled(name string, content []byte) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if openForWriting(f) {
		return false
	}
	now := make([]byte, len(content)+1)
	n, _ := io.ReadFull(f, now) // one byte less than it asks for
	return bytes.Equal(now[:n], content)
}
