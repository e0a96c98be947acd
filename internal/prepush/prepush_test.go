package prepush

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
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
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "a site"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, err := githook.Open(t.Context(), githook.Git{Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return repo, Options{
		Env: env, Getenv: func(string) string { return "" }, Version: "test",
		Configure: func(dir string) (*config.Config, error) { return config.Load(config.Request{Dir: dir}) },
		Today:     func() (baseline.Date, error) { return "2026-01-01", nil },
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
	push, err := New(repo, opt)
	if err != nil {
		t.Fatal(err)
	}
	if push.Docroot != "out" || push.Today != "2026-01-01" || !strings.Contains(push.CacheKey, "docroot = ") {
		t.Errorf("got %+v", push)
	}
	for _, clean := range []bool{true, false} {
		if !clean { // a temporary tree of the commit
			if err := os.WriteFile(filepath.Join(repo.Top, "docs", "out", "a.html"), []byte("changed"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		all, _, err := repo.CheckPush(t.Context(), refs, *push)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || len(all[0].Findings) != 1 || all[0].Findings[0].Code != check.MissingFile || !all[0].ValidToday {
			t.Errorf("clean working tree %v: got %+v", clean, all)
		}
	}
}

// TestNewFaults: what keeps a push from being checked.
func TestNewFaults(t *testing.T) {
	repo, opt := commit(t, map[string]string{"a/b.html": ""})
	opt.Configure = func(dir string) (*config.Config, error) {
		return config.Load(config.Request{Dir: dir, Flags: []config.Setting{{Key: "docroot", Values: []string{"../out"}}}})
	}
	_, err := New(repo, opt)
	if hint, _ := fault.Hint(err); err == nil || !strings.Contains(err.Error(), "docroot ../out is not in the repository") || hint == "" {
		t.Errorf("docroot outside: got %v", err)
	}
	opt.Site = "none"
	_, err = New(repo, opt)
	if hint, _ := fault.Hint(err); !errors.Is(err, os.ErrNotExist) && !strings.Contains(fmt.Sprint(err), "no such file") || !strings.Contains(hint, "--dir") {
		t.Errorf("no such site: got %v, hint %q", err, hint)
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
		{"few, with suggestions", []githook.TreeResult{tree(2, 1, githook.FromCheckout, "a")}, "2 new findings in what is pushed to a, beside 1 old one", 4},
		{"many", []githook.TreeResult{tree(6, 0, githook.FromCheckout, "a"), tree(0, 0, githook.FromCheckout, "b"), tree(9, 0, githook.FromCheckout, "c")},
			"6 findings in what is pushed to a|9 findings in what is pushed to c|and 6 more findings; sitelink check lists all of them", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lines []string
			var w bytes.Buffer
			blocked := Report(c.all, func(text string) { lines = append(lines, text) }, &w)
			if got := strings.Join(lines, "|"); got != c.lines || blocked != (c.printed > 0) || bytes.Count(w.Bytes(), []byte("\n")) != c.printed {
				t.Errorf("got %s, blocked %v\n%s", got, blocked, &w)
			}
		})
	}
}
