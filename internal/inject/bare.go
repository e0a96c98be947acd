package inject

import (
	"io/fs"
	"slices"
)

// bareTree is the project without the files that are wholly ours.
type bareTree struct{ p *project }

func (b bareTree) hides(name string) bool {
	if !slices.Contains(b.p.marked(), name) {
		return false
	}
	f, err := b.p.file(name)
	return err == nil && f.text != nil && f.bare(f.lang) == nil
}

// Open implements [fs.FS].
func (b bareTree) Open(name string) (fs.File, error) {
	if b.hides(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return b.p.tree.Open(name)
}

// ReadDir implements [fs.ReadDirFS].
func (b bareTree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(b.p.tree, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		full := e.Name()
		if name != "." {
			full = name + "/" + full
		}
		return b.hides(full)
	}), err
}
