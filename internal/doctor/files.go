package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sourceDirs are where generators read what a site is made of.
var sourceDirs = []string{
	"content", "layouts", "data", "static", "assets", "i18n", "themes", "config", "templates", "sass", "src", "docs", "blog", "pages", "posts", "_posts",
	"_includes", "_layouts", "_data", "_pages", "_drafts",
}

// maxSources is how many files are looked at, of the sources and of the site.
const maxSources = 200_000

// newerSource returns a source file that was changed after the last file of the
// site was written, the newest one, "" for none. Only the times of files are
// compared: a build that changes nothing still writes the files.
func (d *Doctor) newerSource() string {
	if d.Generator == nil || d.Committed {
		return ""
	}
	docroot := d.Found.Abs(d.site())
	_, built := newest(docroot, "")
	var name string
	var when time.Time
	for _, dir := range sourceDirs {
		if n, t := newest(filepath.Join(d.Dir, dir), docroot); t.After(when) {
			name, when = n, t
		}
	}
	for _, config := range d.Generator.Configs {
		full := filepath.Join(d.Dir, filepath.FromSlash(config))
		if info, err := os.Stat(full); err == nil && info.ModTime().After(when) {
			name, when = full, info.ModTime()
		}
	}
	if !when.After(built) {
		return ""
	}
	return filepath.ToSlash(d.Found.Show(name))
}

// newest returns the file below dir that was written last, and when. The
// directory without is left out, and so is what begins with a dot.
func newest(dir, without string) (name string, when time.Time) {
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxSources {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil // what cannot be read is as if it were not there
		case d.IsDir() && (path == without || path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules")):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(when) {
			name, when = path, info.ModTime()
		}
		return nil
	})
	return name, when
}

// countDirectories counts the directories of a tree, itself too.
func countDirectories(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// watchLimit is how many directories the system lets a user watch; ok is false
// where there is no such limit.
func watchLimit() (limit int, ok bool) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0, false
	}
	limit, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return limit, err == nil
}
