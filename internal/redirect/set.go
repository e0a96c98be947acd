package redirect

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Options configures a [Set].
type Options struct {
	// Scheme and Host are those of the published site, as in "https" and
	// "blog.example". An absolute destination with this host belongs to the
	// site. If they are empty, all absolute destinations are external.
	Scheme, Host string
	// Roots are the other hosts of the site, each with its directory, such as "/fr": an
	// absolute destination with such a host belongs to the site, too.
	Roots map[string]string
	// Show, if not nil, returns what messages call a file.
	Show func(file string) string
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
	seed         maphash.Seed // of answers
	work, checks *work        // checks is for what [Set.Check] asks, of a docroot without rules
}

// work bounds what the comparison of requests with rules costs. Most requests are compared
// with a few rules that the index finds; but of 20,000 rules without fixed text in front,
// each is compared with each request. The unit is a rule that is looked at, or 64 steps of a
// regular expression: some 100 ns.
//
// A costly request is counted once, and its answer is known from then on. So the sum does
// not depend on which worker asks first, and what is granted is known before any asks.
type work struct {
	spent, granted atomic.Int64
	answers        sync.Map // of uint64, the hash of a request, to Hit
}

// What the rules of a site may cost: as much as a site of 1 MB needs to end in a few
// seconds, and in proportion to the pages.
const (
	allowedAtFirst = 20 << 20
	allowedPerByte = 20
)

// IsCostly reports whether a request may cost so much that it counts.
func (s *Set) IsCostly() bool {
	return s != nil && (len(s.rules) > fewRules || slices.ContainsFunc(s.rules, func(r setRule) bool { return r.cost > 0 }))
}

// Allow grants what the rules may cost for n bytes of pages. It is called before they are
// read.
func (s *Set) Allow(n int64) { s.work.granted.Add(n * allowedPerByte) }

// left returns what the rules may still cost; it is negative if they cost too much.
func (w *work) left() int64 { return allowedAtFirst + w.granted.Load() - w.spent.Load() }

// TooCostly returns the rule that costs most, and what is wrong with it, if the rules cost
// more than was granted. What requests were answered then is not certain.
func (s *Set) TooCostly() error {
	if s == nil || s.work.left() >= 0 && s.checks.left() >= 0 {
		return nil
	}
	most, unindexed := &s.rules[0], 0
	for i := range s.rules {
		r := &s.rules[i]
		if r.match.key == "" && !r.match.isExact() {
			unindexed++
		}
		if r.cost > most.cost {
			most = r
		}
	}
	return fmt.Errorf("%s:%d: the redirect rules take too long for a site of this size: %s of the site can match any address, and this one is the most costly: %s; begin patterns with fixed text such as /blog/, or shorten them",
		s.opt.Show(most.Source.File), most.Source.Line, count(unindexed, "rule"), clip(most.Text))
}

// maxRuleInstructions is the largest size of all expressions of a set, beyond an
// instruction for each byte of them: 100,000 rules of a few words are allowed, but
// repetitions such as (a{1,900}){1,9} are not.
const maxRuleInstructions = 1_000_000

// size returns the instructions of all expressions of a rule, and their bytes.
func (r *Rule) size() (n, bytes int) {
	add := func(e *expression) {
		if e != nil {
			n, bytes = n+e.size, bytes+len(e.source)
		}
	}
	add(r.match.expr)
	const start = 32 // what it costs at least to look for an expression or a file
	for _, e := range r.match.not {
		add(e)
		n, bytes = n+start, bytes+start
	}
	for _, list := range r.conditions {
		for i := range list {
			add(list[i].expr)
			n, bytes = n+start+len(list[i].at.parts), bytes+start+len(list[i].at.parts)
		}
	}
	return n, bytes
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
	cost    int64    // instructions of its expressions and conditions
}

// none ends a list of rules.
const none = -1

// groupsPerFile is the number of groups in a file: those of Apache's mod_rewrite
// and mod_alias.
const groupsPerFile = 2

// New joins the files, in the order in which the host evaluates them, into a set.
// The set shares their rules.
func New(opt Options, files ...*File) *Set {
	if opt.Show == nil {
		opt.Show = func(file string) string { return file }
	}
	s := &Set{opt: opt, seed: maphash.MakeSeed(), work: &work{}, checks: &work{}}
	instructions := 0
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
				size, bytes := r.size()
				if instructions += max(size-bytes, 0); instructions > maxRuleInstructions && size > 0 {
					f.fault(CodeSyntax, Error, r.Source.Line, r.Text, "the patterns of the rules are too large: compiled, they have 1,000,000 instructions more than the patterns have bytes, so sitelink leaves this one out")
					continue
				}
				module := int32(n)*groupsPerFile + group
				s.rules = append(s.rules, setRule{Rule: r, order: int32(len(s.rules)), module: module, ended: 2*module + int32(r.Stage), next: none, within: within, exclude: exclude, cost: int64(size + len(exclude) + 16*len(r.query))})
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
