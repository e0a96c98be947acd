package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// replace gives the file new contents, all or nothing: they are brought to the
// disk under another name in the same directory, which then takes the place of
// the file.
func replace(name string, write func(io.Writer) error) (err error) {
	target := name
	if followed, err := filepath.EvalSymlinks(name); err == nil {
		target = followed // the link stays one
	}
	dir := filepath.Dir(target)
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return writeError(name, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = writeError(name, err)
		}
	}()
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	syncDir(dir)
	return nil
}

// syncDir brings the names of a directory to the disk. Not every system can,
// and the contents are safe: an error changes nothing.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// writeError names the file as the user did, and says plainly that a disk is
// full.
func writeError(name string, err error) error {
	return fmt.Errorf("write ledger %s: %w", name, cause(err))
}

// cause drops the name of a temporary file from an error.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
