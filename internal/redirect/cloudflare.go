package redirect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Limits of Cloudflare Pages, from its own parser. The documentation allows 1,000
// characters per line, the parser twice as many.
const (
	cloudflareStatic     = 2000
	cloudflareDynamic    = 100
	cloudflareLine       = 2000
	cloudflareLineStated = 1000
)

var (
	cloudflareName = text.Regexp(`:[A-Za-z]\w*`)
	cloudflareHost = text.Regexp(`^https://+([^/]+)/?(.*)`)
	cloudflarePort = text.Regexp(`:\d+$`)
	indexFile      = text.Regexp(`/index(.html)?$`)
	inlineComment  = text.Regexp(`\s+#.*$`)
)

// Shared parses a _redirects file for a site that Netlify or Cloudflare may
// serve. It keeps the rules that give the same answer to a sample request on
// both hosts, and the faults that both find. A file takes precedence over a
// rule, as on Netlify: if the docroot has a file, the link answers on either
// host.
func Shared(name string, data []byte) *File {
	f, other := Cloudflare(name, data), Netlify(name, data)
	theirs := map[int]Rule{}
	for _, r := range other.Rules {
		theirs[r.Source.Line] = r
	}
	answer := func(r Rule, path string) (RuleKind, string) {
		hit, ok := New(Options{}, &File{Rules: []Rule{r}}).Match(Request{Scheme: "https", Host: sample, Path: path, Stage: r.Stage})
		if !ok || hit.Rule.Conditional {
			return Pass, ""
		}
		return hit.Rule.Kind, hit.To
	}
	f.Rules = slices.DeleteFunc(f.Rules, func(r Rule) bool {
		path := r.samplePath()
		o, ok := theirs[r.Source.Line]
		if !ok || path == "" {
			return true
		}
		kind, to := answer(r, path)
		otherKind, otherTo := answer(o, path)
		return kind == Pass || kind != otherKind || to != otherTo
	})
	for i := range f.Rules {
		f.Rules[i].Stage = AfterFiles
	}
	f.Faults = slices.DeleteFunc(f.Faults, func(a Fault) bool {
		return !slices.ContainsFunc(other.Faults, func(b Fault) bool { return a.Line == b.Line && a.Code == b.Code })
	})
	return f
}

// Cloudflare parses a _redirects file in the dialect of Cloudflare Pages and
// Workers. The semantics are those of the parser in wrangler and of the asset server
// in @cloudflare/pages-shared, with which TestCloudflareOracle compares them; see
// docs/reference/redirects.md.
func Cloudflare(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}, Rules: make([]Rule, 0, ruleCapacity(data))}
	var static, dynamic []Rule
	seen := map[string]int{}
	statics, dynamics := 0, 0
	for number, line := range linesOf(data) {
		bad := func(code string, severity Severity, message string) { f.fault(code, severity, number, line, message) }
		if size := utf16Len(line); size > cloudflareLine {
			bad(CodeLimit, Error, "the line has "+strconv.Itoa(size)+" characters; Cloudflare ignores lines of more than 2,000")
			continue
		} else if size > cloudflareLineStated {
			bad(CodeLimit, Warning, "the line has "+strconv.Itoa(size)+" characters; Cloudflare documents a limit of 1,000")
		}
		words := strings.Fields(inlineComment().ReplaceAllString(line, ""))
		if len(words) < 2 || len(words) > 3 {
			bad(CodeSyntax, Error, "a rule for Cloudflare has a source, a destination and an optional status, but this line has "+count(len(words), "word"))
			continue
		}
		from, problem := cloudflareAddress(words[0], true)
		if problem != "" {
			bad(CodeSyntax, Error, "the source "+problem)
			continue
		}
		// A rule after the first dynamic one is treated as dynamic.
		isStatic := dynamics == 0 && !strings.Contains(from, "*") && !cloudflareName().MatchString(from)
		if isStatic {
			if statics++; statics > cloudflareStatic {
				bad(CodeLimit, Error, "Cloudflare accepts 2,000 static rules; it ignores this one")
				continue
			}
		} else if dynamics++; dynamics > cloudflareDynamic {
			bad(CodeLimit, Error, "Cloudflare accepts 100 dynamic rules; it ignores this one and all that follow")
			break
		}
		r := Rule{Pattern: words[0], To: words[1], Status: 302, Source: Source{name, number}, Text: clip(line)}
		if problem := r.cloudflare(from, words); problem != "" {
			bad(CodeSyntax, Error, problem)
			continue
		}
		if first, ok := seen[from]; ok {
			bad(CodeUnreachable, Error, "Cloudflare ignores the rule: line "+strconv.Itoa(first)+" has the same source")
			continue
		}
		seen[from] = number
		if r.Status == 200 && weburl.IsWeb(r.To) {
			bad(CodeSyntax, Error, "the destination of a rule with status 200 must be a path of the site")
			continue
		}
		if isStatic {
			r.match = exactPattern(from, false, false)
			static = append(static, r)
			continue
		}
		if r.match, problem = cloudflarePattern(from); problem != "" {
			bad(CodeSyntax, Error, problem)
			continue
		}
		to := r.to.fill(nil, nil)
		r.to = colonTemplate(to, r.match.names, func(int) escaping { return verbatim })
		dynamic = append(dynamic, r)
	}
	f.Rules = append(static, dynamic...)
	return f
}

// cloudflare checks destination and status and returns a problem, or "". The
// template is a literal afterwards.
func (r *Rule) cloudflare(from string, words []string) string {
	to, problem := cloudflareAddress(words[1], false)
	if problem != "" {
		return "the destination " + problem
	}
	if len(words) == 3 {
		switch words[2] {
		case "200", "301", "302", "303", "307", "308":
			r.Status, _ = strconv.Atoi(words[2])
		default:
			return "Cloudflare accepts the statuses 200, 301, 302, 303, 307 and 308, not " + quote(words[2])
		}
	}
	if !weburl.IsWeb(to) && indexFile().MatchString(to) && (strings.HasSuffix(from, "/*") || strings.HasSuffix(from, "/")) {
		return "Cloudflare ignores the rule because it would loop: it serves " + clip(to) + " at the address without the file name, which the rule matches again"
	}
	r.to, r.Kind = literalTemplate(to), kindOf(r.Status, to)
	if r.Kind == Redirect {
		r.flags |= keepsQuery
	}
	return ""
}

// cloudflareAddress normalises a source or destination like Cloudflare's parser:
// as a URL with a scheme that is not special. It drops query and fragment of a
// source.
func cloudflareAddress(word string, source bool) (address, problem string) {
	if host := cloudflareHost().FindStringSubmatch(word); host != nil {
		switch {
		case source:
			return "", "must be a path, not a URL"
		case cloudflarePort().MatchString(host[1]) && source:
			return "", "must not name a port"
		}
		path, problem := relativePath(host[2], false)
		return "https://" + host[1] + path, problem
	}
	if source && !strings.HasPrefix(word, "/") {
		word = "/" + word
	}
	if !strings.HasPrefix(word, "/") {
		return "", "must start with / or https://"
	}
	return relativePath(word, source)
}

func relativePath(path string, source bool) (string, string) {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	base, err := weburl.Parse("relative://")
	if err != nil {
		return "", "is not a valid URL"
	}
	u, err := base.Resolve("//" + path)
	if err != nil {
		return "", "is not a valid URL: " + err.Error()
	}
	out := u.Path()
	if source {
		return out, ""
	}
	if u.HasQuery() && u.Query() != "" {
		out += "?" + u.Query()
	}
	if u.HasFragment() && u.Fragment() != "" {
		out += "#" + u.Fragment()
	}
	return out, ""
}

// cloudflarePattern compiles a dynamic source. Cloudflare builds an expression with
// a group for each name, and silently drops the rule if two groups have the same
// name.
func cloudflarePattern(from string) (pattern, string) {
	if strings.Count(from, "*") > 1 {
		return pattern{}, "Cloudflare ignores the rule: its source has more than one *"
	}
	expr := strings.ReplaceAll(regexp.QuoteMeta(from), `\*`, "(?P<splat>.*)")
	seen := map[string]bool{"splat": strings.Contains(from, "*")}
	for _, name := range cloudflareName().FindAllString(from, -1) {
		places := strings.Count(expr, name)
		if places == 0 {
			continue
		}
		if places > 1 || seen[name[1:]] {
			return pattern{}, "Cloudflare ignores the rule: its source has " + quote(name) + " twice"
		}
		seen[name[1:]] = true
		expr = strings.ReplaceAll(expr, name, "(?P<"+name[1:]+">[^/]+)")
	}
	compiled, err := newExpression("^" + expr + "$")
	if err != nil {
		return pattern{}, "the source cannot be parsed: " + err.Error()
	}
	p := expressionPattern(compiled, "", false)
	p.names = compiled.names
	return p, ""
}

// utf16Len returns the length of a string in JavaScript.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
