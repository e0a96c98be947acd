package check

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Linkset is a pattern of site paths that says which pages have their links
// checked (LL-1). "@" stands for any run of characters, "#" for any run
// without a slash, both possibly empty (LL-4, LL-5); a slash right behind "#"
// is optional (LL-6, A-LL-10); everything else stands for itself, from the
// first character of the path to the last (LL-7). The paths are those below
// the base URL, decoded: /sub/ for a directory, /sub/b.html for a file.
//
// The zero value matches nothing. A Linkset is read-only and safe for
// concurrent use.
type Linkset struct {
	text    string
	pattern *regexp.Regexp // nil when there is no wildcard
}

// maxLinkset is the longest linkset, in bytes: that of a path on most systems.
const maxLinkset = 4096

// ParseLinkset reads a linkset; a slash left out at the front is added
// (LL-11). The error says what is wrong with the text, which it quotes.
func ParseLinkset(text string) (Linkset, error) {
	lower := strings.ToLower(text)
	switch {
	case text == "":
		return Linkset{}, errors.New("a linkset is not empty: / is the home page, /@ the whole site")
	case strings.HasPrefix(lower, "http:"), strings.HasPrefix(lower, "https:"):
		return Linkset{}, fmt.Errorf("a linkset is a path of the site, got the URL %q; pages of other sites are not read", text)
	case strings.ContainsRune(text, 0):
		return Linkset{}, errors.New("the linkset holds a NUL byte")
	case len(text) > maxLinkset:
		return Linkset{}, fmt.Errorf("the linkset that begins with %.40q is longer than %d bytes", text, maxLinkset)
	}
	if text[0] != '/' {
		text = "/" + text
	}
	l := Linkset{text: text}
	if !strings.ContainsAny(text, "@#") {
		return l, nil
	}
	if !utf8.ValidString(text) {
		return Linkset{}, fmt.Errorf("a linkset with wildcards is UTF-8, got %q", text)
	}
	var re strings.Builder
	re.WriteString("(?s)^")
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "@#")
		if i < 0 {
			i = len(rest)
		}
		re.WriteString(regexp.QuoteMeta(rest[:i]))
		if rest = rest[i:]; rest == "" {
			break
		}
		wildcard := rest[0]
		rest = rest[1:]
		switch {
		case wildcard == '@':
			re.WriteString(".*")
		case strings.HasPrefix(rest, "/"):
			re.WriteString("[^/]*/?")
			rest = rest[1:]
		default:
			re.WriteString("[^/]*")
		}
	}
	re.WriteString("$")
	var err error
	if l.pattern, err = regexp.Compile(re.String()); err != nil {
		return Linkset{}, fmt.Errorf("the linkset %q is too large", text)
	}
	return l, nil
}

// String returns the linkset as it is matched: with its leading slash.
func (l Linkset) String() string { return l.text }

// Match tells whether a decoded site path, which begins with a slash, is in
// the set.
func (l Linkset) Match(path string) bool {
	if l.pattern != nil {
		return l.pattern.MatchString(path)
	}
	return l.text != "" && l.text == path
}

// Seed returns the path from which pages of the set are looked for: the
// linkset itself when it has no wildcard (LL-2), else what stands before the
// last slash in front of the first wildcard, with that slash (LL-3).
func (l Linkset) Seed() string {
	i := strings.IndexAny(l.text, "@#")
	if i < 0 {
		return l.text
	}
	return l.text[:strings.LastIndexByte(l.text[:i], '/')+1]
}

// linksets are several of them: a path is in when one of them has it. A list
// of ten thousand pages costs one look into a table.
type linksets struct {
	literal  map[string]int // index in all
	patterns []int
	all      []Linkset
}

func parseLinksets(texts []string) (linksets, error) {
	ls := linksets{literal: map[string]int{}}
	for _, text := range texts {
		l, err := ParseLinkset(text)
		if err != nil {
			return linksets{}, err
		}
		if _, known := ls.literal[l.text]; known {
			continue
		}
		ls.literal[l.text] = len(ls.all) // patterns too, to find equal ones
		if l.pattern != nil {
			ls.patterns = append(ls.patterns, len(ls.all))
		}
		ls.all = append(ls.all, l)
	}
	for _, i := range ls.patterns {
		delete(ls.literal, ls.all[i].text) // a path may hold @ and # itself
	}
	return ls, nil
}

func (ls *linksets) match(path string) bool {
	if _, ok := ls.literal[path]; ok {
		return true
	}
	for _, i := range ls.patterns {
		if ls.all[i].Match(path) {
			return true
		}
	}
	return false
}
