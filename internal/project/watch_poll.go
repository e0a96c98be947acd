package project

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// stamp is what identifies a version of a file without reading it.
type stamp struct {
	mode fs.FileMode
	size int64
	time int64
	// target is where a symbolic link leads.
	target string
}

// poller lists the tree at intervals and compares the lists.
type poller struct {
	root  string
	opt   WatchOptions
	known map[string]stamp
	tick  *time.Ticker
}

func openPoller(root string, opt WatchOptions) (*poller, error) {
	if err := lookAt(root); err != nil {
		return nil, err
	}
	p := &poller{root: root, opt: opt}
	p.known = p.list()
	p.tick = time.NewTicker(opt.Poll)
	return p, nil
}

func (p *poller) close() { p.tick.Stop() }

// list returns the stamps of all files, by slash path. Files of WatchOptions.Also
// have "../" in front of their names, which no path of the tree has.
func (p *poller) list() map[string]stamp {
	out := make(map[string]stamp, len(p.known))
	root := p.root
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path != root && temporary(d.Name()) {
			return nil // a file that cannot be read counts as missing
		}
		if d.IsDir() && p.opt.Skip != nil && p.opt.Skip(path) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			out[filepath.ToSlash(rel)] = stampOf(path, info)
		}
		return nil
	})
	for _, name := range p.opt.Also {
		if info, err := os.Stat(name); err == nil {
			out["../"+name] = stampOf(name, info)
		}
	}
	return out
}

func stampOf(path string, info fs.FileInfo) stamp {
	s := stamp{mode: info.Mode()}
	switch {
	case info.Mode().IsRegular():
		s.size, s.time = info.Size(), info.ModTime().UnixNano()
	case info.Mode()&fs.ModeSymlink != 0:
		s.target, _ = os.Readlink(path)
	}
	return s
}

func (p *poller) wait(ctx context.Context, b *batch, until <-chan time.Time) (bool, error) {
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-until:
			return p.compare(b)
		case <-p.tick.C:
			if changed, err := p.compare(b); changed || err != nil {
				return changed, err
			}
		}
	}
}

// compare lists the tree and adds the differences from the last list.
func (p *poller) compare(b *batch) (changed bool, err error) {
	if err := lookAt(p.root); err != nil {
		b.addAll()
		return true, errReplaced
	}
	now := p.list()
	for path, s := range now {
		old, ok := p.known[path]
		switch {
		case !ok:
			p.note(b, path, fsnotify.Create)
		case old != s:
			p.note(b, path, fsnotify.Write)
		default:
			continue
		}
		changed = true
	}
	for path := range p.known {
		if _, ok := now[path]; !ok {
			p.note(b, path, fsnotify.Remove)
			changed = true
		}
	}
	p.known = now
	return changed, nil
}

func (p *poller) note(b *batch, path string, op fsnotify.Op) {
	if path == "." || len(path) > 3 && path[:3] == "../" {
		b.addAll()
		return
	}
	b.add(path, op)
}
