package repotest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestFlaky: after a test that failed once and then passed, .ci/run succeeds only if .ci/flaky
// lists it with a cause, among at most three.
func TestFlaky(t *testing.T) {
	run := testkit.Must(filepath.Abs(filepath.Join(root, ".ci", "run")))(t)
	// A go that fails in its first run.
	script := `set -euo pipefail; flaky=() now=
. <(sed -n '/^test_twice() {/,/^}/p; /^flaky_tests() {/,/^}/p' "$0")
go() {
  if [[ " $* " == *" -count=1 "* ]]; then return; fi
  printf -- '--- FAIL: TestOnce (0.1s)\nFAIL\nFAIL\tgithub.com/sitelink/sitelink/p\t0.1s\nFAIL\n'
  return 1
}
if [ "$1" = fails ]; then test_twice '' -- ./...; fi
flaky_tests`
	const once, others = "./p TestOnce Its host is slow.\n", "./p TestA Slow.\n./p TestB Slow.\n"
	for _, c := range []struct{ test, list, want string }{
		{"passes", "# none\n", ""},
		{"fails", "# none\n", "does not list it"},
		{"fails", others, "does not list it"},
		{"fails", once + others, ""},
		{"fails", "./p TestOnce\n", "no cause"},
		{"passes", once + others + "./p TestC Slow.\n", "a fourth test"},
		{"passes", "./p TestGone Slow.\n", "does not exist"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".ci", "flaky"), c.list)
		write(t, filepath.Join(dir, "p", "p_test.go"), "func TestOnce(\nfunc TestA(\nfunc TestB(\nfunc TestC(\n")
		cmd := exec.Command("bash", "-c", script, run, c.test)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.want == "") || !strings.Contains(string(out), c.want) {
			t.Errorf("a test %s, .ci/flaky has %q: %v\n%s\nwant %q", c.test, c.list, err, out, c.want)
		}
	}
}
