package site

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestTree: the names of the docroot, byte for byte, and the kind of each.
func TestTree(t *testing.T) {
	fs := files{"index.html": plain, "a/b/c.txt": "", "a/.hidden/x": "", "empty/": "", "ü": "", "u\u0308": "", " ": "", "a b": "", "-": "", "...": ""}
	s := loadFiles(t, fs, Options{})
	tree := s.Tree()
	for name := range fs {
		n, ok := s.Lookup(name)
		if !ok {
			t.Errorf("%q is not in the tree", name)
			continue
		}
		want := docroot.KindFile
		if strings.HasSuffix(name, "/") {
			want = docroot.KindDir
		}
		path := strings.TrimSuffix(name, "/")
		if tree.Kind(n) != want || tree.Path(n) != path || tree.Name(n) != path[strings.LastIndexByte(path, '/')+1:] || tree.Real(n) != n {
			t.Errorf("%q: kind %d, path %q, name %q", name, tree.Kind(n), tree.Path(n), tree.Name(n))
		}
	}
	if s.Files() != len(fs)-1 {
		t.Errorf("%d files, want %d", s.Files(), len(fs)-1)
	}
	for _, name := range []string{"INDEX.html", "a/b/c", "a/c.txt", "a/b/c.txt/d", "a/../index.html", "x"} {
		if _, ok := s.Lookup(name); ok {
			t.Errorf("%q was found", name)
		}
	}
	if n, ok := s.Lookup(""); !ok || n != 0 || tree.Path(n) != "" {
		t.Errorf("the docroot: %d, %t", n, ok)
	}
}

// TestNotUTF8: names are bytes, and links reach them by percent escapes.
func TestNotUTF8(t *testing.T) {
	root := tempDocroot(t, files{"index.html": plain})
	if err := os.WriteFile(filepath.Join(root, "caf\xE9.html"), []byte(`<a href="x.html">`), 0o644); err != nil {
		t.Skipf("the file system takes UTF-8 only: %v", err)
	}
	addFiles(t, root, files{"p.html": `<!doctype html><meta charset=utf-8><a href="caf%E9.html"><a href="caf%e9.html#x"><a href="café.html">`})
	s := load(t, root, Options{})
	d := details(t, s, "p.html")
	for i, want := range []string{"OK 200 /caf%E9.html = caf\xE9.html", "OK 200 /caf%e9.html = caf\xE9.html # x", "MissingFile 404 /caf%C3%A9.html"} {
		if got := answerOf(t, s, &d[i]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// A page with such a name has its own address.
	d = details(t, s, "caf\xE9.html")
	if got, want := answerOf(t, s, &d[0]), "MissingFile 404 /x.html"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDeepTree: a tree of a thousand nested directories is listed, and links
// reach its end and climb back. Directories too deep to be opened by path are
// reported and not read.
func TestDeepTree(t *testing.T) {
	testkit.Long(t)
	root := tempDocroot(t, files{"p.html": plain})
	deep := strings.TrimSuffix(strings.Repeat("d/", 1000), "/")
	mkdirDeep(t, root, 1000)
	addFiles(t, root, files{"p.html": `<!doctype html><a href="` + deep + `/x.html">`, deep + "/x.html": `<!doctype html><a href="` + strings.Repeat("../", 1000) + `p.html"><a href="` + strings.Repeat("../", 1001) + `p.html">`})
	s := load(t, root, Options{})
	if len(s.Faults()) != 0 {
		t.Errorf("faults %+v", s.Faults())
	}
	d := details(t, s, "p.html")
	if d[0].State != host.StateOK || s.Tree().Path(d[0].Node) != deep+"/x.html" {
		t.Errorf("down: %s", stateName(t, d[0].State))
	}
	d = details(t, s, deep+"/x.html")
	if d[0].State != host.StateOK || d[1].State != host.StateAboveRoot || s.Tree().Path(d[1].Node) != "p.html" {
		t.Errorf("up: %s, %s", stateName(t, d[0].State), stateName(t, d[1].State))
	}
}

// mkdirDeep creates directories d/d/d... below root without recursion.
func mkdirDeep(t *testing.T, root string, depth int) {
	t.Helper()
	name := root
	for range depth {
		name += "/d"
		testkit.Check(t, os.Mkdir(name, 0o755))
	}
}

// TestTooDeep: a file with a path that is too long to open is a fault of the
// docroot and does not cause a crash.
func TestTooDeep(t *testing.T) {
	testkit.Long(t)
	root := tempDocroot(t, files{"p.html": `<!doctype html><a href="` + strings.Repeat("d/", 2100) + `">`})
	const each = 300
	// One system call takes a path of up to 4,096 bytes: go down in steps.
	t.Chdir(root)
	made := 0
	for ; made < 2100; made += each {
		testkit.Check(t, os.MkdirAll(strings.TrimSuffix(strings.Repeat("d/", each), "/"), 0o755))
		testkit.Check(t, os.Chdir(strings.Repeat("d/", each)))
	}
	t.Cleanup(func() { removeDeep(t, root) })
	testkit.Check(t, os.Chdir(root))
	s := load(t, root, Options{})
	if len(s.Faults()) == 0 {
		t.Error("no fault lists the directories that were not read")
	}
	for _, f := range s.Faults() {
		if f.Err == nil || !strings.HasPrefix(f.Path, "d/d/") {
			t.Errorf("fault %+v", f)
		}
	}
	if d := details(t, s, "p.html"); !d[0].State.IsError() {
		t.Errorf("got %s", stateName(t, d[0].State))
	}
}

// removeDeep removes a chain of directories d that is too long for one path.
func removeDeep(t *testing.T, root string) {
	for {
		if err := os.Chdir(root); err != nil {
			t.Error(err)
			return
		}
		depth := 0
		for depth < 1000 && os.Chdir("d") == nil {
			depth++
		}
		// Cut the lower part off and move it beside the upper one.
		next := filepath.Join(root, "next")
		if _, err := os.Stat("d"); err != nil || depth < 1000 {
			break
		}
		if err := os.Rename("d", next); err != nil {
			t.Error(err)
			return
		}
		if err := os.Chdir(root); err != nil {
			t.Error(err)
			return
		}
		os.RemoveAll(filepath.Join(root, "d"))
		if err := os.Rename(next, filepath.Join(root, "d")); err != nil {
			t.Error(err)
			return
		}
	}
	os.Chdir(root)
	os.RemoveAll(filepath.Join(root, "d"))
}

// TestAt: a path finds its node byte for byte, and symbolic links are not
// followed.
func TestAt(t *testing.T) {
	s := loadFiles(t, files{"p.html": plain, "d/e/f.html": plain, "l": "-> d"}, Options{})
	for path, want := range map[string]string{"": "", "p.html": "p.html", "d": "d", "d/e/f.html": "d/e/f.html", "l": "l"} {
		if id := s.tree.At(path); id == docroot.NoNode || s.tree.Path(id) != want {
			t.Errorf("%q: node %d", path, id)
		}
	}
	for _, path := range []string{"P.html", "d/", "/d", "d/e/f", "l/e", "d//e", "p.html/x"} {
		if id := s.tree.At(path); id != docroot.NoNode {
			t.Errorf("%q: node %d, %q", path, id, s.tree.Path(id))
		}
	}
}

// TestChildren: every name of the docroot is an entry of its directory, in
// byte order.
func TestChildren(t *testing.T) {
	s := load(t, tempDocroot(t, files{"b.html": plain, "a/x.txt": "", "a/b/y.txt": "", "Z.txt": "", ".h": ""}), Options{})
	c := s.Tree().Children()
	for dir, want := range map[string]string{"": ".h Z.txt a b.html", "a": "b x.txt", "a/b": "y.txt", "b.html": ""} {
		node, ok := s.Lookup(dir)
		if !ok {
			t.Fatalf("no %q", dir)
		}
		var got []string
		for _, id := range c.Of(node) {
			got = append(got, s.Tree().Name(id))
		}
		if strings.Join(got, " ") != want || !slices.IsSorted(got) {
			t.Errorf("entries of %q: got %q, want %q", dir, got, want)
		}
	}
}
