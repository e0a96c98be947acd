package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

// TestFollowEdits: the same where no name comes or goes, so that nothing is ever
// loaded anew: pages ask each other for fragments that are there, that are
// missing, and that only scripts can serve.
func TestFollowEdits(t *testing.T) {
	steps := 250
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
			s, err := isite.Load(ctx, root, isite.Options{})
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
				fresh, err := isite.Load(ctx, root, isite.Options{})
				if err != nil {
					t.Fatal(err)
				}
				want, err := Run(ctx, handle(fresh), c.opt)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameResult(f.Result(), want, s, fresh); err != nil {
					t.Fatalf("step %d, %s:\n%v", step, changed, err)
				}
				was := found
				found = f.Findings()
				difference := Compare(was, found)
				if got, want := fmt.Sprintf("%+v", [][]Finding{d.New, d.Fixed}), fmt.Sprintf("%+v", [][]Finding{difference.New, difference.Fixed}); got != want {
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
	if old, err := os.ReadFile(filepath.Join(e.root, name)); err == nil && e.rng.IntN(2) == 0 {
		e.touch(t, name, string(old))
		return name
	}
	var b strings.Builder
	if e.rng.IntN(2) == 0 {
		b.WriteString("<!doctype html>")
	}
	if n < 4 && e.rng.IntN(6) > 0 { // asked most, and run scripts as a rule
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
	for range e.rng.IntN(14) {
		to := fmt.Sprintf("p%d.html", min(e.rng.IntN(6), e.rng.IntN(6)))
		if e.rng.IntN(30) == 0 {
			to = "gone" + to
		}
		fmt.Fprintf(&b, "<p><a href=%q>x</a>\n", to+pick(e.rng, []string{"", "", "", "#one", "#two", "#three", "#/route", "#L1-L9", "#run", "#run", "#run", "#run", "#run", "#run"}))
	}
	if e.rng.IntN(9) == 0 {
		b.WriteString("<!--")
	}
	if err := os.WriteFile(filepath.Join(e.root, name), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// touch changes one thing of a page, so that all else has to be known still.
func (e *asker) touch(t *testing.T, name, text string) {
	t.Helper()
	toggle := func(what string) {
		if rest, ok := strings.CutSuffix(text, what); ok {
			text = rest
		} else {
			text += what
		}
	}
	switch e.rng.IntN(4) {
	case 0:
		toggle("<script>x</script>")
	case 1:
		toggle("<a href=gone>x</a>")
	case 2: // another size
		text = strings.TrimRight(text, " ") + strings.Repeat(" ", e.rng.IntN(900))
	default: // the last link goes
		if at := strings.LastIndex(text, "<p>"); at >= 0 {
			text = text[:at]
		}
	}
	if err := os.WriteFile(filepath.Join(e.root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFollowExample: what only scripts can serve is reported with a link of a
// page that has something else to report, as soon as there is one, and with one
// of the smallest page when there is none any more.
func TestFollowExample(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := func(n int) string {
		return strings.Repeat(" ", n) + "<a href=target.html#run>x</a>"
	}
	write("target.html", "<script>x</script>")
	for n := range 10 {
		write(fmt.Sprintf("p%d.html", n), text(10+n))
	}
	s, err := isite.Load(ctx, root, isite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Follow(ctx, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, edit := range []struct{ name, text, example string }{
		{"p7.html", text(17) + "<a href=gone>x</a>", "p7.html"},
		{"p4.html", text(14) + "<a href=gone>x</a>", "p4.html"},
		{"p4.html", text(14), "p7.html"},
		{"p7.html", text(17), "p0.html"},
		{"p9.html", text(0), "p9.html"},
		{"p9.html", text(10), "p0.html"},
		{"target.html", "", ""},
		{"target.html", "<script>x</script>", "p0.html"},
	} {
		write(edit.name, edit.text)
		next, change, err := s.Update(ctx, []string{edit.name})
		if err != nil || next != s {
			t.Fatalf("edit %d: %v", i, err)
		}
		if _, err := f.Update(ctx, s, change); err != nil {
			t.Fatal(err)
		}
		example := ""
		for _, x := range f.Findings() {
			if x.Code == ScriptFragment {
				example += x.Page
			}
		}
		if example != edit.example {
			t.Errorf("edit %d: example on %q, want %q", i, example, edit.example)
		}
	}
}
