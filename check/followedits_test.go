package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/site"
)

// TestFollowEdits: the same where no name comes or goes, so that nothing is ever
// loaded anew: pages ask each other for fragments that are there, that are
// missing, and that only scripts can serve.
func TestFollowEdits(t *testing.T) {
	steps := 500
	if testing.Short() {
		steps = 60
	}
	for i, c := range []struct {
		name string
		opt  Options
	}{
		{name: "warn"},
		{name: "silent", opt: Options{ScriptFragments: ScriptSilent}},
		{name: "error", opt: Options{ScriptFragments: ScriptError}},
		{name: "ignore", opt: Options{Ignore: []Ignore{{Code: ScriptFragment, Page: "p1*"}, {URL: "gone*"}, {Fragment: "two"}, {Page: "p3.html", Code: UnclosedComment}}}},
		{name: "no fragments", opt: Options{NoFragments: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			root := t.TempDir()
			if err := os.Chmod(root, 0o755); err != nil {
				t.Fatal(err)
			}
			e := &asker{rng: rng, root: root}
			for n := range askers {
				e.write(t, n)
			}
			ctx := t.Context()
			s, err := site.Load(ctx, root, site.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f, err := Follow(ctx, s, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			found := f.Findings()
			for step := range steps {
				var changed []string
				for range 1 + rng.IntN(2)*rng.IntN(4) {
					changed = append(changed, e.write(t, rng.IntN(askers)))
				}
				next, change, err := s.Update(ctx, changed)
				if err != nil || change.Renumbered || next != s {
					t.Fatalf("step %d: %v, renumbered %t", step, err, change.Renumbered)
				}
				d, err := f.Update(ctx, s, change)
				if err != nil {
					t.Fatal(err)
				}
				fresh, err := site.Load(ctx, root, site.Options{})
				if err != nil {
					t.Fatal(err)
				}
				want, err := Run(ctx, fresh, c.opt)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameResult(f.Result(), want, s, fresh); err != nil {
					t.Fatalf("step %d, %s:\n%v", step, changed, err)
				}
				was := found
				found = f.Findings()
				if got, want := fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", Compare(was, found)); got != want {
					t.Fatalf("step %d, %s: told\n%s\nwant\n%s", step, changed, got, want)
				}
			}
		})
	}
}

// asker writes pages that ask each other for fragments.
type asker struct {
	rng  *rand.Rand
	root string
}

const askers = 12

func (e *asker) write(t *testing.T, n int) string {
	t.Helper()
	name := fmt.Sprintf("p%d.html", n)
	var b strings.Builder
	if e.rng.IntN(2) == 0 {
		b.WriteString("<!doctype html>")
	}
	if n < 4 && e.rng.IntN(3) > 0 { // asked most, and run scripts as a rule
		b.WriteString("<script>x</script>")
	}
	if n == 5 && e.rng.IntN(3) == 0 {
		b.WriteString(`<meta http-equiv=refresh content="0;url=p6.html">`)
	}
	for _, id := range []string{"one", "two", "Three", "L1", "L9"} {
		if e.rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "<a name=%s></a>", id)
		}
	}
	for range e.rng.IntN(9) {
		to := fmt.Sprintf("p%d.html", min(e.rng.IntN(askers), e.rng.IntN(askers)))
		if e.rng.IntN(6) == 0 {
			to = "gone" + to
		}
		fmt.Fprintf(&b, "<p><a href=%q>x</a>\n", to+pick(e.rng, []string{"", "#one", "#two", "#three", "#/route", "#L1-L9", "#run", "#run", "#run"}))
	}
	if e.rng.IntN(9) == 0 {
		b.WriteString("<!--")
	}
	if err := os.WriteFile(filepath.Join(e.root, name), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
