package destination

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// project makes a directory with files, and a git repository that tracks them.
func project(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root = t.TempDir()
	for name, text := range files {
		put(t, root, name, text)
	}
	testkit.Git(t, root, "init", "-q")
	testkit.Git(t, root, "config", "core.autocrlf", "false")
	testkit.Git(t, root, "config", "user.name", "a")
	testkit.Git(t, root, "config", "user.email", "a@example.org")
	testkit.Git(t, root, "add", ".")
	testkit.Git(t, root, "commit", "-q", "-m", "start")
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	testkit.Write(t, filepath.Join(root, filepath.FromSlash(name)), text)
}

// tree returns all files of a directory, without those of git and of sitelink.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		switch {
		case d.IsDir() && (rel == ".git" || rel == ".sitelink"):
			return fs.SkipDir
		case rel == ".":
		case d.IsDir():
			files[filepath.ToSlash(rel)+"/"] = ""
		case d.Type().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	})
	testkit.Check(t, err)
	return files
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if now, ok := got[name]; !ok || now != text {
			t.Errorf("%s: %s is %q (exists: %v), want %q", what, name, now, ok, text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s should not exist", what, name)
		}
	}
}

// indexOf returns the entries of git's index.
func indexOf(t *testing.T, root string) string {
	t.Helper()
	return testkit.Git(t, root, "ls-files", "-s")
}

// replace replaces the first occurrence of a string.
func replace(t *testing.T, s *Set, file, old, new string) {
	t.Helper()
	text, hash, err := s.Read(file)
	testkit.Check(t, err)
	at := strings.Index(string(text), old)
	if at < 0 {
		t.Fatalf("no %q in %s", old, file)
	}
	testkit.Check(t, s.Replace(file, hash, at, at+len(old), new))
}

var start = map[string]string{
	"content/a.md":              "---\r\ntitle: A\r\n---\r\nSee [b](/b/).\r\n",
	"content/b/index.md":        "\ufeffSee [a](/a/)\nand more",
	"content/b/pictures/x.png":  "\x89PNG\x00",
	"content/c.md":              "one\ntwo\n",
	"static/with space \"q\".x": "x\n",
}

// a set with everything: edits, renames with and without edits, a new file.
func sample(t *testing.T, root string) *Set {
	t.Helper()
	s := NewSet(root, os.Environ())
	replace(t, s, "content/a.md", "/b/", "/new/b/")
	replace(t, s, "content/a.md", "---\r\nSee", "aliases: [/x/]\r\n---\r\nSee")
	replace(t, s, "content/b/index.md", "more", "more\nand more")
	for old, new := range map[string]string{"content/b": "content/new/b", "static/with space \"q\".x": "static/y z.x"} {
		testkit.Check(t, s.Rename(old, new))
	}
	testkit.Check(t, s.Create("static/deep/_redirects", []byte("/b/ /new/b/ 301\n")))
	return s
}

var changed = map[string]string{
	"content/": "", "content/new/": "", "content/new/b/": "", "content/new/b/pictures/": "", "static/": "", "static/deep/": "",
	"content/a.md":                 "---\r\ntitle: A\r\naliases: [/x/]\r\n---\r\nSee [b](/new/b/).\r\n",
	"content/new/b/index.md":       "\ufeffSee [a](/a/)\nand more\nand more",
	"content/new/b/pictures/x.png": "\x89PNG\x00",
	"content/c.md":                 "one\ntwo\n",
	"static/y z.x":                 "x\n",
	"static/deep/_redirects":       "/b/ /new/b/ 301\n",
}

// TestApplyAndUndo: the files, git's index and the diff say the same, and Undo
// restores every byte, also after git has refreshed its index.
func TestApplyAndUndo(t *testing.T) {
	root := project(t, start)
	if runtime.GOOS != "windows" {
		testkit.Check(t, os.Chmod(filepath.Join(root, "content/a.md"), 0o755))
	}
	before, indexBefore := tree(t, root), indexOf(t, root)
	s := sample(t, root)
	var diff bytes.Buffer
	testkit.Check(t, s.Diff(&diff))
	same(t, "after the diff", tree(t, root), before)
	testkit.Check(t, s.Apply(t.Context(), "test"))
	same(t, "after Apply", tree(t, root), changed)
	if info, err := os.Stat(filepath.Join(root, "content/a.md")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	status := testkit.Git(t, root, "status", "--porcelain", "-uall")
	for _, line := range []string{"R  content/b/pictures/x.png -> content/new/b/pictures/x.png", "RM content/b/index.md -> content/new/b/index.md", "?? static/deep/_redirects"} {
		if !strings.Contains(status, line+"\n") {
			t.Errorf("git status has no line %q:\n%s", line, status)
		}
	}
	if command, files, err := Last(root); err != nil || command != "test" || len(files) != 5 {
		t.Errorf("Last = %q, %q, %v", command, files, err)
	}
	u, err := Undo(t.Context(), root, os.Environ())
	if err != nil || u.Command != "test" || len(u.Files) != 5 {
		t.Fatalf("Undo = %+v, %v", u, err)
	}
	same(t, "after Undo", tree(t, root), before)
	if indexOf(t, root) != indexBefore {
		t.Error("git's index is not the same after Undo")
	}
	if _, err := Undo(t.Context(), root, os.Environ()); !errors.Is(err, ErrNothing) {
		t.Errorf("a second Undo: %v", err)
	}
	// git apply does the same.
	patch := filepath.Join(t.TempDir(), "patch")
	testkit.Check(t, os.WriteFile(patch, diff.Bytes(), 0o666))
	testkit.Git(t, root, "apply", "--whitespace=nowarn", patch)
	same(t, "after git apply", tree(t, root), changed)
}

// TestUndoAfterKill: from each state between two steps of Apply, Undo restores all.
func TestUndoAfterKill(t *testing.T) {
	root := project(t, start)
	before, indexBefore := tree(t, root), indexOf(t, root)
	steps := len(sample(t, root).Files())
	for step := range 2*steps + 2 {
		s := sample(t, root)
		files := s.Files()
		j := s.journal(files, "test")
		testkit.Check(t, j.write(root))
		for i, name := range files {
			c := *s.changes[name]
			if 2*i+1 == step { // moved, but not edited; with a part of the new text beside it
				c.edits = nil
				if c.old == "" {
					break
				}
			}
			if 2*i >= step {
				break
			}
			testkit.Check(t, s.applyTo(&c))
			left := filepath.Join(filepath.Dir(s.at(c.new)), "."+filepath.Base(c.new)+".sitelink-1-0.tmp")
			testkit.Check(t, os.WriteFile(left, []byte("half"), 0o666))
		}
		if step == 2*steps+1 {
			testkit.Check(t, moveIndex(t.Context(), root, os.Environ(), j.Changes, false))
		}
		if err := sampleError(t, root); err == nil || !strings.Contains(err.Error(), "was interrupted") {
			t.Fatalf("step %d: the next Apply: %v", step, err)
		}
		if _, err := Undo(t.Context(), root, os.Environ()); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		same(t, fmt.Sprint("step ", step), tree(t, root), before)
		if indexOf(t, root) != indexBefore {
			t.Errorf("step %d: git's index is not the same", step)
		}
	}
}

// sampleError returns the error of applying another set.
func sampleError(t *testing.T, root string) error {
	s := NewSet(root, os.Environ())
	replace(t, s, "content/c.md", "one", "1")
	return s.Apply(t.Context(), "other")
}

// canceled is a context that ends after its error was asked for a number of times.
type canceled struct {
	context.Context
	left int
}

func (c *canceled) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestApplyOrNothing: a cancelled Apply changes nothing, and the set before it can
// still be undone.
func TestApplyOrNothing(t *testing.T) {
	root := project(t, start)
	first := tree(t, root)
	testkit.Check(t, sampleError(t, root))
	before, indexBefore := tree(t, root), indexOf(t, root)
	for left := range 4 {
		s := sample(t, root)
		err := s.Apply(&canceled{context.Background(), left}, "test")
		if err == nil {
			t.Fatalf("a context that was cancelled after %d files", left)
		}
		same(t, "after the cancelled Apply", tree(t, root), before)
		if indexOf(t, root) != indexBefore {
			t.Error("git's index is not the same")
		}
	}
	if u, err := Undo(t.Context(), root, os.Environ()); err != nil || u.Command != "other" {
		t.Fatalf("Undo = %+v, %v", u, err)
	}
	same(t, "after Undo", tree(t, root), first)
}

// TestTornJournal: a power cut can leave a part of the journal's last word, or zeros. The change counts as interrupted,
// and Undo restores all.
func TestTornJournal(t *testing.T) {
	for _, end := range []string{"", "com", "complete", "\x00\x00\x00", "co\x00\x00"} {
		root := project(t, start)
		before := tree(t, root)
		testkit.Check(t, sample(t, root).Apply(t.Context(), "test"))
		text := testkit.Read(t, journalName(root))
		testkit.Check(t, os.WriteFile(journalName(root), []byte(strings.TrimSuffix(string(text), complete)+end), 0o600))
		if err := another(t, root); err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Errorf("%q: the next Apply: %v", end, err)
		}
		if _, err := Undo(t.Context(), root, os.Environ()); err != nil {
			t.Errorf("%q: %v", end, err)
		}
		same(t, fmt.Sprintf("%q", end), tree(t, root), before)
	}
}

// TestUndoRefuses: files that were changed since are not overwritten.
func TestUndoRefuses(t *testing.T) {
	root := project(t, start)
	testkit.Check(t, sample(t, root).Apply(t.Context(), "test"))
	put(t, root, "content/a.md", "mine")
	put(t, root, "content/b/pictures/x.png", "mine too")
	now := tree(t, root)
	_, err := Undo(t.Context(), root, os.Environ())
	if !errors.Is(err, ErrStale) || !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "content/a.md: ") || !strings.Contains(err.Error(), "content/b/pictures/x.png: ") {
		t.Errorf("Undo: %v", err)
	}
	same(t, "after the refused Undo", tree(t, root), now)

	// Something else was staged: it stays, and the old names are back.
	put(t, root, "content/a.md", changed["content/a.md"])
	os.RemoveAll(filepath.Join(root, "content/b"))
	put(t, root, "content/c.md", "staged\n")
	testkit.Git(t, root, "add", "content/c.md")
	if u, err := Undo(t.Context(), root, os.Environ()); err != nil {
		t.Fatalf("Undo = %+v, %v", u, err)
	}
	if status := testkit.Git(t, root, "status", "--porcelain"); status != "M  content/c.md\n" {
		t.Errorf("git status:\n%s", status)
	}
}

func TestTakeBack(t *testing.T) {
	root := project(t, start)
	s := NewSet(root, os.Environ())
	replace(t, s, "content/a.md", "/b/", "/x/")
	replace(t, s, "content/c.md", "one", "1")
	testkit.Check(t, s.Apply(t.Context(), "test"))
	testkit.Check(t, TakeBack(t.Context(), root, os.Environ(), []string{"content/a.md"}))
	if got := tree(t, root); got["content/a.md"] != start["content/a.md"] || got["content/c.md"] != "1\ntwo\n" {
		t.Errorf("after TakeBack: %q", got)
	}
	if u, err := Undo(t.Context(), root, os.Environ()); err != nil || !slices.Equal(u.Files, []string{"content/c.md"}) {
		t.Errorf("Undo = %+v, %v", u, err)
	}
}

// TestRefused: each file that cannot be changed is refused with its name.
func TestRefused(t *testing.T) {
	root := project(t, start)
	outside := t.TempDir()
	put(t, outside, "x.md", "text\n")
	put(t, root, "latin.md", "caf\xe9\n")
	put(t, root, "utf16.md", "\xff\xfea\x00")
	put(t, root, "readonly.md", "text\n")
	put(t, root, "theme/.git", "gitdir: x\n")
	put(t, root, "theme/x.md", "text\n")
	testkit.Check(t, os.Chmod(filepath.Join(root, "readonly.md"), 0o444))
	for name, to := range map[string]string{"out": outside, "link.md": "readonly.md", "in": "content"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]error{
		"latin.md": ErrEncoding, "utf16.md": ErrEncoding, "content/b/pictures/x.png": ErrEncoding, "readonly.md": ErrReadOnly, "link.md": ErrSymlink,
		"out/x.md": ErrSymlink, "in/c.md": ErrSymlink, "../x.md": ErrOutside, outside + "/x.md": ErrOutside,
		"theme/x.md": ErrNested, "content/none.md": fs.ErrNotExist, "content/./c.md": ErrOutside,
	} {
		_, _, err := NewSet(root, nil).Read(name)
		if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("Read(%s): %v, want %v", name, err, want)
		}
		if want == ErrEncoding {
			continue // it can still be moved
		}
		if err := NewSet(root, nil).Rename(name, "new.md"); !errors.Is(err, want) {
			t.Errorf("Rename(%s): %v, want %v", name, err, want)
		}
		if want != fs.ErrNotExist && want != ErrReadOnly && want != ErrSymlink {
			if err := NewSet(root, nil).Rename("content/c.md", name); !errors.Is(err, want) {
				t.Errorf("Rename to %s: %v, want %v", name, err, want)
			}
		}
	}
	s := NewSet(root, nil)
	if err := s.Create(".git/hooks/pre-commit", nil); err == nil || !strings.Contains(err.Error(), "file of git") {
		t.Errorf("a hook of git: %v", err)
	}
	if err := s.Create("content/c.md", nil); !errors.Is(err, ErrExists) {
		t.Errorf("a file that exists: %v", err)
	}
	if err := s.Rename("content", "content/in"); err == nil {
		t.Error("a directory was moved into itself")
	}
	_, hash, _ := s.Read("content/c.md")
	if err := s.Replace("content/c.md", Hash([]byte("other")), 0, 1, ""); !errors.Is(err, ErrStale) {
		t.Errorf("another hash: %v", err)
	}
	if err := errors.Join(s.Replace("content/c.md", hash, 0, 3, "1"), s.Replace("content/c.md", hash, 0, 3, "1")); err != nil {
		t.Errorf("the same edit twice: %v", err)
	}
	if err := s.Replace("content/c.md", hash, 2, 4, ""); !errors.Is(err, ErrOverlap) {
		t.Errorf("overlapping edits: %v", err)
	}
	put(t, root, "content/c.md", "changed\n")
	if err := s.Apply(t.Context(), "test"); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "content/c.md: ") {
		t.Errorf("a file that changed before Apply: %v", err)
	}
}

// TestTwoRuns: only one process changes files at a time.
func TestTwoRuns(t *testing.T) {
	root := project(t, start)
	unlock := testkit.Must(lock(root))(t)
	if err := sampleError(t, root); err == nil || !strings.Contains(err.Error(), "another sitelink") {
		t.Errorf("Apply while another runs: %v", err)
	}
	if _, err := Undo(t.Context(), root, nil); err == nil || !strings.Contains(err.Error(), "another sitelink") {
		t.Errorf("Undo while another runs: %v", err)
	}
	unlock()
	if err := sampleError(t, root); err != nil {
		t.Error(err)
	}
}

// TestDiffOfRandomEdits: git apply makes of the diff what Apply makes.
func TestDiffOfRandomEdits(t *testing.T) {
	root := project(t, map[string]string{"x": ""})
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a\n", "b\n", "\n", "c\r\n", "d", "é\n", "\r"}
	some := func(n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	var diff bytes.Buffer
	want := map[string]string{"x": ""}
	s := NewSet(root, os.Environ())
	for i := range 600 {
		name := fmt.Sprint("f", i)
		text := some(40)
		put(t, root, name, text)
		want[name] = text
		for range random.IntN(4) {
			start := random.IntN(len(text) + 1)
			end := min(len(text), start+random.IntN(9)*random.IntN(2))
			err := s.Replace(name, Hash([]byte(text)), start, end, some(4))
			if err != nil && !errors.Is(err, ErrOverlap) {
				t.Fatal(err)
			}
		}
		if out, err := s.Text(name); err != nil {
			t.Fatal(err)
		} else if string(out) == text {
			s.Drop(name)
		} else {
			want[name] = string(out)
		}
	}
	testkit.Check(t, s.Diff(&diff))
	patch := filepath.Join(t.TempDir(), "patch")
	testkit.Check(t, os.WriteFile(patch, diff.Bytes(), 0o666))
	testkit.Git(t, root, "apply", "--whitespace=nowarn", patch)
	same(t, "after git apply", tree(t, root), want)
}
