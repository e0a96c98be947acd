package config

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
)

// FileNames are the names of the configuration file that [Find] looks for in
// each directory.
var FileNames = []string{"sitelink.toml", ".sitelink.toml", ".config/sitelink.toml"}

// maxFileBytes limits the size of a configuration file. The TOML decoder
// compares every key of a table with those before it: 1 MiB of keys took 35 s,
// 128 KiB take half a second.
const maxFileBytes = 128 << 10

// Find looks for the configuration file in dir, "" for the working directory,
// and the directories above it. It stops at the first file, at the root of the
// repository (the first directory that contains .git) or at the root of the
// file system. It returns a name relative to dir, or "" if there is no file.
//
// Two files in one directory are an error: whichever one won, a user would
// edit the other.
func Find(dir string) (string, error) {
	// The walk uses "..", not the text of the directory, so that it agrees with
	// the system if that directory is a symbolic link.
	for up := "."; ; up = filepath.Join(up, "..") {
		var found []string
		for _, name := range FileNames {
			file := filepath.Join(up, filepath.FromSlash(name))
			if _, err := os.Stat(in(dir, file)); err == nil {
				found = append(found, file)
			} else if _, err := os.Lstat(in(dir, file)); err == nil { // a broken symbolic link
				found = append(found, file)
			}
		}
		switch {
		case len(found) > 1:
			return "", &Error{Name: found[1], Line: 1, Msg: fmt.Sprintf("there is also a %s in this directory", found[0]), Hint: "keep one of the two files"}
		case len(found) == 1:
			return found[0], nil
		case isTop(in(dir, up)):
			return "", nil
		}
	}
}

// in returns the name of a file, relative to dir, for this process. It keeps
// "..", see [Find].
func in(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) {
		return name
	}
	return dir + string(filepath.Separator) + name
}

// isTop reports whether the search ends at dir.
func isTop(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	here, err := os.Stat(dir)
	if err != nil {
		return true
	}
	up, err := os.Stat(filepath.Join(dir, ".."))
	return err != nil || os.SameFile(here, up)
}

// file finds and reads the configuration file, if there is one.
func (l *loader) file() error {
	name := l.req.File
	if name == "" {
		var err error
		if name, err = Find(l.req.Dir); name == "" {
			return err
		}
		l.cfg.Found = true
		if path, where := disk.Outside(l.repositoryRoot(name), in(l.req.Dir, name)); where != "" {
			return fault.Usage(fmt.Sprintf("read config %s: it leads to %s, %s", name, path, where), "--config "+name+" reads it")
		}
	}
	data, err := disk.Read(in(l.req.Dir, name), maxFileBytes)
	if err != nil {
		return fmt.Errorf("read config %s: %w", name, err)
	}
	l.cfg.File = name
	l.toml(name, projectDir(name), data)
	return nil
}

// repositoryRoot returns the root of the repository that contains a
// configuration file, or the directory of the project if none does.
func (l *loader) repositoryRoot(file string) string {
	project, err := filepath.Abs(in(l.req.Dir, projectDir(file)))
	if err != nil {
		return in(l.req.Dir, projectDir(file))
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return project
		}
	}
}

// confine refuses paths of a found file that lead out of the repository, or into
// its directory of git: such a file comes with a checkout, which may be
// hostile.
func (l *loader) confine() {
	if !l.cfg.Found {
		return
	}
	root := l.repositoryRoot(l.cfg.File)
	for _, k := range Keys() {
		at := l.paths[k.Name]
		if at == nil {
			continue
		}
		var names []string
		if k.Kind == Reports {
			for _, f := range l.cfg.Formats {
				names = append(names, f.File)
			}
		} else {
			names = []string{l.field(k).String()}
		}
		for _, name := range names {
			if name == "" || name == "-" || name == "/dev/stdout" || name == "/dev/stderr" {
				continue
			}
			path, where := disk.Outside(root, in(l.req.Dir, name))
			if where == "" {
				continue
			}
			e := *at
			e.Msg = fmt.Sprintf("%s: %s is %s", k.Name, path, where)
			e.Hint = fmt.Sprintf("name it with --%s or in a file given with --config: a configuration that is found cannot", k.Name)
			l.fail(&e)
		}
	}
}

// projectDir is the directory that paths in the file are relative to.
func projectDir(file string) string {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == ".config" {
		dir = filepath.Dir(dir)
	}
	return dir
}
