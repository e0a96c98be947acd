package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// commit makes a repository with one commit of these files, and returns it with
// options for a check.
func commit(t *testing.T, files map[string]string) (*githook.Repo, Options) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	dir := filepath.Join(home, "repo")
	testkit.AddFiles(t, dir, files)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "a site"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, env
		testkit.Run(t, cmd)
	}
	repo := testkit.Must(githook.Open(t.Context(), githook.Git{Dir: dir, Env: env}))(t)
	return repo, Options{
		Env: env, Getenv: func(string) string { return "" }, Version: "test",
		Configure: func(dir string, _ ...config.Setting) (*config.Config, error) {
			return config.Load(config.Input{Dir: dir})
		},
		Today: func() (baseline.Date, error) { return "2026-01-01", nil },
	}
}

// TestCheckPush checks a commit of a site in a subdirectory with its own
// configuration and baseline, while the process is in another directory.
func TestCheckPush(t *testing.T) {
	broken := `<title>t</title><a href="none.html">t</a>`
	repo, opt := commit(t, map[string]string{
		"docs/sitelink.toml":    "docroot = \"out\"\n[check]\nbaseline = \"accepted.txt\"\n",
		"docs/accepted.txt":     "{\"sitelink-baseline\":1}\n",
		"docs/out/index.html":   `<title>t</title><a href="a.html">t</a>`,
		"docs/out/a.html":       broken,
		"elsewhere/public/x.md": "",
	})
	opt.Site = "docs"
	refs := []githook.Ref{{Local: "HEAD", Commit: "HEAD", Remote: "refs/heads/main"}}
	push := testkit.Must(New(repo, opt))(t)
	if push.Docroot != "out" || push.Today != "2026-01-01" || !strings.Contains(push.CacheKey, "docroot = ") {
		t.Errorf("got %+v", push)
	}
	for _, clean := range []bool{true, false} {
		if !clean { // a temporary tree of the commit
			testkit.Check(t, os.WriteFile(filepath.Join(repo.Top, "docs", "out", "a.html"), []byte("changed"), 0o644))
			testkit.Check(t, repo.RemoveData(t.Context()))
		}
		all, _, err := repo.CheckPush(t.Context(), refs, *push.Push)
		testkit.Check(t, err)
		if len(all) != 1 || len(all[0].Findings) != 1 || all[0].Findings[0].Code != check.MissingFile || !all[0].ValidToday {
			t.Errorf("clean working tree %v: got %+v", clean, all)
		}
	}
}

// TestNewFaults: what keeps a push from being checked.
func TestNewFaults(t *testing.T) {
	repo, opt := commit(t, map[string]string{"a/b.html": ""})
	opt.Configure = func(dir string, _ ...config.Setting) (*config.Config, error) {
		return config.Load(config.Input{Dir: dir, Flags: []config.Setting{{Key: "docroot", Values: []string{"../out"}}}})
	}
	_, err := New(repo, opt)
	if hint, _ := text.Hint(err); err == nil || !strings.Contains(err.Error(), "docroot ../out is not in the repository") || hint == "" {
		t.Errorf("docroot outside: got %v", err)
	}
	opt.Site = "none"
	_, err = New(repo, opt)
	if hint, _ := text.Hint(err); !errors.Is(err, os.ErrNotExist) && !strings.Contains(fmt.Sprint(err), "no such file") || !strings.Contains(hint, "--dir") {
		t.Errorf("no such site: got %v, hint %q", err, hint)
	}
}

// TestTimeLimit: a check that takes longer than the configuration allows ends.
func TestTimeLimit(t *testing.T) {
	repo, opt := commit(t, map[string]string{"index.html": "<title>t</title>"})
	push := testkit.Must(New(repo, opt))(t)
	if push.Timeout != 15*time.Minute {
		t.Errorf("without a configuration, the limit is %v", push.Timeout)
	}
	push.Timeout = 300 * time.Millisecond
	push.Check = func(ctx context.Context, _, _ string) (githook.Report, error) {
		<-ctx.Done()
		return githook.Report{}, ctx.Err()
	}
	refs := []githook.Ref{{Local: "HEAD", Commit: "HEAD", Remote: "refs/heads/main"}}
	if _, _, err := repo.CheckPush(t.Context(), refs, *push.Push); !errors.As(err, new(*githook.TimeoutError)) {
		t.Errorf("a check that takes too long: %v", err)
	}
}

// TestTraces: a fault is known again by the line of a template that writes it,
// wherever that line is, and by where the link leads.
func TestTraces(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		testkit.Check(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	find := func(page, target, file string, line int, kind check.SourceKind) check.Finding {
		f := check.Finding{Page: page, Code: check.MissingFile, Element: "a", Attribute: "href", Target: target, Raw: target, Verdict: check.Error}
		if file != "" {
			f.Source = &check.Position{File: file, Line: line, Column: 1, Kind: kind}
		}
		return f
	}
	trace := func(fs ...check.Finding) []githook.Trace { return traces(fs, fs[1:], &project.Project{Root: root}) }
	write("nav.html", "<nav>\n  <a href='/x'>\n</nav>\n")
	write("a.md", "[x](/x)\n")
	before := trace(find("a", "/x", "nav.html", 2, check.InTemplate), find("b", "/x", "a.md", 1, check.InContent), find("c", "/y", "", 0, ""))
	write("nav.html", "<p>\n<nav>\n\t<a href='/x'>\n<a href='/z'></nav>\n")
	after := trace(find("n", "/v", "nav.html", 3, check.InTemplate), find("o", "/z", "nav.html", 4, check.InTemplate), find("p", "/y", "gone.html", 9, check.InTemplate))
	switch {
	case before[0].Cause == "" || before[0].Cause != after[0].Cause:
		t.Errorf("the line that moved is not known again: %v, %v", before[0], after[0])
	case after[1].Cause == after[0].Cause || after[2].Cause != "":
		t.Errorf("another line counts as the same: %v", after)
	case before[1].Cause != "" || before[2].Cause != "":
		t.Errorf("a link of content, or of an unknown place, has a cause: %v", before)
	case before[2].Link != after[2].Link || before[0].Link != before[1].Link || before[0].Link == before[2].Link:
		t.Errorf("links are not known again by their targets: %v, %v", before, after)
	case before[0].Fails || !before[1].Fails || !before[2].Fails:
		t.Errorf("those that fail are not marked: %v", before)
	}
	// A link of unknown source on many pages is one of the layout.
	many := []check.Finding{find("a", "/l", "", 0, ""), find("a", "/l", "", 0, ""), find("b", "/l", "", 0, "")}
	if got := trace(many...); got[0].Cause != "" {
		t.Errorf("a link on two pages counts as one of the layout: %v", got)
	}
	many = append(many, find("c", "/l", "", 0, ""), find("d", "/l", "a.md", 1, check.InContent))
	if got := trace(many...); got[0].Cause == "" || got[3].Cause != got[0].Cause || got[4].Cause != "" {
		t.Errorf("a link on three pages is not one of the layout: %v", got)
	}
	fault := check.Finding{Page: "a", Code: check.UnclosedComment}
	if got := trace(fault, fault); got[0].Link != "" || got[0].ID == got[1].ID {
		t.Errorf("a fault of a file has the traces %v", got)
	}
}

func TestReport(t *testing.T) {
	findings := func(n int) []check.Finding {
		all := make([]check.Finding, n)
		for i := range all {
			all[i] = check.Finding{Code: check.MissingFile, Verdict: check.Error, Suggestion: "a.html"}
			all[i].Page, all[i].Line, all[i].Column = "p.html", i+1, 1
		}
		return all
	}
	noBase := githook.TreeResult{Report: githook.Report{Findings: findings(1)}, Refs: []string{"a"}, NoBase: true}
	same := githook.TreeResult{Report: githook.Report{Findings: findings(3)}, Refs: []string{"a"}}
	for i := range same.Findings {
		f := &same.Findings[i]
		f.Element, f.Raw, f.Page, f.Source = "a", "x", string(rune('a'+i)), &check.Position{File: "a.md", Line: 1, Column: 1}
	}
	unfetched := noBase
	unfetched.Unfetched = true
	tree := func(n, old int, origin githook.Origin, refs ...string) githook.TreeResult {
		return githook.TreeResult{Report: githook.Report{Findings: findings(n)}, Refs: refs, OldFindings: old, Origin: origin}
	}
	for _, c := range []struct {
		name    string
		all     []githook.TreeResult
		lines   string
		printed int // lines of findings
	}{
		{"nothing", nil, "", 0},
		{"clean", []githook.TreeResult{tree(0, 0, githook.FromCheckout, "refs/heads/main")}, "main: links are fine", 0},
		{"remembered", []githook.TreeResult{tree(0, 0, githook.FromCache, "a", "b", "c", "d")}, "a, b, c and 1 other: passed before", 0},
		{"old", []githook.TreeResult{tree(0, 2, githook.FromCheckout, "a")}, "a: no new finding, 2 old ones", 0},
		{"few, with suggestions", []githook.TreeResult{tree(2, 1, githook.FromCheckout, "a")}, "2 new findings in what is pushed to a, beside 1 old one|hint: 1 finding existed before this push and did not block it; accept them", 4},
		{"nothing to compare with", []githook.TreeResult{noBase}, "1 finding in what is pushed to a, as last time|hint: every finding counts as new, because no earlier push could be checked; accept them", 2},
		{"an unknown commit", []githook.TreeResult{unfetched}, "1 finding in what is pushed to a, as last time|hint: every finding counts as new, because the commit of the remote is not here to compare with; run git fetch and push again", 2},
		{"one clean, one on the remote", []githook.TreeResult{tree(0, 0, githook.FromCache, "a"), tree(0, 0, githook.FromRemote, "b")}, "a, b: no new finding", 0},
		{"the remote's tree", []githook.TreeResult{tree(0, 0, githook.FromRemote, "a")}, "a: the remote has the files that the site is built from", 0},
		{"remembered, old", []githook.TreeResult{tree(0, 2, githook.FromCache, "a"), tree(0, 0, githook.FromRemote, "b")}, "a, b: no new finding, 2 old ones", 0},
		{"one cause on several pages", []githook.TreeResult{same}, "3 findings in what is pushed to a, as last time", 3},
		{"many", []githook.TreeResult{tree(6, 0, githook.FromCheckout, "a"), tree(0, 0, githook.FromCheckout, "b"), tree(9, 0, githook.FromCheckout, "c")},
			"6 findings in what is pushed to a|9 findings in what is pushed to c|and 6 more findings; sitelink check lists all of them", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			var w bytes.Buffer
			blocked := (&Push{accept: "accept them"}).Report(c.all, func(text string) { lines = append(lines, text) }, &w)
			if got := strings.Join(lines, "|"); got != c.lines || blocked != (c.printed > 0) || bytes.Count(w.Bytes(), []byte("\n")) != c.printed {
				t.Errorf("got %s, blocked %v\n%s", got, blocked, &w)
			}
		})
	}
}
