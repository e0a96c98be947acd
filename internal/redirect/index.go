package redirect

import "strings"

// index finds the rules that could match a path without asking the others. A
// rule for one path is found by that path, any other by the whole literal
// segments at the start of its pattern. BenchmarkMatch on an AMD EPYC: a path
// that a rule matches takes 130 ns with 100 rules and 140 ns with 10,000, one
// that none matches 27 ns and 40 ns, MayMatch 17 ns and 28 ns.
type index struct {
	exact, keyed map[string]list
	depth        int // the most slashes in a key
	// lengths has a bit for each length of a key, of 64 and more the last one: most
	// starts of a path are no key for their length alone.
	lengths uint64
}

// list is the first and the last of the rules with one path or key; between them
// leads [placed.next].
type list struct{ first, last int32 }

// newIndex makes the index of those rules that see the path decoded, or as
// requested.
func newIndex(rules []placed, decoded bool) (ix index) {
	exacts, keys := 0, 0
	for i := range rules {
		switch m := &rules[i].match; {
		case m.form == never || m.decoded != decoded:
		case m.isExact():
			exacts++
		default:
			keys++
		}
	}
	if exacts > 0 {
		ix.exact = make(map[string]list, exacts)
	}
	if keys > 0 {
		ix.keyed = make(map[string]list, keys)
	}
	for i := range rules {
		switch m := &rules[i].match; {
		case m.form == never || m.decoded != decoded:
		case m.isExact():
			enlist(ix.exact, m.prefix, rules, int32(i))
		default:
			enlist(ix.keyed, m.key, rules, int32(i))
			ix.depth = max(ix.depth, strings.Count(m.key, "/"))
			ix.lengths |= lengthBit(m.key)
		}
	}
	return ix
}

// enlist puts rule n at the end of a list.
func enlist(lists map[string]list, key string, rules []placed, n int32) {
	l, ok := lists[key]
	if ok {
		rules[l.last].next = n
	} else {
		l.first = n
	}
	l.last = n
	lists[key] = l
}

func lengthBit(key string) uint64 { return 1 << min(len(key), 63) }

// isExact tells whether the pattern is found by its path.
func (p *pattern) isExact() bool { return p.form == exact || p.form == exactSlash }

func (ix *index) empty() bool { return ix.exact == nil && ix.keyed == nil }

// lists calls visit with the first rule of each list that could match the path,
// until it returns false. Every list is in order of the rules.
func (ix *index) lists(path string, visit func(first int32) bool) {
	if ix.exact != nil {
		if l, ok := ix.exact[path]; ok && !visit(l.first) {
			return
		}
		if n := len(path) - 1; n > 0 && path[n] == '/' {
			if l, ok := ix.exact[path[:n]]; ok && !visit(l.first) {
				return
			}
		}
	}
	if ix.keyed == nil {
		return
	}
	depth := 0
	for i := 0; i <= len(path); i++ {
		if i > 0 && i < len(path) && path[i] != '/' {
			continue
		}
		if ix.lengths&lengthBit(path[:i]) != 0 {
			if l, ok := ix.keyed[path[:i]]; ok && !visit(l.first) {
				return
			}
		}
		if depth++; depth > ix.depth {
			return
		}
	}
}

// MayMatch reports whether a rule that is asked before the files could match
// the path. It is cheap and errs on the side of yes: where it says no,
// [Set.Match] with [BeforeFiles] finds nothing. Safe for concurrent use, no
// allocation.
func (s *Set) MayMatch(path string) bool {
	if len(s.rules) == 0 {
		return false
	}
	may := false
	visit := func(n int32) bool {
		for ; n != none; n = s.rules[n].next {
			r := &s.rules[n]
			if r.Stage == BeforeFiles && (r.match.negated || strings.HasPrefix(path, r.match.prefix)) {
				may = true
				return false
			}
		}
		return true
	}
	s.raw.lists(path, visit)
	if !may && !s.decoded.empty() {
		if strings.IndexByte(path, '%') >= 0 {
			return true
		}
		s.decoded.lists(path, visit)
	}
	return may
}
