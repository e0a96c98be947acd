package githook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/system"
)

// Trace is what a finding is recognised by in another commit.
type Trace struct {
	// ID is the fingerprint of the finding, see [check.Fingerprints].
	ID string `json:"id"`
	// Link identifies the broken link on any page, "" for a fault that is not a
	// link. When an entry is added to a list, other entries move to its next
	// page; and a page can be renamed. So as long as a site does not have more
	// links with that identity, none of them is new.
	Link string `json:"link,omitempty"`
	// Cause identifies the place in a template or in data that writes the link, or
	// a link that many pages have for an unknown reason, "" for none. A new page of the site gets its faults, which are not new.
	Cause string `json:"cause,omitempty"`
	// Fails is set if the finding is one of [Report.Findings].
	Fails bool `json:"fails,omitempty"`
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

// memory remembers the findings of trees. A tree that passed is not checked again,
// and the tree of the remote need not be built to know its findings. memory is a
// directory in the repository with a JSON file for each tree. The name of the file is
// a hash of the tree's id and of everything else that the result depends on. So a
// file is never about another state of the remote, another configuration or another
// version of the program.
//
// Only programs that can write to git's directory can change these files. No commit
// has a path in .git, and a program that can write there can also replace the hook.
type memory struct{ dir string }

const (
	// maxRemembered is how many trees are remembered; the oldest are removed.
	maxRemembered = 100
	// maxBytes is the size of the largest file: about a million findings.
	maxBytes = 128 << 20
	// maxFindings is how many findings are kept to be shown again.
	maxFindings = 10_000
)

// remembered is what is known about a tree.
type remembered struct {
	// Day is the only day on which the traces are right, because the entries of a
	// baseline expire, "" for any day.
	Day    string  `json:"day,omitempty"`
	Traces []Trace `json:"traces"`
	// Report is what was found, without its traces and its findings, which
	// [check.MarshalFindings] wrote; nil if these were too many.
	Report   *Report         `json:"report,omitempty"`
	Findings json.RawMessage `json:"findings,omitempty"`
	// Sum is a hash of all of that.
	Sum string `json:"sum"`
}

// passed reports whether the tree has no finding that fails the check.
func (r *remembered) passed() bool {
	return !slices.ContainsFunc(r.Traces, func(t Trace) bool { return t.Fails })
}

// errDamaged means that a file is not as it was written.
var errDamaged = errors.New("damaged")

// get returns what is remembered about a tree, nil for nothing. The error is
// [errDamaged] or that of reading.
func (m memory) get(key string) (*remembered, error) {
	name := filepath.Join(m.dir, key)
	text, err := system.Read(name, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, system.Cause(err)
	}
	r := &remembered{}
	if err := json.Unmarshal(text, r); err != nil || r.Sum != r.sum() {
		return nil, errDamaged
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now) // the files that were used last stay
	return r, nil
}

// add remembers a tree.
func (m memory) add(key string, r *remembered) error {
	r.Sum = r.sum()
	text, err := json.Marshal(r)
	if err == nil {
		err = system.WriteFile(filepath.Join(m.dir, key), text, 0o644)
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(m.dir)
	if err != nil || len(entries) <= maxRemembered {
		return nil
	}
	used := func(e fs.DirEntry) (t time.Time) {
		if info, err := e.Info(); err == nil {
			t = info.ModTime()
		}
		return t
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return used(a).Compare(used(b)) })
	for _, e := range entries[:len(entries)-maxRemembered] {
		_ = os.Remove(filepath.Join(m.dir, e.Name())) // another run may have done it
	}
	return nil
}

func (r *remembered) sum() string {
	traces, _ := json.Marshal(r.Traces) // strings and switches
	report, _ := json.Marshal(r.Report)
	return hashOf(r.Day, string(traces), string(report), string(r.Findings))
}

// took returns how long the build and the check of a site took last time, 0 if that is
// not known.
func (m memory) took(site string) time.Duration {
	text, _ := system.Read(m.tookName(site), 100)
	last, _ := time.ParseDuration(string(text))
	return last
}

// setTook keeps how long it took. Nothing depends on it.
func (m memory) setTook(site string, last time.Duration) {
	_ = system.WriteFile(m.tookName(site), []byte(last.Round(time.Millisecond).String()), 0o644)
}

func (m memory) tookName(site string) string {
	return filepath.Join(m.dir, "took-"+hashOf(filepath.ToSlash(filepath.Clean(site))))
}

// hashOf hashes the parts, each with its length, so that the end of one part
// cannot be taken for the start of the next.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:20])
}
