package redirect

import (
	"errors"
	"regexp"
	"strings"
)

// pathDialect has the differences between the versions of path-to-regexp that hosts
// use.
type pathDialect struct {
	foldCase bool // letter case is ignored
	slash    bool // a trailing slash in the request is ignored
	star     bool // "*" alone matches everything
	groups   bool // {prefix:name suffix} is a group
}

var (
	// vercelPath is path-to-regexp 6 with the options strict and sensitive.
	vercelPath = pathDialect{groups: true}
	// firebasePath is path-to-regexp 1 with its defaults.
	firebasePath = pathDialect{foldCase: true, slash: true, star: true}
)

// pathToken is a literal, or a parameter with an optional prefix and suffix.
type pathToken struct {
	literal        string
	isParam        bool
	name           string // "" for a group without name
	prefix, suffix string
	pattern        string // "" for { } without a parameter
	modifier       byte   // 0, '?', '*' or '+'
}

// expressionOf translates a source such as /blog/:slug*, /x/(.*) or /a{-:b}?
// into a regular expression, and returns the names of its groups, "" for a group
// without a name.
func (d pathDialect) expressionOf(source string) (expr string, names []string, err error) {
	tokens, err := d.tokens(source)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	if d.foldCase {
		out.WriteString("(?i)")
	}
	out.WriteByte('^')
	for _, t := range tokens {
		if !t.isParam {
			out.WriteString(regexp.QuoteMeta(t.literal))
			continue
		}
		prefix, suffix := regexp.QuoteMeta(t.prefix), regexp.QuoteMeta(t.suffix)
		modifier := ""
		if t.modifier != 0 {
			modifier = string(t.modifier)
		}
		if t.pattern == "" {
			out.WriteString("(?:" + prefix + suffix + ")" + modifier)
			continue
		}
		names = append(names, t.name)
		repeat := t.modifier == '*' || t.modifier == '+'
		switch {
		case repeat:
			end := ""
			if t.modifier == '*' {
				end = "?"
			}
			out.WriteString("(?:" + prefix + "((?:" + t.pattern + ")(?:" + suffix + prefix + "(?:" + t.pattern + "))*)" + suffix + ")" + end)
		case prefix != "" || suffix != "":
			out.WriteString("(?:" + prefix + "(" + t.pattern + ")" + suffix + ")" + modifier)
		default:
			out.WriteString("(" + t.pattern + ")" + modifier)
		}
	}
	if d.slash && !strings.HasSuffix(source, "/") {
		out.WriteString("/?")
	}
	out.WriteByte('$')
	return out.String(), names, nil
}

const segmentPattern = "[^/]+?"

func (d pathDialect) tokens(source string) ([]pathToken, error) {
	var out []pathToken
	literal := func(s string) {
		if n := len(out); n > 0 && !out[n-1].isParam {
			out[n-1].literal += s
			return
		}
		out = append(out, pathToken{literal: s})
	}
	// takePrefix removes a "/" or "." at the end of the last literal, as the prefix
	// of a parameter.
	takePrefix := func() string {
		n := len(out)
		if n == 0 || out[n-1].isParam {
			return ""
		}
		text := out[n-1].literal
		if c := text[len(text)-1]; c != '/' && c != '.' {
			return ""
		}
		if len(text) == 1 {
			out = out[:n-1]
		} else {
			out[n-1].literal = text[:len(text)-1]
		}
		return text[len(text)-1:]
	}
	for i := 0; i < len(source); {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source):
			literal(source[i+1 : i+2])
			i += 2
		case c == ':' || c == '(':
			t, next, err := parameter(source, i)
			if err != nil {
				return nil, err
			}
			if t.isParam {
				t.prefix = takePrefix()
				t.modifier, next = modifier(source, next)
				out = append(out, t)
			} else {
				literal(t.literal)
			}
			i = next
		case c == '*' && d.star:
			out = append(out, pathToken{isParam: true, pattern: ".*"})
			i++
		case c == '{' && d.groups:
			t, next, err := group(source, i)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
			i = next
		case strings.IndexByte("?+*}", c) >= 0 && d.groups:
			return nil, errors.New("unexpected " + string(c))
		default:
			literal(source[i : i+1])
			i++
		}
	}
	return out, nil
}

// parameter reads :name, :name(pattern) or (pattern).
func parameter(source string, i int) (pathToken, int, error) {
	t := pathToken{isParam: true, pattern: segmentPattern}
	if source[i] == ':' {
		end := i + 1
		for end < len(source) && isWord(source[end]) {
			end++
		}
		if end == i+1 {
			return t, 0, errors.New("a : without a name")
		}
		t.name, i = source[i+1:end], end
		if i >= len(source) || source[i] != '(' {
			return t, i, nil
		}
	}
	end := closing(source, i)
	if end == 0 {
		return t, 0, errors.New("a parenthesis is not closed")
	}
	inside := source[i+1 : end-1]
	switch {
	case inside == "":
		return t, 0, errors.New("an empty pattern in parentheses")
	case inside[0] == '?':
		return t, 0, errors.New("a pattern must not start with ?")
	}
	// Only the parameter itself captures, so the groups inside it must not.
	var out strings.Builder
	class := false
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		out.WriteByte(c)
		switch {
		case c == '\\' && i+1 < len(inside):
			i++
			out.WriteByte(inside[i])
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(' && (i+1 >= len(inside) || inside[i+1] != '?'):
			out.WriteString("?:")
		}
	}
	t.pattern = out.String()
	return t, end, nil
}

// group reads {prefix:name(pattern)suffix} and its modifier.
func group(source string, i int) (pathToken, int, error) {
	t := pathToken{isParam: true}
	open := errors.New("a { is not closed")
	for i++; ; {
		switch {
		case i >= len(source):
			return t, 0, open
		case source[i] == '}':
			t.modifier, i = modifier(source, i+1)
			return t, i, nil
		case source[i] == '\\' && i+1 < len(source):
			t.add(source[i+1 : i+2])
			i += 2
		case source[i] == ':' || source[i] == '(':
			if t.pattern != "" {
				return t, 0, errors.New("two parameters in one { }")
			}
			p, next, err := parameter(source, i)
			if err != nil {
				return t, 0, err
			}
			t.name, t.pattern, i = p.name, p.pattern, next
		default:
			t.add(source[i : i+1])
			i++
		}
	}
}

func (t *pathToken) add(s string) {
	if t.pattern == "" {
		t.prefix += s
	} else {
		t.suffix += s
	}
}

func modifier(source string, i int) (byte, int) {
	if i < len(source) && strings.IndexByte("?*+", source[i]) >= 0 {
		return source[i], i + 1
	}
	return 0, i
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// placeholderTemplate compiles a destination with :name placeholders, which may have
// a modifier, and, if dollar is set, with $1 and $name. A name is as long as
// possible.
func placeholderTemplate(to string, names []string, dollar bool, escape escaping) template {
	byName := map[string]int{}
	for i, name := range names {
		if name != "" {
			byName[name] = i // the last one with a name wins
		}
	}
	var t template
	start := 0
	for i := 0; i < len(to); i++ {
		if to[i] != ':' && (to[i] != '$' || !dollar) {
			continue
		}
		end := i + 1
		for end < len(to) && isWord(to[end]) {
			end++
		}
		group, known := byName[to[i+1:end]]
		if number, ok := leadingInt(to[i+1 : end]); !known && ok && to[i] == '$' && number >= 1 {
			group, known = number-1, true
			end = i + 1 + len(strings.TrimRight(to[i+1:end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
		}
		if !known || end == i+1 {
			continue
		}
		if i > start {
			t.parts = append(t.parts, part{literal: to[start:i], group: isLiteral})
		}
		t.parts = append(t.parts, part{group: group, escape: escape})
		if end < len(to) && to[i] == ':' && (to[end] == '*' || to[end] == '+') {
			end++
		}
		start = end
		i = end - 1
	}
	if start < len(to) {
		t.parts = append(t.parts, part{literal: to[start:], group: isLiteral})
	}
	return t
}
