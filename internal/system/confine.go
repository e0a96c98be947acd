package system

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Within reports whether name is in the directory dir, or is that one. Both are absolute or
// both relative; symbolic links are not followed.
func Within(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// Outside checks whether a path leads outside the directory root, into a directory of git,
// or to a pipe, a device or a socket, which may be another program's. If so, it returns the path without symbolic links and a description such as
// "outside the repository /home/u/site", otherwise "". The file need not exist; the
// links in its path are followed.
func Outside(root, name string) (path, where string) {
	top, err := resolve(root)
	if err == nil {
		path, err = resolve(name)
	}
	if err != nil {
		return name, "a path that cannot be resolved: " + Cause(err).Error()
	}
	rel, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path, "outside the repository " + top
	}
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if strings.EqualFold(part, ".git") {
			return path, "in the directory of git"
		}
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return path, "no regular file"
	}
	return "", ""
}

// resolve returns the absolute path of a file without symbolic links. The file need
// not exist.
func resolve(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	const most = 255
	for links := 0; ; {
		real, rest, err := firstLink(name)
		if err != nil || real == "" {
			return name, err
		}
		if links++; links > most {
			return "", errors.New("too many symbolic links")
		}
		to, err := os.Readlink(real)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(real), to)
		}
		name = filepath.Join(to, rest)
	}
}

// firstLink returns the first part of an absolute path that is a symbolic link,
// or "", and what follows it.
func firstLink(name string) (link, rest string, err error) {
	top := filepath.VolumeName(name) + string(filepath.Separator)
	parts := strings.Split(strings.TrimPrefix(name, top), string(filepath.Separator))
	at := top
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", "", nil
		case err != nil && !errors.Is(err, fs.ErrPermission):
			return "", "", nil // a part that is a file: opening it reports that
		case err != nil:
			return "", "", err
		case info.Mode()&fs.ModeSymlink != 0:
			return at, filepath.Join(parts[i+1:]...), nil
		}
	}
	return "", "", nil
}
