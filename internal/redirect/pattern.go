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

	dir   string        // removed from the path before it is matched with expr (.htaccess, base path)
	expr  *expression   // form expressed; nil: see segments and belowPattern
	open  bool          // expr matches everything that starts with prefix
	below bool          // expr matches key and everything below it
	not   []*expression // must not match
	names []string      // names of the captures, in order
	// segments, if not nil, match in place of expr, see matchSegments.
	segments []string
}

type form uint8

const (
	never      form = iota // matches nothing
	exact                  // the path itself
	exactSlash             // the path with or without a trailing slash
	expressed              // a regular expression
)

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

// belowPattern returns a pattern for a directory of Apache and everything below it.
// It captures the rest with its slash.
func belowPattern(dir string) pattern {
	return pattern{form: expressed, prefix: dir, key: strings.TrimSuffix(dir, "/"), below: true, decoded: true}
}

// under returns the pattern for a docroot that has the address base.
func (p pattern) under(base string) pattern {
	if p.decoded {
		base = unescapePath(base)
	}
	p.dir, p.prefix, p.key = base+p.dir, base+p.prefix, base+p.key
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
	case expressed:
		if !strings.HasPrefix(path, p.prefix) && !p.negated {
			return nil, false
		}
		if p.segments != nil {
			rest := path[min(len(p.dir), len(path)):]
			if !matchSegments(p.segments, rest, nil) {
				return nil, false
			}
			captures := make([]string, 0, len(p.names))
			return captures, matchSegments(p.segments, rest, &captures)
		}
		if p.expr == nil {
			if rest := path[len(p.prefix):]; rest == "" || rest[0] == '/' || strings.HasSuffix(p.prefix, "/") {
				return []string{rest}, true
			}
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

// matchSegments reports whether a path has the segments of a pattern of Netlify: literals,
// placeholders such as :name for a whole segment, and at the end * for everything below.
// A trailing slash may follow. With captures, it appends what the placeholders and * are.
// 40,000 rules take a third of the memory that they take as regular expressions.
func matchSegments(segments []string, path string, captures *[]string) bool {
	capture := func(s string) {
		if captures != nil {
			*captures = append(*captures, s)
		}
	}
	for _, s := range segments {
		if s == "*" {
			capture(strings.TrimPrefix(path, "/"))
			return path == "" || path[0] == '/' && strings.IndexByte(path, '\n') < 0
		}
		if path == "" || path[0] != '/' {
			return false
		}
		n := strings.IndexByte(path[1:], '/') + 1
		if n == 0 {
			n = len(path)
		}
		switch at := path[1:n]; {
		case !isPlaceholder(s):
			if at != s {
				return false
			}
		case at == "":
			return false
		default:
			capture(at)
		}
		path = path[n:]
	}
	return path == "" || path == "/"
}
