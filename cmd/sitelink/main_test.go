package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sitelink/sitelink/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	testkit.InMemory()
	// The tests wait for processes and servers as long as they compute. -parallel wins.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	testscript.Main(m, map[string]func(){"sitelink": main})
}

// TestScripts runs testdata/script/*.txtar: the command as a user sees it. A
// script that begins with a comment naming requirement ids proves them.
func TestScripts(t *testing.T) {
	dir := filepath.Join("testdata", "script")
	if scripts, err := filepath.Glob(filepath.Join(dir, "*.txtar")); err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	program, err := exec.LookPath("sitelink")
	testkit.Check(t, err)
	// The generators of the machine are not among these: the tests with them have the build
	// tag integration.
	tools := t.TempDir()
	for tool := range strings.FieldsSeq("git sh env cat sed awk grep sort head ls cp mv rm ln mkdir touch chmod cmp test true false sleep basename uname") {
		if file, err := exec.LookPath(tool); err == nil {
			testkit.Check(t, os.Symlink(file, filepath.Join(tools, tool)))
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			// For scripts that change PATH.
			e.Setenv("SITELINK", program)
			e.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+tools)
			// The race detector sleeps a second at the end of each process otherwise.
			e.Setenv("GORACE", os.Getenv("GORACE"))
			// Most runs are over before garbage is worth collecting.
			e.Setenv("GOGC", "off")
			// git reports the same error whatever file system has the script's directory.
			e.Setenv("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
			// Scripts with git have their HOME there. Its upkeep would start processes.
			testkit.AddFiles(t, e.WorkDir, testkit.Files{"home/.gitconfig": "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"})
			// The search for sitelink.toml ends here, whatever lies above.
			return os.Mkdir(filepath.Join(e.WorkDir, ".git"), 0o755)
		},
		Condition: func(condition string) (bool, error) {
			switch condition {
			case "root":
				return os.Geteuid() == 0, nil
			case "config-hooks": // a git that runs hooks by configuration
				out, err := exec.Command("git", "version").Output()
				var major, minor int
				if err == nil {
					_, err = fmt.Sscanf(string(out), "git version %d.%d", &major, &minor)
				}
				return major > 2 || major == 2 && minor >= 54, err
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
	})
}

// exits runs a command and demands its exit code: exits 2 sitelink check -x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
