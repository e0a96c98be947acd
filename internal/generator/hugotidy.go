package generator

import (
	"errors"
	"io/fs"
	"os"
)

// TidyHugo notes which of the things that Hugo makes in a project before it
// answers a question are not there, and returns a function that removes these
// again if they are empty: a check leaves the project as it was.
func TidyHugo(dir string) func() {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return func() {}
	}
	var missing []string
	for _, name := range []string{"resources/_gen/assets", "resources/_gen/images", "resources/_gen", "resources", "public", ".hugo_build.lock"} {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
		}
	}
	return func() {
		for _, name := range missing {
			info, err := root.Lstat(name)
			if err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
				root.Remove(name) // fails where something lies in it
			}
		}
		root.Close()
	}
}
