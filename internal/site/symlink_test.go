//go:build unix

package site

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// outsideOf creates, beside a docroot, a directory with a page, a directory
// with an index file and one without, and a pipe that blocks a process that
// opens it.
func outsideOf(t *testing.T, root string) string {
	t.Helper()
	out := filepath.Join(filepath.Dir(root), "outside")
	addFiles(t, out, files{"secret.html": `<!doctype html><a id=x href=gone.html>`, "with/index.html": plain, "without/x.txt": "", "secret.map": "rect /gone.html 1,1 2,2\n"})
	if err := syscall.Mkfifo(filepath.Join(out, "pipe.html"), 0o644); err != nil {
		t.Skip(err)
	}
	return out
}

// TestSymlinksOut: LL-71, nothing outside the docroot is ever opened, whatever
// kind of link leads there, and a pipe outside does not block the check.
func TestSymlinksOut(t *testing.T) {
	root := tempDocroot(t, files{})
	out := outsideOf(t, root)
	rows := []row{
		{"LL-71/climbs", "../outside/secret.html", "OutsideDocroot 404 /outside/secret.html"},
		{"LL-71/climbs_encoded", "..%2Foutside/secret.html", "OutsideDocroot 400 /..%2Foutside/secret.html"},
		{"LL-71/file", "file.html#x", "BehindSymlink 200 /file.html # x"},
		{"LL-71/pipe", "pipe.html", "MissingFile 404 /pipe.html"},
		{"LL-71/gone", "gone.html", "BrokenSymlink 404 /gone.html"},
		{"LL-71/below", "dir/secret.html", "BehindSymlink 200 /dir/secret.html"},
		{"LL-71/below_pipe", "dir/pipe.html", "MissingFile 404 /dir/pipe.html"},
		{"LL-71/below_gone", "dir/gone.html", "MissingFile 404 /dir/gone.html"},
		{"LL-71/directory", "dir/with/", "BehindSymlink 200 /dir/with/"},
		{"LL-71/directory_no_slash", "dir/with", "BehindSymlink 200 /dir/with > /dir/with/"},
		{"LL-71/directory_without_index", "dir/without/", "MissingIndex 403 /dir/without/"},
		{"LL-71/map", "secret.map", "BehindSymlink 200 /secret.map"},
		{"LL-71/root", "all/etc/", "MissingIndex 403 /all/etc/"},
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "<a href=\"%s\">x</a>\n", r.href)
	}
	addFiles(t, root, files{"p.html": "<!doctype html>" + b.String(), "file.html": "-> ../outside/secret.html", "pipe.html": "-> " + out + "/pipe.html",
		"gone.html": "-> ../outside/gone.html", "dir": "-> ../outside", "secret.map": "-> ../outside/secret.map", "all": "-> /", "up.html": "-> ../outside/secret.html"})
	opened := watchOpen(t, out+"/secret.html", out+"/with/index.html", out+"/secret.map", out+"/without/x.txt")
	done := make(chan *Site)
	go func() {
		s, err := Load(context.Background(), root, Options{})
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	select {
	case s := <-done:
		if s == nil {
			return
		}
		compareRows(t, s, "p.html", rows)
		for i := range s.Pages() {
			if name := s.Path(PageID(i)); name != "p.html" {
				t.Errorf("LL-71: %s was read as a page", name)
			}
		}
	case <-time.After(time.Minute):
		t.Fatal("LL-71: Load blocks at a pipe outside the docroot")
	}
	if got := opened(); len(got) > 0 {
		t.Errorf("LL-71: opened outside the docroot: %q", got)
	}
}

// TestSwappedForSymlink: LL-71, a page that is replaced with a symbolic link
// out of the docroot after the listing is not followed.
func TestSwappedForSymlink(t *testing.T) {
	root := tempDocroot(t, files{"p.html": `<!doctype html><a href=gone.html>`})
	out := outsideOf(t, root)
	s := load(t, root, Options{})
	testkit.Check(t, os.Remove(filepath.Join(root, "p.html")))
	addFiles(t, root, files{"p.html": "-> " + out + "/secret.html"})
	opened := watchOpen(t, out+"/secret.html")
	r := s.NewReader()
	defer r.Close()
	if err := r.Details(0, nil, func(int, *Detail) {}); err == nil {
		t.Error("LL-71: no error for a page that has become a symbolic link out of the docroot")
	}
	if got := opened(); len(got) > 0 {
		t.Errorf("LL-71: %q was opened", got)
	}
}

// TestSpecialFiles: pipes and sockets exist, but no server sends them, and Load
// does not wait for them.
func TestSpecialFiles(t *testing.T) {
	rows := []row{
		{"pipe", "pipe.html", "SpecialFile 404 /pipe.html"},
		{"pipe_slash", "pipe.html/", "SpecialFile 404 /pipe.html/"},
		{"pipe_behind_symlink", "alias.html", "SpecialFile 404 /alias.html"},
		{"socket", "socket.html", "SpecialFile 404 /socket.html"},
		{"socket_below", "socket.html/x", "SpecialFile 404 /socket.html/x"},
		{"index_is_pipe", "d/", "MissingIndex 403 /d/"},
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "<a href=\"%s\">x</a>\n", r.href)
	}
	root := tempDocroot(t, files{"p.html": "<!doctype html>" + b.String(), "d/": "", "alias.html": "-> pipe.html"})
	for _, name := range []string{"pipe.html", "d/index.html"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Skip(err)
		}
	}
	t.Chdir(root) // a socket's address is short
	l, err := net.Listen("unix", "socket.html")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	done := make(chan *Site, 1)
	go func() {
		s, err := Load(context.Background(), root, Options{})
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	select {
	case s := <-done:
		if s != nil {
			compareRows(t, s, "p.html", rows)
			if s.Pages() != 1 {
				t.Errorf("%d pages, want 1", s.Pages())
			}
		}
	case <-time.After(time.Minute):
		t.Fatal("Load waits for a pipe")
	}
}

// TestUnreadableDirectory: an unreadable directory is a fault with its name,
// and links into it are errors.
func TestUnreadableDirectory(t *testing.T) {
	root := tempDocroot(t, files{"p.html": `<!doctype html><a href=d/x.html><a href=d/><a href=d>`, "d/x.html": plain})
	chmod(t, root+"/d", 0)
	t.Cleanup(func() { chmod(t, root+"/d", 0o755) })
	s := load(t, root, Options{})
	for _, d := range details(t, s, "p.html") {
		if d.State != host.StateUnreadable || d.Status != 403 || d.Node != docroot.NoNode {
			t.Errorf("%s: %s", d.Raw, answerOf(t, s, &d))
		}
	}
	if os.Geteuid() != 0 && !slices.ContainsFunc(s.Faults(), func(f docroot.FileFault) bool { return f.Path == "d/" && f.Err != nil }) {
		t.Errorf("faults %+v do not name d/", s.Faults())
	}
}
