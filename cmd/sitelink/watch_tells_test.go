package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWatchTells: after any edit, each round of a watch prints the difference
// between two fresh checks and counts what is left. Edits change, add and remove
// pages and change the configuration, and a baseline accepts a part.
func TestWatchTells(t *testing.T) {
	steps := testkit.Longer(50, 150)
	for i, name := range []string{"changes", "all", "baseline"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			watchTells(t, rand.New(rand.NewPCG(uint64(i), 5)), name == "all", name == "baseline", steps)
		})
	}
}

func watchTells(t *testing.T, rng *rand.Rand, all, accept bool, steps int) {
	dir := t.TempDir()
	docroot, file, list := filepath.Join(dir, "public"), filepath.Join(dir, "sitelink.toml"), filepath.Join(dir, "baseline.txt")
	e := &watchEditor{t: t, rng: rng, root: docroot}
	for range 20 {
		e.edit()
	}
	e.write("keep.html", "<a href=/a.html>")
	testkit.Write(t, file, "")

	var out bytes.Buffer
	a := &cli{env: env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }}, printed: map[string]bool{}}
	a.ui = newUI(a.env)
	cmd := watchCommand(a)
	for name, value := range map[string]string{"source": "off", "config": file} {
		testkit.Check(t, cmd.Flags().Set(name, value))
	}
	configure := func() (*config.Config, error) { return a.configure(cmd, []string{docroot}) }
	cfg := testkit.Must(configure())(t)
	flags := watchFlags{format: "jsonl", all: all}
	p := testkit.Must(a.findRoot(t.Context(), cfg))(t)
	w := &watcher{cli: a, flags: flags, configure: configure, project: p, reload: true, found: true, out: newWatchPrinter(a, p, flags)}
	var before []check.Finding
	told, accepted := 0, 0
	for step := range steps {
		out.Reset()
		testkit.Check(t, w.round(t.Context(), false))
		after := freshFindings(t, a, w)
		if got, want := out.String(), watchLines(w.out.base, before, after, all); got != want {
			t.Fatalf("step %d, after %q: printed\n%swant\n%s", step, e.log[max(0, len(e.log)-5):], got, want)
		}
		told += strings.Count(out.String(), "\n")
		if w.project.Config.Baseline != "" {
			accepted++
		}
		before = after
		for range 1 + rng.IntN(3) {
			w.pending = append(w.pending, e.edit()...)
		}
		if rng.IntN(12) == 0 {
			rules := ""
			if rng.IntN(2) == 0 {
				rules = "[[ignore]]\nurl = \"" + pickOne(rng, "/gone*", "/a.html", "b.html") + "\"\nreason = \"it is\"\n"
			}
			if accept && rng.IntN(3) > 0 {
				rules = "[check]\nbaseline = \"baseline.txt\"\n" + rules
				var half []check.Finding
				for i := range after {
					if rng.IntN(2) == 0 {
						half = append(half, after[i])
					}
				}
				var text bytes.Buffer
				if err := baseline.New(half, baseline.Terms{Expires: baseline.Date(pickOne(rng, "", "", "2001-02-03"))}).Write(&text); err != nil {
					t.Fatal(err)
				}
				testkit.Write(t, list, text.String())
			}
			testkit.Write(t, file, rules)
			w.reload = true
		}
	}
	if told < 10*steps/3 || (accepted > steps/15) != accept {
		t.Errorf("%d lines in all, %d steps with a baseline", told, accepted)
	}
}

// TestWatchChanging: while files change all the time, a check says so, and later ones say
// only what is different.
func TestWatchChanging(t *testing.T) {
	t.Parallel()
	for format, want := range map[string][]string{
		"text":  {"; 1 error, 0 warnings; files are still changing\n", "sitelink: waiting for x to be built\n", "; 0 errors, 0 warnings; files are still changing\n", "0 warnings\n"},
		"jsonl": {`"errors":1,"warnings":0,"changing":true}`, `{"event":"waiting","docroot":"x","command":""}`, `"errors":0,"warnings":0,"changing":true}`, `"warnings":0}`},
	} {
		docroot := t.TempDir()
		page := filepath.Join(docroot, "a.html")
		testkit.Write(t, page, "<a href=gone.html>x</a>")
		var out bytes.Buffer
		a := &cli{env: env{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }}, printed: map[string]bool{}}
		a.ui = newUI(a.env)
		cmd := watchCommand(a)
		cfg := testkit.Must(a.configure(cmd, []string{docroot}))(t)
		p := testkit.Must(a.findRoot(t.Context(), cfg))(t)
		flags := watchFlags{format: format}
		w := &watcher{cli: a, flags: flags, project: p, reload: true, found: true, out: newWatchPrinter(a, p, flags)}
		round := func(changing bool, want string) {
			t.Helper()
			out.Reset()
			testkit.Check(t, w.round(t.Context(), changing))
			w.pending = append(w.pending, "a.html")
			got := out.String()
			if begins := strings.Count(got, "check begins") + strings.Count(got, `"begin"`); !strings.Contains(got, want) || want == "" && got != "" || want != "" && begins != 1 {
				t.Errorf("%s: printed %q, want %q", format, got, want)
			}
		}
		round(true, want[0])
		round(true, "")
		out.Reset()
		testkit.Check(t, w.out.waiting("x", "", ""))
		if out.String() != strings.TrimSpace(want[1])+"\n" {
			t.Errorf("%s: waiting: %q", format, &out)
		}
		testkit.Write(t, page, "<a href=a.html>x</a>")
		round(true, want[2])
		round(true, "")
		round(false, want[3])
		if strings.Contains(out.String(), "changing") {
			t.Errorf("%s: at last %q", format, &out)
		}
	}
}

// freshFindings is what a check of its own finds under the configuration of w.
func freshFindings(t *testing.T, c *cli, w *watcher) []check.Finding {
	t.Helper()
	run := testkit.Must(audit.Open(t.Context(), w.project, audit.Options{Baseline: true, Today: c.today}))(t)
	r := testkit.Must(run.Check(t.Context()))(t)
	return r.Findings
}

// watchLines is what a round has to print.
func watchLines(base string, before, after []check.Finding, all bool) string {
	var b []byte
	line := func(event string, fs, of []check.Finding) {
		ids, fingerprints := report.CauseIDs(fs), check.Fingerprints(of)
		at := 0
		for i := range fs {
			for of[at] != fs[i] {
				at++
			}
			b = append(report.AppendFinding(fmt.Appendf(b, `{"event":%q,"fingerprint":%q,"finding":`, event, fingerprints[at]), &fs[i], base, ids[i]), "}\n"...)
			at++
		}
	}
	b = append(b, "{\"event\":\"begin\"}\n"...)
	d := check.Compare(before, after)
	if all {
		line("finding", after, after)
	} else {
		line("fixed", d.Fixed, before)
		line("new", d.New, after)
	}
	broken := 0
	for i := range after {
		if after[i].Verdict == check.Error {
			broken++
		}
	}
	return string(fmt.Appendf(b, `{"event":"end","new":%d,"fixed":%d,"errors":%d,"warnings":%d}`+"\n", len(d.New), len(d.Fixed), broken, len(after)-broken))
}

// watchEditor edits a docroot at random.
type watchEditor struct {
	t    *testing.T
	rng  *rand.Rand
	root string
	log  []string
}

// edit does one edit and returns the paths that changed.
func (e *watchEditor) edit() (paths []string) {
	defer func() { e.log = append(e.log, strings.Join(paths, " ")) }()
	some := func() string {
		return pickOne(e.rng, "a.html", "b.html", "s/index.html", "s/a.html", "t/u/c.html", "feed.xml", "pic.png")
	}
	switch name := some(); e.rng.IntN(10) {
	case 0:
		_ = os.Remove(filepath.Join(e.root, name))
		return []string{name}
	case 1:
		dir := pickOne(e.rng, "s", "t")
		_ = os.RemoveAll(filepath.Join(e.root, dir))
		return []string{dir}
	case 2:
		to := some()
		if err := os.Rename(filepath.Join(e.root, name), filepath.Join(e.root, to)); err != nil {
			return nil
		}
		return []string{name, to}
	default:
		var b strings.Builder
		if name == "feed.xml" {
			fmt.Fprintf(&b, "<rss version=\"2.0\"><channel><link>/%s</link><item><link>/%s</link></item></channel></rss>", some(), some())
		} else {
			for range e.rng.IntN(5) {
				fmt.Fprintf(&b, "<p id=%s><a href=\"%s\">x</a>\n", pickOne(e.rng, "one", "two"),
					pickOne(e.rng, "/", "", "/gone/")+some()+pickOne(e.rng, "", "#one", "#two", "#/three"))
			}
		}
		paths = []string{name}
		if dir := filepath.Dir(name); !exists(filepath.Join(e.root, dir)) {
			paths = slices.Insert(paths, 0, dir)
		}
		e.write(name, b.String())
		return paths
	}
}

func (e *watchEditor) write(name, text string) {
	e.t.Helper()
	testkit.Write(e.t, filepath.Join(e.root, name), text)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func pickOne(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }
