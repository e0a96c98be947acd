package system

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWhatGitSees: the ledger and the record of inject can be committed, all
// else stays on the machine.
func TestWhatGitSees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	project := t.TempDir()
	dir := filepath.Join(project, StateName)
	testkit.Check(t, MakeState(dir))
	for _, name := range []string{"ledger.jsonl", "ledger.journal", "ledger.lock", "ledger.damaged", "status.jsonl", "mentions.db", "mentions.db-wal", "build.lock", "public/index.html", "cache/entries"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		testkit.Check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		testkit.Check(t, os.WriteFile(file, nil, 0o644))
	}
	git := func(args ...string) string { return testkit.Git(t, project, args...) }
	git("init", "-q")
	if got := git("ls-files", "-o", "--exclude-standard"); got != "" {
		t.Errorf("git sees %q", got)
	}
}

// TestMakeKeepsWhatIsThere checks that an existing .gitignore stays.
func TestMakeKeepsWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), StateName)
	testkit.Check(t, MakeState(dir))
	name := filepath.Join(dir, StateIgnoreName)
	testkit.Check(t, os.WriteFile(name, []byte("mine\n"), 0o644))
	testkit.Check(t, MakeState(dir))
	if text, err := os.ReadFile(name); err != nil || string(text) != "mine\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestMakeSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testkit.Check(t, os.WriteFile(file, nil, 0o644))
	if err := MakeState(filepath.Join(file, StateName)); err == nil || !strings.Contains(err.Error(), "make "+filepath.Join(file, StateName)+": ") {
		t.Errorf("error %v", err)
	}
}
