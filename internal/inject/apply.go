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

// record is the content of .sitelink/inject.json: which files have marks, and
// the checksums of their content before and after. It is written before the
// first file is changed and again after the last one, so that the next run can
// finish or undo an interrupted one: each file is then in its old or its new
// state, and the marks show which. Without the record, the marks are enough.
type record struct {
	Version int `json:"version"`
	// Writing: a run has started to change the files and has not finished.
	Writing bool         `json:"writing,omitempty"`
	Files   []fileRecord `json:"files"`
	// Dirs are the directories created for the files, outer ones first.
	Dirs []string `json:"dirs,omitempty"`
}

type fileRecord struct {
	Path string `json:"path"`
	// Language is the template language, which determines the form of the marks.
	Language string `json:"language"`
	// Before and After are SHA-256 sums. Before is "" if there was no file.
	Before string `json:"before"`
	After  string `json:"after"`
}

const (
	recordVersion = 1
	recordDir     = statedir.Name
	recordName    = recordDir + "/inject.json"
)

// readRecord reads the record. known reports whether it exists.
func (p *project) readRecord() (known bool, err error) {
	data, err := disk.ReadFS(p.tree, recordName, maxTemplate)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", recordName, disk.Cause(err))
	}
	damaged := func(err error) (bool, error) {
		return false, fmt.Errorf("read %s: %w; you can delete the file: the marks in the templates show what was written", recordName, err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return damaged(err)
	}
	if r.Version != recordVersion {
		return damaged(fmt.Errorf("unknown version %d", r.Version))
	}
	for _, f := range r.Files {
		if _, ok := layout.Named(f.Language); !ok || !fs.ValidPath(f.Path) {
			return damaged(fmt.Errorf("%q is not a template inside the project", f.Path))
		}
	}
	for _, dir := range r.Dirs {
		if !fs.ValidPath(dir) || dir == "." {
			return damaged(fmt.Errorf("%q is not a directory inside the project", dir))
		}
	}
	p.record = r
	return true, nil
}

// of returns the entry of a file, or a zero value.
func (r record) of(path string) fileRecord {
	for _, f := range r.Files {
		if f.Path == path {
			return f
		}
	}
	return fileRecord{}
}

// marked returns the files that may have marks.
func (p *project) marked() []string {
	var paths []string
	for _, f := range p.record.Files {
		paths = append(paths, f.Path)
	}
	return append(paths, p.found...)
}

// templateEndings are the file names in which search looks for marks.
var templateEndings = []string{".html", ".htm", ".njk", ".liquid", ".astro", ".yml", ".yaml", ".toml", ".tera", ".j2"}

// skippedDirs are the top directories without templates of the project.
var skippedDirs = []string{"public", "_site", "dist", "build", "site", "resources", "themes", "_vendor", "vendor", "content", "static"}

// search returns the files with marks, for a project without a record. It looks
// in the directories that can have templates, in mkdocs.yml and in the files of
// hosts.
func (p *project) search() []string {
	var found []string
	entries, _ := fs.ReadDir(p.tree, ".")
	var names []string
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), ".") || slices.Contains(skippedDirs, e.Name()):
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

// Apply makes the changes. It replaces each file atomically, and records in
// .sitelink/inject.json what it is going to write before the first one. It
// stops at a file that has changed since the plan was made. If Apply fails or is
// interrupted, a new plan continues from the state of the files.
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
	if !p.hadRecord && p.isEmpty(recordDir) { // a run was interrupted before it wrote the record
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

// undo makes the changes and removes the record.
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

// sweep removes the temporary files that an interrupted run left beside a file.
func (p *Plan) sweep(name string) {
	dir, base := path.Split(name)
	entries, _ := fs.ReadDir(p.root.FS(), path.Clean(dir))
	for _, e := range entries {
		if disk.IsTemporary(e.Name(), base) {
			p.root.Remove(dir + e.Name())
		}
	}
}

// one makes one change.
func (p *Plan) one(c Change) error {
	pr := &project{root: p.root, tree: p.root.FS(), files: map[string]*file{}}
	now, err := pr.file(c.Path)
	if err != nil {
		return err
	}
	if !same(now.text, c.Before) {
		return fmt.Errorf("change %s: the file has changed in the meantime; run the command again", c.Path)
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
	}
	return disk.WriteFileIn(p.root, name, c.After, mode)
}

// addDirs records the directories that must be created for a file.
func (p *Plan) addDirs(file string) {
	for _, dir := range slices.Backward(dirsOf(file)) {
		if _, err := p.root.Stat(dir); errors.Is(err, fs.ErrNotExist) && !slices.Contains(p.record.Dirs, dir) {
			p.record.Dirs = append(p.record.Dirs, dir)
		}
	}
}

// removeEmpty removes the directories that sitelink created and that are empty
// now, inner ones first.
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

// write writes the record. writing means that changes will follow.
func (p *Plan) write(writing bool) error {
	r := p.record
	r.Writing = writing
	if r.Files == nil {
		r.Files = []fileRecord{}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", recordName, disk.Cause(err))
	}
	return disk.WriteFileIn(p.root, recordName, append(data, '\n'), 0)
}
