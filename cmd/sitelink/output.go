package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// output is where the report goes.
type output interface {
	io.Writer
	// Prepare does all of Commit's work that can fail for want of room; nothing
	// may be written after. Where several outputs belong together, all are
	// prepared before the first is committed.
	Prepare() error
	// Commit makes what was written the report, prepared or not.
	Commit() error
	// Discard gives it up, and does nothing after Commit.
	Discard()
}

// openOutput opens the output of that name, "" or "-" for standard output.
//
// A file appears, or replaces the old one, as a whole and at Commit: what was
// written is first brought to the disk under another name beside it. A full
// disk, an error or a crash leaves the old file as it was. Devices, pipes and
// the like, such as /dev/stdout, are written directly.
func (c *cli) openOutput(name string) (output, error) {
	switch name {
	case "", "-", "/dev/stdout": // opened anew, a file that stdout is appended to would be overwritten
		return &direct{stream: c.stdout()}, nil
	case "/dev/stderr":
		return &direct{stream: stream{name: name, w: c.env.Stderr}}, nil
	}
	target, err := followLinks(name)
	if err != nil {
		return nil, writeFailure(name, err)
	}
	mode := fs.FileMode(0)
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return nil, writeFailure(name, errors.New("is a directory"))
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, writeFailure(name, err)
		}
		return &direct{stream: stream{name: name, w: f}, file: f}, nil
	case err == nil:
		// Renaming would get around a file's write protection.
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, writeFailure(name, err)
		}
		f.Close()
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, writeFailure(name, err)
	}
	return newReplacement(name, target, mode)
}

// followLinks returns the file that name stands for, so that a symbolic link
// stays one and its target is replaced, also one that does not exist yet.
func followLinks(name string) (string, error) {
	const most = 40 // what Linux follows
	for range most {
		if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		// Links to pipes in /proc/self/fd read as names that do not exist.
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return name, nil
		}
		to, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	return "", errors.New("too many symbolic links")
}

// direct is an output that exists while it is written.
type direct struct {
	stream
	file *os.File // nil for standard output
}

// Prepare has nothing to do: what was written is there already.
func (d *direct) Prepare() error { return nil }

func (d *direct) Commit() error {
	if d.file == nil {
		return nil
	}
	f := d.file
	d.file = nil
	return f.Close()
}

func (d *direct) Discard() { d.Commit() } // what was written is gone already
