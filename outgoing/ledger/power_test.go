package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// powerSteps are what three runs do to a ledger. The first run is killed.
func powerSteps() []func(*File) error {
	key := func(target string) Key {
		return Key{Source: "https://me.example/", Target: "https://t.example/" + target}
	}
	sent := func(target string, p Protocol, s State) Notice {
		n := Notice{Key: key(target), Event: Added, Hash: "1", State: s, Attempts: 1, Tried: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
		n.Protocol = p
		return n
	}
	plan := func(notices ...Notice) func(*File) error {
		return func(f *File) error {
			return f.Plan(ctx, "https://me.example/", Change{Pages: []Page{{URL: "https://me.example/", Hash: "2"}}, Notices: notices})
		}
	}
	begin := func(k Key) func(*File) error { return func(f *File) error { return f.Begin(ctx, k) } }
	record := func(from Key, n Notice) func(*File) error {
		return func(f *File) error { return f.Record(ctx, from, n) }
	}
	updated := Notice{Key: key("a"), Event: Updated, Hash: "2", State: Pending}
	webmention := key("b")
	webmention.Protocol = Webmention
	again := Notice{Key: webmention, Event: Updated, Hash: "2", State: Pending}
	return []func(*File) error{
		plan(Notice{Key: key("a"), Event: Added, Hash: "1", State: Pending}, Notice{Key: key("b"), Event: Added, Hash: "1", State: Pending}),
		begin(key("a")),
		record(key("a"), sent("a", Webmention, Done)),
		begin(key("b")),
		record(key("b"), sent("b", Webmention, Permanent)),
		nil, // the run is killed, and the next one opens the ledger
		plan(updated, again, Notice{Key: key("c"), Event: Added, Hash: "2", State: Pending}),
		begin(key("a")),
		record(key("a"), sent("a", Pingback, Done)),
		func(f *File) error {
			return f.RecordUnsupported(ctx, UnsupportedHost{Origin: "https://t.example", Protocol: LinkMethod, Until: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)})
		},
		(*File).Compact,
		(*File).Close,
		nil, // a run that only sends what is due writes the journal alone
		begin(key("c")),
		record(key("c"), sent("c", Webmention, Done)),
	}
}

// powerRun does the steps on a disk. It returns the ledger after each step that
// succeeded, and whether the power failed.
func powerRun(t *testing.T, on *powerDisk, name string) (states []string, failed bool) {
	t.Helper()
	open := func() *File {
		f, err := openFileOn(on, name, FileOptions{AcceptLoss: true})
		if err != nil {
			return nil
		}
		if on.Off() {
			f.lock.release()
			return nil
		}
		return f
	}
	f := open()
	if f == nil {
		return nil, true
	}
	defer func() { f.lock.release() }()
	states = append(states, recordsText(f.records))
	for _, step := range powerSteps() {
		if step == nil {
			f.lock.release() // as the system does when the process ends
			if next := open(); next != nil {
				f = next
				continue
			}
			return states, true
		}
		if step(f) != nil || on.Off() {
			return states, true
		}
		states = append(states, recordsText(f.records))
	}
	return states, false
}

// damagedLine is kept in another file when the ledger is written.
const damagedLine = "this line is damaged"

// TestPowerCut cuts the power before each change of the disk. What a step had
// recorded is there afterwards, a step that was interrupted has happened or not, and
// a line that could not be read is kept.
func TestPowerCut(t *testing.T) {
	testkit.Long(t)
	fresh := func() string {
		name := filepath.Join(t.TempDir(), "ledger.jsonl")
		testkit.Check(t, os.WriteFile(name, []byte(recordsText(newRecords())+damagedLine+"\n"), 0o644))
		return name
	}
	want, failed := powerRun(t, newPowerDisk(-1), fresh())
	if failed {
		t.Fatal("the steps fail without a power cut")
	}
	cuts := 0
	for more := true; more; cuts++ {
		for survives := range 4 {
			names, contents := survives&1 != 0, survives&2 != 0
			name := fresh()
			on := newPowerDisk(cuts)
			states, failed := powerRun(t, on, name)
			more = failed
			testkit.Check(t, on.Cut(names, contents))
			where := fmt.Sprintf("power cut %d (names survive: %t, contents: %t), after %d steps", cuts, names, contents, len(states))
			f, err := OpenFile(name, FileOptions{ReadOnly: true})
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			var allowed []string
			if len(states) > 0 {
				allowed = append(allowed, want[len(states)-1])
			}
			if len(states) < len(want) {
				allowed = append(allowed, want[len(states)])
			}
			if got := recordsText(f.records); !slices.Contains(allowed, got) {
				t.Fatalf("%s: the ledger is\n%s\nwant one of\n%s", where, got, strings.Join(allowed, "\n"))
			}
			text, _ := os.ReadFile(name)
			kept, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "ledger.damaged"))
			if !strings.Contains(string(text)+string(kept), damagedLine) {
				t.Fatalf("%s: the damaged line is lost", where)
			}
		}
	}
	if cuts < 50 {
		t.Errorf("only %d changes of the disk", cuts)
	}
}
