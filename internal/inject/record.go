package inject

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/layout"
	"github.com/sitelink/sitelink/internal/statedir"
)

// record is what .sitelink/inject.json keeps: which files have marks, and what
// they were. It is written before the first file is changed and again after
// the last one, so that a run that was cut off can be finished or undone: each
// file is then as it was or as it was to be, and the marks tell which. Without
// the record, the marks alone are enough to go on.
type record struct {
	Version int `json:"version"`
	// Writing: the files may not all have been changed.
	Writing bool         `json:"writing,omitempty"`
	Files   []fileRecord `json:"files"`
	// Dirs are the directories that were made for them, outer ones first.
	Dirs []string `json:"dirs,omitempty"`
}

type fileRecord struct {
	Path string `json:"path"`
	// Language is the one whose comments the marks are.
	Language string `json:"language"`
	// Before and After are SHA-256 sums; Before is "" when there was no file.
	Before string `json:"before"`
	After  string `json:"after"`
}

const (
	recordVersion = 1
	recordDir     = statedir.Name
	recordName    = recordDir + "/inject.json"
)

// readRecord reads the record; known is false when there is none.
func (p *project) readRecord() (known bool, err error) {
	data, err := fs.ReadFile(p.tree, recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", recordName, disk.Cause(err))
	}
	damaged := func(err error) (bool, error) {
		return false, fmt.Errorf("read %s: %w; without the file, the marks in the templates tell what was written", recordName, err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return damaged(err)
	}
	if r.Version != recordVersion {
		return damaged(fmt.Errorf("version %d is not known", r.Version))
	}
	for _, f := range r.Files {
		if _, ok := layout.Named(f.Language); !ok || !fs.ValidPath(f.Path) {
			return damaged(fmt.Errorf("%q is no file of the project", f.Path))
		}
	}
	for _, dir := range r.Dirs {
		if !fs.ValidPath(dir) || dir == "." {
			return damaged(fmt.Errorf("%q is no directory of the project", dir))
		}
	}
	p.record = r
	return true, nil
}

func (r record) sumOf(path string) fileRecord {
	for _, f := range r.Files {
		if f.Path == path {
			return f
		}
	}
	return fileRecord{}
}

// marked lists the files that may have marks.
func (p *project) marked() []string {
	var paths []string
	for _, f := range p.record.Files {
		paths = append(paths, f.Path)
	}
	return append(paths, p.found...)
}

// templateEndings are the names of files that marks are searched in when no
// record names them.
var templateEndings = []string{".html", ".htm", ".njk", ".liquid", ".astro", ".yml", ".yaml", ".toml", ".tera", ".j2"}

// built are directories whose files are made from others.
var built = []string{"public", "_site", "dist", "build", "site", "resources", "themes", "_vendor", "vendor", "content", "static"}

// search looks for files with marks where templates lie: below directories, and
// in the one configuration file that gets some.
func (p *project) search() []string {
	var found []string
	entries, _ := fs.ReadDir(p.tree, ".")
	var names []string
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), ".") || slices.Contains(built, e.Name()):
		case e.IsDir():
			names = append(names, p.list(e.Name(), templateEndings...)...)
		case e.Name() == "mkdocs.yml" || e.Name() == "mkdocs.yaml":
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		info, err := fs.Stat(p.tree, name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxTemplate {
			continue
		}
		if f, err := p.file(name); err == nil {
			if _, ok := f.lang.FindRegion(f.text); ok && f.refusal == "" && !isHeaderFile(name) {
				found = append(found, path.Clean(name))
			}
		}
	}
	return append(found, p.searchHeaders()...)
}
