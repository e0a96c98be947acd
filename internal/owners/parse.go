package owners

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// sectionHeader is GitLab's [Name], ^[Name] for an optional one, [Name][2] for a
// number of approvals, each with default owners behind it.
var sectionHeader = regexp.MustCompile(`^\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?$`)

// Parse reads the text of a CODEOWNERS file. Every text can be read: what is
// wrong is in Faults.
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

// section returns the place of the section of that name. Sections of one name
// are one.
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
			return fmt.Errorf("GitHub knows no pattern that begins with !: %q", pattern)
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
		return fmt.Errorf("not an owner, neither @name nor an address: %q", words[slices.IndexFunc(words, notOwner)])
	}
	if len(words) == 0 {
		r.owners = s.defaults
	}
	s.rules = append(s.rules, r)
	return nil
}

// cutPattern splits a line after its pattern. A backslash makes the blank or #
// behind it part of the pattern.
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
