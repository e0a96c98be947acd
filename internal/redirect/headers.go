package redirect

import (
	"regexp"
	"strings"
)

// maxHeaderRules and maxHeaderLine are Cloudflare's limits for sections in a
// _headers file and for characters in a line.
const (
	maxHeaderRules = 100
	maxHeaderLine  = 2000
)

// Headers parses a _headers file: a line with a path (for Cloudflare, also a URL)
// is followed by lines with "Name: value". cloudflare selects Cloudflare's dialect:
// its limits, and "! Name" to remove a header.
func Headers(name string, data []byte, cloudflare bool) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	var path string
	var match pattern
	usable, sections := false, 0
	for number, line := range linesOf(data) {
		bad := func(code string, severity Severity, message string) { f.fault(code, severity, number, line, message) }
		if cloudflare && utf16Len(line) > maxHeaderLine {
			bad(CodeLimit, Error, "Cloudflare ignores lines of more than 2,000 characters")
			continue
		}
		if line[0] == '/' || cloudflare && strings.HasPrefix(line, "https://") {
			path, usable = line, false
			if sections++; cloudflare && sections > maxHeaderRules {
				bad(CodeLimit, Error, "Cloudflare accepts 100 header rules; it ignores this one and all that follow")
				break
			}
			var problem string
			if match, problem = headerPattern(strings.TrimPrefix(path, "https://")); problem != "" {
				bad(CodeSyntax, Error, problem)
				continue
			}
			usable = true
			continue
		}
		rule := HeaderRule{Path: path, Source: Source{name, number}, match: match}
		if unset, ok := strings.CutPrefix(line, "! "); ok && cloudflare {
			rule.Name, rule.Unset = strings.TrimSpace(unset), true
		} else {
			before, after, found := strings.Cut(line, ":")
			rule.Name, rule.Value = strings.TrimSpace(before), strings.TrimSpace(after)
			if !found || rule.Name == "" || rule.Value == "" {
				bad(CodeSyntax, Error, "expected a path, or a header as in \"Name: value\"")
				continue
			}
		}
		switch {
		case path == "":
			bad(CodeSyntax, Error, "the header has no path: add a line with a path before it")
		case usable:
			f.Headers = append(f.Headers, rule)
		}
	}
	return f
}

// headerPattern compiles the path of a header rule: * matches anything, :name a
// segment. A host before the path is ignored.
func headerPattern(path string) (pattern, string) {
	if !strings.HasPrefix(path, "/") {
		i := strings.IndexByte(path, '/')
		if i < 0 {
			return pattern{}, "the path of the headers must start with /"
		}
		path = path[i:]
	}
	expr := strings.ReplaceAll(regexp.QuoteMeta(path), `\*`, ".*")
	compiled, err := newExpression("^" + cloudflareName().ReplaceAllString(expr, "[^/]+") + "$")
	if err != nil {
		return pattern{}, "the path of the headers cannot be parsed: " + err.Error()
	}
	return expressionPattern(compiled, "", false), ""
}

// Applies reports whether the host adds the header to the answer for a path, or
// removes it. path is percent-encoded as requested. Applies is safe for concurrent
// use.
func (h *HeaderRule) Applies(path string) bool {
	if h.match.decoded {
		path = unescapePath(path)
	}
	_, ok := h.match.matches(path)
	return ok
}
