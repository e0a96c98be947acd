// Package owners finds the owners of a file in the CODEOWNERS file of a repository
// on GitHub or GitLab.
//
// [Load] reads the file from the project's tree, [Owners.Of] returns the owners of a
// path. The two forges read the file differently (see [Dialect]). A line that they
// would skip is skipped here, too, and reported as a [Fault]. The package prints
// nothing.
//
// Sources: GitHub's "About code owners", GitLab's "Syntax of CODEOWNERS file" and
// "Advanced CODEOWNERS configuration".
package owners

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// Dialect is how a forge reads the file.
type Dialect uint8

const (
	// GitHub reads patterns as gitignore does: one with a slash before its end
	// is relative to the root of the repository, a directory stands for all that
	// is below it, and the last pattern that matches decides.
	GitHub Dialect = iota
	// GitLab reads patterns as shell globs: only a leading slash makes one
	// relative to the root, and only a slash at the end stands for all below. The
	// last pattern of each section decides, and the sections add up.
	GitLab
)

// Places are where the forges look for the file, first found first taken.
var Places = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// maxBytes is the size above which GitHub ignores the file.
const maxBytes = 3 << 20

// Fault is a line that is skipped.
type Fault struct {
	Line int // from 1
	Msg  string
}

// Owners is a file that was read. It is safe for concurrent use.
type Owners struct {
	// Name is the place of the file, one of [Places].
	Name string
	// Dialect is how it was read.
	Dialect Dialect
	// Faults are the lines that were skipped, in order.
	Faults []Fault

	sections []section
}

// section is a part of the file that decides for itself; GitHub knows only one.
type section struct {
	name     string // lower case: names differ only by letter case nowhere
	defaults []string
	rules    []rule
}

// rule is one line. exclude is GitLab's !pattern.
type rule struct {
	match   matcher
	owners  []string
	exclude bool
}

// Load reads the CODEOWNERS file of the project whose root is tree, or returns nil
// if the project has no such file. The dialect follows from the directory of the
// file, or else from what only GitLab has: sections, or a .gitlab-ci.yml.
func Load(tree fs.FS) (*Owners, error) {
	for _, name := range Places {
		f, err := tree.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, disk.Cause(err))
		}
		text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
		f.Close()
		if err == nil && len(text) > maxBytes {
			err = fmt.Errorf("larger than %d bytes", maxBytes)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, disk.Cause(err))
		}
		o := Parse(string(text), dialect(tree, name, string(text)))
		o.Name = name
		return o, nil
	}
	return nil, nil
}

func dialect(tree fs.FS, name, text string) Dialect {
	switch {
	case strings.HasPrefix(name, ".github/"):
		return GitHub
	case strings.HasPrefix(name, ".gitlab/"):
		return GitLab
	}
	if _, err := fs.Stat(tree, ".gitlab-ci.yml"); err == nil {
		return GitLab
	}
	for line := range strings.Lines(text) {
		if _, _, ok := header(strings.TrimSpace(line)); ok {
			return GitLab
		}
	}
	return GitHub
}

// Of returns the owners of a file, a slash path relative to the root of the
// project: as written, each once, and none if the file has no owner.
func (o *Owners) Of(path string) []string {
	var all []string
	for i := range o.sections {
		for _, owner := range o.sections[i].of(path) {
			if !slices.Contains(all, owner) {
				all = append(all, owner)
			}
		}
	}
	return all
}

func (s *section) of(path string) []string {
	var owners []string
	decided := false
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := &s.rules[i]
		if decided && !r.exclude || !r.match(path) {
			continue
		}
		if r.exclude { // an exclusion overrides every rule of its section
			return nil
		}
		owners, decided = r.owners, true
	}
	return owners
}
