package githook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// What a push makes worse, and what it only moves.
func TestNewFindings(t *testing.T) {
	was := []Trace{
		{ID: "1", Link: "gone", Fails: true},
		{ID: "2", Link: "lost", Cause: "header", Fails: true},
		{ID: "3", Link: "warned"},
		{ID: "4", Fails: true},
	}
	for name, test := range map[string]struct {
		now  []Trace
		want []bool
	}{
		"nothing":  {nil, nil},
		"the same": {was, []bool{false, false, false}},
		"on another page, because the list moved": {[]Trace{{ID: "5", Link: "gone", Fails: true}}, []bool{false}},
		"one more of it": {[]Trace{was[0], {ID: "5", Link: "gone", Fails: true}}, []bool{false, true}},
		"a new page gets the fault of a template":  {[]Trace{was[1], {ID: "5", Link: "lost", Cause: "header", Fails: true}}, []bool{false, false}},
		"the same, with other targets":             {[]Trace{was[1], {ID: "5", Link: "other", Cause: "header", Fails: true}}, []bool{false, false}},
		"another place of a template":              {[]Trace{was[1], {ID: "5", Link: "other", Cause: "footer", Fails: true}}, []bool{false, true}},
		"what was a warning":                       {[]Trace{{ID: "3", Link: "warned", Fails: true}}, []bool{false}},
		"what does not fail the check":             {[]Trace{{ID: "5", Link: "new"}}, nil},
		"a fault of another file":                  {[]Trace{{ID: "5", Fails: true}}, []bool{true}},
		"other findings that do not fail are more": {[]Trace{{ID: "5", Link: "gone"}, {ID: "6", Link: "gone", Fails: true}}, []bool{true}},
	} {
		if got := newFindings(test.now, was); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Findings without traces are recognised by their fingerprints.
func TestTracesOf(t *testing.T) {
	f := func(page, target string, line int) check.Finding {
		return check.Finding{Page: page, Code: check.MissingFile, Target: target, Line: line}
	}
	got := newFindings(
		tracesOf([]check.Finding{f("a", "/x", 9), f("a", "/x", 10), f("b", "/x", 1)}),
		tracesOf([]check.Finding{f("a", "/x", 1), f("c", "/x", 1)}))
	if want := []bool{false, true, true}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What one of two reports says only today, both say only today.
func TestAddCopy(t *testing.T) {
	for _, c := range [][2]bool{{false, false}, {false, true}, {true, false}} {
		r := Report{ValidToday: c[0]}
		if r.addCopy(Report{ValidToday: c[1]}); r.ValidToday != (c[0] || c[1]) {
			t.Errorf("%v gives %v", c, r.ValidToday)
		}
	}
}

func TestFoundTrees(t *testing.T) {
	f := memory{filepath.Join(t.TempDir(), "sitelink", "findings")}
	if known, err := f.get("none"); known != nil || err != nil {
		t.Errorf("an empty memory: %v, %v", known, err)
	}
	for _, want := range []*remembered{
		{Traces: []Trace{{ID: "a", Link: "l", Cause: "c", Fails: true}, {ID: "b"}}},
		{Day: "2026-01-01", Traces: []Trace{{ID: "c", Link: "l"}}},
	} {
		testkit.Check(t, f.add("key", want))
		if got, err := f.get("key"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	// The files that were used last stay.
	testkit.Check(t, f.add("used", &remembered{}))
	for i := range maxRemembered + 5 {
		old := time.Now().Add(time.Duration(-i-1) * time.Hour)
		name := filepath.Join(f.dir, fmt.Sprint(i))
		testkit.Check(t, os.WriteFile(name, nil, 0o644))
		testkit.Check(t, os.Chtimes(name, old, old))
	}
	testkit.Check(t, f.add("key", &remembered{}))
	if entries, err := os.ReadDir(f.dir); err != nil || len(entries) != maxRemembered {
		t.Errorf("%d files, %v", len(entries), err)
	}
	for _, name := range []string{"key", "used", "0"} {
		if _, err := os.Stat(filepath.Join(f.dir, name)); err != nil {
			t.Errorf("%s was removed: %v", name, err)
		}
	}
}

// A file that was changed in any way is not used.
func TestFoundTreesDamaged(t *testing.T) {
	f := memory{t.TempDir()}
	testkit.Check(t, f.add("key", &remembered{Traces: []Trace{{ID: "a", Link: "l", Fails: true}, {ID: "b", Cause: "c"}}}))
	name := filepath.Join(f.dir, "key")
	whole, err := os.ReadFile(name)
	testkit.Check(t, err)
	text := string(whole)
	damaged := []string{"", "\n", "null", "{}", strings.Replace(text, `"id":"a"`, `"id":"x"`, 1), strings.Replace(text, `"fails":true`, `"fails":false`, 1),
		strings.Replace(text, "{", `{"day":"2026-01-01",`, 1), text + "x", strings.Repeat("x", 1<<20)}
	for i := range len(text) {
		damaged = append(damaged, text[:i])
	}
	for _, bad := range damaged {
		testkit.Check(t, os.WriteFile(name, []byte(bad), 0o644))
		if known, err := f.get("key"); known != nil || !errors.Is(err, errDamaged) {
			t.Errorf("%.80q is read as %v, %v", bad, known, err)
		}
	}
	testkit.Check(t, os.Remove(name))
	testkit.Check(t, os.Mkdir(name, 0o755))
	if known, err := f.get("key"); known != nil || err == nil {
		t.Errorf("a directory is read as %v, %v", known, err)
	}
}
