package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/glob"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// This file reads CODEOWNERS as the forges do: GitHub's "About code owners", GitLab's "Syntax
// of CODEOWNERS file" and "Advanced CODEOWNERS configuration". A line that they would skip
// is skipped here, too, and reported.

// ownersDialect is the way in which a forge interprets the file.
type ownersDialect uint8

const (
	// gitHub interprets patterns as gitignore does. A pattern with a slash before
	// its end is relative to the root of the repository, a directory includes
	// everything below it, and the last matching pattern decides.
	gitHub ownersDialect = iota
	// gitLab interprets patterns as shell globs. Only a leading slash makes a
	// pattern relative to the root, and only a trailing slash includes everything
	// below a directory. The last matching pattern of each section decides, and a
	// file has the owners of all sections.
	gitLab
)

// OwnerFiles are the paths at which the forges look for the file. The first that
// exists is used.
var OwnerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// maxOwnersBytes is the size above which GitHub ignores the file.
const maxOwnersBytes = 3 << 20

// OwnersFault is a line that is skipped.
type OwnersFault struct {
	Line int // from 1
	Msg  string
}

// Owners is a parsed CODEOWNERS file. It is safe for concurrent use.
type Owners struct {
	// Name is the path of the file, one of [OwnerFiles].
	Name string
	// Faults are the skipped lines, in order.
	Faults []OwnersFault

	dialect  ownersDialect
	sections []ownersSection
}

// ownersSection is a part of the file with its own owners for each path. GitHub has only
// one.
type ownersSection struct {
	name     string // in lower case, because letter case is ignored
	defaults []string
	rules    []ownersRule
}

// ownersRule is one line; exclude is set for GitLab's !pattern.
type ownersRule struct {
	globs   []string
	owners  []string
	exclude bool
}

// LoadOwners reads the CODEOWNERS file of the project with the root tree, or returns nil
// if the project has no such file. The dialect follows from the directory of the file,
// otherwise from what only GitLab has: sections, or a .gitlab-ci.yml.
func LoadOwners(tree fs.FS) (*Owners, error) {
	for _, name := range OwnerFiles {
		text, err := system.ReadFS(tree, name, maxOwnersBytes) // GitHub ignores a larger file too
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		o := parseOwners(string(text), ownersDialectOf(tree, name, string(text)))
		o.Name = name
		return o, nil
	}
	return nil, nil
}

func ownersDialectOf(tree fs.FS, name, text string) ownersDialect {
	switch {
	case strings.HasPrefix(name, ".github/"):
		return gitHub
	case strings.HasPrefix(name, ".gitlab/"):
		return gitLab
	}
	if _, err := fs.Stat(tree, ".gitlab-ci.yml"); err == nil {
		return gitLab
	}
	for line := range strings.Lines(text) {
		if _, _, ok := ownersHeader(strings.TrimSpace(line)); ok {
			return gitLab
		}
	}
	return gitHub
}

// Of returns the owners of a file, a slash path relative to the root of the
// project: as written, each once, and none if the file has no owner.
func (o *Owners) Of(name string) []string {
	var all []string
	for i := range o.sections {
		for _, owner := range o.sections[i].of(name) {
			if !slices.Contains(all, owner) {
				all = append(all, owner)
			}
		}
	}
	return all
}

func (s *ownersSection) of(name string) []string {
	var owners []string
	decided := false
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := &s.rules[i]
		if decided && !r.exclude || !slices.ContainsFunc(r.globs, func(pattern string) bool { return glob.Match(pattern, name) }) {
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
var sectionHeader = text.Regexp(`^\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?$`)

// parseOwners parses the text of a CODEOWNERS file. It skips wrong lines and adds them to
// Faults.
func parseOwners(text string, d ownersDialect) *Owners {
	o := &Owners{dialect: d, sections: []ownersSection{{}}}
	current := 0
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if d == gitLab {
			if name, owners, ok := ownersHeader(line); ok {
				current = o.section(name, owners)
				continue
			}
		}
		if err := o.rule(&o.sections[current], line); err != nil {
			o.Faults = append(o.Faults, OwnersFault{number, err.Error()})
		}
	}
	return o
}

func ownersHeader(line string) (name string, owners []string, ok bool) {
	m := sectionHeader().FindStringSubmatch(line)
	if m == nil {
		return "", nil, false
	}
	return strings.ToLower(strings.TrimSpace(m[1])), ownersIn(strings.Fields(m[2])), true
}

// section returns the index of the section with a name, and adds it if needed.
func (o *Owners) section(name string, defaults []string) int {
	i := slices.IndexFunc(o.sections, func(s ownersSection) bool { return s.name == name })
	if i < 0 {
		i = len(o.sections)
		o.sections = append(o.sections, ownersSection{name: name})
	}
	if len(defaults) > 0 {
		o.sections[i].defaults = defaults
	}
	return i
}

func (o *Owners) rule(s *ownersSection, line string) error {
	pattern, rest := cutPattern(line)
	r := ownersRule{}
	if bare, ok := strings.CutPrefix(pattern, "!"); ok {
		if o.dialect == gitHub {
			return fmt.Errorf("GitHub does not support patterns that start with !: %q", pattern)
		}
		r.exclude, pattern = true, bare
	}
	var err error
	if r.globs, err = ownerGlobs(pattern, o.dialect); err != nil {
		return err
	}
	words := strings.Fields(rest)
	if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); i >= 0 {
		words = words[:i] // a comment
	}
	r.owners = ownersIn(words)
	if len(r.owners) < len(words) && o.dialect == gitHub {
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

// maxOwnerPattern is the length of the longest pattern.
const maxOwnerPattern = 4096

// ownerGlobs returns patterns of doublestar that match, one of them, what a pattern of
// the file does: "docs/" of GitHub becomes "**/docs/**/*".
func ownerGlobs(pattern string, d ownersDialect) ([]string, error) {
	switch {
	case pattern == "" || len(pattern) > maxOwnerPattern || !utf8.ValidString(pattern):
		return nil, fmt.Errorf("the pattern %.40q must have 1 to %d bytes of UTF-8", pattern, maxOwnerPattern)
	case pattern == "/": // no file is the root
		return nil, nil
	case strings.Contains(pattern, "//"):
		return nil, errors.New("the pattern has an empty part between slashes")
	case d == gitHub && unescaped(pattern, '['):
		return nil, errors.New("GitHub does not support character ranges in patterns")
	}
	one := strings.NewReplacer("{", `\{`, "}", `\}`).Replace(strings.Trim(pattern, "/"))
	if !strings.HasPrefix(pattern, "/") && (d == gitLab || !strings.Contains(one, "/")) {
		one = "**/" + one
	}
	if strings.HasSuffix(one, "/**") { // what is below, and not the directory itself
		one += "/*"
	}
	globs := []string{one}
	switch below := one + "/**/*"; {
	case strings.HasSuffix(pattern, "/"):
		globs = []string{below}
	case d == gitHub && path.Base(one) != "*": // dir/* matches only the files in dir
		globs = append(globs, below)
	case d == gitHub && one == "**/*":
		globs = append(globs, below)
	}
	if glob.Check(one) != nil {
		return nil, fmt.Errorf("the pattern %q is invalid", pattern)
	}
	return globs, nil
}

// unescaped reports whether c is in text without a backslash before it.
func unescaped(text string, c byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		} else if text[i] == c {
			return true
		}
	}
	return false
}
