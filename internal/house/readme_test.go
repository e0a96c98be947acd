package house

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// readmeBench is the table of figures from bench/results.
	readmeBench = regexp.MustCompile(`(?m)^<!-- bench -->\n((?:\|.*\n)*)`)
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
	t.Run("figures", readmeFiguresMeasured)
	t.Run("configuration", func(t *testing.T) { readmeConfigWorks(t, build(t, "./cmd/sitelink")) })
}

// benchPrograms are the columns of the README's table, as bench names them.
var benchPrograms = map[string]string{
	"sitelink": "sitelink check", "hyperlink": "hyperlink --check-anchors",
	"lychee": "lychee --include-fragments", "linklint": "linklint",
}

// readmeFiguresMeasured compares each time in the README's table with the median
// in the newest file of bench/results.
func readmeFiguresMeasured(t *testing.T) {
	table := readmeBench.FindStringSubmatch(readFile(t, "README.md"))
	if table == nil {
		t.Fatal("README.md has no table marked as bench")
	}
	cells := func(line string) []string {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		return cells
	}
	lines := strings.Split(strings.TrimSpace(table[1]), "\n")
	head, compared := cells(lines[0]), 0
	for _, line := range lines[2:] {
		row := cells(line)
		corpus, pages, ok := strings.Cut(row[0], ", ")
		if !ok {
			continue // a property, not a time
		}
		files, err := filepath.Glob(filepath.Join(root, "bench", "results", "*-"+corpus+".txt"))
		if err != nil || len(files) == 0 {
			t.Errorf("bench/results has no file for %s: %v", corpus, err)
			continue
		}
		text, err := os.ReadFile(slices.Max(files))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), " "+pages) {
			t.Errorf("%s: README.md says %s, the newest result does not", corpus, pages)
		}
		_, group, _ := strings.Cut(string(text), "like for like: internal links and fragments\n")
		for i, name := range head[1:] {
			median := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(benchPrograms[name]) + `\s+(?:> )?[0-9.]+\s+((?:> )?)([0-9.]+)`).FindStringSubmatch(group)
			if median == nil {
				t.Errorf("%s: the newest result has no row for %s", corpus, name)
				continue
			}
			seconds, err := strconv.ParseFloat(median[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%.2f s", seconds)
			if median[1] != "" { // stopped at a limit
				want = fmt.Sprintf("> %.0f s", seconds)
			}
			compared++
			if row[i+1] != want {
				t.Errorf("%s, %s: README.md says %s, the newest result %s", corpus, name, row[i+1], want)
			}
		}
	}
	if compared == 0 {
		t.Error("the table has no time")
	}
}

// readmeConfigWorks checks that sitelink accepts the configuration of README.md
// and applies it, on a site whose only fault it ignores.
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
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
	dir, err := os.MkdirTemp(buildDir, "")
	if err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", binary, pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
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
