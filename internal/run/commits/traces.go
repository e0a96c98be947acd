package commits

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/system"
)

// traces returns what the findings of a site are recognised by in other commits.
// failing are some of all, in the same order.
func traces(all, failing []check.Finding, p *project.Project) []githook.Trace {
	list := make([]githook.Trace, len(all))
	lines := sourceLines{root: p.Root, files: map[string][]string{}}
	// A link without a known source is part of the layout if it is on too many pages for
	// an author to have written it there.
	pages := map[string]int{}
	last := map[string]string{}
	for i := range all {
		if f := &all[i]; f.Source == nil {
			if id := link(f); last[id] != f.Page { // findings are sorted by page
				last[id] = f.Page
				pages[id]++
			}
		}
	}
	layout := map[string]bool{}
	for id, n := range pages {
		layout[id] = id != "" && n >= layoutPages
	}
	for i, id := range check.Fingerprints(all) {
		f := &all[i]
		list[i] = githook.Trace{ID: id, Link: link(f), Cause: lines.cause(f)}
		if f.Source == nil && layout[list[i].Link] {
			list[i].Cause = list[i].Link
		}
		if len(failing) > 0 && samePlace(f, &failing[0]) {
			list[i].Fails, failing = true, failing[1:]
		}
	}
	return list
}

// samePlace reports whether two findings of a run are the same. It ignores the
// message, because a baseline changes it when an entry has expired.
func samePlace(a, b *check.Finding) bool {
	return a.Page == b.Page && a.Offset == b.Offset && a.Code == b.Code && a.Attribute == b.Attribute && a.Raw == b.Raw
}

// link identifies the link of a finding, whatever page it is on. Where it leads
// counts, and not how it is written there.
func link(f *check.Finding) string {
	if f.Target == "" && f.Raw == "" {
		return ""
	}
	if f.Target == "" {
		return hash(string(f.Code), f.Element, f.Attribute, "raw", f.Raw)
	}
	return hash(string(f.Code), f.Element, f.Attribute, f.Target, f.Fragment)
}

// layoutPages is on how many pages the same link is part of the layout.
const layoutPages = 3

// sourceLines are the lines of source files that write links for many pages.
type sourceLines struct {
	root  string // of the repository
	files map[string][]string
}

// maxSourceBytes is how much is read of such a file.
const maxSourceBytes = 4 << 20

// cause identifies the place that writes a link into many pages: a template, a
// menu, a data file. It returns "" for a link of a content file, and for a link
// without a known source. The text of the line counts, not its number: a line
// moves when another one is inserted above it.
func (s *sourceLines) cause(f *check.Finding) string {
	if f.Source == nil || f.Source.Kind == check.InContent {
		return ""
	}
	name := f.Source.File // relative to the root of the repository, or absolute
	lines, known := s.files[name]
	if !known {
		lines = readLines(s.root, name)
		s.files[name] = lines
	}
	if f.Source.Line < 1 || f.Source.Line > len(lines) {
		return ""
	}
	return hash(string(f.Code), f.Element, f.Attribute, name, strings.TrimSpace(lines[f.Source.Line-1]))
}

// readLines returns the lines of a source file, none if it cannot be read: then
// the link alone counts.
func readLines(root, name string) []string {
	full := filepath.FromSlash(name)
	if !filepath.IsAbs(full) {
		full = filepath.Join(root, full)
	}
	text, err := system.Read(full, maxSourceBytes)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// hash hashes the parts, each with its length.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
