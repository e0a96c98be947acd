package project

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/habits.txtar")

// TestHabits: the six answers, their evidence and what contradicts it, for the ways in which
// projects are set up. Each case of the archive is a directory; WANT has the answers, and
// AT the directory of the user, if that is not the top.
func TestHabits(t *testing.T) {
	const archive = "testdata/habits.txtar"
	t.Setenv("PATH", t.TempDir())
	cases := testkit.Must(txtar.ParseFile(archive))(t)
	trees, at, names := map[string]string{}, map[string]string{}, []string{}
	for _, f := range cases.Files {
		name, file, _ := strings.Cut(f.Name, "/")
		if trees[name] == "" {
			names = append(names, name)
			trees[name] = t.TempDir()
			testkit.Check(t, os.Mkdir(filepath.Join(trees[name], ".git"), 0o755))
		}
		if file == "AT" {
			at[name] = strings.TrimSpace(string(f.Data))
		} else if file != "WANT" {
			testkit.Write(t, filepath.Join(trees[name], filepath.FromSlash(file)), string(f.Data))
		}
	}
	if len(names) < 50 {
		t.Errorf("%d cases", len(names))
	}
	for i, f := range cases.Files {
		name, file, _ := strings.Cut(f.Name, "/")
		if file != "WANT" {
			continue
		}
		p := testkit.Must(Find(t.Context(), filepath.Join(trees[name], at[name]), Options{}))(t)
		var b strings.Builder
		for q := range questions {
			a := p.Answers[q]
			if a.Value == "" && len(a.Against) == 0 {
				continue
			}
			fmt.Fprintf(&b, "%-9s %s (%s)\n", q, p.Value(a.Evidence), p.From(a.Evidence))
			for _, e := range a.Against {
				fmt.Fprintf(&b, "%-9s but %s (%s)\n", "", p.Value(e), p.From(e))
			}
		}
		if got := b.String(); got != string(f.Data) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, f.Data)
			cases.Files[i].Data = []byte(got)
		}
	}
	if *update {
		testkit.Check(t, os.WriteFile(archive, txtar.Format(cases), 0o644))
	}
}
