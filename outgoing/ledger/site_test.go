package ledger

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

const (
	moved   = "https://new.example/"
	preview = "http://localhost:1313/"
)

func TestSameSite(t *testing.T) {
	for _, same := range []string{"https://blog.example", "https://blog.example/", "https://BLOG.example:443/", "HTTPS://blog.example//"} {
		if !SameSite("https://blog.example/", same) {
			t.Errorf("%s is another site", same)
		}
	}
	for _, other := range []string{"http://blog.example/", "https://www.blog.example/", "https://blog.example/en/", "https://blog.example:8443/", ""} {
		if SameSite("https://blog.example/", other) {
			t.Errorf("%s is the same site", other)
		}
	}
}

// planned demands that a plan for base is accepted, and returns the base URL that the
// ledger has then.
func planned(t *testing.T, s Store, base string, baseline bool) string {
	t.Helper()
	testkit.Check(t, s.Plan(ctx, base, Change{Baseline: baseline}))
	return testkit.Must(s.Load(ctx))(t).Base
}

// refused demands that a plan for another site changes nothing.
func refused(t *testing.T, s Store, base string) {
	t.Helper()
	before := testkit.Must(s.Load(ctx))(t)
	var other *OtherSiteError
	if err := s.Plan(ctx, base, Change{Pages: []Page{{URL: base}}}); !errors.As(err, &other) || other.Site != base {
		t.Errorf("a plan for %s: %v", base, err)
	}
	if after := testkit.Must(s.Load(ctx))(t); after.Base != before.Base || len(after.Pages) != len(before.Pages) {
		t.Errorf("the refused plan changed %+v to %+v", before, after)
	}
}

// TestFileOfOneSite: only a baseline gives a ledger to another site.
func TestFileOfOneSite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ledger.jsonl")
	f := testkit.Must(OpenFile(name, FileOptions{}))(t)
	if got := planned(t, f, "https://example.org", false); got != "https://example.org" {
		t.Error(got)
	}
	if got := planned(t, f, "https://example.org/", false); got != "https://example.org" {
		t.Errorf("a final slash made it %s", got)
	}
	refused(t, f, moved)
	if got := planned(t, f, moved, true); got != moved {
		t.Error(got)
	}
	refused(t, f, "https://example.org/")
	testkit.Check(t, f.Close())
	f = testkit.Must(OpenFile(name, FileOptions{}))(t)
	defer f.Close()
	if got := testkit.Must(f.Load(ctx))(t).Base; got != moved {
		t.Errorf("read again: %s", got)
	}
}

// TestGitOfOneSite: the newest baseline decides for every clone which site the ledger
// belongs to. That holds for the clone that made it, one that knew the ledger before, one
// that is working meanwhile, and a fresh one.
func TestGitOfOneSite(t *testing.T) {
	r := remote(t)
	first, second := clone(t, r), clone(t, r)
	g := openGit(t, first, "one")
	planned(t, g, site, false)
	testkit.Check(t, g.Close())
	g = openGit(t, second, "two")
	refused(t, g, moved)
	working := openGit(t, first, "three")
	if got := planned(t, g, moved, true); got != moved {
		t.Errorf("after the baseline: %s", got)
	}
	testkit.Check(t, g.Close())
	// It learns of the baseline when it writes, and must not undo it.
	if err := working.Plan(ctx, site, Change{Pages: []Page{{URL: site}}}); !errors.As(err, new(*OtherSiteError)) {
		t.Errorf("a run that began before the baseline: %v", err)
	}
	testkit.Check(t, working.Close())
	for _, dir := range []string{first, second, clone(t, r)} {
		g = openGit(t, dir, "four")
		if s := testkit.Must(g.Load(ctx))(t); s.Base != moved || len(s.Pages) > 0 {
			t.Errorf("%s: %+v", dir, s)
		}
		refused(t, g, site)
		testkit.Check(t, g.Close())
	}
}

// TestMergeOfOneSite: the branch with the baseline wins, whichever side it is.
func TestMergeOfOneSite(t *testing.T) {
	of := func(base string) []byte {
		b := sample(1)
		b.base = base
		return []byte(textOf(b))
	}
	for _, c := range []struct{ was, ours, theirs, want string }{
		{site, moved, site, moved},
		{site, site, moved, moved},
		{site, moved, moved, moved},
		{"https://example.org", site, "https://example.org", site},
		{site, moved, preview, ""},
	} {
		var out bytes.Buffer
		_, err := Merge(&out, of(c.was), of(c.ours), of(c.theirs), [3]string{"O", "A", "B"})
		if (err != nil) != (c.want == "") || err == nil && mustParse(t, out.String()).base != c.want {
			t.Errorf("%+v: %v\n%s", c, err, out.String())
		}
	}
}
