package redirect

import "strings"

// Options configures a [Set].
type Options struct {
	// Scheme and Host are those of the published site, as in "https" and
	// "blog.example". An absolute destination with this host belongs to the
	// site. If they are empty, all absolute destinations are external.
	Scheme, Host string
	// Roots are the other hosts of the site, each with its directory, such as "/fr": an
	// absolute destination with such a host belongs to the site, too.
	Roots map[string]string
}

// Set is the rules of a site, in the order in which the host evaluates them. It is
// immutable and safe for concurrent use.
type Set struct {
	opt   Options
	rules []setRule
	// raw has the rules that are compared with the path as requested, decoded
	// those that are compared with the percent-decoded path.
	raw, decoded index
	reserved     bool  // see [File]
	aliases      int32 // order of the first rule of Apache's mod_alias
	faults       []Fault
	unjudged     int
}

// setRule is a rule with its position in a set.
type setRule struct {
	*Rule
	order   int32    // in the set
	module  int32    // of a file
	ended   int32    // rules of the same module and stage are ended by one Pass
	next    int32    // the next rule with the same path or key in the index, or none
	within  string   // the directory of the .htaccess, for a rule of mod_alias
	exclude []string // directories whose own .htaccess replaces these rules
}

// none ends a list of rules.
const none = -1

// groupsPerFile is the number of groups in a file: those of Apache's mod_rewrite
// and mod_alias.
const groupsPerFile = 2

// New joins the files, in the order in which the host evaluates them, into a set.
// The set shares their rules.
func New(opt Options, files ...*File) *Set {
	s := &Set{opt: opt}
	files = inOrder(files)
	total := 0
	for _, f := range files {
		total += len(f.Rules)
		s.reserved = s.reserved || f.reserved
	}
	s.rules = make([]setRule, 0, total)
	var rewriteDirs []string
	for _, f := range files {
		if f.rewrites {
			rewriteDirs = append(rewriteDirs, f.Settings.Dir)
		}
	}
	// Apache evaluates all rules of mod_rewrite first. For other hosts, all rules
	// are in the first group.
	for group := range int32(groupsPerFile) {
		if group == groupAlias {
			s.aliases = int32(len(s.rules))
		}
		for n, f := range files {
			exclude, within := []string(nil), ""
			if group == groupAlias {
				within = f.Settings.Dir
			}
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
				module := int32(n)*groupsPerFile + group
				s.rules = append(s.rules, setRule{Rule: r, order: int32(len(s.rules)), module: module, ended: 2*module + int32(r.Stage), next: none, within: within, exclude: exclude})
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

// Rules returns the rules in order. The caller must not change them.
func (s *Set) Rules() []*Rule {
	rules := make([]*Rule, len(s.rules))
	for i := range s.rules {
		rules[i] = s.rules[i].Rule
	}
	return rules
}

// Unjudged returns the number of conditional rules; see [Rule].
func (s *Set) Unjudged() int { return s.unjudged }
