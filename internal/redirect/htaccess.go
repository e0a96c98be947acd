package redirect

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Groups of rules in a .htaccess file. Apache runs mod_rewrite before mod_alias.
const (
	groupRewrite int32 = iota
	groupAlias
)

// Htaccess parses the .htaccess file of a directory. dir is the directory's URL
// path on the host, percent-decoded: "/" or "/sub/". It reads Redirect, RedirectMatch,
// RedirectPermanent, RedirectTemp, RewriteEngine, RewriteBase, RewriteCond,
// RewriteRule, FallbackResource, DirectoryIndex, DirectorySlash, ErrorDocument, Header and
// Options Indexes; other directives do not affect paths. You can pass the files of
// several directories to [New] in any order.
//
// Apache's documentation: mod_alias, mod_rewrite, mod_dir and core, version 2.4.
func Htaccess(dir, name string, data []byte) *File {
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	p := &htaccess{File: &File{Name: name, Settings: Settings{Dir: dir}}, dir: dir}
	number := 0
	for len(data) > 0 {
		var line []byte
		start := number + 1
		for {
			var part []byte
			part, data, _ = bytes.Cut(data, []byte("\n"))
			number++
			part = bytes.TrimSuffix(part, []byte("\r"))
			rest, goesOn := bytes.CutSuffix(part, []byte(`\`))
			line = append(line, rest...)
			if !goesOn || len(data) == 0 {
				break
			}
		}
		text := strings.TrimSpace(strings.TrimPrefix(string(line), bom))
		if text == "" || text[0] == '#' {
			continue
		}
		p.directive(start, text)
	}
	if n := len(p.conditions); n > 0 {
		p.fault(CodeSyntax, Warning, p.conditions[n-1].line, p.conditions[n-1].text, "no RewriteRule follows this RewriteCond")
	}
	return p.File
}

// maxIndexNames bounds DirectoryIndex, because each directory is searched for its
// names.
const maxIndexNames = 64

// htaccess is the state while a file is parsed.
type htaccess struct {
	*File
	dir        string
	base       string // RewriteBase, or ""
	engine     bool
	conditions []rewriteCond
	sections   []section
	skip       int  // number of following rules that depend on a [S] flag
	chained    bool // the last rule has [C]
}

// section is an open <...> block.
type section struct {
	name      string
	skipped   bool
	condition string // the condition for the rules inside, or ""
}

func (p *htaccess) directive(line int, text string) {
	if text[0] == '<' {
		p.section(line, text)
		return
	}
	for _, s := range p.sections {
		if s.skipped {
			return
		}
	}
	// Apache splits a directive into words at white space outside quotes. A backslash
	// escapes a quote.
	var words []string
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		var word strings.Builder
		if quote := text[i]; quote == '"' || quote == '\'' {
			for i++; i < len(text) && text[i] != quote; i++ {
				if text[i] == '\\' && i+1 < len(text) && (text[i+1] == quote || text[i+1] == '\\') {
					i++
				}
				word.WriteByte(text[i])
			}
			i++
		} else {
			for ; i < len(text) && text[i] != ' ' && text[i] != '\t'; i++ {
				if text[i] == '\\' && i+1 < len(text) && text[i+1] == ' ' {
					word.WriteByte('\\') // an escaped space in a RewriteRule pattern
					i++
				}
				word.WriteByte(text[i])
			}
		}
		words = append(words, word.String())
	}
	bad := func(message string) { p.fault(CodeSyntax, Error, line, text, message) }
	args := words[1:]
	on := len(args) == 1 && strings.EqualFold(args[0], "on")
	switch strings.ToLower(words[0]) {
	case "redirect", "redirectmatch", "redirectpermanent", "redirecttemp":
		p.redirect(line, text, words)
	case "header":
		p.header(line, args)
	case "rewriteengine":
		p.engine, p.rewrites = on, true
	case "rewritebase":
		if len(args) != 1 || !strings.HasPrefix(args[0], "/") {
			bad("RewriteBase needs a path that starts with /")
			return
		}
		p.base = strings.TrimSuffix(args[0], "/") + "/"
	case "rewritecond":
		p.rewriteCond(line, text, args)
	case "rewriterule":
		p.rewriteRule(line, text, args)
	case "rewriteoptions":
		if !strings.EqualFold(strings.Join(args, " "), "AllowAnyURI") {
			p.fault(CodeUnjudged, Warning, line, text, "sitelink does not support RewriteOptions: rules of other directories may apply as well")
		}
	case "fallbackresource":
		p.fallback(line, text, args)
	case "directoryindex":
		if len(args) > maxIndexNames {
			bad("sitelink reads the first " + strconv.Itoa(maxIndexNames) + " names of index files")
		}
		p.Settings.Index = args[:min(len(args), maxIndexNames)]
		if len(args) == 1 && strings.EqualFold(args[0], "disabled") {
			p.Settings.Index = []string{}
		}
	case "directoryslash":
		p.Settings.DirectorySlash = &on
	case "errordocument":
		p.errorDocument(line, text, args)
	case "options":
		for _, arg := range args {
			sign := strings.TrimLeft(arg, "+-")
			if strings.EqualFold(sign, "indexes") || strings.EqualFold(sign, "all") {
				listing := arg[0] != '-'
				p.Settings.Listing = &listing
			}
		}
	}
}

// header reads a Header directive of mod_headers. One with a condition is kept, but applies
// to no path.
func (p *htaccess) header(line int, args []string) {
	if len(args) > 0 && (strings.EqualFold(args[0], "always") || strings.EqualFold(args[0], "onsuccess")) {
		args = args[1:]
	}
	if len(args) < 2 {
		return
	}
	h := HeaderRule{Path: p.dir, Name: strings.TrimSuffix(args[1], ":"), Source: Source{p.Name, line}, match: belowPattern(p.dir)}
	for _, s := range p.sections {
		if s.condition != "" {
			h.match = pattern{}
		}
	}
	switch strings.ToLower(args[0]) {
	case "unset":
		h.Unset = true
	case "set", "add", "append", "merge", "setifempty":
		if len(args) < 3 {
			return
		}
		if len(args) > 3 { // env= or expr=
			h.match = pattern{}
		}
		h.Value = strings.ReplaceAll(args[2], "%%", "%")
	default:
		return
	}
	p.Headers = append(p.Headers, h)
}

// section opens or closes a <...> block. It assumes that all modules are loaded.
func (p *htaccess) section(line int, text string) {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "<"), ">")
	if closing, ok := strings.CutPrefix(inner, "/"); ok {
		if n := len(p.sections); n > 0 && strings.EqualFold(p.sections[n-1].name, strings.TrimSpace(closing)) {
			p.sections = p.sections[:n-1]
			return
		}
		p.fault(CodeSyntax, Error, line, text, "this closes a section that is not open")
		return
	}
	name, args, _ := strings.Cut(inner, " ")
	s := section{name: name}
	switch strings.ToLower(name) {
	case "ifmodule":
		s.skipped = strings.HasPrefix(strings.TrimSpace(args), "!")
	case "limit", "limitexcept", "requireall", "requireany", "requirenone":
		// These control access and do not affect paths.
	default:
		s.condition = "inside " + clip(text)
	}
	if len(p.sections) < 64 {
		p.sections = append(p.sections, s)
	}
}

// rule returns a rule with the fields that all rules have.
func (p *htaccess) rule(line int, text, pattern string) Rule {
	r := Rule{Pattern: pattern, Source: Source{p.Name, line}, Text: clip(text)}
	for _, s := range p.sections {
		if s.condition != "" {
			r.Conditional = true
			r.Conditions = append(r.Conditions, s.condition)
		}
	}
	return r
}

// redirect reads the four directives of mod_alias.
func (p *htaccess) redirect(line int, text string, words []string) {
	bad := func(message string) { p.fault(CodeSyntax, Error, line, text, message) }
	directive, args := strings.ToLower(words[0]), words[1:]
	status := 302
	switch {
	case directive == "redirectpermanent":
		status = 301
	case directive == "redirecttemp" || len(args) < 2:
	default:
		known := map[string]int{"permanent": 301, "temp": 302, "seeother": 303, "gone": 410}
		n, err := strconv.Atoi(args[0])
		switch {
		case known[strings.ToLower(args[0])] != 0:
			status, args = known[strings.ToLower(args[0])], args[1:]
		case err == nil && n >= 300 && n <= 599:
			status, args = n, args[1:]
		case err == nil:
			bad("the status " + quote(args[0]) + " is not the status of a redirect or an error (300 to 599)")
			return
		}
	}
	isRedirect := status < 400
	switch {
	case len(args) == 0 || isRedirect && len(args) < 2:
		bad(words[0] + " needs a source and a destination")
		return
	case len(args) > 2 || !isRedirect && len(args) > 1:
		bad(words[0] + " has too many values; quote values that contain spaces")
		return
	}
	r := p.rule(line, text, args[0])
	r.group, r.Status, r.Kind = groupAlias, status, Status
	if isRedirect {
		r.Kind, r.To = Redirect, args[1]
		if !strings.HasPrefix(r.To, "/") && !strings.Contains(r.To, ":") && directive != "redirectmatch" {
			bad("the destination must be a URL or start with /")
			return
		}
	}
	r.flags |= keepsQuery
	if directive == "redirectmatch" {
		if p.setExpression(&r, args[0], "", true) {
			r.to = apacheTemplate(r.To, noConditions, apacheEscape, false)
			p.Rules = append(p.Rules, r)
		}
		return
	}
	if !strings.HasPrefix(args[0], "/") {
		bad("the source must start with /")
		return
	}
	if r.match = belowPattern(args[0]); !strings.HasPrefix(args[0]+"/", p.dir) && !strings.HasPrefix(p.dir, r.match.key+"/") {
		p.fault(CodeUnreachable, Warning, line, text, "the rule never applies: Apache compares the whole path, and this file is for "+p.dir+", with which the source must start")
		return
	}
	r.to = literalTemplate(r.To)
	if isRedirect {
		r.to = r.to.with(part{group: 0, escape: apacheEscape})
	}
	p.Rules = append(p.Rules, r)
}

// fallback reads FallbackResource, the page for all paths without a file.
func (p *htaccess) fallback(line int, text string, args []string) {
	if len(args) != 1 {
		p.fault(CodeSyntax, Error, line, text, "FallbackResource needs one path")
		return
	}
	if strings.EqualFold(args[0], "disabled") {
		return
	}
	r := p.rule(line, text, p.dir)
	r.group, r.Status, r.Kind, r.Stage, r.To = groupAlias, 200, Rewrite, AfterFiles, args[0]
	r.match = belowPattern(p.dir)
	r.conditions = [][]condition{{{variable: varEntry, want: FileEntry, not: true}}}
	to := args[0]
	if !strings.HasPrefix(to, "/") {
		to = path.Join(p.dir, to)
	}
	r.to = literalTemplate(to)
	p.Rules = append(p.Rules, r)
}

// errorDocument reads the page of an error as a rule that no request matches: its
// destination is checked.
func (p *htaccess) errorDocument(line int, text string, args []string) {
	if len(args) < 2 {
		p.fault(CodeSyntax, Error, line, text, "ErrorDocument needs a status and a page")
		return
	}
	status, err := strconv.Atoi(args[0])
	if err != nil || status < 400 || status > 599 {
		p.fault(CodeSyntax, Error, line, text, "ErrorDocument needs a status from 400 to 599, not "+quote(args[0]))
		return
	}
	if to := args[1]; strings.HasPrefix(to, "/") { // otherwise a text, or an address elsewhere
		r := p.rule(line, text, "")
		r.group, r.Kind, r.Status, r.To, r.to = groupAlias, Rewrite, status, to, literalTemplate(to)
		p.Rules = append(p.Rules, r)
	}
}

var (
	apachePlaceholder = text.Regexp(`\\?[$%][0-9]|%\{[A-Za-z_:-]+\}`)
	// apacheVariables are the supported variables in a destination.
	apacheVariables = map[string]int{"%{HTTP_HOST}": takesHost, "%{SERVER_NAME}": takesHost, "%{REQUEST_URI}": takesPath, "%{QUERY_STRING}": takesQuery}
)

// noConditions, as the number of groups, means that %N and variables are literal.
const noConditions = -1

// apacheTemplate compiles a destination with $N for the groups of the rule, and %N
// for those of the last condition, which follow the rule's groups in the captures.
// It percent-encodes literals if escapeLiteral is set.
func apacheTemplate(to string, groups int, escape escaping, escapeLiteral bool) template {
	var t template
	literal := func(s string) {
		if s == "" {
			return
		}
		if escapeLiteral && !weburl.IsWeb(s) {
			var out strings.Builder
			address, query, hasQuery := strings.Cut(s, "?")
			escapeInto(&out, address, apacheEscape)
			if s = out.String(); hasQuery {
				s += "?" + query
			}
		}
		t.parts = append(t.parts, part{literal: s, group: isLiteral})
	}
	start := 0
	for _, at := range apachePlaceholder().FindAllStringIndex(to, -1) {
		place := to[at[0]:at[1]]
		literal(to[start:at[0]])
		start = at[1]
		n := int(place[len(place)-1] - '0')
		switch {
		case strings.HasPrefix(place, "%{"):
			if group, ok := apacheVariables[place]; ok && groups >= 0 {
				t.parts = append(t.parts, part{group: group})
			} else {
				literal(place)
			}
		case place[0] == '\\':
			literal(place[1:])
		case place[0] == '%' && groups == noConditions, n == 0:
			literal(place)
		case place[0] == '%':
			t.parts = append(t.parts, part{group: groups + n - 1, escape: escape})
		default:
			t.parts = append(t.parts, part{group: n - 1, escape: escape})
		}
	}
	literal(to[start:])
	return t
}

// inOrder sorts files in Apache's order: the deepest directory first. The files of
// other hosts all apply to "/" and keep their order.
func inOrder(files []*File) []*File {
	sorted := slices.Clone(files)
	slices.SortStableFunc(sorted, func(a, b *File) int {
		return strings.Count(b.Settings.Dir, "/") - strings.Count(a.Settings.Dir, "/")
	})
	return sorted
}
