package testkit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// minimalPage is the content of the files in the docroot.
const minimalPage = "<!doctype html><title>x</title>\n"

// modes are the unusual permissions. They have no owner bits, so they also restrict
// an owner who is not root.
var modes = map[string]os.FileMode{
	"unreadable.html": 0, "index-unreadable/index.html": 0, "txt-unreadable/index.html": 0, "unreadable-dir": 0,
	"no-list": 0o311, "no-list-no-index": 0o311, "txt-unlistable": 0o311, "no-search": 0o444,
}

// MakeHostRoot creates the docroot dir/root, and dir/outside next to it. dir must exist and
// be accessible to every user. Call [UnlockHostRoot] before you remove the docroot.
func MakeHostRoot(dir string) (docroot string, err error) {
	m := maker{dir: dir, root: filepath.Join(dir, "root")}
	for _, name := range plainFiles {
		m.file("root/" + name)
	}
	for _, name := range oddNames {
		m.file("root/" + name + ".html")
		m.file("root/" + name + "-dir/index.html")
	}
	m.file("outside/out.html")
	m.file("outside/index.html")
	m.file("outside/no-index/x.txt")
	m.file("outside/txt/index.txt")
	m.file("outside/empty/")
	m.file("root/deep/" + strings.Repeat("d/", deepDirs) + "x.html")
	m.do(func() error { return os.WriteFile(filepath.Join(m.root, "empty.html"), nil, 0o644) })
	for _, l := range symlinks {
		m.symlink(l[0], l[1])
	}
	m.symlink("../outside/link/index.html", "../out.html")
	m.symlink("chain-1.html", "plain.html")
	for i := 2; i <= chainLength; i++ {
		m.symlink(fmt.Sprintf("chain-%d.html", i), fmt.Sprintf("chain-%d.html", i-1))
	}
	m.special()
	m.tooDeep()
	for name, mode := range modes {
		m.do(func() error { return os.Chmod(filepath.Join(m.root, name), mode) })
	}
	if m.err != nil {
		UnlockHostRoot(m.root)
		return "", fmt.Errorf("make docroot %s: %w", m.root, m.err)
	}
	return m.root, nil
}

// UnlockHostRoot resets the unusual permissions, so that the owner can remove the docroot.
func UnlockHostRoot(docroot string) {
	for name := range modes {
		os.Chmod(filepath.Join(docroot, name), 0o755)
	}
}

// maker creates files until the first error.
type maker struct {
	dir, root string
	err       error
}

func (m *maker) do(f func() error) {
	if m.err == nil {
		m.err = f()
	}
}

// file creates a page, or a directory if name ends in a slash.
func (m *maker) file(name string) {
	full := filepath.Join(m.dir, name)
	if strings.HasSuffix(name, "/") {
		m.do(func() error { return os.MkdirAll(full, 0o755) })
		return
	}
	m.do(func() error { return os.MkdirAll(filepath.Dir(full), 0o755) })
	m.do(func() error { return os.WriteFile(full, []byte(minimalPage), 0o644) })
}

func (m *maker) symlink(name, to string) {
	full := filepath.Join(m.root, name)
	m.do(func() error { return os.MkdirAll(filepath.Dir(full), 0o755) })
	m.do(func() error { return os.Symlink(to, full) })
}

// special creates a pipe and a socket.
func (m *maker) special() {
	m.do(func() error { return syscall.Mkfifo(filepath.Join(m.root, "fifo.html"), 0o666) })
	m.do(func() error {
		socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		// The address of a socket has at most 107 bytes, so the socket is
		// created with a short name and then renamed.
		short := filepath.Join(os.TempDir(), fmt.Sprintf("s%d", os.Getpid()))
		err = syscall.Bind(socket, &syscall.SockaddrUnix{Name: short})
		return errors.Join(err, syscall.Close(socket), os.Rename(short, filepath.Join(m.root, "socket.html")))
	})
}

// tooDeep creates a file with a path that is too long for a system call.
func (m *maker) tooDeep() {
	m.do(func() error {
		dir, err := os.OpenRoot(m.root)
		for _, name := range tooDeep {
			if err != nil {
				return err
			}
			if err = dir.Mkdir(name, 0o755); err == nil {
				var sub *os.Root
				sub, err = dir.OpenRoot(name)
				dir.Close()
				dir = sub
			}
		}
		if err != nil {
			return err
		}
		defer dir.Close()
		return dir.WriteFile("x.html", []byte(minimalPage), 0o644)
	})
}
