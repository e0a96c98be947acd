package check

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sitelink/sitelink/internal/weburl"
)

// ignores are compiled ignore rules that remember how often they were of use.
// They belong to one goroutine.
type ignores struct {
	rules []Ignore
	used  []int
}

func compileIgnores(rules []Ignore) (*ignores, error) {
	for _, r := range rules {
		for _, p := range []string{r.URL, r.Page, r.Fragment} {
			if !doublestar.ValidatePattern(p) {
				return nil, fmt.Errorf("%s: bad pattern %q", r.Origin, p)
			}
		}
		if r.URL == "" && r.Page == "" && r.Fragment == "" && r.Code == "" {
			return nil, fmt.Errorf("%s: the rule names no url, page, fragment or code", r.Origin)
		}
	}
	return &ignores{rules: rules, used: make([]int, len(rules))}, nil
}

// match tells whether a rule accepts the finding. Every rule that does is
// noted as used, so that the unused ones can be named.
func (ig *ignores) match(f *Finding) bool { return ig.count(f, 1) }

// count is match for n findings that are alike; -1 takes one back.
func (ig *ignores) count(f *Finding, n int) bool {
	hit := false
	for i := range ig.rules {
		if ig.rules[i].matches(f) {
			ig.used[i] += n
			hit = true
		}
	}
	return hit
}

// first returns the first rule that accepts the finding, as the user wrote it;
// empty if none does.
func (ig *ignores) first(f *Finding) string {
	for i := range ig.rules {
		if ig.rules[i].matches(f) {
			return ig.rules[i].String()
		}
	}
	return ""
}

func (r *Ignore) matches(f *Finding) bool {
	path, _, _ := strings.Cut(f.Target, "?")
	return (r.Code == "" || r.Code == f.Code) &&
		matchAny(r.Page, f.Page) &&
		matchAny(r.URL, f.Raw, f.Target, path) &&
		matchAny(r.Fragment, f.Fragment, string(weburl.PercentDecode(nil, f.Fragment)))
}

// matchAny tells whether an empty pattern, or one that fits a value, was given.
func matchAny(pattern string, values ...string) bool {
	if pattern == "" {
		return true
	}
	for _, v := range values {
		if ok, _ := doublestar.Match(pattern, v); ok {
			return true
		}
	}
	return false
}

// unused returns the rules that matched nothing, as the user wrote them.
func (ig *ignores) unused() []string {
	var out []string
	for i, r := range ig.rules {
		if ig.used[i] == 0 && !r.MayBeUnused {
			out = append(out, r.String())
		}
	}
	return out
}

// String returns the rule in the form of --ignore, after its origin.
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
