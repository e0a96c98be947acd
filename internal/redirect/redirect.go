// Package redirect reads the redirect rules of web hosts and finds the rule that
// applies to a request.
//
// [Netlify], [Cloudflare], [GitLab], [NetlifyTOML], [Vercel], [Firebase], [Azure], [Render],
// [Amplify], [Htaccess] and [Headers] parse the content of a rule file, [Generic] takes rules from a
// configuration. Each returns a [File] with rules, faults and settings. [New]
// joins files into a [Set], which finds the rule for a path ([Set.Match]) and
// checks the rules themselves ([Set.Check]).
//
// The package performs no I/O. Bad input causes neither an error nor a panic: a
// problem in a rule is a [Fault] with file and line, and the other rules apply.
// docs/reference/redirects.md describes the dialects and the software on which
// their semantics are based.
package redirect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Stage is when the host evaluates a rule: before or after the files of the
// docroot.
type Stage uint8

const (
	// BeforeFiles: the rule takes precedence over a file at the same path.
	BeforeFiles Stage = iota
	// AfterFiles: the rule applies only if no file answers the request.
	AfterFiles
)

func (s Stage) String() string {
	if s == AfterFiles {
		return "after files"
	}
	return "before files"
}

// RuleKind is what a rule does with a request.
type RuleKind uint8

const (
	// Redirect: the host answers 3xx with the destination as its Location.
	Redirect RuleKind = iota
	// Rewrite: the host answers with the file at the destination path.
	Rewrite
	// Proxy: another server, a function or a program answers. Its answer is not
	// known; it is never requested.
	Proxy
	// Status: the host answers with the rule's status (404, 410, 403 ...), and
	// with the page at the destination, if any, as its body.
	Status
	// Pass: the rule matches and does nothing, except that it ends its group
	// (Apache's "-" with [L]). [Set.Match] never returns it.
	Pass
)

var kindNames = [...]string{"redirect", "rewrite", "proxy", "status", "pass"}

func (k RuleKind) String() string { return kindNames[k] }

// Source is the position of a rule: the name of the file as passed to the parser,
// and the line, from 1.
type Source struct {
	File string
	Line int
}

// Rule is one rule, as written and as interpreted. Do not change the fields.
type Rule struct {
	// Pattern is the pattern of the source as written.
	Pattern string
	// To is the destination as written, or "".
	To string
	// Status is the status of the answer: 301, 302, 303, 307 or 308 for a
	// redirect, 200 for a rewrite or proxy.
	Status int
	Kind   RuleKind
	Stage  Stage
	// Force: the rule explicitly takes precedence over files (Netlify's "!").
	Force bool
	// Again: after this rewrite the host evaluates all rules again with the new
	// path (Apache in .htaccess). Other hosts serve the file at the new path.
	Again bool
	// Conditional: the rule depends on something that a static check does not
	// know (country, language, cookie, header, an unsupported pattern), so it
	// may or may not apply. Conditions names it, as written.
	Conditional bool
	Conditions  []string
	Source      Source
	// Text is the rule as written, on one line, at most 200 bytes.
	Text string

	match  pattern
	to     template
	scheme string // scheme and host of a source that is a URL, otherwise empty
	host   string
	query  []queryCondition
	// conditions has lists. At least one condition of each list must hold
	// (Apache's RewriteCond).
	conditions [][]condition
	self       *selfCheck
	group      int32 // the Apache module that evaluates the rule
	flags      ruleFlags
}

type ruleFlags uint8

const (
	continues  ruleFlags = 1 << iota // the later rules of the group see the rewritten path (no [L])
	keepsQuery                       // the request's query is appended if the destination has none
	onlyAlias                        // after this rewrite only mod_alias evaluates its rules again ([END])
	joinsQuery                       // the request's query is appended to that of the destination
)

// queryCondition requires a query parameter with a fixed value, or captures its
// value.
type queryCondition struct {
	key, value string
	capture    bool
}

// EntryKind is the type of what is at a path of the docroot.
type EntryKind uint8

const (
	// Nothing: no file and no directory.
	Nothing EntryKind = iota
	// FileEntry: a regular file.
	FileEntry
	// DirEntry: a directory.
	DirEntry
)

// Severity is the suggested severity of a fault.
type Severity uint8

const (
	// Error: the rule does not do what its author intended.
	Error Severity = iota
	// Warning: the rule is probably wrong.
	Warning
)

// Codes of faults.
const (
	CodeSyntax        = "redirect-syntax"         // the host ignores the rule or refuses the file
	CodeLimit         = "redirect-limit"          // more or longer than the host accepts
	CodeUnjudged      = "redirect-unjudged"       // not supported: may or may not apply
	CodeTargetMissing = "redirect-target-missing" // the destination does not exist
	CodeLoop          = "redirect-loop"           // redirects in a loop
	CodeChain         = "redirect-chain"          // the destination is redirected again
	CodeUnreachable   = "redirect-unreachable"    // never applies
	CodeShadowed      = "redirect-shadowed"       // a file takes precedence
)

// Fault is a problem of a rule.
type Fault struct {
	Code     string
	Severity Severity
	File     string
	Line     int // from 1; 0 for the file as a whole
	Message  string
	Text     string // the rule as written, at most 200 bytes
}

// IsWarning reports whether the rule is only probably wrong.
func (f *Fault) IsWarning() bool { return f.Severity == Warning }

// maxFaults is the largest number of faults per file. A binary file called
// _redirects has a fault in every line.
const maxFaults = 1000

// maxText is the maximum length of a rule's text in a report, in bytes.
const maxText = 200

// File is the content of a rule file.
type File struct {
	Name string
	// Rules are in the order in which the host evaluates them.
	Rules []Rule
	// Faults are in the order of their lines.
	Faults []Fault
	// Headers are the header rules of the file.
	Headers []HeaderRule
	// Settings are the other settings of the file.
	Settings Settings

	dropped  int  // number of faults above maxFaults
	rewrites bool // a .htaccess with directives of mod_rewrite
	// reserved: the escape of a character with a meaning in URLs stays as it is in
	// decoded paths, as decodeURI of JavaScript leaves it (Firebase).
	reserved bool
}

// Below returns the file of a host that has the docroot at its root and is reached
// below base, such as "/blog", by way of another server: the rules match paths below
// base and rewrite to such paths. Redirects lead where the file says, since browsers
// follow them: on the host of the request, or at origin, such as https://fr.example,
// unless that is empty. A .htaccess file has paths of the host already.
func (f *File) Below(base, origin string) *File {
	if base == "" {
		return f
	}
	moved := *f
	moved.Settings.Dir = base + f.Settings.Dir
	moved.Headers = slices.Clone(f.Headers)
	for i := range moved.Headers {
		moved.Headers[i].match = moved.Headers[i].match.under(base)
	}
	moved.Rules = slices.Clone(f.Rules)
	for i := range moved.Rules {
		r := &moved.Rules[i]
		r.match = r.match.under(base)
		before := base
		if r.Kind == Redirect {
			before = origin
		}
		if to := r.to.split(); before != "" && len(to) > 0 && strings.HasPrefix(to[0].literal, "/") {
			r.to = template{parts: slices.Insert(slices.Clone(to), 0, part{literal: before, group: isLiteral})}
		}
		if r.self != nil && r.self.origin == "" {
			r.self = &selfCheck{base: base + r.self.base, splat: r.self.splat}
		}
	}
	return &moved
}

// Path returns Pattern as a path of the host, "" if it is not written as a path.
func (r *Rule) Path() string {
	if path := strings.TrimPrefix(r.Pattern, "^"); strings.HasPrefix(path, "/") {
		return strings.TrimSuffix(r.match.dir, "/") + path
	}
	return ""
}

// Settings are the settings in a configuration file that affect paths. A nil
// pointer means that the file does not have the setting.
type Settings struct {
	// Dir is the directory that the settings apply to, as a URL path of the host with
	// a trailing slash: "/", or the directory of a .htaccess.
	Dir string
	// CleanURLs: the host serves page.html at /page (Vercel, Firebase, Azure).
	CleanURLs bool
	// TrailingSlash: URLs have a trailing slash, or must not (Vercel, Firebase, Azure).
	TrailingSlash *bool
	// Plain: each file has its name as its only address (Workers).
	Plain bool
	// Fallback is the file that answers every missing path (Workers).
	Fallback string
	// Public is the docroot directory as written (Firebase, Netlify publish).
	Public string
	// Ignore has patterns of files that are not deployed (Firebase).
	Ignore []string
	// Index has the names of directory index files (Apache DirectoryIndex).
	Index []string
	// Listing: the host lists directories without index (Apache Options Indexes).
	Listing *bool
	// DirectorySlash: /dir redirects to /dir/ (Apache).
	DirectorySlash *bool
}

// HeaderRule is a header that a host adds to the answers for a path.
type HeaderRule struct {
	// Path is the pattern and Name the header name, as written. Value has no white
	// space around it. Unset means that the host removes the header.
	Path, Name, Value string
	Unset             bool
	Source            Source

	match pattern
}

// fault adds a fault, unless the file has too many already.
func (f *File) fault(code string, severity Severity, line int, text, message string) {
	if len(f.Faults) >= maxFaults {
		f.dropped++
		return
	}
	f.Faults = append(f.Faults, Fault{Code: code, Severity: severity, File: f.Name, Line: line, Message: message, Text: clip(text)})
}

// clip shortens the text of a rule for a report, and puts it on one line.
func clip(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	if strings.IndexByte(text, '\t') >= 0 || strings.IndexByte(text, '\r') >= 0 || strings.IndexByte(text, '\n') >= 0 {
		text = strings.Join(strings.Fields(text), " ")
	}
	return text
}

// kindOf returns the kind of a rule with a destination from its status: the
// convention of all hosts except Apache.
func kindOf(status int, to string) RuleKind {
	switch {
	case status >= 300 && status < 400:
		return Redirect
	case status >= 200 && status < 300 && weburl.IsWeb(to):
		return Proxy
	case status >= 200 && status < 300:
		return Rewrite
	}
	return Status
}

// GenericRule is a [[redirect]] table of a configuration, for [Generic].
type GenericRule struct {
	From, To string
	// Status 0 means 301.
	Status int
	Force  bool
	Line   int
}

// Generic returns rules from a configuration, for hosts whose own rules sitelink
// cannot read. From is a path. A "*" at its end matches the rest of a path, which
// replaces ":splat" in the destination; ":name" matches a segment. Path and
// pattern are compared after percent-decoding, including a trailing slash. The
// first match wins. Without Force, files take precedence.
func Generic(name string, rules []GenericRule) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	for _, in := range rules {
		f.generic(in)
	}
	return f
}

func (f *File) generic(in GenericRule) {
	text := in.From + " -> " + in.To
	bad := func(message string) { f.fault(CodeSyntax, Error, in.Line, text, message) }
	if in.Status == 0 {
		in.Status = 301
	}
	switch {
	case !strings.HasPrefix(in.From, "/"):
		bad("from must start with /")
		return
	case in.Status < 200 || in.Status > 599:
		bad("the status " + strconv.Itoa(in.Status) + " is not an HTTP status from 200 to 599")
		return
	case in.To == "" && in.Status < 400:
		bad("to is missing")
		return
	case in.To != "" && in.To[0] != '/' && !weburl.IsWeb(in.To):
		bad("to must start with /, http:// or https://")
		return
	}
	r := Rule{Pattern: in.From, To: in.To, Status: in.Status, Kind: kindOf(in.Status, in.To), Force: in.Force, Stage: AfterFiles, Source: Source{f.Name, in.Line}, Text: clip(text)}
	if in.Force {
		r.Stage = BeforeFiles
	}
	path := unescapePath(in.From)
	if strings.Contains(strings.TrimSuffix(path, "*"), "*") {
		bad("* is allowed only at the end of from")
		return
	}
	if !strings.Contains(path, "*") && !strings.Contains(path, "/:") {
		r.match = exactPattern(path, false, true)
	} else {
		// Segments such as :name and a final * become named groups.
		seen := map[string]bool{}
		segments := strings.Split(path, "/")
		for i, s := range segments {
			name := strings.TrimPrefix(s, ":")
			rest, splat := strings.CutSuffix(s, "*")
			switch {
			case name != s && isName(name) && !seen[name]:
				seen[name] = true
				segments[i] = "(?P<" + name + ">[^/]+)"
			case splat && i == len(segments)-1:
				segments[i] = regexp.QuoteMeta(rest) + "(?P<splat>.*)"
			default:
				segments[i] = regexp.QuoteMeta(s)
			}
		}
		expr := "^" + strings.Join(segments, "/") + "$"
		compiled, err := newExpression(expr)
		if err != nil {
			bad("from cannot be parsed: " + err.Error())
			return
		}
		r.match = expressionPattern(compiled, "", true)
		r.match.names = compiled.names
	}
	r.flags |= keepsQuery
	r.to = colonTemplate(in.To, r.match.names, func(int) escaping { return pathEscape })
	f.Rules = append(f.Rules, r)
}
