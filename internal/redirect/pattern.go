package redirect

import "strings"

// pattern is the compiled path pattern of a rule.
type pattern struct {
	form form
	// prefix is the start of every matching path. For the exact forms it is the
	// whole path, for exactSlash without the trailing slash.
	prefix string
	// key is prefix up to its last whole segment, without trailing slash. Every
	// matching path is key, or key followed by a slash and more.
	key string
	// decoded: the path is compared after percent-decoding.
	decoded bool
	// negated: the path must not match expr (Firebase's "!glob").
	negated bool
	// inverse: below dir, the path must not match expr (Apache's "!pattern").
	inverse bool

	segments []segment // form segmented: the segments after key
	splat    bool      // a final * matches the rest of the path
	splatLit string    // the text before that * in its segment

	dir   string        // removed from the path before it is matched with expr (.htaccess)
	expr  *expression   // form expressed
	open  bool          // expr matches everything that starts with prefix
	not   []*expression // must not match
	names []string      // names of the captures, in order
}

type form uint8

const (
	never      form = iota // matches nothing
	exact                  // the path itself
	exactSlash             // the path with or without a trailing slash
	below                  // the path and everything below it; captures the rest with its slash (Apache Redirect)
	segmented              // literal segments and placeholders, with an optional final splat (Netlify)
	expressed              // a regular expression
)

// segment is a literal, or a placeholder for one segment.
type segment struct {
	literal string
	capture bool
}

// exactPattern returns a pattern for one path. slash makes a trailing slash
// optional.
func exactPattern(path string, slash, decoded bool) pattern {
	p := pattern{form: exact, prefix: path, decoded: decoded}
	if slash {
		p.form = exactSlash
		if len(path) > 1 {
			p.prefix = strings.TrimSuffix(path, "/")
		}
	}
	return p
}

// expressionPattern returns a pattern with a regular expression. dir is the
// directory of the .htaccess file, "" for other hosts.
func expressionPattern(expr *expression, dir string, decoded bool) pattern {
	begin := startOf(expr.source)
	if begin.exact && strings.HasPrefix(dir+begin.literal, "/") {
		return pattern{form: exact, prefix: dir + begin.literal, decoded: decoded}
	}
	p := pattern{form: expressed, expr: expr, dir: dir, prefix: dir + begin.literal, open: begin.open, decoded: decoded}
	p.key = keyOf(p.prefix)
	return p
}

// keyOf returns a literal prefix up to its last whole segment.
func keyOf(prefix string) string {
	if i := strings.LastIndexByte(prefix, '/'); i > 0 {
		return prefix[:i]
	}
	return ""
}

// matches returns the captures, and whether the pattern matches. It allocates only
// on a match.
func (p *pattern) matches(path string) ([]string, bool) {
	switch p.form {
	case exact:
		return nil, path == p.prefix
	case exactSlash:
		return nil, path == p.prefix || len(path) == len(p.prefix)+1 && path[len(path)-1] == '/' && path[:len(path)-1] == p.prefix
	case below:
		rest, ok := strings.CutPrefix(path, p.prefix)
		if !ok || rest != "" && rest[0] != '/' && !strings.HasSuffix(p.prefix, "/") {
			return nil, false
		}
		return []string{rest}, true
	case segmented:
		return p.matchSegments(path)
	case expressed:
		if !strings.HasPrefix(path, p.prefix) && !p.negated {
			return nil, false
		}
		rest := path[min(len(p.dir), len(path)):]
		if p.negated {
			return nil, !p.expr.matches(rest)
		}
		if p.inverse {
			return nil, !p.expr.matches(rest)
		}
		for _, not := range p.not {
			if not.matches(rest) {
				return nil, false
			}
		}
		return p.expr.captures(rest)
	}
	return nil, false
}

// matchSegments compares the path twice, so that a path that does not match needs
// no allocation.
func (p *pattern) matchSegments(path string) ([]string, bool) {
	if !p.walk(path, nil) {
		return nil, false
	}
	captured := make([]string, 0, len(p.names))
	p.walk(path, &captured)
	return captured, true
}

// walk compares the path segment by segment and appends the captures to captured,
// if not nil.
func (p *pattern) walk(path string, captured *[]string) bool {
	rest, ok := strings.CutPrefix(path, p.key)
	if !ok {
		return false
	}
	for i := range p.segments {
		s := &p.segments[i]
		if rest == "" || rest[0] != '/' {
			return false
		}
		rest = rest[1:]
		end := strings.IndexByte(rest, '/')
		if end < 0 {
			end = len(rest)
		}
		switch {
		case !s.capture && rest[:end] != s.literal, s.capture && end == 0:
			return false
		case s.capture && captured != nil:
			*captured = append(*captured, rest[:end])
		}
		rest = rest[end:]
	}
	if !p.splat {
		return rest == "" || rest == "/"
	}
	if p.splatLit != "" {
		if !strings.HasPrefix(rest, "/") || !strings.HasPrefix(rest[1:], p.splatLit) {
			return false
		}
		rest = rest[1+len(p.splatLit):]
	} else if rest != "" && rest[0] != '/' {
		return false
	}
	if captured != nil {
		*captured = append(*captured, strings.TrimPrefix(rest, "/"))
	}
	return true
}
