package house

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

var (
	// readmeRun is a fenced block that .ci/run runs as it stands, with the exit
	// code that it must leave with.
	readmeRun = regexp.MustCompile("(?m)^<!-- run: exit ([0-9]+) -->\n```sh\n((?:.*\n)*?)```$")
	// readmeOutput is the block that shows what the first command prints.
	readmeOutput = regexp.MustCompile("(?m)^<!-- output -->\n```text\n((?:.*\n)*?)```$")
	// readmeConfig is the block that shows a configuration.
	readmeConfig = regexp.MustCompile("(?m)^<!-- config -->\n```toml\n((?:.*\n)*?)```$")
)

// TestReadme keeps README.md true.
func TestReadme(t *testing.T) {
	t.Run("output", readmeShowsOutput)
	t.Run("configuration", func(t *testing.T) { readmeConfigWorks(t, build(t, "./cmd/sitelink")) })
}

// readmeShowsOutput: the first command that README.md shows leaves with the
// exit code and prints the text that stand there.
func readmeShowsOutput(t *testing.T) {
	readme := readFile(t, "README.md")
	run := readmeRun.FindStringSubmatch(readme)
	if run == nil {
		t.Fatal("README.md has no block marked to be run")
	}
	const prefix = "go run "
	command := strings.TrimSpace(run[2])
	if !strings.HasPrefix(command, prefix) || strings.Contains(command, "\n") {
		t.Fatalf("the first command is %q, want one line that begins with %q", command, prefix)
	}
	output := readmeOutput.FindStringSubmatchIndex(readme)
	if output == nil {
		t.Fatal("README.md has no block marked as output")
	}

	// Built first: go run tells the exit code in words of its own.
	arguments := strings.Fields(strings.TrimPrefix(command, prefix))
	got, code, stderr := runSitelink(t, build(t, arguments[0]), root, arguments[1:]...)
	if want, _ := strconv.Atoi(run[1]); code != want {
		t.Errorf("%s left with %d, README.md says %d", command, code, want)
	}
	if stderr != "" {
		t.Errorf("%s wrote to stderr:\n%s", command, stderr)
	}
	if want := readme[output[2]:output[3]]; got != want {
		if *update {
			readme = readme[:output[2]] + got + readme[output[3]:]
			if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(readme), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("README.md does not show what %s prints; run go test ./internal/house -update\ngot:\n%s\nwant:\n%s", command, got, want)
	}
}

// readmeConfigWorks: the configuration that README.md shows is accepted and does
// what the text around it says, on a site whose only fault it ignores.
func readmeConfigWorks(t *testing.T, binary string) {
	config := readmeConfig.FindStringSubmatch(readFile(t, "README.md"))
	if config == nil {
		t.Fatal("README.md has no block marked as configuration")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n") // the search for the file ends here
	write("sitelink.toml", config[1])
	const page = "<!doctype html><title>t</title><a href=/search/for/tides>s</a>"
	write("public/index.html", page)

	if stdout, code, stderr := runSitelink(t, binary, dir, "check"); code != 0 || stderr != "" {
		t.Errorf("left with %d, want 0\nstdout:\n%s\nstderr:\n%s", code, stdout, stderr)
	}
	write("public/index.html", page+"<a href=https://blog.example/gone>g</a>")
	stdout, code, _ := runSitelink(t, binary, dir, "check")
	if code != 1 || !strings.Contains(stdout, "/gone") || strings.Contains(stdout, "/search/for/tides") {
		t.Errorf("left with %d, want 1 and a finding for /gone alone\nstdout:\n%s", code, stdout)
	}
}

// build builds one of our commands.
func build(t *testing.T, pkg string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", binary, pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return binary
}

// runSitelink runs a command in dir. It returns what it wrote and its exit
// code.
func runSitelink(t *testing.T, binary, dir string, args ...string) (stdout string, code int, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	for _, variable := range os.Environ() {
		// A developer's own settings are not the newcomer's.
		if !strings.HasPrefix(variable, "SITELINK_") && !strings.HasPrefix(variable, "CLICOLOR") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return out.String(), code, errs.String()
}
