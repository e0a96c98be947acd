package check

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Linkset is a pattern of site paths that selects pages (LL-1). "@" matches any
// characters, "#" any characters but slashes; both may match nothing (LL-4,
// LL-5). A slash after "#" is optional (LL-6, A-LL-10). Every other character
// matches itself. The pattern matches whole paths (LL-7), below the base URL and
// decoded: /sub/ for a directory, /sub/b.html for a file.
//
// The zero value matches nothing. A Linkset is read-only and safe for
// concurrent use.
type Linkset struct {
	text    string
	pattern *regexp.Regexp // nil when there is no wildcard
}

// maxLinkset is the length of the longest linkset, in bytes: that of the longest
// path on most systems.
const maxLinkset = 4096

// ParseLinkset reads a linkset. It adds a slash at the front if there is none
// (LL-11).
func ParseLinkset(text string) (Linkset, error) {
	lower := strings.ToLower(text)
	switch {
	case text == "":
		return Linkset{}, errors.New("the linkset is empty; / selects the home page, /@ the whole site")
	case strings.HasPrefix(lower, "http:"), strings.HasPrefix(lower, "https:"):
		return Linkset{}, fmt.Errorf("a linkset is a path of the site, not a URL such as %q", text)
	case strings.ContainsRune(text, 0):
		return Linkset{}, errors.New("the linkset contains a NUL byte")
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
		return Linkset{}, fmt.Errorf("a linkset with wildcards must be UTF-8, got %q", text)
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

// String returns the linkset with its leading slash.
func (l Linkset) String() string { return l.text }

// Match reports whether the linkset matches a decoded site path, which begins
// with a slash.
func (l Linkset) Match(path string) bool {
	if l.pattern != nil {
		return l.pattern.MatchString(path)
	}
	return l.text != "" && l.text == path
}

// Seed returns the path at which the search for pages of the set begins: the
// linkset itself if it has no wildcard (LL-2), else its part up to the last slash
// before the first wildcard (LL-3).
func (l Linkset) Seed() string {
	i := strings.IndexAny(l.text, "@#")
	if i < 0 {
		return l.text
	}
	return l.text[:strings.LastIndexByte(l.text[:i], '/')+1]
}

// linksets match a path if one of them does. Those without wildcards are in a
// map, so that a list of ten thousand pages costs one look-up.
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

// seeds returns the seeds of the linksets, sorted, each once (LL-15).
func (ls *linksets) seeds() []string {
	var seeds []string
	for _, l := range ls.all {
		seeds = append(seeds, l.Seed())
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}
