package redirect

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/text"
)

// expression is a regular expression that is compiled when it is first used: of
// 100,000 rules, few are compared with any path, and a compiled expression takes
// kilobytes. It is safe for concurrent use.
type expression struct {
	source string
	size   int      // instructions of the compiled expression, at least
	names  []string // of the groups, "" for a group without a name
	once   sync.Once
	re     *regexp.Regexp
}

// maxExpression is the maximum size of an expression in bytes. The time to parse
// grows faster than the size.
const maxExpression = 16 << 10

// Package syntax writes out each letter of a class in the other case: 8 ms for one of all
// letters.
var (
	foldFlag  = text.Regexp(`\(\?[A-Za-z]*i`)
	wideClass = text.Regexp(`\\[pPxQ]|\[[^\]]*[^\x00-\x7f]`)
)

// newExpression checks the syntax and returns an expression. RE2 supports neither
// look-around nor back references.
func newExpression(source string) (*expression, error) {
	if len(source) > maxExpression {
		return nil, errors.New("the pattern is larger than 16 KiB")
	}
	if foldFlag().MatchString(source) && wideClass().MatchString(source) {
		return nil, errors.New("the pattern ignores letter case and has classes of letters other than ASCII, which take too long to read")
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return nil, errors.New(e.Code.String() + ": " + quote(e.Expr))
		}
		return nil, err
	}
	size := instructions(parsed)
	if size > maxInstructions {
		return nil, errors.New("the pattern is too large: compiled, it has more than 10,000 instructions")
	}
	return &expression{source: source, size: size, names: parsed.CapNames()[1:]}, nil
}

// maxInstructions is the maximum size of a compiled expression. An expression takes a
// step for each instruction and byte at worst, and some 50 bytes of memory for each
// instruction: (a{1,900}){1,100} has 180,000.
const maxInstructions = 10_000

// instructions returns how many instructions an expression has when it is compiled, about,
// or more than maxInstructions.
func instructions(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass: // \pL has 1,300 bounds
		n += len(re.Rune) / 8
	case syntax.OpCapture:
		n = 2
	}
	for _, sub := range re.Sub {
		if n += instructions(sub); n > maxInstructions {
			return n
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

func (e *expression) get() *regexp.Regexp {
	e.once.Do(func() {
		// An expression that parses also compiles; otherwise it matches nothing.
		e.re, _ = regexp.Compile(e.source)
	})
	return e.re
}

func (e *expression) matches(s string) bool {
	re := e.get()
	return re != nil && re.MatchString(s)
}

// captures returns the text of the groups, and whether the expression matches. It
// allocates only on a match.
func (e *expression) captures(s string) ([]string, bool) {
	re := e.get()
	if re == nil || !re.MatchString(s) {
		return nil, false
	}
	all := re.FindStringSubmatch(s)
	return all[1:], true
}

// start is the literal text at the start of an expression.
type start struct {
	literal string // every match starts with it
	exact   bool   // the only match is literal
	open    bool   // every text that starts with literal matches
}

// startOf returns the literal start of an expression. It is empty if the expression
// is not anchored at the start of the text.
func startOf(source string) start {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil || instructions(re) > maxInstructions/10 { // Simplify writes repetitions out
		return start{}
	}
	flat := flatten(nil, re.Simplify())
	if len(flat) == 0 || flat[0].Op != syntax.OpBeginText {
		return start{}
	}
	var out strings.Builder
	rest := flat[1:]
	for len(rest) > 0 && rest[0].Op == syntax.OpLiteral && rest[0].Flags&syntax.FoldCase == 0 {
		out.WriteString(string(rest[0].Rune))
		rest = rest[1:]
	}
	s := start{literal: out.String(), exact: len(rest) == 1 && rest[0].Op == syntax.OpEndText}
	if len(rest) > 0 && rest[0].Op == syntax.OpStar {
		any := rest[0].Sub[0].Op
		s.open = any == syntax.OpAnyChar || any == syntax.OpAnyCharNotNL
		for _, sub := range rest[1:] {
			s.open = s.open && (sub.Op == syntax.OpEmptyMatch || sub.Op == syntax.OpEndText)
		}
	}
	return s
}

// flatten returns the elements of a sequence, including those inside groups.
func flatten(out []*syntax.Regexp, re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			out = flatten(out, sub)
		}
		if re.Op == syntax.OpCapture {
			// An expression with a group is not exact, because it captures.
			out = append(out, &syntax.Regexp{Op: syntax.OpEmptyMatch})
		}
		return out
	}
	return append(out, re)
}

// translate translates an expression of another engine (PCRE, JavaScript) into one
// of Go. It preserves a negative look-ahead after fixed text: main must match, and
// the expressions in not must not match. It leaves out other look-arounds; complete
// is then false, and main may match more than the original, but never less. It
// returns an error if it cannot translate the rest.
func translate(source string) (main *expression, not []*expression, complete bool, err error) {
	main, err = newExpression(source)
	if err == nil {
		return main, nil, true, nil
	}
	complete = true
	rest := source
	for range 32 {
		start, end, kind := lookAround(rest)
		if kind == "" {
			break
		}
		before, inside := rest[:start], rest[start+len(kind):end-1]
		rest = rest[:start] + rest[end:]
		if start < len(rest) && strings.IndexByte("*+?{", rest[start]) >= 0 {
			return nil, nil, false, err // a repeated look-around
		}
		guard, ok := fixedGuard(before, inside)
		if kind == "(?!" && ok {
			not = append(not, guard)
		} else {
			complete = false
		}
	}
	if main, relaxed := newExpression(rest); relaxed == nil {
		return main, not, complete, nil
	}
	return nil, nil, false, err
}

// fixedGuard returns an expression for the texts that a negative look-ahead
// excludes. before may contain only literals and opening groups, so that the
// look-ahead applies at a single position; ok is false otherwise.
func fixedGuard(before, inside string) (*expression, bool) {
	var text strings.Builder
	for i := 0; i < len(before); i++ {
		switch c := before[i]; {
		case c == '^' && i == 0:
		case c == '(':
			if strings.HasPrefix(before[i:], "(?:") {
				i += 2
			} else if strings.HasPrefix(before[i:], "(?") {
				return nil, false
			}
		case c == '\\' && i+1 < len(before) && strings.IndexByte("/.-_", before[i+1]) >= 0:
			text.WriteByte('\\')
			text.WriteByte(before[i+1])
			i++
		case strings.IndexByte(`\.[]{}*+?|)$^`, c) >= 0:
			return nil, false
		default:
			text.WriteByte(c)
		}
	}
	if !strings.HasPrefix(before, "^") {
		return nil, false
	}
	guard, err := newExpression("^" + text.String() + "(?:" + inside + ")")
	return guard, err == nil
}

// lookAround returns the first look-around group. kind is the text that opens it,
// or "" if there is no such group.
func lookAround(source string) (start, end int, kind string) {
	class := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if strings.HasPrefix(source[i:], "[]") || strings.HasPrefix(source[i:], "[^]") {
				i++
			}
		case c == '(':
			for _, open := range []string{"(?!", "(?=", "(?<!", "(?<="} {
				if strings.HasPrefix(source[i:], open) {
					if end = closing(source, i); end > 0 {
						return i, end, open
					}
				}
			}
		}
	}
	return 0, 0, ""
}

// closing returns the offset after the parenthesis that closes the one at start, or
// 0.
func closing(source string, start int) int {
	depth, class := 0, false
	for i := start; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return s != "" && s != "splat" && (s[0] < '0' || s[0] > '9')
}
