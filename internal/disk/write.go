package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile puts data in the place of a file; see [New]. Its directory is made if
// it is not there. The error names the file, which is as it was.
func WriteFile(name string, data []byte, mode fs.FileMode) error {
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		err = write(anywhere{}, name, data, mode)
	}
	return writeError(name, err)
}

// WriteFileIn is [WriteFile] for a file below a root, in a directory that is
// there.
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
