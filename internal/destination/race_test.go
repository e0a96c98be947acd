package destination

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// save saves a file in one of three ways, in the moment when it is replaced: some microseconds after its temporary file
// appears. It returns what must be in the file, or "" if that moment did not come.
func save(file, way string, delay time.Duration, stop <-chan struct{}) string {
	dir, base := filepath.Split(file)
	for {
		entries, _ := os.ReadDir(dir)
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return system.IsTemporary(e.Name(), base) }) {
			break
		}
		select {
		case <-stop:
			return ""
		default:
		}
	}
	for began := time.Now(); time.Since(began) < delay; { // shorter than a timer
	}
	text := "saved by " + way + "\n"
	var err error
	switch way {
	case "rename":
		if err = os.WriteFile(file+"~", []byte(text), 0o644); err == nil {
			err = os.Rename(file+"~", file)
		}
	case "truncation":
		err = os.WriteFile(file, []byte(text), 0o644)
	case "append":
		var f *os.File
		if f, err = os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644); err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
	}
	switch {
	case err != nil && runtime.GOOS == "windows": // it refuses to save a file that is open elsewhere
		return ""
	case err != nil:
		panic(err)
	}
	return text
}

// TestRace changes, moves and restores files while an editor saves one of them. What it saved is not lost. The other
// files are all changed or, after an error, all unchanged.
func TestRace(t *testing.T) {
	rounds := testkit.Longer(3, 25) // of nine kinds
	for _, way := range []string{"rename", "truncation", "append"} {
		for _, what := range []string{"edit", "move", "undo"} {
			t.Run(what+"/"+way, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 2))
				met := 0
				for round := range rounds {
					if race(t, what, way, random) {
						met++
					}
					if t.Failed() {
						t.Fatalf("in round %d", round)
					}
				}
				if testkit.Longer(false, met == 0) { // a few rounds in memory may be too fast for it
					t.Error("no save met a change")
				}
				t.Logf("%d of %d saves stopped a change", met, rounds)
			})
		}
	}
}

// race reports whether the save was noticed.
func race(t *testing.T, what, way string, random *rand.Rand) bool {
	const files = 8
	root := t.TempDir()
	before := func(i int) string { return fmt.Sprintf("page %d\nold\n", i) }
	oldName := func(i int) string { return fmt.Sprintf("content/%d.md", i) }
	newName := oldName
	if what == "move" {
		newName = func(i int) string { return fmt.Sprintf("content/moved/%d.md", i) }
	}
	s := NewSet(root, os.Environ())
	for i := range files {
		put(t, root, oldName(i), before(i))
		replace(t, s, oldName(i), "old", "new")
		if what == "move" {
			testkit.Check(t, s.Rename(oldName(i), newName(i)))
		}
	}
	work := func() error { return s.Apply(t.Context(), "race") }
	if what == "undo" {
		testkit.Check(t, work())
		work = func() error {
			u, err := Undo(t.Context(), root, os.Environ())
			if err == nil {
				err = u.Err()
			}
			return err
		}
	}
	one := random.IntN(files)
	stop, saved := make(chan struct{}), make(chan string)
	delay := time.Duration(random.IntN(400)) * time.Microsecond
	go func() { saved <- save(filepath.Join(root, newName(one)), way, delay, stop) }()
	err := work()
	close(stop)
	text := <-saved
	if err != nil && !errors.Is(err, ErrStale) && !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	for i := range files {
		old, _ := os.ReadFile(filepath.Join(root, oldName(i)))
		now, _ := os.ReadFile(filepath.Join(root, newName(i)))
		changed := string(now) == strings.Replace(before(i), "old", "new", 1) && (what != "move" || old == nil)
		unchanged := string(old) == before(i) && (what != "move" || now == nil)
		switch {
		case i == one && text != "":
			if !strings.Contains(string(old)+string(now), text) {
				t.Errorf("%s lost %q, err %v: %q, %q", oldName(i), text, err, old, now)
			}
		case what == "undo": // it restores all that it can
			if !unchanged {
				t.Errorf("%s after undo, err %v: %q", oldName(i), err, old)
			}
		case err == nil && !changed || err != nil && !unchanged:
			t.Errorf("%s, err %v: %q, %q", oldName(i), err, old, now)
		}
	}
	entries, _ := os.ReadDir(filepath.Join(root, "content"))
	for _, e := range entries {
		if strings.Contains(e.Name(), ".sitelink-") {
			t.Errorf("%s is left over", e.Name())
		}
	}
	return err != nil
}
