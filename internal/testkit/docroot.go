package testkit

import (
	"bufio"
	"errors"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// Files describes a docroot: slash path -> contents. A path that ends in a
// slash is an empty directory, contents of the form "-> TARGET" make a
// symbolic link.
type Files map[string]string

// MakeDocroot makes the files in a new directory that all users may read. In a private
// one, permissions would be ignored.
func MakeDocroot(t testing.TB, fs Files) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "docroot")
	Mkdir(t, root)
	AddFiles(t, root, fs)
	return root
}

// AddFiles makes more files in a docroot. It skips a test where the system has no such files: names that
// differ only in case or Unicode form, names that are not UTF-8 or that Windows does not have, symbolic links.
func AddFiles(t testing.TB, root string, fs Files) {
	t.Helper()
	others := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(fs)) {
		full := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			Mkdir(t, full)
			continue
		}
		Mkdir(t, filepath.Dir(full))
		if target, ok := strings.CutPrefix(fs[name], "-> "); ok {
			if err := os.Symlink(target, full); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
			continue
		}
		if runtime.GOOS == "windows" && (strings.Contains(name, `\`) || strings.TrimRight(name, ". ") != name) {
			t.Skipf("Windows has no file %q: it drops dots and spaces at the end of a name, and \\ is a separator", name)
		}
		folded := strings.ToLower(norm.NFD.String(name))
		if _, err := os.Lstat(full); err == nil && others[folded] {
			t.Skipf("this file system takes %s for another name of the same file", name)
		}
		others[folded] = true
		err := os.WriteFile(full, []byte(fs[name]), 0o644)
		if errors.Is(err, syscall.EILSEQ) {
			t.Skipf("this file system has names in UTF-8 only: %v", err)
		}
		Check(t, err)
		Chmod(t, full, 0o644)
	}
}

// Write writes a file, and makes the directories above it.
func Write(t testing.TB, name, text string) {
	t.Helper()
	Check(t, os.MkdirAll(filepath.Dir(name), 0o755))
	Check(t, os.WriteFile(name, []byte(text), 0o644))
}

// Read reads a file that must be there.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	Check(t, err)
	return text
}

// Mkdir makes a directory that all users may read, and its parents.
func Mkdir(t testing.TB, name string) {
	t.Helper()
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return
	}
	Mkdir(t, filepath.Dir(name))
	Check(t, os.Mkdir(name, 0o755))
	Chmod(t, name, 0o755)
}

// Chmod sets the permissions of a file. On Windows, which has none, it skips a test that closes one.
func Chmod(t testing.TB, name string, mode os.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" && mode&0o044 != 0o044 {
		t.Skipf("Windows has no mode %v", mode)
	}
	Check(t, os.Chmod(name, mode))
}

const page = "<!doctype html><title>x</title>"

// Varied makes a docroot with every construct that resolving a link has to know:
// names that need escapes, hidden names, symbolic links, permissions.
func Varied(t testing.TB) string {
	t.Helper()
	fs := Files{
		"index.html": page, "p.html": page, "a.html": page, "a/index.html": page, "a/b.html": page, "a/b/c.html": page, "a/b/p.html": page,
		"noidx/x.txt": "", "idxdir/index.html/index.html": page, ".htaccess": "", ".ht/x": "", ".h": "", ".hidden/a.html": page, "a b.html": page, "a%20b.html": page,
		"A.html": page, "c;d=1.html": page, "c:d.html": page, "a+b&c,(d).html": page, "ü.html": page, "%41": "", "x..": "", "...": "", "~u/index.html": page,
		"lnk": "-> a", "lnk.html": "-> a/b.html", "broken": "-> nowhere", "loop": "-> loop", "up": "-> a/b", "a/top": "-> ..",
		"private.html": page, "closed/a.html": page, "closed/index.html": page, "unlisted/index.html": page, "zero.html": page, "ring.html": "<!doctype html><a href=private.html><a href=zero.html><a href=m.map>",
		"m.map": "rect /a.html 1,1 2,2\n",
	}
	root := MakeDocroot(t, fs)
	Chmod(t, root+"/private.html", 0o600)
	Chmod(t, root+"/zero.html", 0)
	Chmod(t, root+"/closed", 0o700)
	Chmod(t, root+"/unlisted", 0o711)
	t.Cleanup(func() { Chmod(t, root+"/closed", 0o755) })
	return root
}

// HrefPieces is the alphabet of [Href]: names of the docroot that [Varied] makes,
// and everything that has a meaning in a URL.
var HrefPieces = []string{
	"a", "b", "a.html", "b.html", "p.html", "c.html", "index.html", "noidx", "idxdir", "lnk", "lnk.html", "broken", "loop", "up", "top", "private.html", "zero.html",
	"closed", "unlisted", ".htaccess", ".ht", ".h", ".hidden", "a b.html", "A.html", "c;d=1.html", "c:d.html", "a+b&c,(d).html", "ü.html", "\xFC.html", "~u",
	"x..", "...", "m.map", "gone.html", ".", "..", "/", "/", "/", "/", "//", "?", "#", "\\", " ", "\t", "\n", "%", "%20", "%41", "%2e", "%2E%2E", "%2f", "%5C", "%00", "%zz", "%25",
	"\x00", "\x7F", "\"", "<", ">", "`", "{", "|", "^", ":", "@", "http:", "https:", "HTTPS://", "http://", "example.org", "EXAMPLE.ORG", "h.example:8080", "other.example",
	"user@", "u:p@", "[::1]", "1.2.3.4", "0x7f", "xn--a", "xn--mnchen-3ya", "-", "mailto:", "tel:", "data:", "javascript:", "ftp://", "file:", "c:", "x=1", "&", "top", "L1-L2", "/route", "!r", ":~:text=x", "é",
}

// Href returns a random link.
func Href(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(7) {
		b.WriteString(HrefPieces[rnd.IntN(len(HrefPieces))])
	}
	return b.String()
}

// FromList makes the docroot that a file lists, one entry per line, without the
// entries named without.
func FromList(t testing.TB, list, without string) string {
	t.Helper()
	fs := Files{}
	for _, line := range Lines(t, list) {
		if line[0] == '#' {
			continue
		}
		kind, rest, _ := strings.Cut(line, " ")
		name, to, _ := strings.Cut(strings.TrimSpace(rest), " -> ")
		name = Unescape(t, name)
		switch {
		case path.Base(name) == without || kind == "link" && without == "symbolic links":
		case kind == "dir":
			fs[name+"/"] = ""
		case kind == "empty":
			fs[name] = ""
		case kind == "link":
			fs[name] = "-> " + to
		default:
			fs[name] = name + "\n"
		}
	}
	return MakeDocroot(t, fs)
}

// Lines returns the lines of a file that are not empty.
func Lines(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		if scanner.Text() != "" {
			lines = append(lines, scanner.Text())
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// Unescape decodes a percent-encoded name.
func Unescape(t testing.TB, s string) string {
	t.Helper()
	name, err := url.PathUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
