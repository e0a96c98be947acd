package githook

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/disk"
)

// Trace is what a finding is recognised by in another commit.
type Trace struct {
	// ID is the fingerprint of the finding, see [check.Fingerprints].
	ID string
	// Link identifies the broken link whatever page it is on, "" for a fault that
	// is not a link. The pages of a list move from one page to the next when an
	// entry is added, and a page can be renamed: as long as a site does not have
	// more links with that identity, none of them is new.
	Link string
	// Cause identifies the place in a template or in data that writes the link, or
	// a link that many pages have for an unknown reason, "" for none. A new page of the site gets its faults, which are not new.
	Cause string
	// Fails is set if the finding is one of [Report.Findings].
	Fails bool
}

// tracesOf returns the traces of findings that all fail the check.
func tracesOf(findings []check.Finding) []Trace {
	traces := make([]Trace, len(findings))
	for i, id := range check.Fingerprints(findings) {
		traces[i] = Trace{ID: id, Fails: true}
	}
	return traces
}

// newFindings reports for each failing one of traces, in order, whether it is
// new: a site with the traces before does not have it.
func newFindings(traces, before []Trace) (fresh []bool) {
	known, links := map[string]bool{}, map[string]int{}
	for _, t := range before {
		known[t.ID] = true
		if t.Cause != "" {
			known["cause "+t.Cause] = true
		}
		links[t.Link]--
	}
	for _, t := range traces {
		links[t.Link]++
	}
	for _, t := range traces {
		if t.Fails {
			old := known[t.ID] || t.Cause != "" && known["cause "+t.Cause] || t.Link != "" && links[t.Link] <= 0
			fresh = append(fresh, !old)
		}
	}
	return fresh
}

// foundTrees remembers what was found in trees that have findings, so that the
// tree of the remote need not be built again to know what was there before a
// push. It is a directory in the repository with a file for each tree:
//
//	sitelink-findings 1 DAY COUNT SUM
//	fails ID LINK CAUSE
//	...
//
// The name of the file is a hash of the tree's id and of everything else that the
// result depends on, so a file is never about another state of the remote, another
// configuration or another version of the program. A line begins with
// "found" if the finding does not fail the check. DAY is the only day on which
// these words are right, because the entries of a baseline expire, or - for any
// day. A dash stands for an empty field. SUM is a hash of the lines below the
// first.
//
// Only programs that can write to git's directory can change these files: no
// commit has a path in .git, and a program that can write there can replace the hook.
type foundTrees struct{ dir string }

const (
	// maxFound is how many trees are remembered; the oldest are removed.
	maxFound = 20
	// maxFoundBytes is the size of the largest file: about a million findings.
	maxFoundBytes = 128 << 20
)

// found is what is remembered about a tree.
type found struct {
	day    string // "" for any day
	traces []Trace
}

// errDamaged means that a file is not as it was written.
var errDamaged = errors.New("damaged")

// get returns what is remembered about a tree, nil for nothing. The error is
// [errDamaged] or that of reading.
func (f foundTrees) get(key string) (*found, error) {
	file, err := disk.Open(filepath.Join(f.dir, key))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, disk.Cause(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFoundBytes+1))
	if err != nil {
		return nil, disk.Cause(err)
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	head := strings.Fields(string(first))
	if len(head) != 5 || head[0] != "sitelink-findings" || head[1] != "1" || head[4] != sum(rest) {
		return nil, errDamaged
	}
	t := &found{day: field(head[2])}
	for line := range strings.Lines(string(rest)) {
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, errDamaged
		}
		t.traces = append(t.traces, Trace{Fails: fields[0] == "fails", ID: fields[1], Link: field(fields[2]), Cause: field(fields[3])})
	}
	if strconv.Itoa(len(t.traces)) != head[3] {
		return nil, errDamaged
	}
	now := time.Now()
	_ = os.Chtimes(file.Name(), now, now) // for [foundTrees.prune]
	return t, nil
}

// add remembers a tree.
func (f foundTrees) add(key string, t *found) error {
	var lines bytes.Buffer
	for _, trace := range t.traces {
		word := "found"
		if trace.Fails {
			word = "fails"
		}
		fmt.Fprintf(&lines, "%s %s %s %s\n", word, trace.ID, cmp.Or(trace.Link, "-"), cmp.Or(trace.Cause, "-"))
	}
	head := fmt.Sprintf("sitelink-findings 1 %s %d %s\n", cmp.Or(t.day, "-"), len(t.traces), sum(lines.Bytes()))
	if lines.Len()+len(head) > maxFoundBytes {
		return fmt.Errorf("%d findings are too many", len(t.traces))
	}
	if err := disk.WriteFile(filepath.Join(f.dir, key), append([]byte(head), lines.Bytes()...), 0o644); err != nil {
		return err
	}
	f.prune()
	return nil
}

// prune removes the files that were not used for the longest time.
func (f foundTrees) prune() {
	entries, err := os.ReadDir(f.dir)
	if err != nil || len(entries) <= maxFound {
		return
	}
	used := func(e fs.DirEntry) (t time.Time) {
		if info, err := e.Info(); err == nil {
			t = info.ModTime()
		}
		return t
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return used(a).Compare(used(b)) })
	for _, e := range entries[:len(entries)-maxFound] {
		_ = os.Remove(filepath.Join(f.dir, e.Name())) // another run may have done it
	}
}

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:16])
}

// field is a field of a file, in which a dash stands for nothing.
func field(text string) string {
	if text == "-" {
		return ""
	}
	return text
}

// durations remembers how long a commit of each site took to build and check. It
// is a text file with a line "KEY MILLISECONDS" for each site; other lines are
// ignored.
type durations struct{ file string }

const (
	// maxSites is how many sites of a repository are remembered.
	maxSites = 100
	// firstLimit is the time for a commit of a site that was never checked, and
	// leastLimit the shortest time for others. A build may take much longer than
	// the last one: of an empty cache, on a busy machine.
	firstLimit, leastLimit = 5 * time.Minute, time.Minute
	lastTimes              = 4
)

// limit returns the time that a commit of a site may take: several times as long
// as the last one.
func (d durations) limit(key string) time.Duration {
	for _, line := range d.read() {
		if ms, err := strconv.ParseInt(line[1], 10, 64); err == nil && line[0] == key {
			last := time.Duration(min(max(ms, 0), int64(24*time.Hour/time.Millisecond))) * time.Millisecond
			return max(leastLimit, (lastTimes * last).Round(time.Second))
		}
	}
	return firstLimit
}

// add remembers how long a commit took. A failure to write it costs nothing but a
// less exact limit.
func (d durations) add(key string, took time.Duration) {
	lines := slices.DeleteFunc(d.read(), func(line []string) bool { return line[0] == key })
	lines = append(lines, []string{key, strconv.FormatInt(took.Milliseconds(), 10)})
	var text bytes.Buffer
	for _, line := range lines[max(0, len(lines)-maxSites):] {
		fmt.Fprintf(&text, "%s %s\n", line[0], line[1])
	}
	_ = disk.WriteFile(d.file, text.Bytes(), 0o644)
}

func (d durations) read() [][]string { return readPairs(d.file) }
