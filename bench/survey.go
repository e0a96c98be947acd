package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// survey counts the files of a docroot. Symbolic links are counted, not followed.
type survey struct {
	Files, Pages         int
	FileBytes, PageBytes int64
	Links, Leaving       int // symbolic links; those that lead out of the docroot
}

func surveyDocroot(dir string) (survey, error) {
	var v survey
	root, err := filepath.Abs(dir)
	if err != nil {
		return v, fmt.Errorf("survey %s: %w", dir, err)
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			v.Links++
			leaves, err := leavesDocroot(root, name)
			if err != nil {
				return err
			}
			if leaves {
				v.Leaving++
			}
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			v.Files++
			v.FileBytes += info.Size()
			if isPage(d.Name()) {
				v.Pages++
				v.PageBytes += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		return v, fmt.Errorf("survey docroot: %w", err)
	}
	return v, nil
}

// leavesDocroot reads one link, without following it: in an unpacked package
// most of those that leave the docroot lead nowhere.
func leavesDocroot(root, name string) (bool, error) {
	to, err := os.Readlink(name)
	if err != nil {
		return false, err
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(name), to)
	}
	rel, err := filepath.Rel(root, to)
	if err != nil {
		return false, err
	}
	return rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)), nil
}

// isPage reports whether a checker parses a file or only needs to know that it
// exists. It decides by suffix, as hyperlink, lychee and htmltest do.
func isPage[T ~string | ~[]byte](name T) bool {
	for _, suffix := range []string{".html", ".htm", ".xhtml"} {
		if n := len(name) - len(suffix); n > 0 && string(name[n:]) == suffix {
			return true
		}
	}
	return false
}
