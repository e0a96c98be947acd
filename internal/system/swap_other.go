//go:build !linux && !darwin

package system

import (
	"errors"
	"os"
)

const swap, noReplace = 0, 1

// rename is not supported: neither swapping names nor refusing a name that is taken.
func rename(from, to string, flag int) error { return errors.ErrUnsupported }

// openForWriting is false: the system cannot tell.
func openForWriting(*os.File) bool { return false }
