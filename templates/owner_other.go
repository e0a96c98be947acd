//go:build !unix

package templates

import (
	"io/fs"
	"os"
)

// keepOwner does nothing on systems without file owners as Unix has them.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
