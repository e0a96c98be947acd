package remote

import (
	"strconv"
	"strings"
)

// robotsName is the product token that names sitelink in robots.txt files.
const robotsName = "sitelink"

// maxRobots is how much of a robots.txt is read.
//
// https://www.rfc-editor.org/rfc/rfc9309#name-limits
const maxRobots = 500 << 10

// robots are the rules of a robots.txt that apply to sitelink. The zero value allows
// everything.
type robots struct {
	rules   []robotsRule
	refuses bool // everything: the file exists, and cannot be read now
}

type robotsRule struct {
	allow bool
	// parts are what stands between the asterisks of the pattern, and end means that it
	// ends in $. length is that of the pattern.
	parts  []string
	end    bool
	length int
}

// parseRobots reads a robots.txt. Of a file that was cut off, the last line does not
// count.
//
// https://www.rfc-editor.org/rfc/rfc9309
func parseRobots(text string, cut bool) robots {
	if cut {
		text = text[:strings.LastIndexAny(text, "\r\n")+1]
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	var own, all []robotsRule
	forUs, forAll, named := false, false, false // named: there is a group for sitelink
	inAgents := false
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.Trim(value, " \t")
		switch key = strings.ToLower(strings.Trim(key, " \t")); key {
		case "user-agent":
			if !inAgents {
				forUs, forAll, inAgents = false, false, true
			}
			forAll = forAll || value == "*"
			if strings.EqualFold(productToken(value), robotsName) {
				forUs, named = true, true
			}
		case "allow", "disallow":
			inAgents = false
			if value == "" || !forUs && !forAll {
				continue
			}
			rule := newRobotsRule(key == "allow", value)
			if forUs {
				own = append(own, rule)
			}
			if forAll {
				all = append(all, rule)
			}
		}
	}
	if named {
		all = own
	}
	return robots{rules: all}
}

// productToken returns the start of a user agent that can be a product token.
func productToken(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
	if end < 0 {
		return agent
	}
	return agent[:end]
}

func newRobotsRule(allow bool, pattern string) robotsRule {
	pattern = normalRobots(pattern)
	r := robotsRule{allow: allow, length: len(pattern)}
	pattern, r.end = strings.CutSuffix(pattern, "$")
	r.parts = strings.Split(pattern, "*")
	return r
}

// allows reports whether a path with its query may be asked for: the longest pattern
// decides, and of two of the same length the one that allows.
func (r *robots) allows(path string) bool {
	if r.refuses {
		return false
	}
	if path == "/robots.txt" {
		return true
	}
	path = normalRobots(path)
	best, allowed := -1, true
	for i := range r.rules {
		rule := &r.rules[i]
		if rule.length < best || rule.length == best && allowed {
			continue
		}
		if rule.matches(path) {
			best, allowed = rule.length, rule.allow
		}
	}
	return allowed
}

// matches takes time in proportion to the lengths of the pattern and the path: each
// part is searched for behind the one before it.
func (r *robotsRule) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, r.parts[0])
	if !ok {
		return false
	}
	if len(r.parts) == 1 {
		return !r.end || rest == ""
	}
	last := len(r.parts) - 1
	for _, part := range r.parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	if r.end {
		return strings.HasSuffix(rest, r.parts[last])
	}
	return strings.Contains(rest, r.parts[last])
}

// normalRobots writes a path or pattern in the form in which they are compared:
// unreserved characters are not escaped, other escapes have capital letters, and
// characters outside of ASCII are escaped.
//
// https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2
func normalRobots(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], s[i] >= 0x80
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, escaped = byte(n), true
				i += 2
			}
		}
		if escaped && !isUnreserved(c) {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
