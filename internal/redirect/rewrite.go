package redirect

import (
	"strconv"
	"strings"
)

// rewriteRule reads a RewriteRule. The preceding conditions apply to it.
func (p *htaccess) rewriteRule(line int, text string, args []string) {
	conditions := p.conditions
	p.conditions, p.rewrites = nil, true
	if len(args) < 2 || len(args) > 3 {
		p.fault(CodeSyntax, Error, line, text, "RewriteRule needs a pattern and a substitution; quote values that contain spaces")
		return
	}
	if !p.engine {
		p.fault(CodeUnreachable, Warning, line, text, "the rule never applies: RewriteEngine is not on")
		return
	}
	r := p.rule(line, text, args[0])
	r.group, r.To = groupRewrite, args[1]
	uncertain := func(why string) {
		r.Conditional = true
		r.Conditions = append(r.Conditions, why)
	}
	if p.skip > 0 || p.chained {
		uncertain("depends on the rule before it")
		p.skip, p.chained = max(p.skip-1, 0), false
	}
	flags := rewriteRuleFlags{}
	if len(args) == 3 {
		for _, flag := range rewriteFlags(args[2]) {
			if !flags.set(flag) {
				p.fault(CodeSyntax, Error, line, text, "RewriteRule has no flag "+quote(flag))
				return
			}
		}
	}
	if flags.next {
		uncertain("[N] starts over")
	}
	p.skip, p.chained = max(p.skip, flags.skip), flags.chain

	source, negated := strings.CutPrefix(args[0], "!")
	if strings.Contains(args[1], "$0") {
		uncertain("$0 is not supported")
	}
	if flags.fold {
		source = "(?i)" + source
	}
	if !p.setExpression(&r, source, p.dir, true) {
		return
	}
	if negated {
		expr := r.match.expr
		if expr == nil {
			expr, _ = newExpression(source)
		}
		r.match = pattern{form: expressed, expr: expr, dir: p.dir, prefix: p.dir, key: strings.TrimSuffix(p.dir, "/"), inverse: true, decoded: true}
	}
	if r.match.expr != nil && !r.match.inverse {
		r.match.names = r.match.expr.names
	}
	p.attach(&r, conditions, uncertain)
	p.substitute(&r, &flags)
	p.Rules = append(p.Rules, r)
}

// attach adds the conditions to the rule. Conditions joined by [OR] form a list,
// and one of them must hold. A list with an unknown condition is left out, and
// makes the rule conditional.
func (p *htaccess) attach(r *Rule, conditions []rewriteCond, uncertain func(string)) {
	var list []condition
	unknown := ""
	for i := range conditions {
		c := &conditions[i]
		if c.unknown || c.variable == varEntry && !c.locate(len(r.match.names)) {
			unknown = clip(c.text)
		}
		list = append(list, c.condition)
		if c.or && i < len(conditions)-1 {
			continue
		}
		if unknown == "" {
			r.conditions = append(r.conditions, list)
		} else {
			uncertain(unknown)
		}
		list, unknown = nil, ""
	}
}

// substitute interprets the substitution and the flags.
func (p *htaccess) substitute(r *Rule, flags *rewriteRuleFlags) {
	to := r.To
	r.Status, r.Kind, r.Again = 200, Rewrite, !flags.end
	if flags.end {
		r.flags |= onlyAlias
	}
	switch {
	case flags.status >= 400:
		r.Kind, r.Status, r.To = Status, flags.status, ""
		return
	case to == "-":
		r.Kind, r.To = Pass, ""
		if !flags.last {
			r.flags |= continues
		}
		return
	case flags.proxy:
		r.Kind = Proxy
	case flags.status >= 300:
		r.Kind, r.Status = Redirect, flags.status
	case strings.Contains(to, "://"):
		r.Kind, r.Status = Redirect, 302
	case !flags.last:
		r.flags |= continues
	}
	for _, place := range apachePlaceholder().FindAllString(to, -1) {
		if _, known := apacheVariables[place]; strings.HasPrefix(place, "%{") && !known {
			r.Conditional = true
			r.Conditions = append(r.Conditions, "the substitution contains "+place)
			break
		}
	}
	if !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "%{REQUEST_URI}") && !strings.Contains(to, "://") {
		base := p.base
		if base == "" {
			base = p.dir
			if r.Kind == Redirect {
				p.fault(CodeTargetMissing, Error, r.Source.Line, r.Text, "the substitution is relative: without RewriteBase, Apache redirects to its path on the server's disk; start it with /")
			}
		}
		to = base + to
	}
	switch {
	case strings.Contains(to, "?") && flags.appendQuery:
		r.flags |= joinsQuery
	case strings.HasSuffix(to, "?"):
		to = strings.TrimSuffix(to, "?")
	case !strings.Contains(to, "?") && !flags.dropQuery:
		r.flags |= keepsQuery
	}
	r.to = apacheTemplate(to, len(r.match.names), apacheEscape, !flags.noEscape || r.Kind == Rewrite)
}

// rewriteRuleFlags are the supported flags of a RewriteRule.
type rewriteRuleFlags struct {
	fold, last, end, next, chain, proxy, appendQuery, dropQuery, noEscape bool
	status, skip                                                          int
}

// set sets one flag. It returns false if Apache has no such flag.
func (f *rewriteRuleFlags) set(flag string) bool {
	name, value, _ := strings.Cut(flag, "=")
	switch strings.ToUpper(name) {
	case "NC", "NOCASE":
		f.fold = true
	case "L", "LAST":
		f.last = true
	case "END":
		f.last, f.end = true, true
	case "N", "NEXT":
		f.next = true
	case "C", "CHAIN":
		f.chain = true
	case "P", "PROXY":
		f.proxy, f.last = true, true
	case "QSA", "QSAPPEND":
		f.appendQuery = true
	case "QSD", "QSDISCARD":
		f.dropQuery = true
	case "NE", "NOESCAPE":
		f.noEscape = true
	case "F", "FORBIDDEN":
		f.status, f.last = 403, true
	case "G", "GONE":
		f.status, f.last = 410, true
	case "S", "SKIP":
		f.skip, _ = strconv.Atoi(value)
		f.skip = min(max(f.skip, 0), 1<<20)
	case "R", "REDIRECT":
		f.status = map[string]int{"": 302, "PERMANENT": 301, "TEMP": 302, "SEEOTHER": 303}[strings.ToUpper(value)]
		if n, err := strconv.Atoi(value); err == nil {
			f.status = n
		}
		return f.status >= 300 && f.status <= 599
	case "PT", "PASSTHROUGH", "E", "ENV", "CO", "COOKIE", "T", "TYPE", "H", "HANDLER", "B", "BNP", "BACKREFNOPLUS", "BCTLS",
		"BNE", "DPI", "DISCARDPATH", "QSL", "QSLAST", "NS", "NOSUBREQ", "UNSAFEALLOW3F", "UNSAFEPREFIXSTAT", "UNC":
		// These do not change the destination.
	default:
		return false
	}
	return true
}

// rewriteFlags splits [A,B=c].
func rewriteFlags(s string) []string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	var out []string
	for flag := range strings.SplitSeq(s, ",") {
		if flag = strings.TrimSpace(flag); flag != "" {
			out = append(out, flag)
		}
	}
	return out
}

// rewriteCond is a RewriteCond, kept for the RewriteRule that follows.
type rewriteCond struct {
	condition
	subject string // the test string as written
	or      bool
	unknown bool // depends on something that is unknown for a link
	line    int
	text    string
}

// variable is what a condition tests.
type variable uint8

const (
	varPath     variable = iota // %{REQUEST_URI}
	varHost                     // %{HTTP_HOST}
	varQuery                    // %{QUERY_STRING}
	varHTTPS                    // %{HTTPS}: on or off
	varScheme                   // %{REQUEST_SCHEME}
	varPort                     // %{SERVER_PORT}
	varMethod                   // %{REQUEST_METHOD}: links are followed with GET
	varRequest                  // %{THE_REQUEST}
	varRestarts                 // %{ENV:REDIRECT_STATUS}: empty before the first rewrite
	varEntry                    // the entry at a path of the docroot
)

var variables = map[string]variable{
	"REQUEST_URI": varPath, "HTTP_HOST": varHost, "SERVER_NAME": varHost, "QUERY_STRING": varQuery, "HTTPS": varHTTPS,
	"REQUEST_SCHEME": varScheme, "SERVER_PORT": varPort, "REQUEST_METHOD": varMethod, "THE_REQUEST": varRequest,
	"ENV:REDIRECT_STATUS": varRestarts,
}

// linkEntry is a symbolic link. No entry has this value, because links are
// resolved.
const linkEntry EntryKind = 255

// condition compares a variable with an expression or a text, or tests the entry
// at a path of the docroot.
type condition struct {
	variable variable
	want     EntryKind   // varEntry
	at       template    // varEntry: the path; without parts, the path of the request
	expr     *expression // nil: compare with text
	text     string
	fold     bool
	not      bool
}

// value returns the value of the variable, and whether it is known.
func (v variable) value(req *Request, path string) (string, bool) {
	switch v {
	case varPath:
		return path, true
	case varHost:
		return req.Host, req.Host != ""
	case varQuery:
		return req.Query, true
	case varHTTPS:
		if req.Scheme == "https" {
			return "on", true
		}
		return "off", req.Scheme != ""
	case varScheme:
		return req.Scheme, req.Scheme != ""
	case varPort:
		if _, port, found := strings.Cut(req.Host, ":"); found {
			return port, true
		}
		if req.Scheme == "https" {
			return "443", true
		}
		return "80", req.Scheme != ""
	case varMethod:
		return "GET", true
	case varRequest:
		target := req.Original
		if target == "" {
			if target = req.Path; req.Query != "" {
				target += "?" + req.Query
			}
		}
		return "GET " + target + " HTTP/1.1", true
	case varRestarts:
		if req.Original != "" {
			return "200", true
		}
		return "", true
	}
	return "", false
}

// holds reports whether the condition is met, and returns its captures. A condition
// on an unknown value is not met: a rule that depends on the site's host does not
// apply if the host is unknown.
func (c *condition) holds(req *Request, path string, captured []string) ([]string, bool) {
	if c.variable == varEntry {
		if len(c.at.parts) > 0 {
			path = c.at.fill(append(captured[:len(captured):len(captured)], path), nil)
		}
		found := Nothing
		if req.Entry != nil {
			found = req.Entry(path)
		}
		return nil, (found == c.want) != c.not
	}
	value, known := c.variable.value(req, path)
	if !known {
		return nil, false
	}
	if c.expr == nil {
		equal := value == c.text || c.fold && strings.EqualFold(value, c.text)
		return nil, equal != c.not
	}
	if c.not {
		return nil, !c.expr.matches(value)
	}
	return c.expr.captures(value)
}

// rewriteCond reads a RewriteCond.
func (p *htaccess) rewriteCond(line int, text string, args []string) {
	p.rewrites = true
	if len(args) < 2 || len(args) > 3 {
		p.fault(CodeSyntax, Error, line, text, "RewriteCond needs a test string and a pattern; quote values that contain spaces")
		return
	}
	c := rewriteCond{line: line, text: text}
	if len(args) == 3 {
		for _, flag := range rewriteFlags(args[2]) {
			switch strings.ToUpper(flag) {
			case "NC", "NOCASE":
				c.fold = true
			case "OR", "ORNEXT":
				c.or = true
			case "NV", "NOVARY":
			default:
				p.fault(CodeSyntax, Error, line, text, "RewriteCond has no flag "+quote(flag))
			}
		}
	}
	c.read(args[0], args[1])
	p.conditions = append(p.conditions, c)
}

// read interprets a test string and its pattern, or marks the condition as
// unknown.
func (c *rewriteCond) read(subject, test string) {
	rest, not := strings.CutPrefix(test, "!")
	c.not = not
	switch rest {
	case "-f", "-s", "-F", "-U":
		c.variable, c.want, c.subject = varEntry, FileEntry, subject
		return
	case "-d":
		c.variable, c.want, c.subject = varEntry, DirEntry, subject
		return
	case "-l", "-h", "-L", "-x":
		c.variable, c.want, c.subject = varEntry, linkEntry, subject
		return
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(subject, "}"), "%{")
	v, known := variables[name]
	if !ok || !known {
		c.unknown = true
		return
	}
	c.variable = v
	if text, ok := strings.CutPrefix(rest, "="); ok {
		c.text = strings.Trim(text, `"`)
		return
	}
	if rest != "" && strings.IndexByte("<>-", rest[0]) >= 0 {
		c.unknown = true
		return
	}
	if c.fold {
		rest = "(?i)" + rest
	}
	expr, err := newExpression(rest)
	c.expr, c.unknown = expr, err != nil
}

// locate interprets the path that a condition tests: the path of the request, or
// one composed of the document root, the request and the rule's groups. It returns
// false if the path is not supported.
func (c *rewriteCond) locate(groups int) bool {
	const file, root, uri = "%{REQUEST_FILENAME}", "%{DOCUMENT_ROOT}", "%{REQUEST_URI}"
	rest, inRoot := strings.CutPrefix(strings.Replace(c.subject, "%{CONTEXT_DOCUMENT_ROOT}", root, 1), root)
	switch {
	case c.subject == file, inRoot && strings.TrimPrefix(rest, "/") == uri:
		return true
	case !inRoot && !strings.HasPrefix(rest, file):
		return false
	}
	// The path of the request follows the groups.
	const mark = "\x00"
	rest = strings.NewReplacer(file, mark, uri, mark).Replace(rest)
	if strings.Contains(rest, "%{") {
		return false
	}
	c.at = apacheTemplate(rest, groups, verbatim, false).replace(mark, groups, verbatim)
	return true
}
