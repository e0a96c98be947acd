package githook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPassedTrees(t *testing.T) {
	m := passedTrees{filepath.Join(t.TempDir(), "sitelink", "passed")}
	key := func(i int) string { return passedKey("tree", fmt.Sprint(i)) }
	if m.has(key(0), "2026-01-01") {
		t.Error("an empty list remembers a tree")
	}
	for i := range maxPassed + 5 {
		day := ""
		if i == maxPassed {
			day = "2026-01-01"
		}
		if err := m.add(key(i), day); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range map[int]bool{0: false, 4: false, 5: true, maxPassed + 4: true} {
		if got := m.has(key(i), "2026-01-02"); got != want {
			t.Errorf("tree %d of %d remembered: %v", i, maxPassed+5, got)
		}
	}
	if !m.has(key(maxPassed), "2026-01-01") || m.has(key(maxPassed), "2026-01-02") {
		t.Error("a result of one day is not valid on that day only")
	}
	if text, err := os.ReadFile(m.file); err != nil || strings.Count(string(text), "\n") != maxPassed {
		t.Errorf("%d lines, %v", strings.Count(string(text), "\n"), err)
	}
	if passedKey("a", "bc") == passedKey("ab", "c") {
		t.Error("two different keys have the same hash")
	}
}

// A damaged list remembers less and causes no error.
func TestPassedTreesDamaged(t *testing.T) {
	m := passedTrees{filepath.Join(t.TempDir(), "passed")}
	good := passedKey("good")
	if err := os.WriteFile(m.file, []byte("\x00\xff\n"+good+" -\n"+good[:20]+"\nx y z\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !m.has(good, "") {
		t.Error("a good line beside damaged ones is lost")
	}
	if err := os.WriteFile(m.file, []byte(strings.Repeat("x", maxPassedBytes*2)), 0o644); err != nil {
		t.Fatal(err)
	}
	if m.has(good, "") {
		t.Error("one endless line remembers a tree")
	}
	if err := m.add(good, ""); err != nil || !m.has(good, "") {
		t.Errorf("not repaired: %v", err)
	}
}

func TestBoundary(t *testing.T) {
	for list, want := range map[string]string{"": "p", "a\nb\n": "", "a\nb\n-c\n-d\n": "c"} {
		if got := boundary(list, "p"); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
