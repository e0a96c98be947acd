package generator

import (
	"io/fs"
	"os"
	"path/filepath"
)

// TidyHugo notes what lies in a project before Hugo answers a question, and
// returns a function that removes again what Hugo then made of directories with
// nothing in them, such as its docroot, and its lock: a check leaves the project
// as it was.
func TidyHugo(dir string) func() {
	had := map[string]bool{}
	places := []string{".", "resources", "resources/_gen"}
	for _, place := range places {
		for _, e := range list(dir, place) {
			had[e] = true
		}
	}
	return func() {
		for i := len(places) - 1; i >= 0; i-- { // the deepest first
			for _, e := range list(dir, places[i]) {
				if !had[e] {
					removeEmpty(filepath.Join(dir, filepath.FromSlash(e)))
				}
			}
		}
	}
}

// list returns the names in a directory of the project, relative to it.
func list(dir, place string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, filepath.FromSlash(place)))
	for _, e := range entries {
		names = append(names, filepath.ToSlash(filepath.Join(place, e.Name())))
	}
	return names
}

// removeEmpty removes a directory that holds nothing but directories, or an empty
// lock of Hugo.
func removeEmpty(name string) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return
	case info.Mode().IsRegular():
		if info.Size() == 0 && info.Name() == ".hugo_build.lock" {
			os.Remove(name)
		}
		return
	case !info.IsDir():
		return
	}
	var dirs []string
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return fs.ErrExist
		}
		dirs = append(dirs, path)
		return nil
	})
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		os.Remove(dirs[i]) // fails where something lies in it by now
	}
}
