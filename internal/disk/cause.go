// Package disk replaces files as a whole and words what the system says of
// them.
//
// A path and what shall stand there enter ([New], [WriteFile]); a file that is the
// old or the new one at any time leaves. Errors carry no path: the caller names
// the file as its user did.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Cause strips the operation and the path from an error of the system, where the
// message names the file itself, and says of a full disk that it is one. nil
// stays nil; errors.Is finds what it found before.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
