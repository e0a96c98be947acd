package hook

import "fmt"

// FullError means that a temporary tree could not be written and its disk has
// next to no room left. git says only that a file could not be written.
type FullError struct {
	// Dir is on that disk.
	Dir string
	// Free is how many bytes are left there.
	Free int64
	Err  error
}

func (e *FullError) Error() string {
	return fmt.Sprintf("%v: %d KiB are left on the disk of %s", e.Err, e.Free>>10, e.Dir)
}

func (e *FullError) Unwrap() error { return e.Err }

// nearlyFull is how little room makes a full disk the likely cause: the file
// that did not fit may be large, and what was written of it gone.
const nearlyFull = 16 << 20

// full adds to an error of writing in dir that the disk is full, if it is.
func full(dir string, err error) error {
	if free, ok := freeBytes(dir); ok && free < nearlyFull {
		return &FullError{dir, free, err}
	}
	return err
}
