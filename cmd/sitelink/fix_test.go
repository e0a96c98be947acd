package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/store"
	"github.com/sitelink/sitelink/internal/run/fix"
	"github.com/sitelink/sitelink/internal/testkit"
)

// fix writes the new addresses of pages of other sites: what their own sites
// reported (LK-10, LK-13), and what the status cache knows.
func TestFixOtherSites(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "site", "post", "index.html")
	for name, text := range map[string]string{
		filepath.Join(dir, "sitelink.toml"): "base-url = \"https://our.example/\"\n",
		page: `<!doctype html><title>Post</title>
<p><a href="https://there.example/approved#part">a</a> <a href='https://there.example/waits'>b</a>
<p><a href="https://there.example/gone">c</a> <a href="https://moved.example/old?x=1&amp;y=2">d</a> <a href="https://fine.example/">e</a>
`,
		filepath.Join(dir, "site", "index.html"): "<!doctype html><title>Home</title>\n<p><a href=\"https://there.example/approved\">another page</a>\n",
	} {
		testkit.Write(t, name, text)
	}
	testkit.Check(t, os.Mkdir(filepath.Join(dir, ".sitelink"), 0o755))
	rememberMoved(t, filepath.Join(dir, ".sitelink", "status.jsonl"), "https://moved.example/old?x=1&y=2", "https://moved.example/new?x=1&y=2")
	recordChanges(t, filepath.Join(dir, ".sitelink", "mentions.db"), []incoming.Mention{
		{Target: "https://there.example/approved", Replacement: "https://there.example/new", State: incoming.Approved},
		{Target: "https://there.example/waits", Replacement: "https://there.example/later", State: incoming.Held},
		{Target: "https://there.example/gone", State: incoming.Approved},
		{Target: "https://fine.example/", Replacement: "https://fine.example/no", State: incoming.Refused},
	})

	out, errs := sitelink(t, dir, exitFindings, "fix", "site", "--check")
	if out != "site/post/index.html:2:13: reported: https://there.example/approved#part -> https://there.example/new#part\n" {
		t.Errorf("safe changes:\n%s", out)
	}
	if !strings.Contains(errs, "https://there.example/gone stays as it is: its site reported that the page is gone [reported]") {
		t.Errorf("a page without a new address is not listed:\n%s", errs)
	}
	if out, _ := sitelink(t, dir, exitFindings, "fix", "site", "--check", "--likely", "--only", "remote-moved"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "https://moved.example/new?x=1&y=2") {
		t.Errorf("--only remote-moved:\n%s", out)
	}
	before := testkit.Read(t, page)
	want := strings.NewReplacer("there.example/approved", "there.example/new", "there.example/waits", "there.example/later", "moved.example/old", "moved.example/new").Replace(string(before))
	sitelink(t, dir, exitClean, "fix", "site", "--write", "--likely")
	if after, err := os.ReadFile(page); err != nil || string(after) != want {
		t.Errorf("%v\n got %s\nwant %s", err, after, want)
	}
	sitelink(t, dir, exitClean, "fix", "site", "--check", "--likely")
}

// rememberMoved writes a status cache with a permanent redirect.
func rememberMoved(t *testing.T, name, from, to string) {
	t.Helper()
	cache := testkit.Must(remote.Open(name, nil))(t)
	cache.Put(remote.Judge(cache.Get(from), remote.Answer{Status: 200, Hops: []remote.Hop{{Status: 301, To: to}}}, time.Now(), remote.Policy{}))
	testkit.Check(t, cache.Close())
}

// recordChanges writes a store with calls of UNLINKR that were proved, all for one
// page of ours.
func recordChanges(t *testing.T, name string, changes []incoming.Mention) {
	t.Helper()
	s := testkit.Must(store.Open(t.Context(), name, store.Options{}))(t)
	defer s.Close()
	for _, m := range changes {
		m.Action, m.Protocol, m.Source = incoming.UnlinkR, incoming.LinkMethod, "https://our.example/post/"
		m.Received, m.Verified = time.Now(), time.Now()
		key := incoming.Key{Action: m.Action, Source: m.Source, Target: m.Target}
		err := s.Record(context.Background(), []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) { return []*incoming.Mention{&m}, nil })
		testkit.Check(t, err)
	}
}

// The list of reasons is bounded.
func TestFixReasons(t *testing.T) {
	var groups []fix.SkipGroup
	for i := range 14 {
		groups = append(groups, fix.SkipGroup{Skip: fix.Skip{Rule: "slash", File: "a.md", Line: i + 1, Column: 1, Value: "/x", Why: "reason"}, Reason: "reason", Links: i + 1})
	}
	for _, tt := range []struct {
		groups int
		want   string
	}{
		{1, ""},
		{11, "sitelink: note: --verbose lists all links that stay as they are\n"},
		{14, "sitelink: note: 50 more links stay as they are for 4 other reasons\nsitelink: note: --verbose lists all links that stay as they are\n"},
	} {
		var out strings.Builder
		x := fixer{c: &cli{ui: newUI(env{Stderr: &out})}}
		x.reasons(groups[:tt.groups])
		lines := strings.SplitAfter(out.String(), "\n")
		shown := min(tt.groups, 10)
		if tt.groups == 11 {
			shown = 11 // one line more says as much as that there is one
		}
		if got := strings.Join(lines[shown:], ""); got != tt.want {
			t.Errorf("%d reasons: %q, want %q after %d lines", tt.groups, got, tt.want, shown)
		}
	}
}
