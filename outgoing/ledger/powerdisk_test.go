package ledger

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/sitelink/sitelink/internal/system"
)

// errPower is the error of every change after the power failed.
var errPower = errors.New("the power failed")

// powerDisk is a file system on top of that of the operating system, which has the files
// as a running system sees them. Files that exist when a powerDisk first opens them are
// durable. A powerDisk is safe for concurrent use.
type powerDisk struct {
	mu   sync.Mutex
	left int // changes until the power fails; negative: it does not
	off  bool
	// names are the files as a running system sees them, and durable the files with
	// names that survive a power cut.
	names, durable map[string]*content
}

// content is the content of a file, which may have several names over time.
type content struct {
	file   *os.File // for reading
	synced []byte
}

var _ system.FileSystem = (*powerDisk)(nil)

// newPowerDisk returns a disk that loses power before the change with that number, from 0.
// With a negative number it keeps power.
func newPowerDisk(changes int) *powerDisk {
	return &powerDisk{left: changes, names: map[string]*content{}, durable: map[string]*content{}}
}

// change reports whether there is power for one more change. d.mu is held.
func (d *powerDisk) change() error {
	if d.left == 0 {
		d.off = true
		return errPower
	}
	d.left--
	return nil
}

// Off reports whether the power has failed. A program does nothing after that: what
// seems to have succeeded has not.
func (d *powerDisk) Off() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// know takes up a file that exists and that the disk does not know yet. d.mu is held.
func (d *powerDisk) know(name string) error {
	if d.names[name] != nil {
		return nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	c := &content{file: f}
	if c.synced, err = c.text(); err != nil {
		return errors.Join(err, f.Close())
	}
	d.names[name], d.durable[name] = c, c
	return nil
}

// OpenFile opens a file. A file that it makes has a name that is not durable.
func (d *powerDisk) OpenFile(name string, flag int, perm fs.FileMode) (system.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(); err != nil {
		return nil, err
	}
	name = filepath.Clean(name)
	if err := d.know(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	c := d.names[name]
	if c == nil {
		c = &content{}
		if c.file, err = os.Open(name); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		d.names[name] = c
	}
	return &file{f, d, c}, nil
}

// Rename renames a file. The new name is not durable.
func (d *powerDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(); err != nil {
		return err
	}
	from, to = filepath.Clean(from), filepath.Clean(to)
	if err := errors.Join(d.know(from), d.know(to)); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

// Remove removes a file. That is not durable.
func (d *powerDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(); err != nil {
		return err
	}
	name = filepath.Clean(name)
	if err := d.know(name); err != nil {
		return err
	}
	delete(d.names, name)
	return os.Remove(name)
}

// SyncDir makes the names in a directory durable.
func (d *powerDisk) SyncDir(dir string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.change() != nil {
		return
	}
	in := func(name string, _ *content) bool { return filepath.Dir(name) == filepath.Clean(dir) }
	maps.DeleteFunc(d.durable, in)
	for name, c := range d.names {
		if in(name, c) {
			d.durable[name] = c
		}
	}
}

// Cut cuts the power. Of what was not synced, it keeps nothing, or the names or the
// contents, as a system may have written them on its own: in any order.
func (d *powerDisk) Cut(names, contents bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = 0
	kept := d.durable
	if names {
		kept = d.names
	}
	texts := map[string][]byte{}
	for name, c := range kept {
		texts[name] = c.synced
		if contents {
			text, err := c.text()
			if err != nil {
				return err
			}
			texts[name] = text
		}
	}
	for _, set := range []map[string]*content{d.names, d.durable} {
		for name, c := range set {
			os.Remove(name)
			c.file.Close()
		}
	}
	for name, text := range texts {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// text returns the content as a running system sees it.
func (c *content) text() ([]byte, error) {
	info, err := c.file.Stat()
	if err != nil {
		return nil, err
	}
	text := make([]byte, info.Size())
	_, err = c.file.ReadAt(text, 0)
	if len(text) == 0 {
		err = nil
	}
	return text, err
}

// file is an open file of a powerDisk.
type file struct {
	*os.File
	on      *powerDisk
	content *content
}

// Write writes to the file; half of it when the power fails.
func (f *file) Write(b []byte) (int, error) {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	off := f.on.off
	if err := f.on.change(); err != nil {
		if !off {
			f.File.Write(b[:len(b)/2])
		}
		return 0, err
	}
	return f.File.Write(b)
}

// Truncate changes the size of the file.
func (f *file) Truncate(size int64) error {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	if err := f.on.change(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Sync makes the content durable.
func (f *file) Sync() error {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	if err := f.on.change(); err != nil {
		return err
	}
	text, err := f.content.text()
	f.content.synced = text
	return err
}
