package check

import (
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/glob"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// Options say what counts as a finding. The zero value reports everything.
type Options struct {
	// Ignore lists the findings that the user accepts.
	Ignore []Ignore
	// ScriptFragments says how to judge fragments that scripts serve.
	ScriptFragments ScriptFragments
	// ScriptRules say which fragments scripts serve, in addition to what Run
	// finds out. They apply to any ScriptFragments.
	ScriptRules []ScriptRule
	// NoFragments turns off the check of fragments and map names (LL-63).
	NoFragments bool
	// Jobs is the number of workers; 0 means one for each processor.
	Jobs int
	// From lists linksets, see [ParseLinkset]. Only their pages have their links
	// judged, and of them only those that links lead to from the linksets' seeds.
	// Empty means every page of the docroot.
	From []string
	// Skip lists linksets of pages. Their links are not judged (LL-22).
	Skip []string
	// Pages are patterns of the docroot-relative paths of pages, as in [Ignore]: only
	// their links are judged. Empty means every page. From and Pages exclude each other.
	Pages []string
	// Limit is the largest number of pages to judge the links of, 0 for no
	// limit (LL-23).
	Limit int
	// More, when set, returns further findings about files. Their Element and
	// Raw are empty, and their Count is 1.
	More func(s *site.Site) []Finding
	// Orphans reports files that no page links to, and pages that no chain of
	// links leads to (LL-109).
	Orphans bool
	// MaxFindings bounds the memory that a result needs: it is the largest number of
	// findings about links in [Result.Findings], 0 for no limit. One with a target of
	// more than 256 bytes counts as several. Errors come first, in the order of pages,
	// then warnings. The others are counted as always, and
	// [Summary.UnlistedErrors] and [Summary.UnlistedWarnings] are their numbers. A
	// baseline needs all findings.
	MaxFindings int

	scope *scope // what From, Skip and Limit leave; set before links are judged
}

// counts reports whether bad links beyond MaxFindings are only counted. Ignore rules
// have to see each of them.
func (opt *Options) counts() bool {
	return opt.MaxFindings > 0 && len(opt.Ignore) == 0
}

// ScriptFragments says how fragments are judged that no element of their page
// has, but that a script of the page can serve.
type ScriptFragments uint8

const (
	// ScriptWarn reports them once for each target page, as a warning.
	ScriptWarn ScriptFragments = iota
	// ScriptError judges them like any other fragment, unless a [ScriptRule] matches.
	ScriptError
	// ScriptSilent counts them as unchecked without reporting them.
	ScriptSilent
)

// ScriptRule says that scripts serve the fragments that match every field that is
// not empty. Patterns are those of [Ignore].
type ScriptRule struct {
	// Page matches the docroot-relative path of the page that a link leads to.
	Page string
	// Fragment matches the link's fragment, percent-decoded or as written.
	Fragment string
	// Origin names the rule in messages: "sitelink.toml:12".
	Origin string
}

// Ignore is one ignore rule. A finding is ignored when it matches every field
// that is not empty. Patterns are doublestar globs: * stays within a path
// segment, ** crosses slashes.
type Ignore struct {
	// URL matches the link as written, its target without query, or its target.
	URL string
	// Page matches the docroot-relative path of the page.
	Page string
	// Fragment matches the link's fragment, percent-decoded or as written.
	Fragment string
	// Code is one of the codes of findings.
	Code Code
	// Reason tells the reader of the configuration why the rule exists.
	Reason string
	// Origin names the rule in messages: "sitelink.toml:12" or "--ignore".
	Origin string
	// MayBeUnused keeps the rule out of [Summary.UnusedIgnores].
	MayBeUnused bool
	// Endpoint: the address is one of the site's endpoints, see [IgnorePrograms]. Links that
	// only such rules accept count in [Summary.Endpoints].
	Endpoint bool
}

// IgnorePrograms returns rules that accept links to addresses at which programs
// answer, such as the endpoints that pages name: no file of the docroot does. Empty
// addresses are left out. origin is the [Ignore.Origin] of the rules.
func IgnorePrograms(origin string, addresses ...string) []Ignore {
	literal := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)
	var rules []Ignore
	for _, address := range addresses {
		if address == "" {
			continue
		}
		for _, code := range []Code{MissingFile, MissingDirectory} {
			rules = append(rules, Ignore{URL: literal.Replace(address), Code: code, MayBeUnused: true, Endpoint: true, Origin: origin, Reason: "a program answers at the endpoint"})
		}
	}
	return rules
}

// String returns the rule as --ignore takes it, after its origin.
func (r Ignore) String() string {
	var parts []string
	for _, p := range []struct{ key, value string }{{"url", r.URL}, {"page", r.Page}, {"fragment", r.Fragment}, {"code", string(r.Code)}} {
		if p.value != "" {
			parts = append(parts, p.key+"="+p.value)
		}
	}
	s := strings.Join(parts, ",")
	if r.Origin != "" {
		s = r.Origin + ": " + s
	}
	return s
}

func (r *Ignore) matches(f *Finding) bool {
	path, _, _ := strings.Cut(f.Target, "?")
	return (r.Code == "" || r.Code == f.Code) &&
		matchAny(r.Page, f.Page) &&
		matchAny(r.URL, f.Raw, f.Target, path) &&
		matchAny(r.Fragment, f.Fragment, string(weburl.PercentDecode(nil, f.Fragment)))
}

// matchAny reports whether the pattern is empty or matches one of the values.
func matchAny(pattern string, values ...string) bool {
	if pattern == "" {
		return true
	}
	for i, v := range values {
		if (i == 0 || v != values[i-1]) && glob.Match(pattern, v) { // most links are written as they are requested
			return true
		}
	}
	return false
}

// ignoreRules are ignore rules that remember whether they matched anything. They
// belong to one goroutine.
type ignoreRules struct {
	rules    []Ignore
	used     []bool
	endpoint bool // the rules that matched last were those for endpoints
}

func newIgnoreRules(opt *Options) (*ignoreRules, error) {
	for _, r := range opt.ScriptRules {
		for _, p := range []string{r.Page, r.Fragment} {
			if err := glob.Check(p); err != nil {
				return nil, fmt.Errorf("%s: %.100q: %w", r.Origin, p, err)
			}
		}
		if r.Page == "" && r.Fragment == "" {
			return nil, fmt.Errorf("%s: the rule needs a page or fragment", r.Origin)
		}
	}
	rules := opt.Ignore
	for _, r := range rules {
		for _, p := range []string{r.URL, r.Page, r.Fragment} {
			if err := glob.Check(p); err != nil {
				return nil, fmt.Errorf("%s: %.100q: %w", r.Origin, p, err)
			}
		}
		if r.URL == "" && r.Page == "" && r.Fragment == "" && r.Code == "" {
			return nil, fmt.Errorf("%s: the rule needs a url, page, fragment or code", r.Origin)
		}
	}
	return &ignoreRules{rules: rules, used: make([]bool, len(rules))}, nil
}

// match reports whether a rule matches the finding. It marks every such rule as
// used.
func (ig *ignoreRules) match(f *Finding) bool {
	matched := false
	ig.endpoint = true
	for i := range ig.rules {
		if ig.rules[i].matches(f) {
			ig.used[i], matched = true, true
			ig.endpoint = ig.endpoint && ig.rules[i].Endpoint
		}
	}
	return matched
}

// first returns the first rule that matches the finding, as the user wrote it;
// "" if none does.
func (ig *ignoreRules) first(f *Finding) string {
	for i := range ig.rules {
		if ig.rules[i].matches(f) {
			return ig.rules[i].String()
		}
	}
	return ""
}

// unused returns the rules that matched nothing, as the user wrote them.
func (ig *ignoreRules) unused() []string {
	var out []string
	for i, r := range ig.rules {
		if !ig.used[i] && !r.MayBeUnused {
			out = append(out, r.String())
		}
	}
	return out
}
