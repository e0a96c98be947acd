package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// sample returns about that many rows: a page for ten rows, six links and
// three notices of it.
func sample(rows int) *records {
	b := newRecords()
	b.base = "https://example.org/"
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for i := range rows / 10 {
		source := fmt.Sprintf("https://example.org/post/%06d/", i)
		b.pages = append(b.pages, Page{URL: source, Hash: fmt.Sprintf("%016x", i*104729)})
		for j := range 6 {
			b.links = append(b.links, Link{source, fmt.Sprintf("https://site%02d.example/a/long/path/to/article-%d?x=1&y=%d", i%50, j, i)})
		}
		for j := range 3 {
			n := Notice{Key: Key{source, b.links[len(b.links)-6+j].Target, Webmention}, Event: Added, Hash: "abc", State: Done,
				Endpoint: "https://site.example/webmention", Status: 202, Attempts: 1, Tried: at}
			if j == 2 {
				fault := 48
				n.Protocol, n.State, n.Fault, n.Message = Pingback, Retry, &fault, `said "no" <b>ö`
				n.Next = at.Add(time.Hour)
			}
			b.notices[n.Key] = n
		}
	}
	b.unsupported = []UnsupportedHost{{"https://site01.example", LinkMethod, at}}
	return b
}

func ledgerText(t testing.TB, b *records) string {
	t.Helper()
	var out bytes.Buffer
	testkit.Check(t, b.write(&out))
	return out.String()
}

func mustParse(t testing.TB, text string) *parsed {
	t.Helper()
	p := testkit.Must(parse("ledger.jsonl", text))(t)
	return p
}

// A written ledger is JSON Lines and reads back equal.
func TestRoundTrip(t *testing.T) {
	b := sample(200)
	written := ledgerText(t, b)
	p := mustParse(t, written)
	if p.changed || len(p.warnings) > 0 {
		t.Errorf("a fresh file is odd: %v", p.warnings)
	}
	if !reflect.DeepEqual(p.snapshot(), b.snapshot()) {
		t.Error("the records read back differently")
	}
	if again := ledgerText(t, p.records); again != written {
		t.Error("the file is written different the second time")
	}
	for line := range strings.Lines(written) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// A file and a journal of version 1, which had no counts and no checksums, are read
// without warnings. The rows are written as before, with a checksum.
func TestVersion1(t *testing.T) {
	file := testkit.Read(t, "testdata/version1.jsonl")
	log := testkit.Read(t, "testdata/version1.journal")
	p := mustParse(t, string(file))
	if p.changed || len(p.warnings) > 0 {
		t.Errorf("changed %t, warnings %v", p.changed, p.warnings)
	}
	if missing := p.missing(); len(missing) > 0 {
		t.Errorf("missing %q", missing)
	}
	added := regexp.MustCompile(`(,"(pages|notices|hosts|links)":\d+)*,"sum":"[0-9a-f]{8}"}\n`)
	got := added.ReplaceAllString(strings.Replace(ledgerText(t, p.records), `"version":2`, `"version":1`, 1), "}\n")
	if want := strings.ReplaceAll(string(file), "\x7f", `\u007f`); got != want { // which is escaped now
		t.Errorf("written\n%s\nwant\n%s", got, want)
	}
	if complete := p.replay("j", string(log)).size; complete != int64(len(log)) || len(p.warnings) > 0 {
		t.Errorf("%d of %d bytes, warnings %v", complete, len(log), p.warnings)
	}
}

// FuzzRow: a line that is accepted is written and read as the same row.
func FuzzRow(f *testing.F) {
	for line := range strings.Lines(textOf(sample(10))) {
		f.Add(strings.TrimSuffix(line, "\n"))
	}
	for _, line := range []string{`{}`, `{"page":""}`, `{"page":"a","gone":true}`, `{"page":"\u00e9"}`, `{"source":"a","target":"b","fault":-1}`,
		`{"sitelink":"ledger","version":3,"new":[1]}`, `{"source":"a","source":"c","target":"b"}`, "{\"page\":\"\xff\"}", `{"page":"a"}x`, `{"origin":"a","protocol":"link","until":"2026-01-02T03:04:05+01:00"}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		row, err := decodeRow(line)
		if _, first := row.(*header); err != nil || first {
			return
		}
		again := rowText(row)
		second, err := decodeRow(again)
		if err != nil || !reflect.DeepEqual(row, second) {
			t.Fatalf("%q is written as %s and read as %+v, %v", line, again, second, err)
		}
	})
}

// FuzzLedger: parse does not panic, and its result is the same after it is written
// and read again.
func FuzzLedger(f *testing.F) {
	f.Add(textOf(sample(20)), "")
	f.Add("<<<<<<< HEAD\n"+textOf(sample(10))+"=======\n"+textOf(sample(10))+">>>>>>> x\n", "0000000 x\n")
	f.Add("{\"sitelink\":\"ledger\",\"version\":1}\nx\n", firstLine(journalEntry{Begin: &Key{"a", "b", ""}}))
	f.Fuzz(func(t *testing.T, file, log string) {
		p, err := parse("f", file)
		if err != nil {
			return
		}
		if complete := p.replay("j", log).size; complete < 0 || complete > int64(len(log)) {
			t.Fatalf("%d of %d bytes are complete lines", complete, len(log))
		}
		once := ledgerText(t, p.records)
		again := mustParse(t, once)
		if len(again.warnings) > 0 || ledgerText(t, again.records) != once {
			t.Fatalf("written\n%s\nread %v", once, again.warnings)
		}
	})
}

// firstLine returns the line of an entry in an empty journal.
func firstLine(e journalEntry) string {
	line, _ := journalLine(0, rowText(e))
	return line
}

func textOf(b *records) string {
	var out bytes.Buffer
	b.write(&out)
	return out.String()
}

func TestParseDamage(t *testing.T) {
	const header = `{"sitelink":"ledger","version":1,"base":"https://e.org/"}` + "\n"
	const link = `{"source":"https://e.org/a","target":"https://x.example/"}` + "\n"
	done := `{"source":"https://e.org/a","target":"https://x.example/","protocol":"webmention","event":"added","hash":"1","state":"done","tried":"2026-01-02T03:04:05Z"}` + "\n"
	pending := strings.Replace(strings.Replace(done, `"done"`, `"pending"`, 1), `,"tried":"2026-01-02T03:04:05Z"`, "", 1)
	updated := strings.Replace(strings.Replace(pending, `"added"`, `"updated"`, 1), `"hash":"1"`, `"hash":"2"`, 1)
	for _, c := range []struct {
		name, text   string
		faults       []string
		damaged      int
		links, notes int
		state        State
	}{
		{name: "empty", text: ""},
		{name: "damage in the middle", text: header + "{\"source\":\n" + link, faults: []string{"f:2: not a valid JSON object: unexpected EOF; the line is ignored"}, damaged: 1, links: 1},
		{name: "unknown field", text: header + `{"page":"x","colour":"red"}` + "\n" + link, faults: []string{`f:2: unknown field "colour"; the line is ignored`}, damaged: 1, links: 1},
		{name: "wrong type", text: header + `{"page":1}` + "\n" + link, faults: []string{"f:2: page: want string, got number; the line is ignored"}, damaged: 1, links: 1},
		{name: "no object", text: header + "[1]\n" + link, faults: []string{"f:2: not a JSON object but a JSON array; the line is ignored"}, damaged: 1, links: 1},
		{name: "text after the object", text: header + `{"page":"a"}x` + "\n" + link, faults: []string{"f:2: not a valid JSON object: text after the object; the line is ignored"}, damaged: 1, links: 1},
		{name: "two kinds", text: header + `{"page":"a","target":"b"}` + "\n" + link, faults: []string{"f:2: unknown field \"target\"; the line is ignored"}, damaged: 1, links: 1},
		{name: "unknown state", text: header + strings.Replace(done, "done", "dome", 1), faults: []string{`f:2: unknown state "dome"; the line is ignored`}, damaged: 1},
		{name: "not UTF-8", text: header + "{\"page\":\"\xff\"}\n", faults: []string{"f:2: the line is not UTF-8; the line is ignored"}, damaged: 1},
		{name: "cut at the end", text: header + link + done[:40], faults: []string{"f:3: not a valid JSON object: unexpected EOF; the line is ignored"}, damaged: 1, links: 1},
		{name: "no first line", text: link, faults: []string{"f:1: the first line, with the version and the base URL of the site, is missing"}, links: 1},
		{name: "conflict marks", text: header + "<<<<<<< HEAD\n" + link + "=======\n" + done + ">>>>>>> other\n", links: 1, notes: 1, state: Done,
			faults: []string{"f:2: skipped the marker of a merge conflict; both sides are read", "f:4: skipped the marker of a merge conflict; both sides are read", "f:6: skipped the marker of a merge conflict; both sides are read"}},
		{name: "conflict with base", text: header + "<<<<<<< HEAD\n" + done + "||||||| 1a2b\n" + link + "=======\n>>>>>>> other\n", notes: 1, state: Done,
			faults: []string{"f:2: skipped the marker of a merge conflict; both sides are read", "f:4: skipped the marker of a merge conflict; both sides are read", "f:6: skipped the marker of a merge conflict; both sides are read", "f:7: skipped the marker of a merge conflict; both sides are read"}},
		{name: "two rows, done first", text: header + done + pending, notes: 1, state: Done, faults: []string{"f:3: a second row for the same notice; the more advanced one is kept"}},
		{name: "two rows, done last", text: header + pending + done, notes: 1, state: Done, faults: []string{"f:3: a second row for the same notice; the more advanced one is kept"}},
		{name: "a newer event is not lost", text: header + done + updated, notes: 1, state: Pending, faults: []string{"f:3: a second row for the same notice; the more advanced one is kept"}},
		{name: "a byte order mark", text: "\ufeff" + header + link, links: 1},
		{name: "windows line ends", text: strings.ReplaceAll(header+link, "\n", "\r\n"), links: 1},
		{name: "equal links", text: header + link + link, links: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.Must(parse("f", c.text))(t)
			var faults []string
			for _, fault := range p.warnings {
				faults = append(faults, fault.String())
			}
			if !slices.Equal(faults, c.faults) {
				t.Errorf("faults %q, want %q", faults, c.faults)
			}
			if len(p.damaged) != c.damaged || len(p.links) != c.links || len(p.notices) != c.notes {
				t.Errorf("%d damaged, %d links, %d notices", len(p.damaged), len(p.links), len(p.notices))
			}
			for _, n := range p.notices {
				if n.State != c.state {
					t.Errorf("state %s, want %s", n.State, c.state)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]struct {
		msg string
		is  error
	}{
		`{"sitelink":"ledger","version":3,"new":[1]}` + "\n": {"read ledger f: written by a newer sitelink: its version is 3, this sitelink reads up to 2", ErrNewer},
		`{"sitelink":"ledger","version":0}` + "\n":           {"read ledger f: there is no version 0 of the format", nil},
		`{"sitelink":"baseline","version":1}` + "\n":         {`read ledger f: not a ledger of sitelink: it is a "baseline"`, ErrNoLedger},
		"<html>\n<p>\n": {`read ledger f: not a ledger of sitelink: its first line should start with {"sitelink":"ledger"`, ErrNoLedger},
	} {
		_, err := parse("f", text)
		if err == nil || err.Error() != want.msg || want.is != nil && !errors.Is(err, want.is) {
			t.Errorf("%q: %v, want %s", text, err, want.msg)
		}
	}
}

// The choice between two rows does not depend on their order, and a three-way
// merge gives the same result from both sides.
func TestMergeIsSymmetric(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	states := []State{Pending, InFlight, Retry, Done, Permanent}
	events := []Event{Added, Updated, Removed}
	random := func() *records {
		b := newRecords()
		b.base = "https://e.org/"
		for i := range 6 {
			if r.IntN(3) == 0 {
				continue
			}
			url := fmt.Sprintf("https://e.org/%d", i)
			b.pages = append(b.pages, Page{URL: url, Hash: fmt.Sprint(r.IntN(2)), Gone: r.IntN(3) == 0})
			b.links = append(b.links, Link{url, "https://x.example/"})
			k := Key{url, "https://x.example/", AnyProtocol}
			b.notices[k] = Notice{Key: k, Event: events[r.IntN(3)], Hash: fmt.Sprint(r.IntN(2)), State: states[r.IntN(5)],
				Tried: time.Unix(int64(r.IntN(3)), 0).UTC(), Attempts: r.IntN(2)}
			b.unsupported = append(b.unsupported, UnsupportedHost{url, LinkMethod, time.Unix(int64(r.IntN(9)), 0).UTC()})
		}
		return b
	}
	rounds := testkit.Longer(100, 500)
	for range rounds {
		base, ours, theirs := random(), random(), random()
		one, two := merge3(base, ours, theirs), merge3(base, theirs, ours)
		if a, b := textOf(one), textOf(two); a != b {
			t.Fatalf("ours first\n%s\ntheirs first\n%s", a, b)
		}
		if a, b := textOf(merge3(base, base, theirs)), textOf(theirs); a != b {
			t.Fatalf("only they changed: got\n%s want\n%s", a, b)
		}
		if a, b := textOf(merge3(base, ours, ours)), textOf(ours); a != b {
			t.Fatalf("both made the same: got\n%s want\n%s", a, b)
		}
	}
}

func TestMerge(t *testing.T) {
	base, ours, theirs := sample(40), sample(40), sample(40)
	key := base.sortedNotices()[0].Key
	n := ours.notices[key]
	n.State = Permanent
	ours.notices[key] = n
	theirs.links = theirs.links[1:]
	theirs.pages = append(theirs.pages, Page{URL: "https://example.org/zzz", Hash: "1"})
	var out bytes.Buffer
	faults, err := Merge(&out, []byte(textOf(base)), []byte(textOf(ours)), []byte(textOf(theirs)), [3]string{"O", "A", "B"})
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	m := mustParse(t, out.String())
	if m.notices[key].State != Permanent || len(m.links) != len(base.links)-1 || len(m.pages) != len(base.pages)+1 {
		t.Errorf("%v, %d links, %d pages", m.notices[key].State, len(m.links), len(m.pages))
	}
	theirs.base = "https://other.example/"
	if _, err := Merge(&out, nil, []byte(textOf(ours)), []byte(textOf(theirs)), [3]string{"O", "A", "B"}); err == nil {
		t.Error("ledgers of two sites were merged")
	}
}

// TestFailed: a failed notice counts as long as its link is as it says, and the
// target was not notified by another protocol later.
func TestFailed(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	one := func(target string, p Protocol, e Event, s State, hours int) Notice {
		return Notice{Key: Key{"https://me.example/", "https://t.example/" + target, p}, Event: e, State: s, Tried: now.Add(time.Duration(hours) * time.Hour)}
	}
	s := &Snapshot{Notices: []Notice{
		one("added", Pingback, Added, Permanent, 0),
		one("any", AnyProtocol, Updated, Permanent, 0),
		one("done", Pingback, Added, Done, 0),
		one("gone", Webmention, Added, Permanent, 0), // the link is gone
		one("removed", Webmention, Removed, Permanent, 0),
		one("returned", Webmention, Removed, Permanent, 0),
		one("later", Pingback, Added, Permanent, 0), one("later", Webmention, Updated, Done, 1),
		one("earlier", Pingback, Added, Permanent, 1), one("earlier", Webmention, Updated, Done, 0),
		one("open", Pingback, Added, Permanent, 1), one("open", AnyProtocol, Updated, Pending, 0),
		one("link", LinkMethod, Added, Permanent, 0), one("link", Webmention, Added, Done, 1),
	}}
	for _, target := range []string{"added", "any", "done", "returned", "later", "earlier", "open", "link"} {
		s.Links = append(s.Links, Link{"https://me.example/", "https://t.example/" + target})
	}
	var got []string
	for _, n := range s.Failed() {
		got = append(got, strings.TrimPrefix(n.Target, "https://t.example/")+" "+string(n.Protocol))
	}
	if want := "added pingback, any , removed webmention, earlier pingback, link link"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if (&Snapshot{}).Failed() != nil {
		t.Error("a ledger without failures has some")
	}
}

// A failed notice that is planned again is claimed, with its attempts counted from
// the start; one that another runner has delivered meanwhile is left alone.
func TestAgain(t *testing.T) {
	f := testkit.Must(OpenFile(filepath.Join(t.TempDir(), "ledger.jsonl"), FileOptions{}))(t)
	defer f.Close()
	failed := Notice{Key: Key{"https://me.example/", "https://t.example/", Pingback}, Event: Added, State: Permanent, Attempts: 8, Problems: "no-title", Cure: "add one"}
	done := failed
	done.Target, done.State = "https://u.example/", Done
	plan := func(all ...Notice) {
		t.Helper()
		testkit.Check(t, f.Plan(t.Context(), "https://me.example/", Change{Notices: all}))
	}
	plan(failed, done)
	plan(failed.Again(), done.Again())
	claimed, err := f.Claim(t.Context(), time.Now(), 9)
	if err != nil || len(claimed) != 1 || claimed[0].Target != failed.Target || claimed[0].Attempts != 0 || claimed[0].Problems != "no-title" {
		t.Errorf("claimed %+v, %v", claimed, err)
	}
}
