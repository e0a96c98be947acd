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
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// Dialect is the way in which a forge interprets the file.
type Dialect uint8

const (
	// GitHub interprets patterns as gitignore does. A pattern with a slash before
	// its end is relative to the root of the repository, a directory includes
	// everything below it, and the last matching pattern decides.
	GitHub Dialect = iota
	// GitLab interprets patterns as shell globs. Only a leading slash makes a
	// pattern relative to the root, and only a trailing slash includes everything
	// below a directory. The last matching pattern of each section decides, and a
	// file has the owners of all sections.
	GitLab
)

// Places are the paths at which the forges look for the file. The first that
// exists is used.
var Places = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// maxBytes is the size above which GitHub ignores the file.
const maxBytes = 3 << 20

// Fault is a line that is skipped.
type Fault struct {
	Line int // from 1
	Msg  string
}

// Owners is a parsed CODEOWNERS file. It is safe for concurrent use.
type Owners struct {
	// Name is the path of the file, one of [Places].
	Name string
	// Dialect is the dialect with which it was parsed.
	Dialect Dialect
	// Faults are the skipped lines, in order.
	Faults []Fault

	sections []section
}

// section is a part of the file with its own owners for each path. GitHub has only
// one.
type section struct {
	name     string // in lower case, because letter case is ignored
	defaults []string
	rules    []rule
}

// rule is one line; exclude is set for GitLab's !pattern.
type rule struct {
	match   matcher
	owners  []string
	exclude bool
}

// Load reads the CODEOWNERS file of the project whose root is tree, or returns nil
// if the project has no such file. The dialect follows from the directory of the
// file, otherwise from what only GitLab has: sections, or a .gitlab-ci.yml.
func Load(tree fs.FS) (*Owners, error) {
	for _, name := range Places {
		text, err := disk.ReadFS(tree, name, maxBytes) // GitHub ignores a larger file too
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
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

// sectionHeader matches GitLab's [Name], ^[Name] for an optional section, and
// [Name][2] for a number of approvals, each followed by default owners.
var sectionHeader = regexp.MustCompile(`^\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?$`)

// Parse parses the text of a CODEOWNERS file. It skips wrong lines and adds them to
// Faults.
func Parse(text string, d Dialect) *Owners {
	o := &Owners{Dialect: d, sections: []section{{}}}
	current := 0
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if d == GitLab {
			if name, owners, ok := header(line); ok {
				current = o.section(name, owners)
				continue
			}
		}
		if err := o.rule(&o.sections[current], line); err != nil {
			o.Faults = append(o.Faults, Fault{number, err.Error()})
		}
	}
	return o
}

func header(line string) (name string, owners []string, ok bool) {
	m := sectionHeader.FindStringSubmatch(line)
	if m == nil {
		return "", nil, false
	}
	return strings.ToLower(strings.TrimSpace(m[1])), ownersIn(strings.Fields(m[2])), true
}

// section returns the index of the section with a name, and adds it if needed.
func (o *Owners) section(name string, defaults []string) int {
	i := slices.IndexFunc(o.sections, func(s section) bool { return s.name == name })
	if i < 0 {
		i = len(o.sections)
		o.sections = append(o.sections, section{name: name})
	}
	if len(defaults) > 0 {
		o.sections[i].defaults = defaults
	}
	return i
}

func (o *Owners) rule(s *section, line string) error {
	pattern, rest := cutPattern(line)
	r := rule{}
	if bare, ok := strings.CutPrefix(pattern, "!"); ok {
		if o.Dialect == GitHub {
			return fmt.Errorf("GitHub does not support patterns that start with !: %q", pattern)
		}
		r.exclude, pattern = true, bare
	}
	var err error
	if r.match, err = compile(pattern, o.Dialect); err != nil {
		return err
	}
	words := strings.Fields(rest)
	if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); i >= 0 {
		words = words[:i] // a comment
	}
	r.owners = ownersIn(words)
	if len(r.owners) < len(words) && o.Dialect == GitHub {
		return fmt.Errorf("%q is not an owner: write @user, @org/team or an email address", words[slices.IndexFunc(words, notOwner)])
	}
	if len(words) == 0 {
		r.owners = s.defaults
	}
	s.rules = append(s.rules, r)
	return nil
}

// cutPattern splits a line after its pattern. A blank or # after a backslash is part
// of the pattern.
func cutPattern(line string) (pattern, rest string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case ' ', '\t':
			return line[:i], line[i:]
		}
	}
	return line, ""
}

// ownersIn returns the words that are owners: @user, @group/team, @@role,
// user@example.org.
func ownersIn(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), notOwner)
}

func notOwner(word string) bool {
	at := strings.IndexByte(word, '@')
	return at < 0 || at == len(word)-1
}
