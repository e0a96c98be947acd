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

// Apply makes the changes. Each file is replaced whole, by a rename in its
// directory; before the first one, .sitelink/inject.json says what will be
// done. A file that has changed since the plan was made stops it. When Apply
// fails or is cut off, the next plan goes on from what is there.
func (p *Plan) Apply() error {
	if len(p.Refusals) > 0 {
		return p.Err()
	}
	if p.isUndo {
		return p.undo()
	}
	if len(p.Changes) == 0 && !p.unfinished {
		return nil
	}
	p.sweep(recordName)
	p.addDirs(recordName)
	if !p.hadRecord && p.isEmpty(recordDir) { // a run was cut off before it wrote the record
		p.record.Dirs = append(p.record.Dirs, recordDir)
	}
	for _, c := range p.Changes {
		if c.After != nil {
			p.addDirs(c.Path)
		}
	}
	if err := p.write(true); err != nil {
		return err
	}
	if err := p.changes(); err != nil {
		return err
	}
	p.removeEmpty(p.dropDirs)
	return p.write(false)
}

// undo makes the changes. The record goes when nothing is left that only it
// knows of.
func (p *Plan) undo() error {
	if err := p.changes(); err != nil {
		return err
	}
	ours := slices.Contains(p.record.Dirs, recordDir) || !p.hadRecord
	p.removeEmpty(slices.DeleteFunc(slices.Clone(p.record.Dirs), func(dir string) bool { return dir == recordDir }))
	if err := p.root.Remove(recordName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", recordName, disk.Cause(err))
	}
	if ours && p.isEmpty(recordDir) {
		p.root.Remove(recordDir)
	}
	return nil
}

func (p *Plan) isEmpty(dir string) bool {
	entries, err := fs.ReadDir(p.root.FS(), dir)
	return err == nil && len(entries) == 0
}

// changes makes all changes in order.
func (p *Plan) changes() error {
	p.sweep(recordName)
	for _, path := range p.paths {
		p.sweep(path)
	}
	for _, c := range p.Changes {
		if err := p.one(c); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes what a run that was cut off left beside a file.
func (p *Plan) sweep(name string) {
	dir, base := path.Split(name)
	entries, _ := fs.ReadDir(p.root.FS(), path.Clean(dir))
	for _, e := range entries {
		if disk.IsTemporary(e.Name(), base) {
			p.root.Remove(dir + e.Name())
		}
	}
}

func (p *Plan) one(c Change) error {
	pr := &project{root: p.root, tree: p.root.FS(), files: map[string]*file{}}
	now, err := pr.file(c.Path)
	if err != nil {
		return err
	}
	if !same(now.text, c.Before) {
		return fmt.Errorf("change %s: the file has changed since it was read; run the command again", c.Path)
	}
	if c.After == nil {
		if err := p.root.Remove(now.real); err != nil {
			return fmt.Errorf("remove %s: %w", c.Path, disk.Cause(err))
		}
		return nil
	}
	name, mode := now.real, now.mode
	if now.text == nil {
		name, mode = c.Path, 0
		if dir := path.Dir(name); dir != "." {
			if err := p.root.MkdirAll(dir, 0o777); err != nil {
				return fmt.Errorf("make directory %s: %w", dir, disk.Cause(err))
			}
		}
	}
	return disk.WriteFileIn(p.root, name, c.After, mode)
}

// addDirs notes which directories have to be made for a file.
func (p *Plan) addDirs(file string) {
	for _, dir := range slices.Backward(dirsOf(file)) {
		if _, err := p.root.Stat(dir); errors.Is(err, fs.ErrNotExist) && !slices.Contains(p.record.Dirs, dir) {
			p.record.Dirs = append(p.record.Dirs, dir)
		}
	}
}

// removeEmpty removes those of the directories made for our files that are
// empty, inner ones first.
func (p *Plan) removeEmpty(dirs []string) {
	made := p.record.Dirs
	slices.SortFunc(dirs, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, dir := range dirs {
		if !slices.Contains(made, dir) {
			continue
		}
		if p.isEmpty(dir) && p.root.Remove(dir) == nil {
			p.record.Dirs = slices.DeleteFunc(slices.Clone(p.record.Dirs), func(d string) bool { return d == dir })
		}
	}
}

// write writes the record; writing tells whether changes are still to come.
func (p *Plan) write(writing bool) error {
	r := p.record
	r.Writing = writing
	if r.Files == nil {
		r.Files = []fileRecord{}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = p.root.MkdirAll(recordDir, 0o777)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", recordName, disk.Cause(err))
	}
	return disk.WriteFileIn(p.root, recordName, append(data, '\n'), 0)
}
