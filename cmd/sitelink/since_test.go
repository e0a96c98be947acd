package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/store"
	"github.com/sitelink/sitelink/internal/testkit"
)

// runIn runs the command in this process and returns what it prints.
func runIn(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, env{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	return code, out.String(), errs.String()
}

// addMentions puts mentions into the store of a project, in the state that the map
// gives for their source and target.
func addMentions(t *testing.T, name string, mentions map[[2]string]incoming.State) {
	t.Helper()
	ctx := context.Background()
	testkit.Check(t, os.MkdirAll(filepath.Dir(name), 0o755))
	s := testkit.Must(store.Open(ctx, name, store.Options{}))(t)
	for ends, state := range mentions {
		key, err := incoming.KeyOf(incoming.Notice{Protocol: incoming.Webmention, Source: ends[0], Target: ends[1]})
		if err == nil {
			err = s.Record(ctx, []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) {
				return []*incoming.Mention{{Protocol: incoming.Webmention, Source: ends[0], Target: ends[1], State: state, Received: time.Now()}}, nil
			})
		}
		testkit.Check(t, err)
	}
	testkit.Check(t, s.Close())
}

// TestGoneMentions: a finding counts the mentions of what is gone, of the whole
// page or of one place on it, which the store of the project has. A store that
// cannot be read is a warning.
func TestGoneMentions(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	files := map[string]string{
		".git/HEAD": "", "old/a.html": "<title>A</title>", "old/b.html": `<title>B</title><p id="x"><p id="y">`, "site/b.html": "<title>B</title>",
	}
	for name, text := range files {
		testkit.Write(t, name, text)
	}
	addMentions(t, filepath.Join(".sitelink", "mentions.db"), map[[2]string]incoming.State{
		{"https://ann.example/", "https://me.example/sub/a.html"}:       incoming.Approved,
		{"https://bob.example/", "https://me.example/sub/a.html#top"}:   incoming.Held,
		{"https://eve.example/", "https://me.example/sub/a.html"}:       incoming.Rejected,
		{"https://cat.example/", "https://me.example/sub/b.html#x"}:     incoming.Approved,
		{"https://dan.example/", "https://else.example/sub/a.html"}:     incoming.Approved,
		{"https://fay.example/", "https://me.example/sub/b.html"}:       incoming.Approved,
		{"https://gus.example/", "https://me.example/another/b.html#y"}: incoming.Approved,
	})
	args := []string{"check", "site", "--since", "old", "--base-url", "https://me.example/sub/", "--format", "jsonl"}
	code, stdout, stderr := runIn(t, args...)
	if code != exitClean || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	type finding struct {
		Code     check.Code
		Fragment string
		Message  string
		Concerns struct {
			Mentions int
			Sources  []string
		}
	}
	var got []finding
	for line := range strings.Lines(stdout) {
		var f finding
		testkit.Check(t, json.Unmarshal([]byte(line), &f))
		got = append(got, f)
	}
	if len(got) != 3 {
		t.Fatalf("findings\n%s", stdout)
	}
	for i, want := range [][]string{{"https://ann.example/", "https://bob.example/"}, {"https://cat.example/"}, nil} {
		c := got[i].Concerns
		if c.Mentions != len(want) || !reflect.DeepEqual(c.Sources, want) || (len(want) > 0) != strings.Contains(got[i].Message, "received mention") {
			t.Errorf("%+v, want the mentions of %q", got[i], want)
		}
	}
	testkit.Check(t, os.WriteFile(filepath.Join(".sitelink", "mentions.db"), []byte(strings.Repeat("no database\n", 1000)), 0o644))
	code, stdout, stderr = runIn(t, args...)
	if code != exitClean || strings.Count(stdout, "\n") != 3 || !strings.Contains(stderr, "sitelink: warning: the received mentions are not counted: ") {
		t.Errorf("with a damaged store: exit code %d\n%s%s", code, stdout, stderr)
	}
}
