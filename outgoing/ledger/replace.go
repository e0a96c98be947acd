package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sitelink/sitelink/internal/disk"
)

// replace gives the file new contents, all or nothing.
func replace(name string, write func(io.Writer) error) error {
	target := name
	if followed, err := filepath.EvalSymlinks(name); err == nil {
		target = followed // the link stays one
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	r, err := disk.New(target, mode)
	if err != nil {
		return writeError(name, err)
	}
	defer r.Discard()
	if err := write(r); err != nil {
		return writeError(name, err)
	}
	if err := r.Commit(); err != nil {
		return writeError(name, err)
	}
	return nil
}

// writeError names the file as the user did, and says plainly that a disk is
// full.
func writeError(name string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
	}
	return fmt.Errorf("write ledger %s: %w", name, disk.Cause(err))
}
