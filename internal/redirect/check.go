package redirect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/text"
)

// maxHops is the number of redirects to follow; browsers give up after 20.
const maxHops = 20

var (
	groupName = text.Regexp(`\(\?P<\w+>`)
	// samplePlaceholder matches what samplePath replaces with the sample.
	samplePlaceholder = text.Regexp(`:[A-Za-z_]\w*(\([^()]*\))?[*+?]?|\((\?:)?(\.[*+]|\[\^/\][*+])\??\)|\*`)
)

// sample is a path segment that no site uses, in place of captured text.
const sample = "sitelink-sample"

// Check checks the rules themselves. exists reports whether the host has a page
// for a path (percent-encoded, without query) without applying any rule; the host may
// add a trailing slash by a redirect. It is true, too, for paths that are not of the
// site, because another site may have the page. One goroutine calls it.
//
// Check returns the faults of the files and those it finds, sorted by file, line
// and code: missing destinations, loops, chains, and rules that never apply
// because of an earlier rule or a file. It follows a destination with captures
// using a sample, and checks it only for loops and chains. It never follows
// destinations on other hosts. The time is proportional to the number of rules.
func (s *Set) Check(exists func(path string) bool) []Fault {
	own := *s
	own.work = s.checks
	c := &checker{Set: &own, exists: exists, faults: slices.Clone(s.faults)}
	c.entry = func(path string) EntryKind {
		if !exists(encodePath(path)) {
			return Nothing
		}
		if strings.HasSuffix(path, "/") {
			return DirEntry
		}
		return FileEntry
	}
	shapes := map[string]*setRule{}
	slashes := map[string][]*setRule{} // by file
	for i := range s.rules {
		r := &s.rules[i]
		if r.match.form == never {
			if r.Kind == Rewrite {
				c.follow(r.Rule) // the page of an error
			}
			continue
		}
		if by := s.coveredBy(r, shapes); by != nil && !r.Conditional {
			if by.repeats(r) {
				slashes[r.Source.File] = append(slashes[r.Source.File], r)
				continue
			}
			c.add(r.Rule, CodeUnreachable, Warning, fmt.Sprintf("the rule never applies: %s comes first and matches every path that this rule matches", c.where(by.Rule, r.Rule)))
			continue
		}
		if !c.shadowed(r.Rule) {
			c.follow(r.Rule)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(slashes)) {
		rules := slashes[file]
		// One fault stands for all rules of a file that say what an earlier rule says, for the
		// same path with or without its final slash. They do no harm.
		first := slices.MinFunc(rules, func(a, b *setRule) int { return cmp.Compare(a.Source.Line, b.Source.Line) })
		message := "this rule is not needed"
		if n := len(rules); n > 1 {
			message = fmt.Sprintf("%d rules, this one first, are not needed", n)
		}
		c.add(first.Rule, CodeUnreachable, Warning, message+": the host applies the same rule for the path with and without its final slash")
	}
	if c.dropped > 0 {
		c.faults[len(c.faults)-1].Message += "; not listed: " + count(c.dropped, "more fault")
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
	})
	return c.faults
}

// maxCheckFaults is the largest number of faults that Check finds: 1 MB can hold 150,000
// rules that never apply.
const maxCheckFaults = 10_000

type checker struct {
	*Set
	exists func(path string) bool
	entry  func(path string) EntryKind
	faults []Fault
	// dropped is the number of faults above maxCheckFaults.
	dropped int
	// visited are the paths that one rule leads to; the next rule reuses the slice.
	visited []string
}

func (c *checker) add(r *Rule, code string, severity Severity, message string) {
	if len(c.faults)-len(c.Set.faults) >= maxCheckFaults {
		c.dropped++
		return
	}
	c.faults = append(c.faults, Fault{Code: code, Severity: severity, File: r.Source.File, Line: r.Source.Line, Message: message, Text: r.Text})
}

// repeats reports whether r says the same as e and their sources differ by a
// final slash only.
func (e *setRule) repeats(r *setRule) bool {
	return e.match.form == exactSlash && r.match.form == exactSlash && e.Pattern != r.Pattern &&
		strings.TrimSuffix(e.Pattern, "/") == strings.TrimSuffix(r.Pattern, "/") && e.To == r.To && e.Status == r.Status
}

// where describes the position of a rule in a message about another rule.
func (s *Set) where(r, other *Rule) string {
	if r.Source.File != other.Source.File {
		return fmt.Sprintf("line %d of %s", r.Source.Line, s.opt.Show(r.Source.File))
	}
	return fmt.Sprintf("line %d", r.Source.Line)
}

// shadowed adds a fault if the rule is for a single path, the site has a file
// there, and files take precedence.
func (c *checker) shadowed(r *Rule) bool {
	if r.Stage != AfterFiles || r.match.form != exact && r.match.form != exactSlash || !c.isOwn(r) {
		return false
	}
	path := r.match.prefix
	if r.match.decoded {
		path = encodePath(path)
	}
	if !c.exists(path) {
		return false
	}
	message := "the rule never applies: the site has a file at " + path + ", and this host serves files first"
	if r.Kind == Redirect {
		message += "; remove the file or force the rule"
	}
	c.add(r, CodeShadowed, Warning, message)
	return true
}

// isOwn reports whether the rule applies on the site's own host.
func (c *checker) isOwn(r *Rule) bool {
	return r.host == "" || strings.EqualFold(r.host, c.opt.Host)
}

// follow follows the rule's destination and adds a fault if it is missing, or part
// of a loop or chain.
func (c *checker) follow(r *Rule) {
	if r.to.isEmpty() || r.Kind == Pass || r.Kind == Proxy {
		return
	}
	source := r.samplePath()
	to, fixed := r.to.fill(nil, nil), r.to.isFixed()
	if !fixed {
		req := c.request(source)
		captured, ok := r.match.matches(source)
		if source == "" || !ok {
			return // no sample is known for its captures
		}
		to = r.to.fill(captured, &req)
	}
	severity := Error
	if fixed && len(to) > MaxAddress {
		c.add(r, CodeTargetMissing, severity, "the destination is longer than the 8 KiB that servers accept")
		return
	}
	if r.Conditional {
		severity = Warning
	}
	visited := c.visited[:0]
	if source != "" && c.isOwn(r) {
		visited = append(visited, source)
	}
	defer func() { c.visited = visited }()
	if r.Kind != Redirect && !r.Again {
		path, local := c.local(to)
		if local && fixed && !c.answers(path) {
			c.add(r, CodeTargetMissing, severity, "the destination "+path+" does not exist")
		}
		return
	}
	var chain *Rule // the second redirect, or nil
	onward := ""
	defer func() {
		if onward != "" {
			c.add(r, CodeChain, Warning, onward)
		}
	}()
	waits := !fixed && r.Stage == AfterFiles
	for range maxHops {
		if len(to) > MaxAddress {
			onward = ""
			c.add(r, CodeLoop, severity, "the rule redirects without end: the address grows at each redirect, to more than the 8 KiB that servers accept")
			return
		}
		path, local := c.local(to)
		if !local {
			return
		}
		if slices.Contains(visited, path) {
			onward = "" // a loop is reported instead of a chain
			c.loop(r, visited, path, waits, severity)
			return
		}
		visited = append(visited, path)
		req := c.request(path)
		if r.Again {
			req.Original = visited[0]
		}
		hit, ok := c.Match(req)
		if !ok {
			if c.answers(path) {
				return
			}
			req.Stage = AfterFiles
			hit, ok = c.Match(req)
			waits = waits || ok && !fixed
		}
		switch {
		case !ok && fixed:
			onward = ""
			c.add(r, CodeTargetMissing, severity, "the destination "+path+c.chained(r, chain)+" does not exist")
			return
		case !ok || hit.Rule.Conditional || hit.Rule.Kind == Proxy:
			return
		case hit.Rule.Kind == Status:
			if fixed && hit.Rule.Status >= 400 {
				c.add(r, CodeTargetMissing, severity, fmt.Sprintf("the destination %s has the status %d because of %s", path, hit.Rule.Status, c.where(hit.Rule, r)))
			}
			return
		case hit.Rule.Kind == Rewrite && !hit.Rule.Again:
			// The rewriting rule is checked separately.
			return
		}
		if hit.Rule.Kind == Redirect && r.Kind == Redirect && chain == nil {
			chain = hit.Rule
			onward = fmt.Sprintf("the destination %s is redirected again, by %s to %s; redirect to the final address directly", path, c.where(hit.Rule, r), clip(hit.To))
		}
		to = hit.To
	}
	onward = ""
	c.loop(r, visited, "", waits, severity)
}

func (c *checker) loop(r *Rule, visited []string, path string, waits bool, severity Severity) {
	message := "the rule redirects in a loop"
	if i := slices.Index(visited, path); i >= 0 {
		round := append(slices.Clone(visited[i:]), path)
		if len(round) > 6 {
			round = append(round[:5:5], "...", path)
		}
		message += ": " + strings.Join(round, " -> ")
	} else {
		message = fmt.Sprintf("the rule starts an endless chain: more than %d redirects", maxHops)
	}
	if waits {
		severity = Warning
		message += " (for paths without a file)"
	}
	c.add(r, CodeLoop, severity, message)
}

func (s *Set) chained(r, chain *Rule) string {
	if chain == nil {
		return ""
	}
	return " of " + s.where(chain, r) + ", to which this rule leads,"
}

func (c *checker) request(path string) Request {
	return Request{Scheme: c.opt.Scheme, Host: c.opt.Host, Path: path, Entry: c.entry}
}

func (c *checker) answers(path string) bool { return path != "" && c.exists(path) }

// local returns the path of an address on the site.
func (c *checker) local(to string) (path string, ok bool) {
	to, _, _ = strings.Cut(to, "#")
	to, _, _ = strings.Cut(to, "?")
	for _, start := range []string{"https://", "http://", "//"} {
		if rest, found := strings.CutPrefix(to, start); found {
			host, path, _ := strings.Cut(rest, "/")
			root, found := c.opt.Roots[host]
			return root + "/" + path, found || c.opt.Host != "" && strings.EqualFold(host, c.opt.Host)
		}
	}
	if !strings.HasPrefix(to, "/") {
		return "", false
	}
	return encodePath(to), true
}

var literalEscapes = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(`\.`, ".", `\/`, "/", `\-`, "-") })

// samplePath returns a path that the rule matches, or "" if it cannot construct
// one.
func (r *Rule) samplePath() string {
	p := &r.match
	path := ""
	switch p.form {
	case exact, exactSlash:
		path = p.prefix
	case expressed:
		if p.below {
			path = p.key + "/" + sample
			break
		}
		written := literalEscapes().Replace(strings.TrimSuffix(strings.TrimPrefix(r.Pattern, "^"), "$"))
		if r.host != "" {
			written = strings.TrimPrefix(written, r.scheme+"://"+r.host)
		}
		path = samplePlaceholder().ReplaceAllString(written, sample)
		if p.dir != "" {
			path = strings.TrimSuffix(p.dir, "/") + "/" + strings.TrimPrefix(path, "/")
		}
	}
	if _, ok := p.matches(path); !ok || !strings.HasPrefix(path, "/") {
		return ""
	}
	return path
}

// maxCandidates is the largest number of rules that are compared with one rule.
const maxCandidates = 256

// coveredBy returns an earlier rule that applies to every request that r would
// apply to, or nil. It compares r with the few rules that the index finds for its
// path or literal prefix, and with the first rule of the same shape.
func (s *Set) coveredBy(r *setRule, shapes map[string]*setRule) *setRule {
	var found *setRule
	candidates := 0
	visit := func(n int32) bool {
		for ; n != none && n < r.order && (found == nil || n < found.order); n = s.rules[n].next {
			if candidates++; candidates > maxCandidates {
				return false
			}
			if e := &s.rules[n]; e.covers(r) {
				found = e
				break
			}
		}
		return true
	}
	ix := &s.raw
	if r.match.decoded {
		ix = &s.decoded
	}
	ix.lists(r.match.prefix, visit)
	if l := ix.keyed[r.match.key]; l.first == l.last && (s.raw.empty() || s.decoded.empty()) {
		return found // no other rule has this key, so none has the same shape
	}
	if key := r.shape(); key != "" {
		if first := shapes[key]; first == nil {
			shapes[key] = r
		} else if found == nil && first.always(r) {
			found = first
		}
	}
	return found
}

// covers reports whether e, an earlier rule, matches every path that r matches.
func (e *setRule) covers(r *setRule) bool {
	if !e.always(r) {
		return false
	}
	switch r.match.form {
	case exact, exactSlash:
		if _, ok := e.match.matches(r.match.prefix); !ok {
			return false
		}
		// The form with a final slash must be covered as well.
		_, ok := e.match.matches(r.match.prefix + "/")
		return r.match.form == exact || ok || r.match.prefix == "/"
	}
	return e.match.takesBelow(r.match.key, r.match.prefix)
}

// always reports whether e applies to every request that both patterns match.
func (e *setRule) always(r *setRule) bool {
	switch {
	case e.Conditional, len(e.conditions) > 0, len(e.exclude) > 0, e.within != r.within && !strings.HasPrefix(r.match.prefix+"/", e.within), e.flags&continues != 0:
		return false
	case e.host != "" && (e.host != r.host || e.scheme != r.scheme):
		return false
	case (e.Kind == Pass || e.Again && e.Kind == Rewrite) && e.module != r.module:
		return false // ends only its own group
	}
	for _, q := range e.query {
		if !slices.ContainsFunc(r.query, func(o queryCondition) bool { return o.key == q.key && (q.capture || !o.capture && o.value == q.value) }) {
			return false
		}
	}
	return true
}

// takesBelow reports whether the pattern matches every path that starts with
// prefix. key is prefix up to its last whole segment.
func (p *pattern) takesBelow(key, prefix string) bool {
	return p.below && strings.HasPrefix(key+"/", p.key+"/") ||
		p.open && !p.negated && !p.inverse && len(p.not) == 0 && strings.HasPrefix(prefix, p.prefix)
}

// shape returns a text that is the same for patterns that differ only in the names
// of their placeholders. It is "" for patterns that match a single path.
func (r *Rule) shape() string {
	p := &r.match
	if p.form != expressed {
		return ""
	}
	var out strings.Builder
	switch {
	case p.segments != nil:
		out.WriteString(p.dir + " ")
		for _, s := range p.segments {
			if isPlaceholder(s) {
				s = ":"
			}
			out.WriteString("/" + s)
		}
	case p.expr == nil:
		return "below " + p.prefix
	default:
		out.WriteString(p.dir + " " + groupName().ReplaceAllString(p.expr.source, "("))
	}
	for _, not := range p.not {
		out.WriteString(" !" + not.source)
	}
	// Few rules have any of the following.
	if p.negated || p.inverse || r.scheme != "" || r.host != "" || len(r.query) > 0 {
		fmt.Fprintf(&out, " %v %v %s %s %v", p.negated, p.inverse, r.scheme, r.host, r.query)
	}
	return out.String()
}
