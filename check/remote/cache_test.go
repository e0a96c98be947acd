package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// sample is a record with every field set.
var sample = Record{
	URL: "https://a.example/?q=1&r=2", Verdict: check.Warning, Code: check.Doubtful, Reason: NotFound, Status: 404, Final: "https://b.example/",
	Strikes: 1, Since: at(1), Struck: at(2), WasGone: true, Asked: at(3), Good: at(0), Next: at(9), ETag: `W/"<1>"`, LastModified: "Mon, 02 Nov 2026 09:00:00 GMT",
	Hash: "00ff", Answered: "https://c.example/", Changed: at(0), Present: []string{"a", "ü"}, Missing: []string{"b"}, Hints: []string{"parked domain"},
	Hops: []Hop{{301, "https://b.example/"}}, Title: "T", Variant: "https://v.example/", Probed: at(4), Copy: "https://web.archive.org/x", Searched: at(5),
}

func okRecord(url string, hours float64) Record {
	return Record{URL: url, Asked: at(hours), Good: at(hours)}
}

func openCache(t *testing.T, name string) (*Cache, *[]string) {
	t.Helper()
	warnings := &[]string{}
	c := testkit.Must(Open(name, func(s string) { *warnings = append(*warnings, s) }))(t)
	return c, warnings
}

func closeCache(t *testing.T, c *Cache) {
	t.Helper()
	testkit.Check(t, c.Close())
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data := testkit.Read(t, name)
	return string(data)
}

func TestCacheKeeps(t *testing.T) {
	for field := range reflect.ValueOf(sample).NumField() {
		if reflect.ValueOf(sample).Field(field).IsZero() {
			t.Errorf("sample has no %s", reflect.TypeOf(sample).Field(field).Name)
		}
	}
	name := filepath.Join(t.TempDir(), "status.jsonl")
	c, _ := openCache(t, name)
	c.Put(okRecord("https://z.example/", 1))
	c.Put(sample)
	if got := c.Get(sample.URL); !reflect.DeepEqual(got, sample) {
		t.Errorf("got %+v", got)
	}
	if got := c.Get("https://new.example/"); got.Known() || got.URL != "https://new.example/" {
		t.Errorf("new: %+v", got)
	}
	closeCache(t, c)
	lines := strings.Split(readFile(t, name), "\n")
	if len(lines) != 4 || lines[0] != headerLine || !strings.HasPrefix(lines[1], `{"url":"https://a.example/?q=1&r=2"`) || !strings.HasPrefix(lines[2], `{"url":"https://z.`) {
		t.Errorf("file:\n%s", strings.Join(lines, "\n"))
	}
	all, err := Read(name, nil)
	if err != nil || len(all) != 2 || !reflect.DeepEqual(all[0], sample) {
		t.Errorf("Read: %+v, %v", all, err)
	}
	if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*"+journalEnd)); rest != nil {
		t.Errorf("left: %v", rest)
	}
	c, _ = openCache(t, name) // a run that learns nothing writes nothing
	before, _ := os.Stat(name)
	closeCache(t, c)
	if after, _ := os.Stat(name); !os.SameFile(before, after) {
		t.Error("the file was replaced")
	}
}

// What was learned is on disk without Close, and the next run merges it.
func TestCacheKilled(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	name := filepath.Join(t.TempDir(), "status.jsonl")
	killed, _ := openCache(t, name)
	killed.Put(okRecord("https://a.example/", 1))
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if all, err := Read(name, nil); err != nil || len(all) == 1 || time.Now().After(end) {
			if len(all) != 1 {
				t.Fatalf("after %v: %v, %v", 30*time.Second, all, err)
			}
			break
		}
	}
	close(killed.stopped)
	<-killed.finished // a file that is being synced keeps its lock when it is closed
	killed.journal.WriteString(`{"url":"https://cut.example/","verd`)
	killed.journal.Close() // releases its lock, as the end of a process does
	// Another one is killed at once: it loses less than maxUnwritten.
	soon, _ := openCache(t, name)
	for i := range maxUnwritten {
		soon.Put(okRecord(fmt.Sprintf("https://b.example/%d", i), 2))
	}
	if all, err := Read(name, nil); err != nil || len(all) != 1+maxUnwritten {
		t.Errorf("%d records, %v", len(all), err)
	}
	close(soon.stopped)
	<-soon.finished
	soon.journal.Close()
	empty, err := os.Create(strings.TrimSuffix(name, ".jsonl") + ".1-0" + journalEnd) // of one that learned nothing
	testkit.Check(t, err)
	empty.Close()
	c, warnings := openCache(t, name) // learns nothing either
	closeCache(t, c)
	if got := strings.Count(readFile(t, name), "\n"); got != 2+maxUnwritten || len(*warnings) > 0 {
		t.Errorf("%d lines, warnings %q", got, *warnings)
	}
	if rest := journals(name); rest != nil {
		t.Errorf("left: %v", rest)
	}
}

func TestCacheDamaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	good := string(appendRow(nil, &sample))
	text := strings.Join([]string{headerLine, good, `{"url":"https://b.example/","verdict":`, `{"url":"https://c.example/","verdict":"ok","color":1}`,
		`{"url":"https://d.example/","verdict":"fine","asked":"2026-11-02T09:00:00Z"}`, `{"url":"https://e.example/","verdict":"ok","code":"dead-link","asked":"2026-11-02T09:00:00Z"}`,
		`{"url":"https://f.example/","verdict":"ok","asked":"2026-11-02T09:00:00Z"}`, "\x00\xff", ""}, "\n")
	testkit.Check(t, os.WriteFile(name, []byte(text), 0o666))
	c, warnings := openCache(t, name)
	want := []string{name + ":3: not a valid JSON object", name + `:4: unknown field "color"`, name + `:5: unknown verdict "fine"`,
		name + `:6: the verdict of code "dead-link" is error, not ok`, name + ":8: the line is not UTF-8"}
	if len(*warnings) != len(want) {
		t.Fatalf("warnings: %q", *warnings)
	}
	for i, w := range want {
		if got := (*warnings)[i]; got != w+"; the line is dropped, and its link is asked for again" {
			t.Errorf("warning %q, want %q", got, w)
		}
	}
	if got := c.URLs(); !slices.Equal(got, []string{sample.URL, "https://f.example/"}) {
		t.Errorf("left: %q", got)
	}
	closeCache(t, c)
}

func TestCacheNewer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	text := `{"sitelink":"status-cache","schema":3,"more":true}` + "\n" + `{"address":"x"}` + "\n"
	testkit.Check(t, os.WriteFile(name, []byte(text), 0o666))
	if _, err := Open(name, nil); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "schema is 3") {
		t.Errorf("error %v", err)
	}
	if got := readFile(t, name); got != text {
		t.Errorf("changed to %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// Two runs at once lose nothing; of two records of one URL, the later wins.
func TestCacheMerges(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	c, _ := openCache(t, name)
	c.Put(okRecord("https://gone.example/", 1))
	closeCache(t, c)
	a, _ := openCache(t, name)
	b, _ := openCache(t, name)
	for i := range 50 {
		a.Put(okRecord(fmt.Sprintf("https://a.example/%d", i), 2))
		b.Put(okRecord(fmt.Sprintf("https://b.example/%d", i), 2))
	}
	a.Put(okRecord("https://both.example/", 5))
	b.Put(okRecord("https://both.example/", 4))
	a.Remove("https://gone.example/")
	closeCache(t, a)
	closeCache(t, b)
	all, err := Read(name, nil)
	if err != nil || len(all) != 101 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	if r := all[100]; r.URL != "https://both.example/" || !r.Asked.Equal(at(5)) {
		t.Errorf("both: %+v", r)
	}
}

// git's merge of two versions, conflict markers included, is the union.
func TestCacheConflict(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	line := func(url string, hours float64) string {
		r := okRecord(url, hours)
		return string(appendRow(nil, &r))
	}
	text := strings.Join([]string{headerLine, "<<<<<<< ours", line("https://a.example/", 1), line("https://b.example/", 3), "=======",
		line("https://b.example/", 2), line("https://c.example/", 1), ">>>>>>> theirs", ""}, "\r\n")
	testkit.Check(t, os.WriteFile(name, []byte(text), 0o666))
	all, err := Read(name, func(s string) { t.Error(s) })
	if err != nil || len(all) != 3 || !all[1].Asked.Equal(at(3)) {
		t.Errorf("%+v, %v", all, err)
	}
}

// In a row of schema 1, the URL stood for several spellings: it is read and due at once,
// wherever it is, and says nothing about the content.
func TestCacheFirstSchema(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	now := seconds(time.Now())
	asked := `"asked":"` + now.Format(time.RFC3339) + `"`
	dead := `{"url":"https://a.example/p","verdict":"error","code":"dead-link","reason":"not-found","status":404,"strikes":2,"gone":true,"since":"2026-11-02T09:00:00Z",` + asked + `}`
	moved := `{"url":"https://b.example/","verdict":"warning","code":"moved","status":200,"final":"https://c.example/","etag":"x","missing":["f"],` + asked + `}`
	recent := okRecord("https://d.example/", 0)
	recent.Asked = now
	row := string(appendRow(nil, &recent))
	for file, lines := range map[string][]string{
		name: {`{"sitelink":"status-cache","schema":1}`, dead, row},
		strings.TrimSuffix(name, ".jsonl") + ".1-0" + journalEnd: {moved},
	} {
		testkit.Check(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	}
	c, warnings := openCache(t, name)
	if r := c.Get("https://a.example/p"); brief(r) != "error dead-link**" || r.Due(now, Policy{}).After(now) || !r.Since.Equal(day0) {
		t.Errorf("dead: %+v", r)
	}
	if r := c.Get("https://b.example/"); brief(r) != "ok" || r.Final != "" || r.conditional() || r.Lacks("f") || r.Due(now, Policy{}).After(now) {
		t.Errorf("moved: %+v", r)
	}
	if r := c.Get(recent.URL); !r.Due(now, Policy{}).After(now) {
		t.Errorf("new: %+v", r)
	}
	c.Put(okRecord("https://a.example/p", 1)) // asked before the old row was written, by its clock
	closeCache(t, c)
	if text := readFile(t, name); !strings.HasPrefix(text, headerLine+"\n"+`{"url":"https://a.example/p","v":2,"verdict":"ok"`) || !strings.Contains(text, moved) || !strings.Contains(text, row) || len(*warnings) > 0 {
		t.Errorf("warnings %q, file\n%s", *warnings, text)
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add(headerLine)
	f.Add(string(appendRow(nil, &sample)))
	usual := sample // as most rows are
	usual.Hops, usual.Present, usual.Missing, usual.Hints, usual.ETag, usual.Variant, usual.Copy = nil, nil, nil, nil, `W/"1"`, "", ""
	usual.Probed, usual.Searched = time.Time{}, time.Time{}
	line := string(appendRow(nil, &usual))
	if _, ok := plainRow(line); !ok {
		f.Error("not plain: " + line)
	}
	f.Add(line)
	f.Add(strings.Replace(line, `"url"`, `"URL"`, 1))
	f.Add(strings.Replace(line, `"status":404`, `"status":4e2`, 1))
	f.Fuzz(func(t *testing.T, line string) {
		if w, ok := plainRow(line); ok && utf8.ValidString(line) {
			var want row
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&want); err != nil || !reflect.DeepEqual(w, want) || d.InputOffset() != int64(len(line)) {
				t.Errorf("%q\n%+v\n%+v, %v", line, w, want, err)
			}
		}
		r, err := parseLine(line)
		if err != nil || r.URL == "" {
			return
		}
		again, err := parseLine(string(appendRow(nil, &r)))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%+v\n%+v, %v", r, again, err)
		}
	})
}

// A cache that a person merged by hand has rows in any order, twice, and with the first
// line anywhere: of two rows of one URL, the later request wins.
func TestCacheMergedByHand(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	line := func(url string, hours float64) string {
		r := okRecord(url, hours)
		return string(appendRow(nil, &r))
	}
	text := strings.Join([]string{line("https://z.example/", 1), headerLine, line("https://a.example/", 1), "", line("https://z.example/", 3),
		headerLine, line("https://z.example/", 2), line("https://a.example/", 1)}, "\n") // no line end either
	testkit.Check(t, os.WriteFile(name, []byte(text), 0o666))
	c, warnings := openCache(t, name)
	c.Put(okRecord("https://m.example/", 1))
	closeCache(t, c)
	want := strings.Join([]string{headerLine, line("https://a.example/", 1), line("https://m.example/", 1), line("https://z.example/", 3), ""}, "\n")
	if got := readFile(t, name); got != want || len(*warnings) > 0 {
		t.Errorf("got\n%s\nwant\n%s\nwarnings %q", got, want, *warnings)
	}
}

// A clock that was wrong leaves dates in the future. They neither win against later
// requests, nor keep a URL from being asked for.
func TestCacheFuture(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.jsonl")
	now := seconds(time.Now())
	wrong := Record{URL: "https://a.example/", Asked: now.AddDate(3, 0, 0), Good: now.AddDate(3, 0, 0), Next: now.AddDate(9, 0, 0)}
	if due := wrong.Due(now, Policy{}); due.After(now) {
		t.Errorf("due %v", due)
	}
	c, _ := openCache(t, name)
	c.Put(wrong)
	closeCache(t, c)
	other, _ := openCache(t, name)
	c, _ = openCache(t, name)
	other.Put(okRecord("https://b.example/", 1)) // so that the runs have to merge
	closeCache(t, other)
	right := Record{URL: wrong.URL, Asked: now, Good: now}
	c.Put(right)
	closeCache(t, c)
	all, err := Read(name, nil)
	if err != nil || len(all) != 2 || !all[0].Asked.Equal(now) {
		t.Errorf("%+v, %v", all, err)
	}
}

// A full or read-only disk is an error that names the file, and what was learned is in
// the journal, or in the file if that can be written.
func TestCacheNotWritable(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none", "status.jsonl"), nil); err == nil || !strings.Contains(err.Error(), "write status cache "+filepath.Join(dir, "none", "status.jsonl")+": ") {
		t.Errorf("no directory: %v", err)
	}
	name := filepath.Join(dir, "data", "status.jsonl")
	testkit.Check(t, os.Mkdir(filepath.Dir(name), 0o777))
	// Through a link: the cache removes its journal by name.
	link := filepath.Join(dir, "full")
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Log(err)
	} else if full, err := os.OpenFile(link, os.O_WRONLY, 0); err == nil {
		c, _ := openCache(t, name)
		journal := c.journal
		c.mu.Lock()
		c.journal = full
		c.mu.Unlock()
		c.Put(okRecord("https://full.example/", 1))
		if err := c.Close(); err == nil || !strings.Contains(err.Error(), "write status cache "+name+": ") {
			t.Errorf("full disk: %v", err)
		}
		journal.Close()
		if all, err := Read(name, nil); err != nil || len(all) != 1 {
			t.Errorf("full disk: %v, %v", all, err)
		}
	}
	if runtime.GOOS == "windows" {
		return // no directory with open files can be moved
	}
	c, _ := openCache(t, name)
	c.Put(okRecord("https://moved.example/", 1))
	testkit.Check(t, os.Rename(filepath.Dir(name), filepath.Join(dir, "elsewhere")))
	if err := c.Close(); err == nil || !strings.Contains(err.Error(), "write status cache "+name+": ") {
		t.Errorf("no directory any more: %v", err)
	}
	if all, err := Read(filepath.Join(dir, "elsewhere", "status.jsonl"), nil); err != nil || !slices.ContainsFunc(all, func(r Record) bool { return r.URL == "https://moved.example/" }) {
		t.Errorf("the journal: %v, %v", all, err)
	}
}
