// Package glob matches paths and addresses with the patterns that users write: those of
// github.com/bmatcuk/doublestar, which defines their meaning.
//
// A pattern may come with a hostile checkout, so it is compiled, once, to a form that
// matches in linear time. For each character of a name, it takes one step per 64 elements
// of the pattern, and outside of ASCII one step per element. Alternatives such as {a,b} are
// written out, up to [MaxSize].
package glob

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// MaxSize is the largest size of a pattern, in bytes, with all its alternatives written
// out: {a,b}{c,d} has the size of ac, ad, bc and bd.
const MaxSize = 16 << 10

// Errors of [Compile].
var (
	ErrSyntax = errors.New("not a valid pattern")
	ErrSize   = errors.New("the pattern is too large: with its alternatives written out, it has more than 16 KiB")
)

// Pattern is a compiled pattern. It is immutable and safe for concurrent use. The zero
// value, and nil, match nothing.
type Pattern struct {
	alternatives []automaton
	size         int
}

// Compile compiles a pattern.
func Compile(pattern string) (*Pattern, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, ErrSyntax
	}
	all, ok := writeOut(pattern)
	if !ok {
		return nil, ErrSize
	}
	p := &Pattern{}
	for _, one := range all {
		p.alternatives = append(p.alternatives, newAutomaton(one))
		p.size += len(one) + 1
	}
	return p, nil
}

// Size returns the size of the pattern with its alternatives written out. Matching costs
// in proportion to it.
func (p *Pattern) Size() int { return p.size }

// Match reports whether the pattern matches the whole of name.
func (p *Pattern) Match(name string) bool {
	steps := 0
	return p.match(name, &steps)
}

// match is Match. It adds the steps that it takes to steps.
func (p *Pattern) match(name string, steps *int) bool {
	if p == nil {
		return false
	}
	for i := range p.alternatives {
		if p.alternatives[i].match(name, steps) {
			return true
		}
	}
	return false
}

// compiled has the patterns that [Match] was asked about, by their text: those of the
// configuration and of CODEOWNERS.
var compiled sync.Map

// Match reports whether a pattern matches the whole of name. A pattern that [Compile]
// refuses matches nothing. Each pattern is compiled once and kept, so patterns must not
// be made from names.
func Match(pattern, name string) bool {
	known, ok := compiled.Load(pattern)
	if !ok {
		p, _ := Compile(pattern)
		known, _ = compiled.LoadOrStore(pattern, p)
	}
	return known.(*Pattern).Match(name)
}

// Check returns the error of [Compile].
func Check(pattern string) error {
	_, err := Compile(pattern)
	return err
}

// writeOut returns the patterns without alternatives that a valid pattern stands for. ok
// is false if they are larger than [MaxSize].
func writeOut(pattern string) (all []string, ok bool) {
	size := 0
	open := []string{pattern}
	for len(open) > 0 {
		last := len(open) - 1
		p := open[last]
		open = open[:last]
		start, ends := alternatives(p)
		if ends == nil {
			all = append(all, p)
			if size += len(p) + 1; size > MaxSize {
				return nil, false
			}
			continue
		}
		// In the reverse order, so that the first one is written out next. Each is kept until
		// its turn, so the open ones count, too.
		rest := p[ends[len(ends)-1]+1:]
		if len(open)+len(ends) > MaxSize {
			return nil, false
		}
		for i, end := range slices.Backward(ends) {
			from := start + 1
			if i > 0 {
				from = ends[i-1] + 1
			}
			one := p[:start] + p[from:end] + rest
			if len(one) > MaxSize || len(open) > 0 && (len(open)+1)*(len(one)+1) > 64*MaxSize {
				return nil, false
			}
			open = append(open, one)
		}
	}
	return all, true
}

// alternatives returns the place of the first brace that opens alternatives, and the
// places where they end: of the commas and of the brace that closes them. ends is nil if
// the pattern has none.
func alternatives(p string) (start int, ends []int) {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(p, i)
		case '{':
			if depth++; depth == 1 {
				start = i
			}
		case ',':
			if depth == 1 {
				ends = append(ends, i)
			}
		case '}':
			if depth--; depth == 0 {
				return start, append(ends, i)
			}
		}
	}
	return 0, nil
}

// classEnd returns the place of the bracket that closes the class that begins at i.
func classEnd(p string, i int) int {
	for i++; i < len(p) && p[i] != ']'; i++ {
		if p[i] == '\\' {
			i++
		}
	}
	return i
}

// kind is what an element of a pattern matches.
type kind uint8

const (
	literal  kind = iota // a character
	anyOne               // ?: a character but the slash
	class                // [a-z]: a character
	star                 // *: any characters but slashes
	segments             // **/: any number of whole segments
	rest                 // ** at the end: everything
)

// element is an element of a pattern without alternatives.
type element struct {
	kind    kind
	char    rune
	negated bool
	ranges  [][2]rune
}

// holds reports whether an element that stands for one character matches it.
func (e *element) holds(r rune) bool {
	switch e.kind {
	case literal:
		return e.char == r
	case anyOne:
		return r != '/'
	case class:
		return e.negated != slices.ContainsFunc(e.ranges, func(x [2]rune) bool { return x[0] <= r && r <= x[1] })
	}
	return false
}

// automaton matches a pattern without alternatives. State i means that the elements
// before i match what was read so far; a set of states is a bitset.
type automaton struct {
	elements []element
	words    int // of a set
	// one has, for each character of ASCII, the number of the set of the states at which
	// it matches. Most characters share a set.
	one  [utf8.RuneSelf]uint8
	sets []set
	// others are the states that may match another character.
	others                 []int32
	stars, segments, rests set
	accept                 set // the states at which a name may end
	start                  set
}

type set []uint64

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// newAutomaton compiles a valid pattern without alternatives.
func newAutomaton(pattern string) automaton {
	a := automaton{}
	// ends has, for each state, whether a name may end there.
	var ends []bool
	atStart := true // of a segment
	add := func(at int, e element) {
		if n := len(a.elements); n > 0 && a.elements[n-1].kind == e.kind && (e.kind == star || e.kind == segments) {
			ends[n-1] = ends[n-1] || mayEnd(pattern[at:])
			return // twice means the same
		}
		a.elements, ends = append(a.elements, e), append(ends, mayEnd(pattern[at:]))
	}
	for i := 0; i < len(pattern); {
		at := i
		e := element{}
		switch c := pattern[i]; {
		case c == '*' && atStart && pattern[i:] == "**":
			e.kind, i = rest, len(pattern)
		case c == '*' && atStart && strings.HasPrefix(pattern[i:], "**/"):
			e.kind = segments
			i += len("**/")
		case c == '*':
			e.kind, atStart = star, false
			if i++; i < len(pattern) && pattern[i] == '*' {
				i++
			}
		case c == '?':
			e.kind, atStart = anyOne, false
			i++
		case c == '[':
			end := classEnd(pattern, i)
			e, atStart = newClass(pattern[i+1:end]), false
			i = end + 1
		default:
			if c == '\\' {
				i++
			}
			r, size := utf8.DecodeRuneInString(pattern[i:])
			e.char, atStart = r, r == '/'
			i += size
		}
		add(at, e)
	}
	ends = append(ends, true)

	a.words = len(a.elements)/64 + 1
	take := func() set { return make(set, a.words) }
	a.stars, a.segments, a.rests, a.accept, a.start = take(), take(), take(), take(), take()
	var one [utf8.RuneSelf]set
	for c := range one {
		one[c] = take()
	}
	for i := range a.elements {
		e := &a.elements[i]
		switch e.kind {
		case star:
			a.stars.add(i)
		case segments:
			a.segments.add(i)
		case rest:
			a.rests.add(i)
		case literal:
			if e.char < utf8.RuneSelf {
				one[e.char].add(i)
				continue
			}
			a.others = append(a.others, int32(i))
		default:
			for c := range rune(utf8.RuneSelf) {
				if e.holds(c) {
					one[c].add(i)
				}
			}
			a.others = append(a.others, int32(i))
		}
	}
	for i, end := range ends {
		if end {
			a.accept.add(i)
		}
	}
	for c, s := range one {
		n := slices.IndexFunc(a.sets, func(other set) bool { return slices.Equal(s, other) })
		if n < 0 {
			n = len(a.sets)
			a.sets = append(a.sets, s)
		}
		a.one[c] = uint8(n)
	}
	a.start.add(0)
	a.skip(a.start)
	return a
}

// mayEnd reports whether a name may end before the rest of a pattern: a/** matches a.
func mayEnd(rest string) bool {
	switch rest {
	case "*", "**", "/**", "**/", "/**/":
		return true
	}
	return false
}

// newClass parses the text between the brackets of a class.
func newClass(text string) element {
	e := element{kind: class}
	if text[0] == '!' || text[0] == '^' {
		e.negated, text = true, text[1:]
	}
	next := func() rune {
		text = strings.TrimPrefix(text, `\`)
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		return r
	}
	for text != "" {
		low := next()
		high := low
		if len(text) > 1 && text[0] == '-' {
			text = text[1:]
			high = next()
		}
		// In a range backwards, the first character still counts.
		e.ranges = append(e.ranges, [2]rune{low, max(low, high)})
	}
	return e
}

// skip adds the states that are reached without a character. Two elements that match
// nothing never follow two others, so two shifts reach all.
func (a *automaton) skip(states set) {
	for range 2 {
		carry := uint64(0)
		for w := range states {
			empty := states[w] & (a.stars[w] | a.segments[w])
			states[w] |= empty<<1 | carry
			carry = empty >> 63
		}
	}
}

// match reports whether the pattern matches the whole of name.
func (a *automaton) match(name string, steps *int) bool {
	// Most patterns fit into one word, and most names do not match from the beginning on.
	var room [3][4]uint64
	states, next, inside := set(room[0][:]), set(room[1][:]), set(room[2][:])
	if a.words > len(room[0]) {
		states, next, inside = make(set, a.words), make(set, a.words), make(set, a.words)
	}
	states, next, inside = states[:a.words], next[:a.words], inside[:a.words]
	copy(states, a.start)
	for w := range inside {
		inside[w] = states[w] & a.segments[w]
	}
	var wide set // the states that match a character outside of ASCII
	for i := 0; i < len(name); {
		for w := range states {
			if states[w]&a.rests[w] != 0 {
				return true
			}
		}
		r, size := rune(name[i]), 1
		var one set
		if r < utf8.RuneSelf {
			one = a.sets[a.one[r]]
		} else {
			r, size = utf8.DecodeRuneInString(name[i:])
			if wide == nil {
				wide = make(set, a.words)
			}
			clear(wide)
			for _, at := range a.others {
				if a.elements[at].holds(r) {
					wide.add(int(at))
				}
			}
			*steps += len(a.others)
			one = wide
		}
		i += size
		alive, carry := uint64(0), uint64(0)
		for w := range states {
			moved := states[w] & one[w]
			if r == '/' {
				moved |= inside[w]
			}
			next[w] = moved<<1 | carry
			carry = moved >> 63
			if r != '/' {
				next[w] |= states[w] & a.stars[w]
			}
		}
		a.skip(next)
		for w := range next {
			inside[w] |= next[w] & a.segments[w]
			alive |= next[w] | inside[w]
		}
		*steps += a.words
		if alive == 0 {
			return false
		}
		states, next = next, states
	}
	for w := range states {
		if states[w]&a.accept[w] != 0 {
			return true
		}
	}
	return false
}
