package ledger

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// crashedLedger writes a ledger of 40 pages as a killed run leaves it, with a
// journal of 20 outcomes and one notice in flight.
func crashedLedger(t *testing.T) (name string, want string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "ledger.jsonl")
	testkit.Check(t, replace(system.OS, name, sample(400).write))
	f, _ := openFile(t, name)
	for i, n := range f.records.sortedNotices()[:21] {
		testkit.Check(t, f.Begin(ctx, n.Key))
		if i < 20 {
			n.State, n.Status, n.Attempts = Accepted, 201, 7
			testkit.Check(t, f.Record(ctx, n.Key, n))
		}
	}
	want = textOf(f.records)
	f.crash()
	return name, want
}

// damages are kinds of damage to a file. Each lets rows disappear or change.
var damages = []struct {
	name   string
	file   string // extension
	damage func(r *rand.Rand, text []byte) []byte
}{
	{"empty, or only zero bytes", "jsonl", func(r *rand.Rand, text []byte) []byte { return make([]byte, r.IntN(3)*r.IntN(5000)) }},
	{"cut at a line end", "jsonl", func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		return bytes.Join(lines[:1+r.IntN(len(lines)-2)], nil)
	}},
	{"cut in a line", "jsonl", func(r *rand.Rand, text []byte) []byte { return text[:r.IntN(len(text)-2)] }},
	{"a line removed", "jsonl", removeLine},
	{"some lines removed", "jsonl", func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		at := r.IntN(len(lines) - 12)
		return bytes.Join(slices.Delete(lines, at, at+2+r.IntN(10)), nil)
	}},
	{"a block of zero bytes", "jsonl", zeroBlock},
	{"a byte changed", "jsonl", changeByte},
	{"a line replaced by another", "jsonl", func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		at := 1 + r.IntN(len(lines)-3)
		lines[at] = lines[at+1]
		return bytes.Join(lines, nil)
	}},
	{"journal: a line removed", "journal", func(r *rand.Rand, text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		at := r.IntN(len(lines) - 2)
		return bytes.Join(slices.Delete(lines, at, at+1+r.IntN(len(lines)-2-at)), nil)
	}},
	{"journal: a byte changed", "journal", changeByte},
}

func removeLine(r *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	at := r.IntN(len(lines) - 1)
	return bytes.Join(slices.Delete(lines, at, at+1), nil)
}

func zeroBlock(r *rand.Rand, text []byte) []byte {
	at := r.IntN(len(text) - 512)
	return append(append(slices.Clone(text[:at]), make([]byte, 512)...), text[at+512:]...)
}

func changeByte(r *rand.Rand, text []byte) []byte {
	text = slices.Clone(text)
	at := r.IntN(len(text))
	text[at] ^= 1 << r.IntN(8)
	return text
}

// A damaged ledger is not opened for writing, unless all its rows are there. With
// AcceptLoss it is.
func TestLostRows(t *testing.T) {
	t.Parallel() // it waits most of the time
	name, want := crashedLedger(t)
	places := testkit.Longer(5, 20)
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(14, 20))
			file := strings.TrimSuffix(name, "jsonl") + d.file
			whole := testkit.Read(t, file)
			defer func() { testkit.Check(t, os.WriteFile(file, whole, 0o644)) }()
			refused := 0
			for range places {
				testkit.Check(t, os.WriteFile(file, d.damage(r, slices.Clone(whole)), 0o644))
				f, err := OpenFile(name, FileOptions{})
				if err != nil {
					refused++
					if !errors.As(err, new(*LostError)) && !errors.Is(err, ErrNoLedger) && !errors.Is(err, ErrNewer) {
						t.Log(err)
					}
					continue
				}
				if textOf(f.records) != want {
					t.Errorf("rows were lost without an error")
				}
				f.crash()
			}
			t.Logf("%d of %d were refused; the others had lost nothing", refused, places)
		})
	}
	f := testkit.Must(OpenFile(name, FileOptions{}))(t)
	if textOf(f.records) != want {
		t.Error("the whole ledger is another")
	}
	testkit.Check(t, f.Close())
}

// Changes that lose no row do not stop a run.
func TestNothingLost(t *testing.T) {
	base, ours, theirs := sample(40), sample(40), sample(40)
	keys := make([]Key, 0, 2)
	for _, n := range base.sortedNotices()[:2] {
		keys = append(keys, n.Key)
	}
	for i, side := range []*records{ours, theirs} { // each side records an outcome and a new page
		n := side.notices[keys[i]]
		n.State, n.Attempts = Permanent, 9
		side.notices[n.Key] = n
		url := "https://example.org/zz" + string(rune('0'+i))
		side.pages = append(side.pages, Page{URL: url, Hash: "1"})
		side.links = append(side.links, Link{url, "https://x.example/"})
	}
	theirs.links = theirs.links[:len(theirs.links)-2] // and one removes links
	theirs.links = append(theirs.links, Link{"https://example.org/zz1", "https://x.example/"})
	a, b := strings.SplitAfter(textOf(ours), "\n"), strings.SplitAfter(textOf(theirs), "\n")
	union := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a[1:], b[1:]))))
	doubled := strings.Join(a, "") + a[5] + a[9]
	swapped := slices.Clone(a)
	swapped[3], swapped[8] = swapped[8], swapped[3]
	for kind, text := range map[string]string{
		"windows line ends":     strings.ReplaceAll(textOf(ours), "\n", "\r\n"),
		"no last line end":      strings.TrimSuffix(textOf(ours), "\n"),
		"lines twice":           doubled,
		"lines swapped":         strings.Join(swapped, ""),
		"unresolved conflict":   "<<<<<<< HEAD\n" + textOf(ours) + "=======\n" + textOf(theirs) + ">>>>>>> main\n",
		"resolved as ours":      a[0] + strings.Join(union, ""),
		"resolved as theirs":    b[0] + strings.Join(union, ""),
		"both first lines":      a[0] + b[0] + strings.Join(union, ""),
		"a side of version 1":   `{"sitelink":"ledger","version":1,"base":"https://example.org/"}` + "\n" + strings.Join(union, ""),
		"a row edited, no sum":  strings.Replace(textOf(ours), a[2], a[2][:len(a[2])-sumLength-1]+"}\n", 1),
		"version 1, with links": `{"sitelink":"ledger","version":1}` + "\n" + `{"source":"a","target":"b"}` + "\n",
	} {
		if missing := mustParse(t, text).missing(); len(missing) > 0 {
			t.Errorf("%s: missing %q", kind, missing)
		}
	}
}

// Repair takes the newest version that has all missing rows. Without such a
// version, it leaves the file unchanged.
func TestRepair(t *testing.T) {
	t.Parallel() // it waits most of the time
	rounds := testkit.Longer(5, 20)
	name, want := crashedLedger(t)
	whole := testkit.Read(t, name)
	used, _, err := Repair(name, nil, nil)
	if testkit.Check(t, err); used != -1 {
		t.Errorf("a whole ledger was repaired from %d", used)
	}
	r := rand.New(rand.NewPCG(1, 1))
	short := removeLine(r, whole)
	for range rounds {
		cut := removeLine(r, removeLine(r, slices.Clone(whole)))
		testkit.Check(t, os.WriteFile(name, cut, 0o644))
		var lost *LostError
		if _, _, err := Repair(name, [][]byte{short, []byte("x")}, nil); !errors.As(err, &lost) {
			t.Errorf("repaired without the rows: %v", err)
		}
		if now, _ := os.ReadFile(name); !bytes.Equal(now, cut) {
			t.Error("a failed repair has changed the file")
		}
	}
	log := testkit.Read(t, strings.TrimSuffix(name, "jsonl")+"journal")
	for range rounds {
		cut := removeLine(r, removeLine(r, slices.Clone(whole)))
		testkit.Check(t, os.WriteFile(name, cut, 0o644))
		testkit.Check(t, os.WriteFile(strings.TrimSuffix(name, "jsonl")+"journal", log, 0o644))
		used, restored, err := Repair(name, [][]byte{short, whole}, nil)
		if testkit.Check(t, err); used != 1 || restored < 1 {
			t.Errorf("used %d, restored %d", used, restored)
		}
		f := testkit.Must(OpenFile(name, FileOptions{ReadOnly: true}))(t)
		if got := textOf(f.records); got != want && !slices.Equal(statesOnly(got), statesOnly(want)) {
			t.Errorf("repaired to another ledger")
		}
	}
}

// statesOnly returns the rows without what an outcome in the journal changes: its
// notice may be restored as it was before.
func statesOnly(text string) (rows []string) {
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(line, `,"event"`)
		rows = append(rows, key)
	}
	return rows[1:]
}

// A clock that was wrong does not delay anything for longer than 30 days.
func TestClampTimes(t *testing.T) {
	b := sample(20)
	far := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	n := b.sortedNotices()[0]
	n.State, n.Next, n.Runner, n.Lease = Retry, far, "dead", far
	b.notices[n.Key] = n
	b.unsupported[0].Until = far
	p := mustParse(t, textOf(b))
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	p.clampTimes("f", now)
	got := p.notices[n.Key]
	if latest := now.Add(30 * 24 * time.Hour); !got.Next.Equal(latest) || !got.Lease.Equal(now.Add(time.Hour)) || !p.unsupported[0].Until.Equal(latest) {
		t.Errorf("next %v, lease %v, until %v", got.Next, got.Lease, p.unsupported[0].Until)
	}
	const want = "f: times too far in the future, because a clock was wrong: 3; they are limited to 30 days from now"
	if len(p.warnings) != 1 || p.warnings[0].String() != want || !p.changed {
		t.Errorf("warnings %v, changed %t", p.warnings, p.changed)
	}
	p.warnings = nil
	if p.clampTimes("f", now); len(p.warnings) > 0 {
		t.Errorf("a second time: %v", p.warnings)
	}
}
