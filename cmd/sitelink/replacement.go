package main

import (
	"fmt"
	"io/fs"

	"github.com/sitelink/sitelink/internal/disk"
)

// replacement is an output that takes the place of a file at Commit. Its errors
// call the file as the user does.
type replacement struct {
	*disk.Replacement
	name, target string // as the user wrote it, and where it leads
}

// newReplacement begins to replace target, to which name leads. mode is that of
// the file to replace, 0 for a new one.
func newReplacement(name, target string, mode fs.FileMode) (*replacement, error) {
	r, err := disk.New(target, mode)
	if err != nil {
		return nil, writeFailure(name, err)
	}
	return &replacement{r, name, target}, nil
}

func (r *replacement) Write(p []byte) (int, error) {
	n, err := r.Replacement.Write(p)
	if err != nil {
		err = fmt.Errorf("%s: %w", r.name, err)
	}
	return n, err
}

func (r *replacement) Prepare() error { return writeFailure(r.name, r.Replacement.Prepare()) }

func (r *replacement) Commit() error { return writeFailure(r.name, r.Replacement.Commit()) }
