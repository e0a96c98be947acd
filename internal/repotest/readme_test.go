package repotest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

var (
	// readmeConfig is the block that shows a configuration.
	readmeConfig = regexp.MustCompile("(?m)^<!-- config -->\n```toml\n((?:.*\n)*?)```$")
)

// TestReadme checks what README.md claims.
func TestReadme(t *testing.T) {
	t.Run("length", func(t *testing.T) {
		if lines := strings.Count(readFile(t, "README.md"), "\n"); lines > 150 {
			t.Errorf("README.md has %d lines, want at most 150", lines)
		}
	})
	t.Run("figures", figuresMeasured)
	t.Run("configuration", func(t *testing.T) { readmeConfigWorks(t, build(t, "./cmd/sitelink")) })
}

// figuresMeasured compares README.md and docs/design/measurements.md with the
// newest results of bench.
func figuresMeasured(t *testing.T) {
	cmd := exec.Command("go", "run", ".", "document", "-check")
	cmd.Dir = filepath.Join(root, "bench")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// readmeConfigWorks checks that sitelink accepts the configuration of README.md
// and applies it, on a site with one fault that the configuration ignores.
func readmeConfigWorks(t *testing.T, binary string) {
	config := readmeConfig.FindStringSubmatch(readFile(t, "README.md"))
	if config == nil {
		t.Fatal("README.md has no block marked as configuration")
	}
	dir := t.TempDir()
	write := func(name, text string) { t.Helper(); write(t, filepath.Join(dir, filepath.FromSlash(name)), text) }
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

// TestPicture: docs/images/run.svg shows what sitelink check prints now.
func TestPicture(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the script is for Linux")
	}
	dir := t.TempDir()
	cmd := exec.Command("bash", "docs/images/make", dir)
	cmd.Dir = root
	testkit.Run(t, cmd)
	got, err := os.ReadFile(filepath.Join(dir, "run.svg"))
	if err != nil || string(got) != readFile(t, "docs/images/run.svg") {
		t.Errorf("run.svg is not what docs/images/make makes: %v", err)
	}
}

// binaries are the commands that tests have built, by package.
var binaries = map[string]string{}

// build builds one of our commands, once for all tests.
func build(t *testing.T, pkg string) (binary string) {
	t.Helper()
	if binary, ok := binaries[pkg]; ok {
		return binary
	}
	dir := testkit.Must(os.MkdirTemp(buildDir, ""))(t)
	binary = filepath.Join(dir, filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", binary, pkg)
	cmd.Dir = root
	testkit.Run(t, cmd)
	binaries[pkg] = binary
	return binary
}

// runSitelink runs a command in dir. It returns what it wrote and its exit
// code.
func runSitelink(t *testing.T, binary, dir string, args ...string) (stdout string, code int, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	for _, variable := range os.Environ() {
		// Readers of README.md do not have the developer's settings.
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
