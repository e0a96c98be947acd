package redirect

import (
	"errors"
	"regexp"
	"strings"
)

// maxBraces is the largest number of patterns that {a,b} may expand to.
const maxBraces = 256

// globPattern compiles a glob of Firebase, which has the syntax of the minimatch
// library: * and ? inside a segment, ** for any number of segments, [abc], {a,b},
// @(a|b) ?(a) *(a) +(a) !(a), and a leading "!" for negation. Only a literal dot
// matches a dot at the start of a segment.
func globPattern(glob string) (pattern, error) {
	negated := false
	for strings.HasPrefix(glob, "!") && !strings.HasPrefix(glob, "!(") {
		negated = !negated
		glob = glob[1:]
	}
	expr, guard, err := globExpression(glob)
	if err != nil {
		return pattern{}, err
	}
	main, err := newExpression(expr)
	if err != nil {
		return pattern{}, err
	}
	if negated {
		if guard != "" {
			return pattern{}, errors.New("!( ) in a negated pattern is not supported")
		}
		return pattern{form: expressed, expr: main, negated: true, decoded: true}, nil
	}
	p := expressionPattern(main, "", true)
	if guard != "" {
		not, err := newExpression(guard)
		if err != nil {
			return pattern{}, err
		}
		p.not = []*expression{not}
	}
	return p, nil
}

// globExpression translates a glob into a regular expression. For !(a|b), the
// expression matches any text, and guard is an expression that must not match.
func globExpression(glob string) (expr, guard string, err error) {
	alternatives, err := braces(glob)
	if err != nil {
		return "", "", err
	}
	var all, none []string
	for _, one := range alternatives {
		text, not, err := globSegments(one)
		if err != nil {
			return "", "", err
		}
		all = append(all, text)
		if not != "" {
			none = append(none, not)
		}
	}
	if len(all) == 1 {
		expr = "^" + all[0] + "$"
	} else {
		expr = "^(?:" + strings.Join(all, "|") + ")$"
	}
	switch {
	case len(none) == 1 && len(all) == 1:
		guard = "^(?:" + none[0] + ")$"
	case len(none) > 0:
		return "", "", errors.New("!( ) together with { } is not supported")
	}
	return expr, guard, nil
}

func globSegments(glob string) (expr, guard string, err error) {
	segments := splitOutside(strings.TrimPrefix(glob, "/"), '/')
	var out, not strings.Builder
	negations := 0
	for i, s := range segments {
		last := i == len(segments)-1
		if s == "**" {
			repeat := "*"
			if last {
				repeat = "+"
			}
			out.WriteString("(?:/(?:[^/.][^/]*)?)" + repeat)
			not.WriteString("(?:/(?:[^/.][^/]*)?)" + repeat)
			continue
		}
		text, inner, n, err := globSegment(s, true)
		if err != nil {
			return "", "", err
		}
		negations += n
		out.WriteString("/" + text)
		not.WriteString("/" + inner)
		if last && s != "" {
			out.WriteString("/?")
			not.WriteString("/?")
		}
	}
	switch negations {
	case 0:
		return out.String(), "", nil
	case 1:
		return out.String(), not.String(), nil
	}
	return "", "", errors.New("more than one !( ) is not supported")
}

// globSegment translates the text between two slashes. inner is the same with each
// !(a) as @(a); negations is the number of them.
func globSegment(s string, start bool) (text, inner string, negations int, err error) {
	var out, not strings.Builder
	both := func(t string) { out.WriteString(t); not.WriteString(t) }
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i+1 < len(s) && s[i+1] == '(' && strings.IndexByte("@?*+!", c) >= 0 {
			end := closing(s, i+1)
			if end == 0 {
				return "", "", 0, errors.New("a parenthesis is not closed")
			}
			var parts []string
			for _, one := range splitOutside(s[i+2:end-1], '|') {
				part, _, n, err := globSegment(one, false)
				if err != nil || n > 0 {
					return "", "", 0, errors.Join(err, errors.New("!( ) inside parentheses is not supported"))
				}
				parts = append(parts, part)
			}
			group := "(?:" + strings.Join(parts, "|") + ")"
			switch c {
			case '@':
				both(group)
			case '!':
				negations++
				switch {
				case start && i == 0 && end == len(s):
					out.WriteString("[^/.][^/]*")
				case start && i == 0:
					out.WriteString("(?:[^/.][^/]*)?")
				default:
					out.WriteString("[^/]*")
				}
				not.WriteString(group)
			default:
				both(group + string(c))
			}
			i = end - 1
			continue
		}
		switch {
		case c == '*' && start && i == 0 && strings.Trim(s, "*") == "":
			both("[^/.][^/]*")
			return out.String(), not.String(), negations, nil
		case c == '*' && start && i == 0:
			both("(?:[^/.][^/]*)?")
		case c == '*':
			both("[^/]*")
		case c == '?' && start && i == 0:
			both("[^/.]")
		case c == '?':
			both("[^/]")
		case c == '[':
			end := strings.IndexByte(s[i+1:], ']')
			if end < 1 {
				both(`\[`)
				continue
			}
			class := s[i+1 : i+1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			both("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 1
		case c == '\\' && i+1 < len(s):
			i++
			both(regexp.QuoteMeta(s[i : i+1]))
		default:
			both(regexp.QuoteMeta(s[i : i+1]))
		}
	}
	return out.String(), not.String(), negations, nil
}

// splitOutside splits at each sep outside parentheses.
func splitOutside(s string, sep byte) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(s) {
		switch {
		case s[i] == '(':
			depth++
		case s[i] == ')' && depth > 0:
			depth--
		case s[i] == sep && depth == 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// braces expands {a,b}. Braces without a comma are literal.
func braces(glob string) ([]string, error) {
	done, todo := []string(nil), []string{glob}
	for len(todo) > 0 {
		if len(done)+len(todo) > maxBraces {
			return nil, errors.New("the braces expand to more than 256 patterns")
		}
		one := todo[0]
		todo = todo[1:]
		open, end, parts := firstBraces(one)
		if parts == nil {
			done = append(done, one)
			continue
		}
		var expanded []string
		for _, p := range parts {
			expanded = append(expanded, one[:open]+p+one[end:])
		}
		todo = append(expanded, todo...)
	}
	return done, nil
}

// firstBraces returns the offsets of the first braces with a comma, and the
// alternatives in them.
func firstBraces(s string) (open, end int, parts []string) {
	for i := range len(s) {
		if s[i] != '{' {
			continue
		}
		depth, start := 0, i+1
		parts = nil
		for j := i; j < len(s); j++ {
			switch {
			case s[j] == '{':
				depth++
			case s[j] == ',' && depth == 1:
				parts = append(parts, s[start:j])
				start = j + 1
			case s[j] == '}':
				if depth--; depth == 0 {
					if parts == nil {
						j = len(s)
						break
					}
					return i, j + 1, append(parts, s[start:j])
				}
			}
		}
	}
	return 0, 0, nil
}
