package system

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatGitSees: the ledger and the record of inject can be committed, all
// else stays on the machine.
func TestWhatGitSees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	project := t.TempDir()
	dir := filepath.Join(project, StateName)
	if err := MakeState(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ledger.jsonl", "ledger.journal", "ledger.lock", "ledger.damaged", "status.jsonl", "mentions.db", "mentions.db-wal", "build.lock", "public/index.html", "cache/entries"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = project
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	if got := git("ls-files", "-o", "--exclude-standard"); got != "" {
		t.Errorf("git sees %q", got)
	}
}

// TestMakeKeepsWhatIsThere checks that an existing .gitignore stays.
func TestMakeKeepsWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), StateName)
	if err := MakeState(dir); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, StateIgnoreName)
	if err := os.WriteFile(name, []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := MakeState(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "mine\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestMakeSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := MakeState(filepath.Join(file, StateName)); err == nil || !strings.Contains(err.Error(), "make "+filepath.Join(file, StateName)+": ") {
		t.Errorf("error %v", err)
	}
}
