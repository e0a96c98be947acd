package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
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
	testscript.Main(outsideCI{m}, map[string]func(){"sitelink": main})
}

// outsideCI runs the tests as on a machine that keeps its files and builds no preview,
// also where CI runs them. Tests set what they need.
type outsideCI struct{ *testing.M }

func (m outsideCI) Run() int {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name == "CI" || strings.HasPrefix(name, "CI_") || strings.HasPrefix(name, "GITHUB_") {
			os.Unsetenv(name)
		}
	}
	return m.M.Run()
}

// TestScripts runs testdata/script/*.txtar: the command as a user sees it. A
// script that begins with a comment naming requirement ids proves them.
//
// "exits CODE sitelink ..." runs the command in this process, one script after the
// other, because starting a process takes longer than most commands do. It has no
// input there. In scripts with "git push", the hook starts the program, so it is one.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	// The generators of the machine are not among these: the tests with them have the build
	// tag integration.
	tools := t.TempDir()
	for tool := range strings.FieldsSeq("git sh env cat sed awk grep sort head ls cp mv rm ln mkdir touch chmod cmp test true false sleep basename uname") {
		if file, err := exec.LookPath(tool); err == nil {
			testkit.Check(t, os.Symlink(file, filepath.Join(tools, tool)))
		}
	}
	p := testscript.Params{
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	}
	here, set := p, regexp.MustCompile(`(?m)^env .*=`)
	variables := "PATH HOME TMPDIR WORK SITELINK GIT_DISCOVERY_ACROSS_FILESYSTEM"
	for _, script := range scripts {
		text := string(testkit.Read(t, script))
		if strings.Contains(text, "git push") {
			p.Files = append(p.Files, script)
			continue
		}
		here.Files = append(here.Files, script)
		for _, line := range set.FindAllString(text, -1) {
			for word := range strings.FieldsSeq(line) {
				name, _, _ := strings.Cut(word, "=")
				variables += " " + name
			}
		}
	}
	here.Cmds = map[string]func(*testscript.TestScript, bool, []string){"exits": func(ts *testscript.TestScript, neg bool, args []string) {
		exitsHere(ts, neg, args, strings.Fields(variables))
	}}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 29)) // collects garbage after some dozen runs
	testscript.RunT(inTurn{t}, here)
	testscript.Run(t, p)
}

// inTurn runs scripts one after the other.
type inTurn struct{ *testing.T }

func (t inTurn) Parallel()     {}
func (t inTurn) Verbose() bool { return testing.Verbose() }

func (t inTurn) Run(name string, run func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { run(inTurn{t}) })
}

// exits runs a command and demands its exit code: exits 2 sitelink check -x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	demand(ts, neg, args, func() (code int) {
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				ts.Fatalf("%v", err)
			}
			code = exit.ExitCode()
		}
		return code
	})
}

// exitsHere does the same for sitelink in this process, with the directory and the
// environment of the script.
func exitsHere(ts *testscript.TestScript, neg bool, args, variables []string) {
	if len(args) < 2 || args[1] != "sitelink" && args[1] != ts.Getenv("SITELINK") {
		exits(ts, neg, args)
		return
	}
	dir, err := os.Getwd()
	ts.Check(err)
	before := os.Environ()
	defer func() {
		os.Clearenv()
		for _, variable := range before {
			name, value, _ := strings.Cut(variable, "=")
			os.Setenv(name, value)
		}
		debug.SetGCPercent(-1) // some commands set their own
		ts.Check(os.Chdir(dir))
	}()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	os.Clearenv()
	os.Setenv("PWD", ts.MkAbs("."))
	for _, name := range variables {
		if value := ts.Getenv(name); value != "" {
			os.Setenv(name, value)
		}
	}
	demand(ts, neg, args, func() int {
		return run(context.Background(), args[2:], env{Stdin: strings.NewReader(""), Stdout: ts.Stdout(), Stderr: ts.Stderr(), Getenv: os.Getenv})
	})
}

func demand(ts *testscript.TestScript, neg bool, args []string, run func() int) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := run(); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// sitelink runs the command in a directory and demands its exit code.
func sitelink(t *testing.T, dir string, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command("sitelink", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	testkit.Check(t, cmd.Start())
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("sitelink %q: exit code %d, want %d\n%s%s", args, code, want, &out, &errs)
	}
	return out.String(), errs.String()
}
