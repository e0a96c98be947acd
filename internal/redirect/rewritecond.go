package redirect

import (
	"strings"
)

// rewriteCond is a RewriteCond, kept until its RewriteRule comes.
type rewriteCond struct {
	condition
	subject string // what it looks at, as written
	or      bool
	unknown bool // not decided by what is known of a link
	line    int
	text    string
}

// variable is what a condition looks at.
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
	varRestarts                 // %{ENV:REDIRECT_STATUS}: empty in the first round
	varEntry                    // what lies at a path
)

var variables = map[string]variable{
	"REQUEST_URI": varPath, "HTTP_HOST": varHost, "SERVER_NAME": varHost, "QUERY_STRING": varQuery, "HTTPS": varHTTPS,
	"REQUEST_SCHEME": varScheme, "SERVER_PORT": varPort, "REQUEST_METHOD": varMethod, "THE_REQUEST": varRequest,
	"ENV:REDIRECT_STATUS": varRestarts,
}

// linkEntry is a symbolic link: what is published holds none that is seen as
// one, so nothing is.
const linkEntry Entry = 255

// condition compares a variable with an expression or a text, or asks what
// lies at a path of the docroot.
type condition struct {
	variable variable
	want     Entry       // varEntry
	at       template    // varEntry: the path; without parts that of the request
	expr     *expression // nil: equals text
	text     string
	fold     bool
	not      bool
}

// value returns what the variable holds; false if that is not known.
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

// holds reports whether the condition is met, with what it captured. What is
// not known is not met: a rule that depends on the site's own host does not
// apply where that host is not known.
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

func (p *htaccess) rewriteCond(line int, text string, args []string) {
	p.rewrites = true
	if len(args) < 2 || len(args) > 3 {
		p.fault(CodeSyntax, Error, line, text, "RewriteCond wants a test string and a pattern; a value with spaces must be quoted")
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
				p.fault(CodeSyntax, Error, line, text, "RewriteCond knows no flag "+quote(flag))
			}
		}
	}
	c.read(args[0], args[1])
	p.conditions = append(p.conditions, c)
}

// read understands a test string and its pattern, or marks the condition as
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

// locate understands the path that a condition looks at: that of the request,
// or one made of the document root, the request and the rule's groups.
func (c *rewriteCond) locate(groups int) bool {
	const file, root, uri = "%{REQUEST_FILENAME}", "%{DOCUMENT_ROOT}", "%{REQUEST_URI}"
	rest, inRoot := strings.CutPrefix(strings.Replace(c.subject, "%{CONTEXT_DOCUMENT_ROOT}", root, 1), root)
	switch {
	case c.subject == file, inRoot && strings.TrimPrefix(rest, "/") == uri:
		return true
	case !inRoot && !strings.HasPrefix(rest, file):
		return false
	}
	// The path of the request stands behind the groups.
	const mark = "\x00"
	rest = strings.NewReplacer(file, mark, uri, mark).Replace(rest)
	if strings.Contains(rest, "%{") {
		return false
	}
	c.at = apacheTemplate(rest, groups, verbatim, false).replace(mark, groups, verbatim)
	return true
}
