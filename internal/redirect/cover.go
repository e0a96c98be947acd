package redirect

import (
	"fmt"
	"slices"
	"strings"
)

// maxCandidates bounds how many rules are compared with one rule.
const maxCandidates = 256

// coveredBy returns an earlier rule that applies wherever r would, or nil. It
// compares r with the few rules that the index finds for its path or its literal
// start, and with the first of the same shape.
func (s *Set) coveredBy(r *placed, shapes map[string]*placed) *placed {
	var found *placed
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
		return found // one of a kind: the same shape has the same key
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

// covers reports whether e, which stands before r, matches all that r matches.
func (e *placed) covers(r *placed) bool {
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
func (e *placed) always(r *placed) bool {
	switch {
	case e.Conditional, len(e.conditions) > 0, len(e.exclude) > 0, e.flags&continues != 0:
		return false
	case e.host != "" && (e.host != r.host || e.scheme != r.scheme):
		return false
	case (e.Kind == Pass || e.Again && e.Kind == Rewrite) && e.module != r.module:
		return false // ends the search in its own group alone
	}
	for _, q := range e.query {
		if !slices.ContainsFunc(r.query, func(o queryCondition) bool { return o.key == q.key && (q.capture || !o.capture && o.value == q.value) }) {
			return false
		}
	}
	return true
}

// takesBelow reports whether the pattern matches all that begins with prefix,
// whose whole segments are key.
func (p *pattern) takesBelow(key, prefix string) bool {
	switch p.form {
	case below:
		return strings.HasPrefix(key+"/", strings.TrimSuffix(p.prefix, "/")+"/")
	case segmented:
		return p.splat && p.splatLit == "" && p.onlyLiterals() && strings.HasPrefix(key+"/", p.key+"/")
	case expressed:
		return p.open && !p.negated && !p.inverse && len(p.not) == 0 && strings.HasPrefix(prefix, p.prefix)
	}
	return false
}

func (p *pattern) onlyLiterals() bool {
	return !slices.ContainsFunc(p.segments, func(s segment) bool { return s.capture })
}

// shape is the same for two patterns that differ in the names of their
// placeholders alone; "" for those that are found by their path.
func (r *Rule) shape() string {
	p := &r.match
	var out strings.Builder
	switch p.form {
	case below:
		out.WriteString(p.prefix)
	case segmented:
		out.WriteString(p.key)
		for _, s := range p.segments {
			if s.capture {
				out.WriteString("/:")
			} else {
				out.WriteString("/" + s.literal)
			}
		}
		out.WriteString("/" + p.splatLit + "*")
	case expressed:
		out.WriteString(p.dir + " " + groupName.ReplaceAllString(p.expr.source, "("))
		for _, not := range p.not {
			out.WriteString(" !" + not.source)
		}
	default:
		return ""
	}
	// Nearly all rules have nothing of the rest.
	out.Write([]byte{' ', '0' + byte(p.form)})
	if p.negated || p.inverse || r.scheme != "" || r.host != "" || len(r.query) > 0 {
		fmt.Fprintf(&out, " %v %v %s %s %v", p.negated, p.inverse, r.scheme, r.host, r.query)
	}
	return out.String()
}
