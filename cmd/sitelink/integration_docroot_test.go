//go:build integration && linux

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// minimalPage is what the files of the path docroot hold.
const minimalPage = "<!doctype html><title>x</title>\n"

// oddNames are names that hold what URLs, shells or servers treat specially.
// Each is made as a file with suffix .html and as a directory with index page.
var oddNames = []string{
	"a b", "a+b", "a&b", "q?", "hash#", "semi;colon", "comma,", "colon:x", "quote'", `dq"`, "lt<gt>",
	"pipe|", "caret^", "back`tick", "brace{}", "br[ack]", "tilde~", "dollar$", "at@", "eq=", "star*",
	"excl!", "paren()", `back\slash`, "operator%", "%41", "%2e%2e", "100%", "%zz", "%", "üñí", "e\u0301nfd",
	"énfc", "日本", "caf\xe9-latin1", "raw\x80", "\xff", "\xc0\xaf", "\xed\xa0\x80", "soft\u00adhyphen",
	"bom\ufeff", "ta\tb", "new\nline", "cr\rx", "del\x7f", "\x01", "esc\x1b", " lead", "trail ", "dot.",
	"..name", "...", "x..y", "--", "~home", "index",
}

// plainFiles are the other files of the path docroot. A name that ends in /
// is an empty directory.
var plainFiles = []string{
	"index.html", "plain.html", "noext", "page.shtml", "page.var", "x.php", "x.cgi", "archive.tar.gz",
	"page.html.en", "page.html.bak", "page.html~", "style.css", "data.json", "UPPER.HTML", "Mixed.Html", "clean.html", "clean",
	".htaccess", ".hta.html", ".html", ".hidden", ".well-known/security.txt", ".dir/index.html", ".git/config",
	"with-index/index.html", "with-index/sub/index.html", "with-index/a.html", "Case-Dir/index.html",
	"both", "both.html", "bothdir/index.html", "bothdir.html",
	"no-index/a.txt", "no-index/inner/b.html", "empty-dir/",
	"with-txt/index.txt", "with-htm/index.htm", "with-php/index.php", "with-default/default.html", "index-case/Index.HTML",
	"index-is-dir/index.html/index.html", "index-is-empty-dir/index.html/", "index-unreadable/index.html",
	"unreadable.html", "no-list/index.html", "no-list/a.html", "no-list-no-index/a.html",
	"unreadable-dir/index.html", "unreadable-dir/a.html", "no-search/index.html", "no-search/a.html",
	"icons/mine.png", "javascript/x.js", "404.html", "_redirects", "robots.txt", "favicon.ico",
	strings.Repeat("n", 250) + ".html", strings.Repeat("m", 255), strings.Repeat("d", 255) + "/index.html",
}

// symlinks of the path docroot, name to destination.
var symlinks = [][2]string{
	{"link.html", "plain.html"}, {"link-dir", "with-index"}, {"link-noindex", "no-index"},
	{"broken.html", "nowhere.html"}, {"broken-dir", "nowhere/"}, {"broken-index/index.html", "nowhere"},
	{"loop.html", "loop.html"}, {"loop-a", "loop-b"}, {"loop-b", "loop-a"}, {"loop-index/index.html", "index.html"},
	{"self", "."}, {"up", ".."}, {"outside-link.html", "../outside/out.html"}, {"outside-dir", "../outside"},
	{"outside-broken.html", "../outside/gone.html"}, {"outside-noindex", "../outside/no-index"},
	{"link-unreadable.html", "unreadable.html"}, {"link-into-unreadable.html", "unreadable-dir/a.html"},
	{"index-link/index.html", "../plain.html"}, {"index-link-out/index.html", "../../outside/out.html"},
	{"index-link-dir/index.html", "../with-index"}, {"link-slash.html", "plain.html/"}, {"dev-null.html", "/dev/null"},
	{"through-file.html", "plain.html/x"},
}

// chainLength is the longest chain of symbolic links: two more than the 40
// that Linux follows.
const chainLength = 42

// deepDirs is the depth of the nested directory deep/d/d/...
const deepDirs = 1000

// tooDeep are the directories of a path longer than Linux's 4,096 bytes.
var tooDeep = strings.Split(strings.Repeat(strings.Repeat("p", 250)+"/", 17), "/")[:17]

// makePathDocroot makes the docroot of path edge cases and returns its path.
func makePathDocroot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("make docroot: %v", err)
		}
	}
	check(err)
	openToAll(t, dir)
	docroot := filepath.Join(dir, "root")
	write := func(name string) {
		t.Helper()
		if strings.HasSuffix(name, "/") {
			check(os.MkdirAll(filepath.Join(dir, name), 0o755))
			return
		}
		check(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		check(os.WriteFile(filepath.Join(dir, name), []byte(minimalPage), 0o644))
	}
	for _, name := range plainFiles {
		write("root/" + name)
	}
	for _, name := range oddNames {
		write("root/" + name + ".html")
		write("root/" + name + "-dir/index.html")
	}
	write("outside/out.html")
	write("outside/index.html")
	write("outside/no-index/x.txt")
	write("root/deep/" + strings.Repeat("d/", deepDirs) + "x.html")
	check(os.WriteFile(filepath.Join(docroot, "empty.html"), nil, 0o644))
	for _, l := range symlinks {
		check(os.MkdirAll(filepath.Dir(filepath.Join(docroot, l[0])), 0o755))
		check(os.Symlink(l[1], filepath.Join(docroot, l[0])))
	}
	check(os.Symlink("plain.html", filepath.Join(docroot, "chain-1.html")))
	for i := 2; i <= chainLength; i++ {
		check(os.Symlink(fmt.Sprintf("chain-%d.html", i-1), filepath.Join(docroot, fmt.Sprintf("chain-%d.html", i))))
	}
	check(syscall.Mkfifo(filepath.Join(docroot, "fifo.html"), 0o666))
	check(os.Mkdir(filepath.Join(docroot, "index-fifo"), 0o755))
	check(syscall.Mkfifo(filepath.Join(docroot, "index-fifo/index.html"), 0o666))
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	check(err)
	check(syscall.Bind(socket, &syscall.SockaddrUnix{Name: filepath.Join(docroot, "socket.html")}))
	check(syscall.Close(socket))
	makeTooDeep(t, docroot)

	// Modes without owner bits mean the same to an owner who is no root.
	modes := map[string]os.FileMode{
		"unreadable.html": 0, "index-unreadable/index.html": 0, "unreadable-dir": 0,
		"no-list": 0o311, "no-list-no-index": 0o311, "no-search": 0o444,
	}
	for name, mode := range modes {
		check(os.Chmod(filepath.Join(docroot, name), mode))
	}
	t.Cleanup(func() { // else t.TempDir cannot remove them
		for name := range modes {
			os.Chmod(filepath.Join(docroot, name), 0o755)
		}
	})
	return docroot
}

// makeTooDeep makes a file whose path no system call takes in one piece.
func makeTooDeep(t *testing.T, docroot string) {
	t.Helper()
	dir, err := os.OpenRoot(docroot)
	for _, name := range tooDeep {
		if err != nil {
			break
		}
		if err = dir.Mkdir(name, 0o755); err == nil {
			var sub *os.Root
			sub, err = dir.OpenRoot(name)
			dir.Close()
			dir = sub
		}
	}
	if err == nil {
		err = dir.WriteFile("x.html", []byte(minimalPage), 0o644)
		dir.Close()
	}
	if err != nil {
		t.Fatalf("make docroot: %v", err)
	}
}
