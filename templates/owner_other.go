//go:build !unix

package templates

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: files belong to the directory's owner here.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
