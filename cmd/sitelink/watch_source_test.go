//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWatchSource: new and fixed findings are reported at the author's line;
// with --source off, or where it is not known, at the page.
func TestWatchSource(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args  []string
		place string
	}{{nil, "content/a.md:4:5: "}, {[]string{"--source", "off"}, "public/a/index.html:1:25: "}} {
		w := startWatchAs(t, func(cmd *exec.Cmd) {
			testkit.Write(t, filepath.Join(cmd.Dir, "hugo.toml"), "title = 't'\n")
			testkit.Write(t, filepath.Join(cmd.Dir, "content", "a.md"), "---\ntitle: a\n---\n[b](/b/) and [c](/c/)\n")
			cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(lookPath(t, "sitelink"))) // no Hugo
		}, map[string]string{
			"a/index.html": "<title>t</title><a href=/b/>b</a> and <a href=/c/>c</a>",
			"b/index.html": "<title>t</title>", "c/index.html": "<title>t</title>",
		}, test.args...)
		w.check()
		w.write("a/index.html", `<title>t</title>
<a href=/b/>b</a> and <a href="/d/">c</a>`) // not in the Markdown
		got := w.until("1 new, 0 fixed; 1 error, 0 warnings")
		if !strings.HasPrefix(got[0], "public/a/index.html:2:32: error: ") {
			t.Errorf("%q: without a source: %q", test.args, got)
		}
		w.write("a/index.html", "<title>t</title><a href=/b/>b</a> and <a href=/c/>c</a>")
		w.untilCount("0 errors, 0 warnings")
		w.write("b/moved.html", "<title>t</title>")
		testkit.Check(t, exec.Command("rm", filepath.Join(w.root, "b", "index.html")).Run())
		got = w.until("1 new, 0 fixed; 1 error, 0 warnings")
		if !strings.HasPrefix(got[0], test.place+"error: ") {
			t.Errorf("%q: broken: %q", test.args, got)
		}
		w.write("b/index.html", "<title>t</title>")
		if got := w.until("0 new, 1 fixed; 0 errors, 0 warnings"); !strings.HasPrefix(got[0], test.place+"fixed: ") {
			t.Errorf("%q: fixed: %q", test.args, got)
		}
		w.interrupt()
	}
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	program := testkit.Must(exec.LookPath(name))(t)
	return program
}

// TestWatchProgress: the line of progress is gone before a check says what it
// found, on a screen that shows both.
func TestWatchProgress(t *testing.T) {
	w := &watched{t: t, root: filepath.Join(t.TempDir(), "public")}
	w.write("a.html", "<a href=a.html>x</a>")
	w.start(func(cmd *exec.Cmd) { cmd.Stderr = cmd.Stdout }, "--progress=true", "--all")
	left := regexp.MustCompile(`reading pages: [0-9 of,]*[^0-9 of,\x1b\r]`)
	var lines []string
	for i := range 4 {
		for w.lines.Scan() {
			if lines = append(lines, w.lines.Text()); strings.Contains(w.lines.Text(), watchEnds) {
				break
			}
		}
		w.write("_redirects", strings.Repeat("#", i)+"\n") // read from scratch
	}
	drawn := 0
	for _, line := range lines {
		drawn += strings.Count(line, "reading pages: ")
		if left.MatchString(line) {
			t.Errorf("left on the screen: %q", line)
		}
	}
	if drawn < 2 {
		t.Errorf("%d times drawn: %q", drawn, lines)
	}
}

// TestWatchCauses: the first report of a watch has the findings, places, suggestions and
// causes of a check.
func TestWatchCauses(t *testing.T) {
	t.Parallel()
	w := startWatchAs(t, func(cmd *exec.Cmd) {
		testkit.Write(t, filepath.Join(cmd.Dir, "hugo.toml"), "title = 't'\n")
		testkit.Write(t, filepath.Join(cmd.Dir, "content", "a.md"), "---\ntitle: a\n---\n[b](/b/#two) and [c](/c/)\n")
		cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(lookPath(t, "sitelink"))) // no Hugo
	}, map[string]string{
		"a/index.html": "<title>t</title><nav><a href=/menu/>m</a></nav><a href=/b/#two>b</a> and <a href=/c/>c</a>",
		"b/index.html": "<title>t</title><nav><a href=/menu/>m</a></nav><h2 id=to>to</h2>",
	}, "--format", "jsonl")
	var got []string
	for _, line := range w.check() {
		if _, finding, ok := strings.Cut(line, `"finding":`); ok {
			got = append(got, strings.TrimSuffix(finding, "}"))
		}
	}
	cmd := exec.Command("sitelink", "check", "public", "--format", "jsonl")
	cmd.Dir, cmd.Env = filepath.Dir(w.root), w.cmd.Env
	out, err := cmd.Output()
	if want := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(got, want) || len(want) != 4 {
		t.Errorf("watch has\n%s\ncheck has\n%s (%v)", strings.Join(got, "\n"), out, err)
	}
	w.interrupt()
}
