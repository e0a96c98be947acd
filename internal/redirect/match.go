package redirect

import (
	"math"
	"net/url"
	"strings"
)

// Request is what a rule is compared with.
type Request struct {
	// Scheme and Host as requested; empty when the site's address is not known.
	Scheme, Host string
	// Path is the path as requested: percent-encoded, beginning with a slash,
	// without query. Query is the query without "?".
	Path, Query string
	Stage       Stage
	// Original is the target (path and query) that was requested at first, if
	// Path is what a rewrite made of it (see [Rule].Again); else empty.
	Original string
	// Entry says what lies at a path of the docroot, percent-decoded, beginning
	// with a slash. It is only called for rules that ask for it; nil means that
	// nothing lies anywhere.
	Entry func(path string) Entry
}

// Hit is a rule that applies.
type Hit struct {
	Rule *Rule
	// To is the destination with its places filled: a path with query and
	// fragment, or an absolute URL; empty if the rule has none. Where the host
	// hands the request's query on, it is there.
	To string

	order int32 // of the rule in its set
}

// Match returns the first rule, in the host's order, that applies to the
// request. Hosts look for the first rule whatever its stage: with [BeforeFiles]
// a rule that waits for the files hides the forced ones behind it, and nothing
// is returned.
//
// The rule may be Conditional: then the host applies it or goes on, and
// [Set.Next] says what it finds there. Safe for concurrent use. A request that no
// rule matches costs no allocation, unless its path is percent-encoded and rules
// see it decoded.
func (s *Set) Match(req Request) (Hit, bool) { return s.from(req, 0) }

// Next returns the first rule behind that of after that applies to the request.
func (s *Set) Next(req Request, after Hit) (Hit, bool) { return s.from(req, after.order+1) }

// maxRewrites bounds the rewrites that one request goes through inside a set.
const maxRewrites = 100

func (s *Set) from(req Request, start int32) (Hit, bool) {
	if len(s.rules) == 0 {
		return Hit{}, false
	}
	var (
		hit      Hit
		changed  bool
		original = req
		decoded  = s.decode(req.Path)
		skip     = int32(-1) // the group that a Pass has ended
		only     = int32(-1) // the group inside which a rewrite goes on
	)
	for range maxRewrites {
		r, captured := s.first(&req, decoded, start, skip, only)
		if r == nil || r.Stage == AfterFiles && req.Stage == BeforeFiles {
			return s.rewritten(&original, hit, start, changed)
		}
		to := r.to.fill(captured, &req)
		if r.self != nil && r.self.holds(&req, captured) {
			return Hit{}, false
		}
		if r.flags&(keepsQuery|joinsQuery) != 0 {
			to = withQuery(to, req.Query, r.flags&joinsQuery != 0)
		}
		pass := r.Kind == Pass
		if r.Again {
			// Apache ignores a rewrite that changes nothing, and stops there.
			target, _, _ := strings.Cut(to, "?")
			pass = pass || r.Kind == Rewrite && target == req.Path
		}
		switch {
		case pass && r.flags&continues != 0:
			start = r.order + 1
		case pass:
			start, skip = r.order+1, r.module
			if changed {
				return s.rewritten(&original, hit, start, true)
			}
		case r.Kind == Rewrite && r.flags&continues != 0 && strings.HasPrefix(to, "/"):
			hit, changed = Hit{r.Rule, to, r.order}, true
			start, only = r.order+1, r.module
			req.Path, req.Query, _ = strings.Cut(to, "?")
			decoded = s.decode(req.Path)
		case r.Kind == Rewrite:
			return s.rewritten(&original, Hit{r.Rule, to, r.order}, start, true)
		default:
			return Hit{r.Rule, to, r.order}, true
		}
	}
	return s.rewritten(&original, hit, start, changed)
}

// rewritten is what comes of a rewrite. Apache asks mod_alias before it carries
// out what mod_rewrite has decided: a Redirect for the path as requested wins.
// After [END] it is asked again with the new path.
func (s *Set) rewritten(req *Request, hit Hit, start int32, ok bool) (Hit, bool) {
	if !ok || hit.order >= s.aliases || int(s.aliases) == len(s.rules) {
		return hit, ok
	}
	for _, path := range []string{req.Path, hit.To} {
		at := *req
		at.Path, _, _ = strings.Cut(path, "?")
		r, captured := s.first(&at, s.decode(at.Path), max(start, s.aliases), -1, -1)
		if r != nil && r.Kind != Rewrite {
			to := r.to.fill(captured, &at)
			if r.flags&keepsQuery != 0 {
				to = withQuery(to, req.Query, false)
			}
			return Hit{r.Rule, to, r.order}, true
		}
		if hit.Rule.flags&onlyAlias == 0 {
			break
		}
	}
	return hit, true
}

// decode returns the path percent-decoded if any rule wants to see it so.
func (s *Set) decode(path string) string {
	if strings.IndexByte(path, '%') < 0 || s.decoded.empty() {
		return path
	}
	return unescapePath(path)
}

// unescapePath percent-decodes a path; one that cannot be decoded stays.
func unescapePath(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// first returns the rule of the lowest order, from start on, that applies.
func (s *Set) first(req *Request, decoded string, start, skip, only int32) (*placed, []string) {
	best, captured := int32(math.MaxInt32), []string(nil)
	path := req.Path
	visit := func(n int32) bool {
		for ; n != none && n < best; n = s.rules[n].next {
			r := &s.rules[n]
			if n < start || r.module == skip || only >= 0 && r.module != only {
				continue
			}
			if got, ok := r.applies(req, path); ok {
				best, captured = n, got
				break
			}
		}
		return true
	}
	s.raw.lists(path, visit)
	path = decoded
	s.decoded.lists(path, visit)
	if best == math.MaxInt32 {
		return nil, nil
	}
	return &s.rules[best], captured
}

// applies compares everything that a rule asks for. path is decoded where the
// rule wants that.
func (r *placed) applies(req *Request, path string) ([]string, bool) {
	if r.host != "" && (!strings.EqualFold(r.host, req.Host) || r.scheme != "" && req.Scheme != "" && r.scheme != req.Scheme) {
		return nil, false
	}
	captured, ok := r.match.matches(path)
	if !ok {
		return nil, false
	}
	if r.self != nil && r.self.holds(req, captured) {
		return captured, true // ends the search, see selfCheck
	}
	for _, q := range r.query {
		value, found := queryValue(req.Query, q.key)
		if !found || !q.capture && value != q.value {
			return nil, false
		}
		if q.capture {
			captured = append(captured, value)
		}
	}
	for _, dir := range r.exclude {
		if strings.HasPrefix(path, dir) {
			return nil, false
		}
	}
	own := len(captured)
	for _, list := range r.conditions {
		met := false
		for i := range list {
			got, ok := list[i].holds(req, path, captured[:own])
			if ok {
				if met = true; len(got) > 0 {
					captured = append(captured[:own:own], got...)
				}
				break
			}
		}
		if !met {
			return nil, false
		}
	}
	return captured, true
}

// queryValue returns the decoded value of a parameter; of several the last, and
// none where the "=" is missing, as Netlify does.
func queryValue(query, key string) (value string, found bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, text, ok := strings.Cut(pair, "=")
		if ok && (name == key || unescapeForm(name) == key) {
			value, found = unescapeForm(text), true
		}
	}
	return value, found
}

func unescapeForm(s string) string {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '+') < 0 {
		return s
	}
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

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
