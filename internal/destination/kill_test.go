package destination

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

const killedRoot = "SITELINK_TEST_KILLED"

// many are the files of the killed process: every second one moves.
func many(t *testing.T, root string) *Set {
	t.Helper()
	s := NewSet(root, os.Environ())
	for i := range 300 {
		name := fmt.Sprintf("content/%d.md", i)
		replace(t, s, name, "old", "new")
		if i%2 == 0 {
			testkit.Check(t, s.Rename(name, fmt.Sprintf("content/moved/%d.md", i)))
		}
	}
	return s
}

// TestKilled is the process that TestKill kills.
func TestKilled(t *testing.T) {
	root := os.Getenv(killedRoot)
	if root == "" {
		return
	}
	testkit.Check(t, many(t, root).Apply(t.Context(), "killed"))
}

// TestKill kills a process while it changes files, at random times: each file is whole,
// the next Apply refuses to work, and Undo restores every byte.
func TestKill(t *testing.T) {
	kills := testkit.Longer(1, 5)
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("content/%d.md", i)] = strings.Repeat(fmt.Sprintf("line %d\n", i), 50) + "old\n"
	}
	root := project(t, files)
	before, indexBefore := tree(t, root), indexOf(t, root)
	random := rand.New(rand.NewPCG(1, 2))
	interrupted := 0
	for round := 0; round < 60 && interrupted < kills; round++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), killedRoot+"="+root)
		testkit.Check(t, cmd.Start())
		limit := time.Now().Add(time.Minute)
		for time.Now().Before(limit) {
			if _, err := os.Lstat(journalName(root)); err == nil {
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		j, err := readJournal(root)
		if err != nil || j == nil {
			t.Fatalf("the journal of a killed process: %v, %v", j, err)
		}
		if !j.Complete {
			interrupted++
			if err := another(t, root); err == nil || !strings.Contains(err.Error(), "interrupted") {
				t.Errorf("the next Apply: %v", err)
			}
		}
		whole(t, root, files)
		testkit.Must(Undo(t.Context(), root, os.Environ()))(t)
		same(t, fmt.Sprint("round ", round), tree(t, root), before)
		if indexOf(t, root) != indexBefore {
			t.Error("git's index is not the same")
		}
		if t.Failed() {
			return
		}
	}
	if interrupted == 0 {
		t.Error("no process was killed while it changed files")
	}
}

// another returns the error of applying another set.
func another(t *testing.T, root string) error {
	s := NewSet(root, os.Environ())
	testkit.Check(t, s.Create("other.md", nil))
	return s.Apply(t.Context(), "other")
}

// whole checks that each file is the old or the new one.
func whole(t *testing.T, root string, files map[string]string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(root, "content"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		text, err := os.ReadFile(name)
		old := files["content/"+filepath.Base(name)]
		if string(text) != old && string(text) != strings.Replace(old, "old", "new", 1) {
			t.Errorf("%s is neither old nor new: %q", name, text)
		}
		n++
		return err
	})
	if err != nil || n != len(files) {
		t.Errorf("%d files, %v, want %d", n, err, len(files))
	}
}
