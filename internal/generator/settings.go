package generator

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Root is a part of a docroot with an address of its own.
type Root struct {
	// Dir is the directory below the docroot, a slash path; "" is the docroot.
	Dir string
	// Base is its address: an absolute URL, or a path such as /sub/ if the
	// configuration names no host; "" if it names none.
	Base string
	// Language is set for a root that holds only that language.
	Language string
}

// Settings are what a project's configuration says about the built site.
type Settings struct {
	// Docroot is where the site is written: a slash path, relative to the
	// directory of the project or absolute.
	Docroot string
	// Roots are the addresses at which the docroot is published: one, or one for
	// each language with a host of its own (multihost).
	Roots []Root
	// Languages are the languages of the site, in the generator's order; empty if
	// the configuration names none.
	Languages []string
	// RefNotFound is what the generator writes in place of a reference that it
	// cannot resolve; "" if it fails or writes nothing.
	RefNotFound string
	// HeadingIDs is how the generator makes ids of headings; "" if it does so in its
	// usual way.
	HeadingIDs HeadingIDs
	// RelativeURLs is Hugo's setting of that name.
	RelativeURLs bool
	// Form is how the generator writes the addresses of pages, "" if that is unknown;
	// FormFrom is the file and line that say it, "" for the generator's default.
	Form     weburl.Form
	FormFrom string
	// From names the source of the settings: a file, a variable or a flag; "" if all are
	// defaults.
	From string
}

// HeadingIDs is a way to make ids of the texts of headings.
type HeadingIDs string

// The ways of Hugo, by the values of autoIDType. NoHeadingIDs makes none.
const (
	GitHubIDs      HeadingIDs = "github"
	GitHubASCIIIDs HeadingIDs = "github-ascii"
	BlackfridayIDs HeadingIDs = "blackfriday"
	NoHeadingIDs   HeadingIDs = "none"
)

// Multihost reports whether parts of the docroot have hosts of their own.
func (s *Settings) Multihost() bool { return len(s.Roots) > 0 && s.Roots[0].Dir != "" }

// Settings reads the configuration files of a project. env has the variables of a build,
// which override the configuration of Hugo, and args are more arguments of it, which
// override both. The error names the file and line that are wrong.
func (p Project) Settings(env []string, args ...string) (s Settings, err error) {
	r := rowOf(p.Generator)
	switch {
	case r.name == None:
		return s, fmt.Errorf("%s has no configuration", p.Generator)
	case r.name == Hugo:
		var h *HugoSite
		if h, err = p.Hugo(env, args...); err == nil {
			s = h.Settings
		}
	default:
		s, err = r.read(p)
		s = s.withBaseFlag(args, r.baseFlags)
	}
	if err != nil {
		return Settings{}, err
	}
	s.Docroot = path.Clean(cmp.Or(s.Docroot, p.Docroot))
	return s, nil
}

// tidyBase returns the base URL that a configuration holds, "" if it is the root of
// an unknown host or not a URL.
func tidyBase(base string) string {
	base = strings.TrimSpace(base)
	switch {
	case strings.HasPrefix(base, "//") && len(base) > 2:
		base = "https:" + base
	case weburl.IsWeb(strings.ToLower(base)):
	case strings.HasPrefix(base, "/") && strings.Trim(base, "/") != "":
	default:
		return ""
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return base
}

// joinBase appends a path to the address of a host; either may be empty.
func joinBase(host, sub string) string {
	sub = strings.Trim(sub, "/")
	if sub != "" {
		sub = "/" + sub
	}
	return strings.TrimRight(host, "/") + sub + "/"
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// Excluded returns the setting of a generator that keeps a file of the project in dir out
// of the site, "" for none. file is a slash path relative to dir.
func Excluded(n Name, dir, file string) (setting string) {
	r := rowOf(n)
	if r.excludeKeys == "" {
		return ""
	}
	p := r.project(dir, "", "")
	for _, name := range p.Configs {
		get, err := lookup(p, name)
		if err != nil {
			continue
		}
		content := cmp.Or(firstText(get, r.contentKey), r.content[0])
		rel, ok := strings.CutPrefix(file, path.Clean(content)+"/")
		if !ok {
			continue
		}
		for key := range strings.FieldsSeq(r.excludeKeys) {
			for line := range strings.Lines(textOf(get(key))) {
				if ignored(strings.TrimSpace(line), rel) {
					return key[strings.LastIndexByte(key, '.')+1:]
				}
			}
		}
	}
	return ""
}

// ReadsContent returns a function that reports whether the generator makes pages of a
// content file of the project in dir, a slash path relative to it.
func ReadsContent(n Name, dir string) func(file string) bool {
	t, dirs := n.Traits(), n.Content()
	if t.OwnContent {
		if own := rowOf(n).project(dir, "", "").ownContent(); own != "" {
			dirs = []string{own}
		}
	}
	return func(file string) bool {
		return (!t.InDirectories || strings.Contains(file, "/")) &&
			(!t.OwnContent || slices.ContainsFunc(dirs, func(dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }))
	}
}

// ownContent returns the directory of content that the configuration names, "" for none.
func (p Project) ownContent() (dir string) {
	for _, name := range p.Configs {
		if get, err := lookup(p, name); err == nil {
			dir = cmp.Or(firstText(get, rowOf(p.Generator).contentKey), dir)
		}
	}
	if dir == "" {
		return ""
	}
	return path.Clean(dir)
}

// ignored reports whether a pattern of a list such as .gitignore matches a file or a
// directory above it.
func ignored(pattern, file string) bool {
	if pattern = strings.TrimSuffix(pattern, "/"); pattern == "" || pattern[0] == '#' {
		return false
	}
	parts := strings.Split(file, "/")
	for i := range parts {
		above := strings.Join(parts[:i+1], "/")
		if !strings.Contains(pattern, "/") {
			above = parts[i]
		}
		if ok, _ := path.Match(strings.TrimPrefix(pattern, "/"), above); ok {
			return true
		}
	}
	return false
}

// firstText returns the text of the first of keys that has one, "" for none.
func firstText(get func(key string) any, keys string) string {
	for key := range strings.FieldsSeq(keys) {
		if value := textOf(get(key)); value != "" {
			return value
		}
	}
	return ""
}
