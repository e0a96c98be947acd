package redirect

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/text/tomltree"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Netlify parses a _redirects file in Netlify's dialect. The semantics are those of
// Netlify's own parser and matcher, with which TestNetlifyOracle compares them; see
// docs/reference/redirects.md.
func Netlify(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}, Rules: make([]Rule, 0, ruleCapacity(data))}
	for number, line := range linesOf(data) {
		f.netlifyLine(number, line)
	}
	return f
}

// gitLabRules is how many rules GitLab Pages follows by default.
const gitLabRules = 1000

// GitLab parses a _redirects file for GitLab Pages, which reads Netlify's syntax and ignores
// some of it (https://docs.gitlab.com/user/project/pages/redirects/).
func GitLab(name string, data []byte) *File {
	f := Netlify(name, data)
	f.Rules = slices.DeleteFunc(f.Rules, func(r Rule) bool {
		why := ""
		switch {
		case r.Status != 200 && r.Status != 301 && r.Status != 302:
			why = "statuses other than 200, 301 and 302"
		case r.Force:
			why = "statuses with !"
		case len(r.query) > 0:
			why = "query parameters"
		case r.Conditional:
			why = "conditions"
		default:
			return false
		}
		f.fault(CodeSyntax, Error, r.Source.Line, r.Text, "GitLab Pages ignores the rule: it does not follow "+why)
		return true
	})
	for len(f.Rules) > gitLabRules {
		f.fault(CodeLimit, Error, f.Rules[gitLabRules].Source.Line, f.Rules[gitLabRules].Text, "GitLab Pages accepts 1,000 rules; it ignores this one and all that follow")
		f.Rules = f.Rules[:gitLabRules]
	}
	return f
}

// netlifyRule is a rule of _redirects or netlify.toml.
type netlifyRule struct {
	from, to   string
	status     string // as written; empty means 301
	force      bool
	query      [][2]string
	conditions [][2]string
	line       int
	text       string
}

func (f *File) netlifyLine(number int, line string) {
	var buffer [8]string
	words := appendFields(buffer[:0], line)
	if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); i >= 0 {
		words = words[:i]
	}
	rule := netlifyRule{from: words[0], line: number, text: line}
	words = words[1:]
	if len(words) == 0 {
		f.fault(CodeSyntax, Error, number, line, "the rule has no destination")
		return
	}
	if _, isStatus := leadingInt(words[0]); !isStatus {
		i := slices.IndexFunc(words, func(w string) bool { return w[0] == '/' || weburl.IsWeb(w) })
		if i < 0 {
			f.fault(CodeSyntax, Error, number, line, "the destination must start with /, http:// or https://")
			return
		}
		rule.query = f.pairs(words[:i], &rule, "query parameter")
		rule.to = words[i]
		words = words[i+1:]
	}
	if len(words) > 0 {
		rule.status, rule.force = words[0], strings.HasSuffix(words[0], "!")
		rule.conditions = f.pairs(words[1:], &rule, "condition")
	}
	f.addNetlify(&rule)
}

// pairs splits key=value words. The last word with a key wins. Like Netlify, it
// ignores words without "=", earlier words with the same key, and text after a
// second "=".
func (f *File) pairs(words []string, rule *netlifyRule, what string) [][2]string {
	var out [][2]string
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		out = slices.DeleteFunc(out, func(pair [2]string) bool { return pair[0] == key })
		if !ok {
			f.fault(CodeSyntax, Warning, rule.line, rule.text, quote(word)+" is not a "+what+": it has no =, and Netlify ignores it")
			continue
		}
		value, _, _ = strings.Cut(value, "=")
		out = append(out, [2]string{key, value})
	}
	return out
}

// addNetlify checks a rule and adds it.
func (f *File) addNetlify(in *netlifyRule) {
	r := Rule{Pattern: in.from, To: in.to, Status: 301, Force: in.force, Stage: AfterFiles, Source: Source{f.Name, in.line}, Text: clip(in.text)}
	bad := func(code string, severity Severity, message string) {
		f.fault(code, severity, in.line, in.text, message)
	}
	if in.force {
		r.Stage = BeforeFiles
	}
	if in.status != "" {
		status, ok := leadingInt(in.status)
		if !ok {
			bad(CodeSyntax, Error, "the status "+quote(in.status)+" is not a number")
			return
		}
		if status < 200 || status > 599 {
			bad(CodeSyntax, Error, "the status "+quote(in.status)+" is not an HTTP status from 200 to 599")
			return
		}
		r.Status = status
	}
	if r.To == "" {
		if !strings.HasSuffix(in.from, "/*") || r.Status >= 300 {
			bad(CodeSyntax, Error, "the rule has no destination")
			return
		}
		r.To = strings.TrimSuffix(in.from, "*") + ":splat"
	}
	path := in.from
	if weburl.IsWeb(in.from) {
		u, err := weburl.Parse(in.from)
		if err != nil {
			bad(CodeSyntax, Error, "the source is not a valid URL: "+err.Error())
			return
		}
		r.scheme, r.host, path = u.Scheme(), hostPort(u), u.Path()
	}
	if strings.HasPrefix(path, "/.netlify") {
		bad(CodeSyntax, Error, "the source must not start with /.netlify")
		return
	}
	var splat bool
	var problem string
	r.match, splat, problem = netlifyPattern(path)
	if problem != "" {
		bad(CodeUnreachable, Warning, problem)
	}
	for _, q := range in.query {
		cond := queryCondition{key: q[0], value: q[1]}
		if len(q[1]) > 1 && q[1][0] == ':' {
			cond.capture = true
			r.match.names = append(slices.Clip(r.match.names), q[1][1:])
		}
		r.query = append(r.query, cond)
	}
	for _, c := range in.conditions {
		switch strings.ToLower(c[0]) {
		case "country", "language", "role", "cookie":
			r.Conditional = true
			r.Conditions = append(r.Conditions, c[0]+"="+c[1])
		case "sign", "signed":
			// Netlify signs the requests to the proxied server.
		default:
			bad(CodeSyntax, Warning, "the rule never applies: Netlify has no condition "+quote(c[0]))
			r.match = pattern{}
		}
	}
	captures := countPath(&r)
	r.to = colonTemplate(r.To, r.match.names, func(group int) escaping {
		if group >= captures {
			return formEscape
		}
		return verbatim
	})
	r.Kind = kindOf(r.Status, r.To)
	if r.Kind == Rewrite && strings.HasPrefix(r.To, "/.netlify/") {
		r.Kind = Proxy // functions, image transformations and similar programs
	}
	if splat && r.Status != 200 {
		r.self = newSelfCheck(r.To, &r.match, captures-1)
	}
	if len(r.query) == 0 {
		r.flags |= keepsQuery
	}
	f.Rules = append(f.Rules, r)
}

// countPath returns the number of captures in the path. The captures in the query
// follow them.
func countPath(r *Rule) int {
	n := len(r.match.names)
	for _, q := range r.query {
		if q.capture {
			n--
		}
	}
	return n
}

// hostPort returns host and port of a URL as in a Host header.
func hostPort(u weburl.URL) string {
	if u.Port() == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.Port()
}

// netlifyPattern compiles the path of a source. A segment that starts with ":" is a
// placeholder. A segment with its only "*" at the end matches the rest of the path.
// Trailing slashes in source and request are ignored.
func netlifyPattern(path string) (p pattern, splat bool, problem string) {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.IndexByte(path, '?') >= 0 || strings.IndexByte(path, '#') >= 0 {
		return pattern{}, false, "the rule never applies: the source is compared only with the path, which contains no ? or #"
	}
	if encoded := encodePath(path); encoded != path {
		return pattern{}, false, "the rule never applies: browsers request this path percent-encoded; write " + clip(encoded)
	}
	if path == "/" {
		return exactPattern("/", true, false), false, ""
	}
	segments := strings.Split(strings.TrimSuffix(path, "/")[1:], "/")
	splats, places, last := 0, 0, false
	var captures []string
	end := 0 // of the literal segments at the start
	prefix := ""
	for i, s := range segments {
		switch {
		case s == "" || s == "." || s == "..":
			return pattern{}, false, "the rule never applies: no request has a segment " + quote(s)
		case isPlaceholder(s):
			places++
			captures = append(captures, s[1:])
		case isSplat(s):
			splats++
			if len(captures) == 0 && len(s) > 1 {
				prefix = path[:end+len(s)] // with the text before the *
			}
			captures = append(captures, "splat")
			last = i == len(segments)-1
		case len(captures) == 0:
			end += 1 + len(s)
		}
	}
	if len(captures) == 0 {
		return exactPattern(path, true, false), false, ""
	}
	p = pattern{form: expressed, prefix: cmp.Or(prefix, path[:end]), key: path[:end], names: captures}
	p.below = path[end:] == "/*" || path[end:] == "/*/"
	if splats == 0 || splats == 1 && segments[len(segments)-1] == "*" {
		p.segments = segments
		return p, splats > 0, ""
	}
	// Other patterns become regular expressions.
	var expr strings.Builder
	expr.WriteByte('^')
	for _, s := range segments {
		switch {
		case isPlaceholder(s):
			expr.WriteString("/([^/]+)")
		case s == "*":
			expr.WriteString("(?:/(.*))?")
		case isSplat(s):
			expr.WriteString("/" + regexp.QuoteMeta(s[:len(s)-1]) + "/?(.*)")
		default:
			expr.WriteString("/" + regexp.QuoteMeta(s))
		}
	}
	if !last {
		expr.WriteString("/?")
	}
	expr.WriteByte('$')
	var err error
	if p.expr, err = newExpression(expr.String()); err != nil {
		return pattern{}, false, "the source cannot be parsed: " + err.Error()
	}
	return p, splats > 0, ""
}

func isPlaceholder(segment string) bool { return segment[0] == ':' && len(segment) > 1 }

// isSplat reports whether the only * of a segment is its last character. The
// segment must not be a placeholder.
func isSplat(segment string) bool { return strings.IndexByte(segment, '*') == len(segment)-1 }

// needsEscape marks the bytes that must be escaped in a path.
var needsEscape = func() (t [256]bool) {
	for c := range t {
		t[c] = c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`{}", byte(c)) >= 0
	}
	return t
}()

// encodePath returns the path as a browser requests it, percent-encoded. It keeps
// dot segments.
func encodePath(path string) string {
	i := 0
	for i < len(path) && !needsEscape[path[i]] {
		i++
	}
	if i == len(path) {
		return path // almost always
	}
	var out strings.Builder
	out.WriteString(path[:i])
	for ; i < len(path); i++ {
		c := path[i]
		if needsEscape[c] {
			out.WriteByte('%')
			out.WriteByte(upperHex[c>>4])
			out.WriteByte(upperHex[c&15])
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// selfCheck is the test with which Netlify's matcher keeps a redirect with a splat
// from leading to itself. Measured with netlify-redirector 0.5.0, for every status
// except 200. The test holds if the source matches the destination as written, and
// if the requested path starts with the destination without its final "/:splat". For
// a destination URL with the requested host, the captured splat is compared instead.
// The rule then does nothing and ends the search, even if its query or conditions do
// not match.
type selfCheck struct {
	base   string
	splat  int    // the capture of the splat
	origin string // scheme and host of an absolute destination
}

// newSelfCheck returns the test for a destination, or nil if it never holds.
func newSelfCheck(to string, match *pattern, splat int) *selfCheck {
	c := &selfCheck{splat: splat}
	base, whole := strings.CutSuffix(to, "/:splat")
	if base == "" {
		return nil
	}
	if weburl.IsWeb(base) {
		start := strings.Index(base, "://") + 3
		slash := strings.IndexByte(base[start:], '/')
		if !whole || slash < 0 {
			return nil
		}
		c.origin, c.base = base[:start+slash], base[start+slash:]
		return c
	}
	if _, again := match.matches(to); !again {
		return nil
	}
	c.base = base
	return c
}

// holds reports whether the rule would lead to itself.
func (c *selfCheck) holds(req *Request, captured []string) bool {
	if c.origin != "" {
		scheme, host, _ := strings.Cut(c.origin, "://")
		own := host == req.Host && (scheme == req.Scheme || req.Scheme == "")
		return own && strings.HasPrefix("/"+captured[c.splat], c.base)
	}
	return strings.HasPrefix(req.Path, c.base)
}

// NetlifyTOML parses [[redirects]], [[headers]] and publish of [build] in
// netlify.toml. Netlify evaluates the rules of _redirects first, so pass that file
// to [New] before this one. Like Netlify's parser, it accepts older names of fields
// (origin, destination, params, sign ...).
func NetlifyTOML(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	document, err := tomltree.Parse(data)
	if err != nil {
		f.fault(CodeSyntax, Error, err.Line, "", "the file cannot be read: "+err.Msg)
		return f
	}
	top := document.YAML()
	f.Settings.Public = tomlText(memberOf(top, "build"), "publish")
	f.tables(top, "redirects", f.netlifyTable)
	f.tables(top, "headers", f.netlifyHeaders)
	return f
}

// memberOf returns the value of the first key that a table has, nil for none.
func memberOf(table *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		for i := 0; table != nil && table.Kind == yaml.MappingNode && i+1 < len(table.Content); i += 2 {
			if table.Content[i].Value == name {
				return table.Content[i+1]
			}
		}
	}
	return nil
}

// tables calls add for the tables of a list, written as [[name]] or inline, each with the
// line of the path that it is for, or else of the table.
func (f *File) tables(top *yaml.Node, name string, add func(table *yaml.Node, line int)) {
	list := memberOf(top, name)
	if list == nil {
		return
	}
	if list.Kind != yaml.SequenceNode {
		f.fault(CodeSyntax, Error, list.Line, "", name+" must be a list of tables: write [["+name+"]]")
		return
	}
	for _, table := range list.Content {
		line := table.Line
		if len(table.Content) > 0 && line == 0 {
			line = table.Content[0].Line
		}
		if from := memberOf(table, "from", "origin", "for"); from != nil {
			line = from.Line
		}
		if table.Kind != yaml.MappingNode {
			f.fault(CodeSyntax, Error, line, "", name+" contains a value that is not a table")
			continue
		}
		add(table, line)
	}
}

// netlifyTable adds the rule of a [[redirects]] table.
func (f *File) netlifyTable(table *yaml.Node, line int) {
	rule := netlifyRule{
		from: tomlText(table, "from", "origin"), to: tomlText(table, "to", "destination"),
		status: tomlText(table, "status"), line: line,
	}
	rule.text = strings.TrimSpace(rule.from + " " + rule.to + " " + rule.status)
	force := memberOf(table, "force")
	rule.force = force != nil && force.Value == "true" && force.Tag == ""
	rule.query = tomlPairs(table, "query", "params", "parameters")
	rule.conditions = tomlPairs(table, "conditions")
	if rule.from == "" {
		f.fault(CodeSyntax, Error, line, rule.text, "the redirect has no from")
		return
	}
	f.addNetlify(&rule)
}

// tomlText returns the first existing field as text.
func tomlText(table *yaml.Node, names ...string) string { return nodeText(memberOf(table, names...)) }

// nodeText returns a value as text, a list with commas; "" for nil.
func nodeText(value *yaml.Node) string {
	if value == nil || value.Kind != yaml.SequenceNode {
		return cmp.Or(value, &yaml.Node{}).Value
	}
	parts := make([]string, len(value.Content))
	for i, part := range value.Content {
		parts[i] = part.Value
	}
	return strings.Join(parts, ",")
}

// tomlPairs returns the pairs of the first existing table, sorted by key.
func tomlPairs(table *yaml.Node, names ...string) (pairs [][2]string) {
	sub := memberOf(table, names...)
	for i := 0; sub != nil && sub.Kind == yaml.MappingNode && i+1 < len(sub.Content); i += 2 {
		pairs = append(pairs, [2]string{sub.Content[i].Value, nodeText(sub.Content[i+1])})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return pairs
}

// netlifyHeaders adds the rules of a [[headers]] table.
func (f *File) netlifyHeaders(table *yaml.Node, line int) {
	path := tomlText(table, "for")
	match, problem := headerPattern(path)
	if problem != "" {
		f.fault(CodeSyntax, Error, line, path, problem)
		return
	}
	for _, pair := range tomlPairs(table, "values") {
		f.Headers = append(f.Headers, HeaderRule{Path: path, Name: pair[0], Value: pair[1], Source: Source{f.Name, line}, match: match})
	}
}
