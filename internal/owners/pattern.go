package owners

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// matcher reports whether a pattern matches a path, relative to the root.
type matcher func(path string) bool

// maxPatternBytes is the maximum length of a pattern, which limits the size of its
// regular expression.
const maxPatternBytes = 4096

// compile compiles a pattern into a matcher.
func compile(pattern string, d Dialect) (matcher, error) {
	switch {
	case pattern == "":
		return nil, errors.New("no pattern")
	case len(pattern) > maxPatternBytes:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPatternBytes)
	case !utf8.ValidString(pattern):
		return nil, fmt.Errorf("the pattern %q is not UTF-8", pattern)
	case pattern == "/": // no file is the root
		return func(string) bool { return false }, nil
	}
	anchored := strings.HasPrefix(pattern, "/")
	body := strings.Trim(pattern, "/")
	below := strings.HasSuffix(pattern, "/") // everything in the directory
	var tail string
	switch {
	case below:
		tail = `/.+`
	case d == GitHub && !strings.HasSuffix("/"+body, "/*"):
		tail = `(?:/.+)?` // also everything in a directory; dir/* matches only the files in dir
	}
	if d == GitHub && strings.Contains(body, "/") {
		anchored = true
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	if !anchored {
		b.WriteString(`(?:.+/)?`)
	}
	if err := segments(&b, strings.Split(body, "/"), d); err != nil {
		return nil, err
	}
	b.WriteString(tail + `\z`)
	re, err := regexp.Compile(b.String())
	if err != nil { // a range such as [z-a]
		return nil, fmt.Errorf("the pattern %q is invalid", pattern)
	}
	return re.MatchString, nil
}

// segments writes the expression for the parts between slashes. ** matches any
// number of parts, * matches everything except a slash.
func segments(b *strings.Builder, parts []string, d Dialect) error {
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "**" && last:
			b.WriteString(`.+`)
			continue
		case part == "**":
			b.WriteString(`(?:.+/)?`)
			continue
		}
		if err := glob(b, part, d); err != nil {
			return err
		}
		if !last {
			b.WriteByte('/')
		}
	}
	return nil
}

// glob writes the expression for one part.
func glob(b *strings.Builder, part string, d Dialect) error {
	if part == "" {
		return errors.New("the pattern has an empty part between slashes")
	}
	for i := 0; i < len(part); {
		c, n := utf8.DecodeRuneInString(part[i:])
		i += n
		switch {
		case c == '\\' && i < len(part):
			next, n := utf8.DecodeRuneInString(part[i:])
			i += n
			b.WriteString(regexp.QuoteMeta(string(next)))
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[' && d == GitHub:
			return errors.New("GitHub does not support character ranges in patterns")
		case c == '[':
			end := strings.IndexByte(part[i:], ']')
			if end < 1 {
				return errors.New("the pattern has a [ without ]")
			}
			class(b, part[i:i+end])
			i += end + 1
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return nil
}

// class writes the expression for a bracket expression of the shell.
func class(b *strings.Builder, set string) {
	b.WriteByte('[')
	if set[0] == '!' || set[0] == '^' {
		b.WriteString("^/")
		set = set[1:]
	}
	for _, c := range set {
		if c != '-' {
			b.WriteString(regexp.QuoteMeta(string(c)))
			continue
		}
		b.WriteByte('-')
	}
	b.WriteByte(']')
}
