package redirect

import "strings"

// Options of a set.
type Options struct {
	// Scheme and Host are those at which the site is published, as in
	// "https" and "blog.example". They decide which absolute destinations lead
	// back to the site. Empty means unknown: all absolute ones lead away.
	Scheme, Host string
}

// Set is the rules of a site, in the order in which its host asks them. It
// never changes after [New] and is safe for concurrent use.
type Set struct {
	opt   Options
	rules []placed
	// Two indexes: rules that see the path as requested, and rules that see it
	// percent-decoded.
	raw, decoded index
	aliases      int32 // order of the first rule of Apache's mod_alias
	faults       []Fault
	unjudged     int
}

// placed is a rule at its place in a set.
type placed struct {
	*Rule
	order   int32    // in the set
	module  int32    // rules that one Pass ends together
	next    int32    // the next rule that its index finds by the same path, or none
	exclude []string // directories whose own .htaccess replaces this one's rules
}

// none is behind the last rule of a list.
const none = -1

// groupsPerFile is more than the groups that one file has: Apache's
// mod_rewrite and mod_alias.
const groupsPerFile = 2

// New joins the files, in the order in which the host asks them, into a set,
// which shares their rules.
func New(opt Options, files ...*File) *Set {
	s := &Set{opt: opt}
	files = inOrder(files)
	total := 0
	for _, f := range files {
		total += len(f.Rules)
	}
	s.rules = make([]placed, 0, total)
	var rewriteDirs []string
	for _, f := range files {
		if f.rewrites {
			rewriteDirs = append(rewriteDirs, f.Settings.Dir)
		}
	}
	// Apache asks all rules of mod_rewrite first. For other hosts all rules are
	// of the first group.
	for group := range int32(groupsPerFile) {
		if group == groupAlias {
			s.aliases = int32(len(s.rules))
		}
		for n, f := range files {
			var exclude []string
			if group == groupRewrite && f.rewrites {
				for _, dir := range rewriteDirs {
					if len(dir) > len(f.Settings.Dir) && strings.HasPrefix(dir, f.Settings.Dir) {
						exclude = append(exclude, dir)
					}
				}
			}
			for i := range f.Rules {
				r := &f.Rules[i]
				if r.group != group {
					continue
				}
				s.rules = append(s.rules, placed{Rule: r, order: int32(len(s.rules)), module: int32(n)*groupsPerFile + group, next: none, exclude: exclude})
				if r.Conditional {
					s.unjudged++
				}
			}
		}
	}
	s.raw, s.decoded = newIndex(s.rules, false), newIndex(s.rules, true)
	for _, f := range files {
		s.faults = append(s.faults, f.Faults...)
		if f.dropped > 0 {
			s.faults = append(s.faults, Fault{Code: CodeSyntax, File: f.Name, Message: "the file has " + count(f.dropped, "more fault")})
		}
	}
	return s
}

// Len returns the number of rules.
func (s *Set) Len() int { return len(s.rules) }

// Rules returns the rules in their order. The caller must not change them.
func (s *Set) Rules() []*Rule {
	rules := make([]*Rule, len(s.rules))
	for i := range s.rules {
		rules[i] = s.rules[i].Rule
	}
	return rules
}

// Unjudged returns how many rules depend on what no static check knows.
func (s *Set) Unjudged() int { return s.unjudged }
