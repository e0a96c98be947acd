package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// run has findings in the order of a report.
func run() []check.Finding {
	return []check.Finding{
		{Page: "a.html", Line: 3, Offset: 30, Element: "a", Attribute: "href", Raw: "gone.html", Target: "/gone.html", Verdict: check.Error, Code: check.MissingFile, Count: 1},
		{Page: "a.html", Line: 9, Offset: 90, Element: "a", Attribute: "href", Raw: "gone.html", Target: "/gone.html", Verdict: check.Error, Code: check.MissingFile, Count: 1},
		{Page: "b.html", Line: 1, Offset: 10, Element: "a", Attribute: "href", Raw: "a.html#x", Target: "/a.html", Fragment: "x", Verdict: check.Error, Code: check.MissingFragment, Count: 1},
		{Page: "b.html", Line: 2, Offset: 20, Element: "a", Attribute: "href", Raw: "http://", Verdict: check.Error, Code: check.BadURL, Count: 1},
		{Page: "c.html", Line: 4, Offset: 40, Verdict: check.Warning, Code: check.UnclosedComment, Count: 1},
	}
}

const today = Date("2026-11-21")

func encoded(t *testing.T, b *List) string {
	t.Helper()
	var buf bytes.Buffer
	testkit.Check(t, b.Write(&buf))
	return buf.String()
}

func read(t *testing.T, text string) *List {
	t.Helper()
	b := testkit.Must(Read("known.jsonl", strings.NewReader(text)))(t)
	return b
}

// faultsOf returns the message and the hint of each fault.
func faultsOf(t *testing.T, text string) (messages, hints []string) {
	t.Helper()
	b, err := Read("known.jsonl", strings.NewReader(text))
	if err == nil || b != nil {
		t.Fatalf("read as %d entries, error %v", b.Len(), err)
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var fault *Fault
		if !errors.As(err, &fault) {
			t.Fatalf("%v is not a fault of the file", err)
		}
		messages, hints = append(messages, fault.Error()), append(hints, fault.Hint)
	}
	return messages, hints
}

// TestFile: the file is sorted, readable for people, and unchanged after
// reading and writing.
func TestFile(t *testing.T) {
	b := New(run(), Terms{Expires: "2027-01-31", Reason: "before the move & <after>"})
	got := encoded(t, b)
	want := `{"sitelink-baseline":1}
{"page":"a.html","code":"missing-file","link":"/gone.html","expires":"2027-01-31","reason":"before the move & <after>","id":"ID"}
{"page":"a.html","code":"missing-file","link":"/gone.html","expires":"2027-01-31","reason":"before the move & <after>","id":"ID"}
{"page":"b.html","code":"bad-url","link":"http://","expires":"2027-01-31","reason":"before the move & <after>","id":"ID"}
{"page":"b.html","code":"missing-fragment","link":"/a.html#x","expires":"2027-01-31","reason":"before the move & <after>","id":"ID"}
{"page":"c.html","code":"unclosed-comment","expires":"2027-01-31","reason":"before the move & <after>","id":"ID"}
`
	plain := got
	for _, id := range check.Fingerprints(run()) {
		plain = strings.Replace(plain, id, "ID", 1)
	}
	if plain != want {
		t.Errorf("got\n%s\nwant\n%s", plain, want)
	}
	if again := encoded(t, read(t, got)); again != got {
		t.Errorf("read and written again:\n%s", again)
	}
	if empty := encoded(t, &List{}); empty != "{\"sitelink-baseline\":1}\n" || read(t, empty).Len() != 0 {
		t.Errorf("an empty baseline is %q", empty)
	}
}

// TestMerged: two baselines merged by any tool are one baseline, whatever the
// order of their lines.
func TestMerged(t *testing.T) {
	all := run()
	mine := encoded(t, New(all[:3], Terms{Reason: "mine"}))
	theirs := encoded(t, New(all[2:], Terms{Expires: "2026-12-31", Reason: "theirs"}))
	joined := mine + theirs
	want := encoded(t, read(t, joined))
	if n := read(t, joined).Len(); n != 5 {
		t.Errorf("%d entries, want 5", n)
	}
	lines := strings.SplitAfter(joined, "\n")
	slices.Reverse(lines)
	for name, other := range map[string]string{
		"other_side_first": theirs + mine, "reversed": strings.Join(lines, ""), "twice": joined + joined,
		"windows": "\xef\xbb\xbf" + strings.ReplaceAll(joined, "\n", "\r\n"), "empty_lines": strings.ReplaceAll(joined, "\n", "\n\n"),
		"no_final_line_end": strings.TrimSuffix(joined, "\n"),
	} {
		if got := encoded(t, read(t, other)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	// Of two entries for one finding, the one that expires later counts.
	if strings.Contains(strings.Split(want, "\n")[4], "expires") {
		t.Errorf("the entry without an end date should count:\n%s", want)
	}
	later := encoded(t, New(all[2:3], Terms{Expires: "2027-12-31"}))
	sooner := encoded(t, New(all[2:3], Terms{Expires: "2027-01-01"}))
	if a, b := encoded(t, read(t, later+sooner)), encoded(t, read(t, sooner+later)); a != later || b != later {
		t.Errorf("the later of two dates should count: %s and %s", a, b)
	}
}

// TestDamaged: a file that a newer version wrote or a merge damaged is rejected
// with file and line, and no entry of it is used.
func TestDamaged(t *testing.T) {
	good := strings.SplitAfter(encoded(t, New(run(), Terms{})), "\n")
	entry := good[1]
	for _, c := range []struct{ name, text, want, hint string }{
		{"newer", good[0] + `{"sitelink-baseline":2,"keys":["x"]}` + "\n" + entry,
			"known.jsonl:2: format 2 was written by a newer sitelink; this one reads formats up to 1", "use that version of sitelink or a newer one; the file was not changed"},
		{"newer_after_unknown", `{"page":"x","what":1}` + "\n" + `{"sitelink-baseline":9}`,
			"known.jsonl:2: format 9 was written by a newer sitelink; this one reads formats up to 1", "use that version of sitelink or a newer one; the file was not changed"},
		{"conflict", good[0] + "<<<<<<< HEAD\n" + entry + "=======\n" + good[2] + ">>>>>>> topic\n",
			"known.jsonl:2: conflict marker of a merge|known.jsonl:4: conflict marker of a merge|known.jsonl:6: conflict marker of a merge",
			"keep the lines of both sides, in any order, and remove the conflict markers"},
		{"conflict_diff3", good[0] + "||||||| 1234567\n", "known.jsonl:2: conflict marker of a merge", "keep the lines of both sides, in any order, and remove the conflict markers"},
		{"cut_off", good[0] + entry[:40], "known.jsonl:2: damaged line: it ends too early", damagedHint},
		{"two_in_one_line", good[0] + strings.TrimSpace(entry) + entry, "known.jsonl:2: damaged line: text after the object", damagedHint},
		{"unknown_field", good[0] + `{"page":"a","code":"b","expire":"2027-01-01","id":"0123456789abcdef0123456789abcdef"}`, `known.jsonl:2: damaged line: unknown field "expire"`, damagedHint},
		{"no_object", good[0] + "[1]\n", "known.jsonl:2: damaged line: not a JSON object", damagedHint},
		{"wrong_type", good[0] + `{"page":1}`, "known.jsonl:2: damaged line: page is a number", damagedHint},
		{"no_id", good[0] + `{"page":"a","code":"b"}`, "known.jsonl:2: damaged line: id is not a fingerprint of 32 hexadecimal digits", damagedHint},
		{"bad_id", good[0] + `{"page":"a","code":"b","id":"0123456789ABCDEF0123456789abcdef"}`, "known.jsonl:2: damaged line: id is not a fingerprint of 32 hexadecimal digits", damagedHint},
		{"no_code", good[0] + `{"page":"b","id":"0123456789abcdef0123456789abcdef"}`, "known.jsonl:2: damaged line: code is missing", damagedHint},
		{"bad_date", good[0] + `{"page":"a","code":"b","expires":"2027-02-30","id":"0123456789abcdef0123456789abcdef"}`, `known.jsonl:2: expires: must be a date such as 2027-01-31, not "2027-02-30"`, ""},
		{"header_with_more", `{"sitelink-baseline":1,"page":"x"}`, "known.jsonl:1: damaged header", damagedHint},
		{"version_0", `{"sitelink-baseline":0}`, "known.jsonl:1: damaged header", damagedHint},
		{"no_header", entry, `known.jsonl: not a baseline: the line {"sitelink-baseline":1} is missing`, "create one with sitelink baseline write"},
		{"empty", "", `known.jsonl: not a baseline: the line {"sitelink-baseline":1} is missing`, "create one with sitelink baseline write"},
		{"long_reason", good[0] + `{"page":"a","code":"b","reason":"` + strings.Repeat("x", 1001) + `","id":"0123456789abcdef0123456789abcdef"}`, "known.jsonl:2: longer than any line that sitelink writes; a reason has at most 1000 bytes", ""},
		{"long_line", good[0] + strings.Repeat("x", 1<<20) + "\n" + entry, "known.jsonl:2: longer than 64 KiB: not a line of a baseline", ""},
		{"long_last_line", good[0] + strings.Repeat("x", 1<<20), "known.jsonl:2: longer than 64 KiB: not a line of a baseline", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			messages, hints := faultsOf(t, c.text)
			if got := strings.Join(messages, "|"); got != c.want || hints[0] != c.hint {
				t.Errorf("got  %s (%s)\nwant %s (%s)", got, hints[0], c.want, c.hint)
			}
		})
	}
	if messages, _ := faultsOf(t, strings.Repeat("a page of another kind\n", 1000)); len(messages) != maxFaults {
		t.Errorf("%d faults are listed", len(messages))
	}
}

// A device that never ends must not fill the memory.
func TestReadIsBounded(t *testing.T) {
	testkit.Long(t)
	for name, c := range map[string]struct{ text, want string }{
		"one line":    {strings.Repeat("x", 1<<15), "known.jsonl:1: longer than 64 KiB: not a line of a baseline"},
		"empty lines": {strings.Repeat(" ", 1<<15-1) + "\n", "known.jsonl: larger than 256 MiB"},
	} {
		if _, err := Read("known.jsonl", endless(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s without end: %v, want %s", name, err, c.want)
		}
	}
}

// endless is a reader that repeats its text.
type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("disk on fire") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestErrorsOfTheFile(t *testing.T) {
	if _, err := Read("known.jsonl", failing{}); err == nil || err.Error() != "read baseline known.jsonl: disk on fire" {
		t.Errorf("read: %v", err)
	}
	if err := New(run(), Terms{}).Write(failing{}); err == nil || err.Error() != "write baseline: disk on fire" {
		t.Errorf("write: %v", err)
	}
}

// TestMoved: after a line moves, or everything else on the page changes, the
// entries still match. A second link to the same missing file is new.
func TestMoved(t *testing.T) {
	b := New(run(), Terms{})
	moved := run()
	for i := range moved {
		moved[i].Line, moved[i].Column, moved[i].Offset = moved[i].Line+70, 5, moved[i].Offset+7000
		moved[i].Message, moved[i].Suggestion = "other words", "other.html"
	}
	m := b.Match(moved, today, nil)
	if slices.Contains(m.Accepted, false) || len(m.Unneeded) > 0 {
		t.Errorf("accepted %v, unneeded %v", m.Accepted, m.Unneeded)
	}
	third := slices.Insert(run(), 2, run()[1])
	third[2].Offset += 10
	if m := b.Match(third, today, nil); !slices.Equal(m.Accepted, []bool{true, true, false, true, true, true}) {
		t.Errorf("with a third link: accepted %v", m.Accepted)
	}
	if m := b.Match(run()[1:], today, nil); len(m.Unneeded) != 1 || m.Unneeded[0].String() != "a.html: missing-file /gone.html" {
		t.Errorf("one of two links fixed: unneeded %v", m.Unneeded)
	}
}

// TestExpires: an entry still counts on its last day and has expired on the
// next.
func TestExpires(t *testing.T) {
	b := New(run(), Terms{Expires: today, Reason: "soon"})
	if m := b.Match(run(), today, nil); slices.Contains(m.Accepted, false) {
		t.Errorf("on the last day: %v", m.Accepted)
	}
	m := b.Match(run(), "2026-11-22", nil)
	if slices.Contains(m.Accepted, true) || slices.Contains(m.Expired, nil) || m.Expired[2].Reason != "soon" || len(m.Unneeded) > 0 {
		t.Errorf("a day later: %+v", m)
	}
	if d := DateOf(time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("", -3600))); d != "2026-11-22" {
		t.Errorf("the day must be in UTC, got %s", d)
	}
}

// TestNotCovered: an entry for a finding that this run could not make is not
// reported as unneeded.
func TestNotCovered(t *testing.T) {
	b := New(run(), Terms{})
	m := b.Match(nil, today, func(e *Entry) bool { return e.Code != check.MissingFragment })
	var left []string
	for _, e := range m.Unneeded {
		left = append(left, e.String())
	}
	want := []string{"a.html: missing-file /gone.html", "a.html: missing-file /gone.html", "b.html: bad-url http://", "c.html: unclosed-comment"}
	if !slices.Equal(left, want) {
		t.Errorf("unneeded %q, want %q", left, want)
	}
	unread := []check.Finding{{Page: "a.html", Code: check.ReadError, Verdict: check.Error, Count: 1}}
	if m := b.Match(unread, today, nil); len(m.Unneeded) != 3 {
		t.Errorf("entries of a page that was not read are unneeded: %v", m.Unneeded)
	}
}

// TestAcceptedUpdate: Update removes entries that match nothing, adds none unless asked
// to, and never renews an expired entry by itself.
func TestAcceptedUpdate(t *testing.T) {
	all := run()
	b := New(all[:3], Terms{Reason: "old"})
	now := slices.Concat(all[:1], all[3:])
	m := b.Match(now, today, nil)
	for _, c := range []struct {
		add  bool
		want string
	}{
		{false, "1 entries, {Dropped:2 Added:0 Renewed:0 Expired:0}"},
		{true, "3 entries, {Dropped:2 Added:2 Renewed:0 Expired:0}"},
	} {
		u := b.Update(now, m, c.add, Terms{Reason: "new"})
		if got := acceptedCounts(u); got != c.want {
			t.Errorf("add %v: %s, want %s", c.add, got, c.want)
		}
		if e := u.Baseline.Entries()[0]; e.Reason != "old" {
			t.Errorf("add %v: the reason of an entry that stays is %q", c.add, e.Reason)
		}
	}
	if b.Len() != 3 {
		t.Errorf("the old baseline changed: it has %d entries", b.Len())
	}

	b = New(all, Terms{Expires: "2026-01-01", Reason: "old"})
	m = b.Match(all, today, nil)
	for _, c := range []struct {
		add   bool
		terms Terms
		want  string
		entry Terms
	}{
		{false, Terms{}, "5 entries, {Dropped:0 Added:0 Renewed:0 Expired:5}", Terms{"2026-01-01", "old"}},
		{true, Terms{}, "5 entries, {Dropped:0 Added:0 Renewed:0 Expired:5}", Terms{"2026-01-01", "old"}},
		{true, Terms{Expires: "2027-01-01"}, "5 entries, {Dropped:0 Added:0 Renewed:5 Expired:0}", Terms{"2027-01-01", "old"}},
		{true, Terms{Expires: "2027-01-01", Reason: "x"}, "5 entries, {Dropped:0 Added:0 Renewed:5 Expired:0}", Terms{"2027-01-01", "x"}},
	} {
		u := b.Update(all, m, c.add, c.terms)
		if got := acceptedCounts(u); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
		if e := u.Baseline.Entries()[0]; (Terms{e.Expires, e.Reason}) != c.entry {
			t.Errorf("%+v: entry %+v", c, e)
		}
	}
}

func acceptedCounts(u Update) string {
	n := u.Baseline.Len()
	u.Baseline = nil
	return fmt.Sprintf("%d entries, %+v", n, struct{ Dropped, Added, Renewed, Expired int }{u.Dropped, u.Added, u.Renewed, u.Expired})
}

// A huge value is written as one line that can be read again.
func TestLongLinks(t *testing.T) {
	f := check.Finding{Page: "a.html", Element: "img", Attribute: "src", Raw: strings.Repeat("ü", 1<<20), Code: check.BadURL}
	b := New([]check.Finding{f}, Terms{})
	if e := b.Entries()[0]; len(e.Link) > maxLinkBytes+3 || !strings.HasSuffix(e.Link, "ü...") {
		t.Errorf("%d bytes, ends in %q", len(e.Link), e.Link[len(e.Link)-8:])
	}
	if again := read(t, encoded(t, b)); !reflect.DeepEqual(again.Match([]check.Finding{f}, today, nil).Accepted, []bool{true}) {
		t.Error("not accepted when read again")
	}
}

// FuzzRead: any file is either a baseline that stays the same after writing and
// reading, or a list of faults that name the file, but never both.
func FuzzRead(f *testing.F) {
	f.Add(`{"sitelink-baseline":1}`)
	f.Add("{\"sitelink-baseline\":1}\n{\"page\":\"a\",\"code\":\"b\",\"link\":\"c\",\"expires\":\"2027-01-01\",\"reason\":\"d\",\"id\":\"0123456789abcdef0123456789abcdef\"}\n")
	f.Add("{\"sitelink-baseline\":2}\n<<<<<<< HEAD\n{\"page\":")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Read("known.jsonl", strings.NewReader(text))
		if err != nil {
			if b != nil || !strings.HasPrefix(err.Error(), "known.jsonl") {
				t.Errorf("error %v with %v", err, b)
			}
			return
		}
		var one, two bytes.Buffer
		testkit.Check(t, b.Write(&one))
		again, err := Read("known.jsonl", bytes.NewReader(one.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, one.String())
		}
		if err := again.Write(&two); err != nil || one.String() != two.String() || again.Len() != b.Len() {
			t.Errorf("%d entries, %v\n%s\nread again: %d\n%s", b.Len(), err, one.String(), again.Len(), two.String())
		}
	})
}
