package redirect

import (
	"errors"
	"regexp"
	"strings"
)

// maxBraces is the largest number of patterns to which {a,b} may expand.
const maxBraces = 256

// globPattern compiles a glob of Firebase, which has the syntax of the minimatch
// library: * and ? inside a segment, ** for any number of segments, [abc], {a,b},
// @(a|b) ?(a) *(a) +(a), and a leading "!" for negation; !(a) is not supported. Only a
// literal dot matches a dot at the start of a segment.
func globPattern(glob string) (pattern, error) {
	negated := false
	for strings.HasPrefix(glob, "!") && !strings.HasPrefix(glob, "!(") {
		negated = !negated
		glob = glob[1:]
	}
	expr, err := globExpression(glob)
	if err != nil {
		return pattern{}, err
	}
	main, err := newExpression(expr)
	if err != nil {
		return pattern{}, err
	}
	if negated {
		return pattern{form: expressed, expr: main, negated: true, decoded: true}, nil
	}
	return expressionPattern(main, "", true), nil
}

// globExpression translates a glob into a regular expression.
func globExpression(glob string) (string, error) {
	alternatives, err := braces(glob)
	if err != nil {
		return "", err
	}
	var all []string
	for _, one := range alternatives {
		text, err := globSegments(one)
		if err != nil {
			return "", err
		}
		all = append(all, text)
	}
	if len(all) == 1 {
		return "^" + all[0] + "$", nil
	}
	return "^(?:" + strings.Join(all, "|") + ")$", nil
}

func globSegments(glob string) (string, error) {
	segments := splitOutside(strings.TrimPrefix(glob, "/"), '/')
	var out strings.Builder
	for i, s := range segments {
		last := i == len(segments)-1
		if s == "**" {
			repeat := "*"
			if last {
				repeat = "+"
			}
			out.WriteString("(?:/(?:[^/.][^/]*)?)" + repeat)
			continue
		}
		text, err := globSegment(s, true)
		if err != nil {
			return "", err
		}
		out.WriteString("/" + text)
		if last && s != "" {
			out.WriteString("/?")
		}
	}
	return out.String(), nil
}

// globSegment translates the text between two slashes.
func globSegment(s string, start bool) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i+1 < len(s) && s[i+1] == '(' && strings.IndexByte("@?*+!", c) >= 0 {
			end := closing(s, i+1)
			switch {
			case end == 0:
				return "", errors.New("a parenthesis is not closed")
			case c == '!':
				return "", errors.New("!( ) is not supported")
			}
			var parts []string
			for _, one := range splitOutside(s[i+2:end-1], '|') {
				part, err := globSegment(one, false)
				if err != nil {
					return "", err
				}
				parts = append(parts, part)
			}
			out.WriteString("(?:" + strings.Join(parts, "|") + ")" + strings.TrimPrefix(string(c), "@"))
			i = end - 1
			continue
		}
		switch {
		case c == '*' && start && i == 0 && strings.Trim(s, "*") == "":
			return "[^/.][^/]*", nil
		case c == '*' && start && i == 0:
			out.WriteString("(?:[^/.][^/]*)?")
		case c == '*':
			out.WriteString("[^/]*")
		case c == '?' && start && i == 0:
			out.WriteString("[^/.]")
		case c == '?':
			out.WriteString("[^/]")
		case c == '[':
			end := strings.IndexByte(s[i+1:], ']')
			if end < 1 {
				out.WriteString(`\[`)
				continue
			}
			class := s[i+1 : i+1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			out.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 1
		case c == '\\' && i+1 < len(s):
			i++
			out.WriteString(regexp.QuoteMeta(s[i : i+1]))
		default:
			out.WriteString(regexp.QuoteMeta(s[i : i+1]))
		}
	}
	return out.String(), nil
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
