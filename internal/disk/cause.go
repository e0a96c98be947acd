// Package disk replaces files as a whole.
//
// A path and what shall stand there enter ([New], [WriteFile]); a file that is the
// old or the new one at any time leaves. What a [Replacement] says of an error
// carries no path: its caller names the file as the user did.
package disk

import (
	"errors"
	"io/fs"
	"os"
)

// Cause strips the operation and the path from an error of the system, where the
// message names the file itself. nil stays nil.
func Cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
