package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

var ctx = context.Background()

const site = "https://example.org/"

func openFile(t testing.TB, name string) (*File, *[]string) {
	t.Helper()
	var notes []string
	f := testkit.Must(OpenFile(name, FileOptions{Warn: func(s string) { notes = append(notes, s) }}))(t)
	t.Cleanup(func() { f.Close() })
	return f, &notes
}

// crash leaves the files as a killed process does: unlocked and not closed.
func (f *File) crash() {
	f.lock.release()
	f.log.file.Close()
	f.closed = true
}

func pendingNotices(n int) []Notice {
	var all []Notice
	for i := range n {
		all = append(all, Notice{Key: Key{Source: fmt.Sprintf("https://example.org/%04d", i), Target: "https://x.example/"}, Event: Added, State: Pending})
	}
	return all
}

func states(t *testing.T, s Store) map[Key]State {
	t.Helper()
	snap := testkit.Must(s.Load(ctx))(t)
	m := map[Key]State{}
	for _, n := range snap.Notices {
		m[n.Key] = n.State
	}
	return m
}

// PB-41: outcomes are recorded, so that a rerun does not send a notice twice.
func TestFileSurvivesCrash(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".sitelink", "ledger.jsonl")
	f, _ := openFile(t, name)
	s, err := f.Load(ctx)
	if testkit.Check(t, err); !s.New {
		t.Error("a ledger without file is not new")
	}
	all := pendingNotices(4)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all, Pages: []Page{{URL: all[0].Source, Hash: "1"}}, Links: []Link{{all[0].Source, all[0].Target}}}))
	claimed, err := f.Claim(ctx, time.Now(), 3)
	if testkit.Check(t, err); len(claimed) != 3 || claimed[0].Key != all[0].Key {
		t.Fatalf("claimed %v", claimed)
	}
	for _, n := range claimed[:2] {
		testkit.Check(t, f.Begin(ctx, n.Key))
	}
	done := claimed[0]
	done.Protocol, done.State, done.Tried = Webmention, Done, time.Now()
	testkit.Check(t, f.Record(ctx, claimed[0].Key, done))
	testkit.Check(t, f.RecordUnsupported(ctx, UnsupportedHost{"https://x.example", LinkMethod, time.Now()}))
	want := states(t, f)
	f.crash()

	g, notes := openFile(t, name)
	if got := states(t, g); !reflect.DeepEqual(got, want) || len(*notes) > 0 {
		t.Errorf("after the crash %v, want %v; notes %q", got, want, *notes)
	}
	again := testkit.Must(g.Claim(ctx, time.Now(), 10))(t)
	if len(again) != 3 || again[0].State != InFlight || again[1].State != Pending {
		t.Errorf("claimed after the crash: %v", again)
	}
	testkit.Check(t, g.Close())
	if _, err := os.Stat(filepath.Join(filepath.Dir(name), "ledger.journal")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
	h, _ := openFile(t, name)
	if got := states(t, h); !reflect.DeepEqual(got, want) {
		t.Errorf("compacted %v, want %v", got, want)
	}
	snap, _ := h.Load(ctx)
	if snap.New || snap.Base != site || len(snap.Unsupported) != 1 || len(snap.Pages) != 1 || len(snap.Links) != 1 {
		t.Errorf("%+v", snap)
	}
}

// A crash between writing the ledger and emptying the journal applies the
// journal twice, which changes nothing.
func TestJournalTwice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "l.jsonl")
	f, _ := openFile(t, name)
	all := pendingNotices(6)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	for i, n := range all[:5] {
		testkit.Check(t, f.Begin(ctx, n.Key))
		if i == 4 {
			break
		}
		from := n.Key
		n.State, n.Protocol = []State{Done, Retry, Permanent, InFlight}[i], Webmention
		testkit.Check(t, f.Record(ctx, from, n))
		if i == 1 { // tried again under its new key
			testkit.Check(t, f.Begin(ctx, n.Key))
			n.State = Done
			testkit.Check(t, f.Record(ctx, n.Key, n))
		}
	}
	want := states(t, f)
	log := testkit.Read(t, f.sibling("journal"))
	testkit.Check(t, f.Close())
	testkit.Check(t, os.WriteFile(f.sibling("journal"), log, 0o644))
	g, _ := openFile(t, name)
	if got := states(t, g); !reflect.DeepEqual(got, want) {
		t.Errorf("applied twice %v, want %v", got, want)
	}
}

// However much of the journal a crash leaves, its complete lines count, and new
// entries are appended after them.
func TestTornJournal(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "l.jsonl")
	f, _ := openFile(t, name)
	all := pendingNotices(3)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	for _, n := range all {
		testkit.Check(t, f.Begin(ctx, n.Key))
	}
	log := testkit.Read(t, f.sibling("journal"))
	f.crash()
	line := len(log) / 3
	for size := range len(log) + 1 {
		testkit.Check(t, os.WriteFile(f.sibling("journal"), log[:size], 0o644))
		g, notes := openFile(t, name)
		begun := 0
		for _, s := range states(t, g) {
			if s == InFlight {
				begun++
			}
		}
		if begun != size/line {
			t.Fatalf("%d of %d bytes: %d begun", size, len(log), begun)
		}
		if torn := size%line != 0; torn != (len(*notes) == 1 && strings.HasSuffix((*notes)[0], "dropped the last line, which a crash cut off")) {
			t.Fatalf("%d bytes: notes %q", size, *notes)
		}
		testkit.Check(t, g.Begin(ctx, all[2].Key))
		g.crash()
		h, notes := openFile(t, name)
		if states(t, h)[all[2].Key] != InFlight || len(*notes) > 0 {
			t.Fatalf("%d bytes: the next entry is lost, %q", size, *notes)
		}
		h.crash()
	}
}

// The cut-off end of a journal is removed, however long it is.
func TestTornEndRemoved(t *testing.T) {
	name := filepath.Join(t.TempDir(), "l.jsonl")
	f, _ := openFile(t, name)
	all := pendingNotices(2)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	testkit.Check(t, f.Begin(ctx, all[0].Key))
	f.crash()
	log := testkit.Read(t, f.sibling("journal"))
	testkit.Check(t, os.WriteFile(f.sibling("journal"), append(log, strings.Repeat("x", 3*len(log))...), 0o644))
	g, _ := openFile(t, name)
	if now, _ := os.ReadFile(f.sibling("journal")); string(now) != string(log) {
		t.Errorf("opened: %q", now)
	}
	testkit.Check(t, g.Begin(ctx, all[1].Key))
	g.crash()
	if now, _ := os.ReadFile(f.sibling("journal")); len(now) != 2*len(log) || now[len(now)-1] != '\n' {
		t.Errorf("appended: %q", now)
	}
}

// A damaged line in the middle is reported, and no other line is lost.
func TestDamagedFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "l.jsonl")
	f, _ := openFile(t, name)
	all := pendingNotices(3)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	for _, n := range all {
		testkit.Check(t, f.Begin(ctx, n.Key))
	}
	f.crash()
	for _, file := range []string{name, f.sibling("journal")} {
		data := testkit.Read(t, file)
		lines := strings.SplitAfter(string(data), "\n")
		lines[1] = strings.Replace(lines[1], "x.example", "x.examp\x00e", 1)
		testkit.Check(t, os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644))
	}
	want := fmt.Sprintf("ledger %s has lost rows: notices: 1, unreadable lines: 2", name)
	if _, err := OpenFile(name, FileOptions{}); !errors.As(err, new(*LostError)) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	var notes []string
	g := testkit.Must(OpenFile(name, FileOptions{AcceptLoss: true, Warn: func(s string) { notes = append(notes, s) }}))(t)
	if got := states(t, g); len(got) != 2 || got[all[1].Key] != Pending || got[all[2].Key] != InFlight {
		t.Errorf("states %v", got)
	}
	if len(notes) != 4 || !strings.Contains(notes[0], "l.jsonl:2: the checksum is wrong; the line is ignored") ||
		!strings.Contains(notes[1], "l.journal:2: the checksum is wrong, or the line before is missing; the line is ignored") || notes[2] != want || !strings.HasSuffix(notes[3], "l.damaged: 2") {
		t.Errorf("notes %q", notes)
	}
	testkit.Check(t, g.Close())
	kept := testkit.Read(t, g.sibling("damaged"))
	if strings.Count(string(kept), "\n") != 2 || strings.Count(string(kept), "x.examp\x00e") != 2 {
		t.Errorf("kept %q", kept)
	}
	if _, notes := openFile(t, name); len(*notes) > 0 {
		t.Errorf("damage is still there: %q", *notes)
	}
}

func TestLocked(t *testing.T) {
	t.Parallel() // it waits most of the time
	name := filepath.Join(t.TempDir(), "l.jsonl")
	f, _ := openFile(t, name)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: pendingNotices(1)}))
	_, err := OpenFile(name, FileOptions{})
	want := fmt.Sprintf("ledger is locked by another process (process %d, lock file %s)", os.Getpid(), f.sibling("lock"))
	if !errors.Is(err, ErrLocked) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// Reading needs no lock and writes nothing.
	r := testkit.Must(OpenFile(name, FileOptions{ReadOnly: true}))(t)
	if len(states(t, r)) != 1 {
		t.Error("the notice cannot be read")
	}
	if err := r.Begin(ctx, pendingNotices(1)[0].Key); err == nil {
		t.Error("a store for reading was written")
	}
	testkit.Check(t, r.Close())
	testkit.Check(t, f.Close())
	if err := f.Begin(ctx, pendingNotices(1)[0].Key); err == nil {
		t.Error("a closed store was written")
	}
	openFile(t, name)
}

func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	testkit.Check(t, os.WriteFile(filepath.Join(dir, "page.html"), []byte("<p>\n"), 0o644))
	if _, err := OpenFile(filepath.Join(dir, "page.html"), FileOptions{}); !errors.Is(err, ErrNoLedger) {
		t.Errorf("a page: %v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "page.html")); string(text) != "<p>\n" {
		t.Errorf("the page is now %q", text)
	}
	if _, err := OpenFile(dir, FileOptions{ReadOnly: true}); err == nil {
		t.Error("a directory was opened")
	}
	testkit.Check(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	if _, err := OpenFile(filepath.Join(dir, "file", "l.jsonl"), FileOptions{}); err == nil {
		t.Error("a ledger below a file was opened")
	}
}

// A notice that is not due stays; one that is claimed is not claimed again.
func TestClaim(t *testing.T) {
	f, _ := openFile(t, filepath.Join(t.TempDir(), "l.jsonl"))
	all := pendingNotices(5)
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	all[1].State, all[1].Next = Retry, now.Add(time.Second)
	all[2].State = Done
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	claim := func(at time.Time, limit int) (got []string) {
		notices := testkit.Must(f.Claim(ctx, at, limit))(t)
		for _, n := range notices {
			got = append(got, strings.TrimPrefix(n.Source, site))
		}
		return got
	}
	if got := claim(now, 2); !slices.Equal(got, []string{"0000", "0003"}) {
		t.Errorf("first %q", got)
	}
	if got := claim(now, 2); !slices.Equal(got, []string{"0004"}) {
		t.Errorf("second %q", got)
	}
	if got := claim(now.Add(time.Second), 2); !slices.Equal(got, []string{"0001"}) {
		t.Errorf("when it is due %q", got)
	}
}

// Many workers share few syncs, and none returns before its entry is on disk.
// In memory a sync takes no time, so that none is shared: this test needs a disk.
func TestGroupCommit(t *testing.T) {
	t.Setenv("TMPDIR", "")
	f, _ := openFile(t, filepath.Join(t.TempDir(), "l.jsonl"))
	const workers, each = 64, 20
	all := pendingNotices(workers * each)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				n := all[w*each+i]
				if err := f.Begin(ctx, n.Key); err != nil {
					t.Error(err)
				}
				n.State = Done
				if err := f.Record(ctx, n.Key, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	syncs := f.log.done
	if syncs > workers*each { // half of what one sync an entry costs
		t.Errorf("%d syncs for %d entries", syncs, 2*workers*each)
	}
	t.Logf("%d syncs for %d entries", syncs, 2*workers*each)
	f.crash()
	g, notes := openFile(t, f.name)
	for k, s := range states(t, g) {
		if s != Done {
			t.Errorf("%v is %s", k, s)
		}
	}
	if len(*notes) > 0 {
		t.Error(*notes)
	}
}

// Planning while outcomes arrive loses none of them: the journal is emptied only
// when the file has its entries.
func TestPlanBesideRecord(t *testing.T) {
	f, _ := openFile(t, filepath.Join(t.TempDir(), "l.jsonl"))
	all := pendingNotices(200)
	testkit.Check(t, f.Plan(ctx, site, Change{Notices: all}))
	var wg sync.WaitGroup
	for _, n := range all {
		wg.Go(func() {
			n.State = Done
			if err := f.Record(ctx, n.Key, n); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 10 {
		testkit.Check(t, f.Plan(ctx, site, Change{Pages: []Page{{URL: fmt.Sprint(i)}}}))
	}
	wg.Wait()
	f.crash()
	g, _ := openFile(t, f.name)
	for k, s := range states(t, g) {
		if s != Done {
			t.Errorf("%v is %s", k, s)
		}
	}
}
