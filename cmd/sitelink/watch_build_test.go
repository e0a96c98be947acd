//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// builder is the generator of these tests: it makes a page of docs/index.md, after it ran
// the project's own script, and writes down each build.
const builder = `#!/bin/sh
echo built >>builds.log
sh ./script || exit
mkdir -p "$3" && cp docs/index.md "$3/index.html"
`

// watchBuilds starts sitelink watch --build in a project that builds with script. The
// project is below the root of its repository.
func watchBuilds(t *testing.T, script string, args ...string) *watched {
	t.Helper()
	repo := t.TempDir()
	testkit.Check(t, os.Mkdir(filepath.Join(repo, ".git"), 0o755))
	w := &watched{t: t, root: filepath.Join(repo, "website")}
	w.write("mkdocs.yml", "site_name: t\nnav_dir: ../shared\n")
	w.write("docs/index.md", "<a href=/>x</a>")
	w.write("script", script)
	testkit.Write(t, filepath.Join(repo, "shared", "nav.md"), "x")
	w.start(func(cmd *exec.Cmd) {
		cmd.Dir = w.root
		cmd.Args = append([]string{"sitelink", "watch", "--build", "--color", "never"}, args...)
		bin := t.TempDir()
		testkit.Write(t, filepath.Join(bin, "mkdocs"), builder)
		testkit.Check(t, os.Chmod(filepath.Join(bin, "mkdocs"), 0o755))
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	})
	return w
}

// built returns how many builds there were.
func (w *watched) built() int {
	text, _ := os.ReadFile(filepath.Join(w.root, "builds.log"))
	return strings.Count(string(text), "\n")
}

func (w *watched) expect(what string, want ...string) {
	w.t.Helper()
	if got := w.check(); !slices.Equal(got, want) {
		w.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestWatchBuild: a changed source is built and checked, also one outside of the project
// that the configuration names; what is no source is not. A failed build shows what the
// generator said, and the findings are compared with those of the last good one.
func TestWatchBuild(t *testing.T) {
	t.Parallel()
	w := watchBuilds(t, "grep -q fail docs/index.md || exit 0; for i in $(seq 30); do echo line $i >&2; done; exit 7")
	w.expect("at first", "0 new, 0 fixed; 0 errors, 0 warnings")
	w.write("docs/index.md", "\n<a href=gone>x</a>")
	w.expect("broken", "docs/index.md:2:9: error: file not found: /gone [missing-file]", "    <a href=\"gone\">", "    in .sitelink/public/index.html, line 2, column 9", "1 new, 0 fixed; 1 error, 0 warnings")
	w.write("docs/index.md", "fail")
	got := w.check()
	if len(got) != 21 || got[0] != "line 11" || got[19] != "line 30" || !strings.HasPrefix(got[20], "cannot check now: the build failed: mkdocs build") || !strings.HasSuffix(got[20], ": exit status 7") {
		t.Errorf("failed: %q", got)
	}
	w.write("docs/index.md", "\n<a href=gone>x</a> <a href=lost>y</a>")
	if got := w.check(); len(got) == 0 || got[len(got)-1] != "1 new, 0 fixed; 2 errors, 0 warnings" {
		t.Errorf("after the failure: %q", got)
	}
	before := w.built()
	w.write("site/index.html", "a build of the user")
	w.write("node_modules/x/index.md", "a package")
	w.write(".cache/x", "a cache")
	w.write("docs/.index.md.swp", "an editor's")
	w.write("docs/index.md", "\n<a href=gone>x</a> <a href=lost>y</a>") // the same
	time.Sleep(300 * time.Millisecond)
	if n := w.built() - before; n > 0 {
		t.Errorf("%d builds without a change of a source", n)
	}
	for name, text := range map[string]string{"../shared/nav.md": "new", "mkdocs.yml": "site_name: n\n", "../sitelink.toml": "fail-on = \"warning\"\n"} {
		w.write(name, text)
		w.expect(name, "0 new, 0 fixed; 2 errors, 0 warnings")
	}
	w.interrupted(testkit.Longer(5*time.Second, time.Second))
}

// interrupted ends the watch, which takes at most that long.
func (w *watched) interrupted(most time.Duration) {
	w.t.Helper()
	began := time.Now()
	testkit.Check(w.t, w.cmd.Process.Signal(os.Interrupt))
	for w.lines.Scan() {
	}
	checkExit(w.t, w.cmd.Wait(), exitInterrupted)
	if took := time.Since(began); took > most {
		w.t.Errorf("it took %v to end", took)
	}
}

// TestWatchBuildLatest: changes during a build start one more, and only its result is
// printed.
func TestWatchBuildLatest(t *testing.T) {
	t.Parallel()
	w := watchBuilds(t, "[ ! -e hold ] || { touch holding; while [ -e hold ]; do sleep 0.02; done; rm holding; }")
	w.check()
	before := w.built()
	w.write("hold", "")
	waitUntil(t, "the build", func() bool { return exists(filepath.Join(w.root, "holding")) })
	for _, name := range []string{"a", "b", "c"} {
		w.write("docs/index.md", "<a href="+name+">x</a>")
		time.Sleep(60 * time.Millisecond)
	}
	testkit.Check(t, os.Remove(filepath.Join(w.root, "hold")))
	got := w.check()
	if got[len(got)-1] != "1 new, 0 fixed; 1 error, 0 warnings" || !strings.Contains(got[0], "/c ") {
		t.Errorf("%q", got)
	}
	if n := w.built() - before; n != 2 {
		t.Errorf("%d builds, want 2", n)
	}
	w.interrupted(testkit.Longer(5*time.Second, time.Second))
}

// TestWatchBuildWrites: a build that writes among its sources, even other bytes each time,
// does not follow itself for ever. What an author changes there still counts.
func TestWatchBuildWrites(t *testing.T) {
	t.Parallel()
	w := watchBuilds(t, "mkdir -p resources/_gen node_modules/.x docs/api; date +%N | tee resources/_gen/a node_modules/.x/b >docs/api/times.md; echo same >docs/api/same.md; echo >.hugo_build.lock; touch new.$$; rm new.$$")
	w.check()
	waitUntil(t, "the note", func() bool {
		return strings.Contains(w.stderr.String(), "sitelink: note: the build itself writes docs/api/times.md: when that changes during a build, no other follows\n")
	})
	time.Sleep(300 * time.Millisecond)
	before := w.built()
	time.Sleep(200 * time.Millisecond)
	if n := w.built(); n > before || n > 5 {
		t.Errorf("%d builds, then %d", before, n)
	}
	w.write("docs/index.md", "<a href=gone>x</a>")
	w.until("1 new, 0 fixed; 1 error, 0 warnings")
	w.write("docs/api/times.md", "by an author")
	w.check()
	if n := w.built() - before; n != 2 {
		t.Errorf("%d builds for two changes", n)
	}
	w.interrupted(testkit.Longer(5*time.Second, time.Second))
}

// TestWatchBuildEnds: Ctrl-C ends the build with all that it started.
func TestWatchBuildEnds(t *testing.T) {
	t.Parallel()
	w := watchBuilds(t, "trap '' TERM; sleep 600 & echo $! >child; wait")
	var child int
	waitUntil(t, "the build", func() bool {
		text, err := os.ReadFile(filepath.Join(w.root, "child"))
		child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && child > 0
	})
	w.interrupted(testkit.Longer(5*time.Second, time.Second))
	waitUntil(t, "the end of the child", func() bool { return !system.ProcessExists(child) })
	if exists(filepath.Join(w.root, ".sitelink", "public.new")) {
		t.Error("an incomplete build is left")
	}
}

// TestWatchNewer: beside no generator, a watch tells once that a source is newer, and which
// command builds it. The project has sitelink among its packages.
func TestWatchNewer(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"text":  "sitelink: waiting for site to be built: docs/index.md is newer; run mkdocs build, or uv run sitelink watch --build, which builds at each change",
		"jsonl": `{"event":"waiting","docroot":"site","command":"mkdocs build","newer":"docs/index.md"}`,
	} {
		dir := t.TempDir()
		testkit.AddFiles(t, dir, map[string]string{"mkdocs.yml": "site_name: t\n", "pyproject.toml": "[project]\ndependencies = ['sitelink']\n", "uv.lock": ""})
		testkit.Write(t, filepath.Join(dir, "site", "index.html"), "<a href=/>x</a>")
		testkit.Write(t, filepath.Join(dir, "docs", "index.md"), "x")
		then := time.Now().Add(-time.Hour)
		for _, name := range []string{"mkdocs.yml", "site/index.html", "docs/index.md"} {
			testkit.Check(t, os.Chtimes(filepath.Join(dir, name), then, then))
		}
		w := &watched{t: t, root: filepath.Join(dir, "site")}
		w.start(func(cmd *exec.Cmd) { cmd.Args = append(slices.Delete(cmd.Args, 2, 3), "--format", format) })
		w.check()
		testkit.Write(t, filepath.Join(dir, "docs", "index.md"), "[x](gone.md)")
		if !w.lines.Scan() || w.lines.Text() != want {
			t.Errorf("%q, want %q", w.lines.Text(), want)
		}
		testkit.Write(t, filepath.Join(dir, "docs", "b.md"), "[x](gone.md)")
		time.Sleep(50 * time.Millisecond)
		testkit.Write(t, filepath.Join(dir, "site", "index.html"), "<a href=/b>x</a>")
		if got := w.check(); got[len(got)-1] != "1 new, 0 fixed; 1 error, 0 warnings" && format == "text" {
			t.Errorf("told again: %q", got)
		}
		w.interrupted(testkit.Longer(5*time.Second, time.Second))
	}
}
