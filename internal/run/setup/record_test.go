package setup

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// tree returns everything below a directory: names, kinds and texts.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		text := []byte(nil)
		if d.Type().IsRegular() {
			if text, err = os.ReadFile(name); err != nil {
				return err
			}
		}
		found[filepath.ToSlash(rel)] = d.Type().String() + string(text)
		return nil
	})
	testkit.Check(t, err)
	return found
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
}

func openRecord(t *testing.T, dir, root string) *Record {
	t.Helper()
	r := testkit.Must(Open(dir, root))(t)
	return r
}

// What is written is taken out to the byte, with the directories that were made
// for it; a second writing of the same changes nothing.
func TestRecordUndo(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "docs", "site")
	put(t, dir, "content/a.md", "a")
	put(t, root, ".github/CODEOWNERS", "x")
	before := tree(t, root)
	files := []File{{"sitelink.toml", "one\n"}, {"../../.github/workflows/sitelink.yml", "two\n"}, {"../../.gitlab/deep/er.yml", "three\n"}}
	for round, want := range []Action{Add, Same} {
		r := openRecord(t, dir, root) // each a run of its own
		for _, f := range files {
			if action, err := r.Write(f); err != nil || action != want {
				t.Errorf("round %d: %s: %v, %v", round, f.Path, action, err)
			}
		}
		testkit.Check(t, r.SetHook(true))
	}
	r := openRecord(t, dir, root)
	if !r.Hook() || r.Empty() {
		t.Error("the hook is forgotten")
	}
	testkit.Check(t, r.SetHook(false))
	removed, left, err := openRecord(t, dir, root).Undo(false)
	if err != nil || len(left) > 0 || len(removed) != 3 {
		t.Errorf("removed %q, left %q, %v", removed, left, err)
	}
	if after := tree(t, root); !maps.Equal(before, after) {
		t.Errorf("was %v\nis %v", before, after)
	}
}

// A file that sitelink did not write, or that was changed since, is neither changed
// nor removed.
func TestRecordForeign(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "theirs.yml", "theirs")
	if err := os.Symlink("theirs.yml", filepath.Join(dir, "link.yml")); err != nil {
		t.Skip(err)
	}
	testkit.Check(t, os.Mkdir(filepath.Join(dir, "dir.yml"), 0o755))
	r := openRecord(t, dir, dir)
	for _, name := range []string{"theirs.yml", "link.yml", "dir.yml"} {
		if action, err := r.Write(File{name, "ours"}); err != nil || action != Foreign {
			t.Errorf("%s: %v, %v", name, action, err)
		}
	}
	for _, name := range []string{"edited.yml", "kept.yml", "gone.yml"} {
		if action, err := r.Write(File{name, "ours"}); err != nil || action != Add {
			t.Errorf("%s: %v, %v", name, action, err)
		}
	}
	put(t, dir, "edited.yml", "ours, and mine")
	testkit.Check(t, os.Remove(filepath.Join(dir, "gone.yml")))
	if action, err := r.Write(File{"edited.yml", "another"}); err != nil || action != Foreign {
		t.Errorf("edited: %v, %v", action, err)
	}
	if action, err := r.Write(File{"kept.yml", "another"}); err != nil || action != Change {
		t.Errorf("untouched: %v, %v", action, err)
	}
	remove, leave, err := r.Undo(true)
	if err != nil || !slices.Equal(remove, []string{"kept.yml"}) || !slices.Equal(leave, []string{"edited.yml"}) {
		t.Errorf("would remove %q, leave %q, %v", remove, leave, err)
	}
	removed, left, err := r.Undo(false)
	if err != nil || !slices.Equal(removed, remove) || !slices.Equal(left, leave) {
		t.Errorf("removed %q, left %q, %v", removed, left, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "edited.yml")); string(text) != "ours, and mine" {
		t.Errorf("edited.yml is %q", text)
	}
	// Once it is as it was written, it goes too, and with it the record.
	put(t, dir, "edited.yml", "ours")
	if _, left, err := openRecord(t, dir, dir).Undo(false); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".sitelink")); err == nil {
		t.Error(".sitelink is left")
	}
}

// A crash at any write leaves files that the next undo takes out: each is
// recorded before it is written.
func TestRecordCrash(t *testing.T) {
	dir := t.TempDir()
	r := openRecord(t, dir, dir)
	testkit.Must(r.Write(File{"a.yml", "one"}))(t)
	// Recorded, not yet written: a new file, and a new text of an old one.
	for _, f := range []recordFile{{Path: "new.yml", SHA256: hash([]byte("new"))}, {Path: "a.yml", SHA256: hash([]byte("two")), Was: hash([]byte("one"))}} {
		testkit.Check(t, r.note(f))
	}
	removed, left, err := openRecord(t, dir, dir).Undo(false)
	if err != nil || !slices.Equal(removed, []string{"a.yml"}) || len(left) > 0 {
		t.Errorf("removed %q, left %q, %v", removed, left, err)
	}
	if left := tree(t, dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// What a build made beside the record stays hidden from git.
func TestRecordBesideBuild(t *testing.T) {
	dir := t.TempDir()
	r := openRecord(t, dir, dir)
	testkit.Must(r.Write(File{"a.yml", "one"}))(t)
	put(t, dir, ".sitelink/public/index.html", "x")
	if _, _, err := r.Undo(false); err != nil {
		t.Fatal(err)
	}
	left := slices.Sorted(maps.Keys(tree(t, dir)))
	if want := []string{".", ".sitelink", ".sitelink/.gitignore", ".sitelink/public", ".sitelink/public/index.html"}; !slices.Equal(left, want) {
		t.Errorf("left %q", left)
	}
}

// A record may have been written by an attacker: it must not name a file outside of
// the repository, and its faults are reported.
func TestRecordHostile(t *testing.T) {
	testkit.Long(t)
	root := t.TempDir()
	dir := filepath.Join(root, "repo")
	put(t, root, "precious", "text")
	entry := `{"path": %q, "sha256": "` + hash([]byte("text")) + `"}`
	for text, want := range map[string]string{
		"{":             "unexpected end of JSON input",
		`{"schema": 2}`: "schema 2, not 1",
		`{"schema": 1, "files": [` + fmt.Sprintf(entry, "../precious") + `]}`:                   `"../precious" leads out of the repository`,
		`{"schema": 1, "files": [` + fmt.Sprintf(entry, filepath.Join(root, "precious")) + `]}`: "leads out of the repository",
		`{"schema": 1, "files": [` + fmt.Sprintf(entry, "a/../../precious") + `]}`:              "leads out of the repository",
		`{"schema": 1, "files": [` + fmt.Sprintf(entry, ".") + `]}`:                             "leads out of the repository",
		`{"schema": 1, "files": "x"}`:                                                           "cannot unmarshal",
		strings.Repeat(" ", maxFileBytes+1):                                                     errOdd.Error(),
	} {
		put(t, dir, ".sitelink/init.json", text)
		if _, err := Open(dir, dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "init.json") {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
	if _, err := openRecord(t, root, root).Write(File{"../x", "x"}); err == nil {
		t.Error("wrote outside of the repository")
	}
	if text, _ := os.ReadFile(filepath.Join(root, "precious")); string(text) != "text" {
		t.Error("a file outside is gone")
	}
}
