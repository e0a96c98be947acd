// Package redirect reads the rule files of web hosts and answers which rule
// applies to a request.
//
// The bytes of a rule file enter ([Netlify], [Cloudflare], [NetlifyTOML],
// [Vercel], [Firebase], [Htaccess], [Headers], or [Generic] for rules from a
// configuration); a [File] leaves, with the rules, what is wrong with them, and
// the settings that stand beside them. [New] joins files into a [Set], which
// finds the rule for a path ([Set.Match]) and judges the rules themselves
// ([Set.Check]).
//
// The package performs no I/O. Bad input is never an error and never a panic:
// what is wrong with a rule is a [Fault] with file and line, and the other rules
// are used. What each dialect means, and from which software its semantics were
// taken, is written in docs/reference/redirects.md.
package redirect

import (
	"strconv"
	"strings"
)

// Stage says when a rule is asked: before or after the files of the docroot.
type Stage uint8

const (
	// BeforeFiles: the rule wins over a file of the same path.
	BeforeFiles Stage = iota
	// AfterFiles: the rule only applies where no file answers.
	AfterFiles
)

func (s Stage) String() string {
	if s == AfterFiles {
		return "after files"
	}
	return "before files"
}

// Kind is what a rule does to the request that it matches.
type Kind uint8

const (
	// Redirect: the host answers 3xx with the destination as its Location.
	Redirect Kind = iota
	// Rewrite: the host answers with the file at the destination path.
	Rewrite
	// Proxy: another server, a function or a program answers. It may be
	// reached, what it says is not known; it is never followed.
	Proxy
	// Status: the host answers with the rule's status (404, 410, 403 ...), and
	// with the page at the destination, if there is one, as its body.
	Status
	// Pass: the rule matches and does nothing, so that later rules of its group
	// are not asked (Apache's "-" with [L]). [Set.Match] never returns it.
	Pass
)

var kindNames = [...]string{"redirect", "rewrite", "proxy", "status", "pass"}

func (k Kind) String() string { return kindNames[k] }

// Source is the place of a rule: the name of the file as it was given, and the
// line, from 1.
type Source struct {
	File string
	Line int
}

// Rule is one rule. The exported fields are for reading; they say what was
// written and how it was understood.
type Rule struct {
	// Pattern is what the rule matches, as written.
	Pattern string
	// To is the destination as written; empty when there is none.
	To string
	// Status is the answer: 301, 302, 303, 307, 308 for a redirect, 200 for a
	// rewrite or proxy.
	Status int
	Kind   Kind
	Stage  Stage
	// Force: the rule was written to win over files (Netlify's "!").
	Force bool
	// Again: after this rewrite the host asks all rules again with the new path
	// (Apache in .htaccess). Other hosts serve the file at the new path.
	Again bool
	// Conditional: the rule depends on what no static check knows (country,
	// language, cookie, header, a part that was not understood), so it may or
	// may not apply. Conditions says on what, as written.
	Conditional bool
	Conditions  []string
	Source      Source
	// Text is the rule as written, on one line, at most 200 bytes.
	Text string

	match  pattern
	to     template
	scheme string // scheme and host of a source that is a URL, else empty
	host   string
	query  []queryCondition
	// conditions must all hold, of each list one (Apache's RewriteCond).
	conditions [][]condition
	self       *selfCheck
	group      int32 // which of Apache's modules asks it
	flags      ruleFlags
}

type ruleFlags uint8

const (
	continues  ruleFlags = 1 << iota // after this rewrite the later rules of the group are asked (no [L])
	keepsQuery                       // the request's query is appended where the destination has none
	onlyAlias                        // after this rewrite mod_alias alone is asked again ([END])
	joinsQuery                       // the request's query is appended to the destination's own
)

// queryCondition asks for a query parameter: a fixed value, or any that is
// captured.
type queryCondition struct {
	key, value string
	capture    bool
}

// Entry is what lies at a path of the docroot.
type Entry uint8

const (
	// Nothing: no file and no directory.
	Nothing Entry = iota
	// FileEntry: a regular file.
	FileEntry
	// DirEntry: a directory.
	DirEntry
)

// Severity is how bad a fault is, as a suggestion.
type Severity uint8

const (
	// Error: the rule does not do what it was written for.
	Error Severity = iota
	// Warning: somebody should look at the rule.
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Codes of faults.
const (
	CodeSyntax        = "redirect-syntax"         // the host ignores the rule or refuses the file
	CodeLimit         = "redirect-limit"          // more or longer than the host accepts
	CodeUnjudged      = "redirect-unjudged"       // not understood: may or may not apply
	CodeTargetMissing = "redirect-target-missing" // nothing answers the destination
	CodeLoop          = "redirect-loop"           // leads round in a circle
	CodeChain         = "redirect-chain"          // leads to another redirect
	CodeUnreachable   = "redirect-unreachable"    // never matches
	CodeShadowed      = "redirect-shadowed"       // a file answers first
)

// Fault is something wrong with a rule.
type Fault struct {
	Code     string
	Severity Severity
	File     string
	Line     int // from 1; 0 when the file as a whole is meant
	Message  string
	Text     string // the rule as written, at most 200 bytes
}

// maxFaults bounds what one file reports: a binary file called _redirects has a
// fault on every line, and the first thousand say enough.
const maxFaults = 1000

// maxText bounds the text of a rule in a report, in bytes.
const maxText = 200

// File is what one rule file says.
type File struct {
	Name string
	// Rules in the order in which the host asks them.
	Rules []Rule
	// Faults in the order of their lines.
	Faults []Fault
	// Headers are the header rules of the file.
	Headers []HeaderRule
	// Settings that the file makes beside rules.
	Settings Settings

	dropped  int  // faults above maxFaults
	rewrites bool // a .htaccess with directives of mod_rewrite
}

// Settings is what a configuration file says about paths beside rules. A nil
// pointer means that the file does not say it.
type Settings struct {
	// Dir is the directory that the settings hold for, a URL path that ends in
	// a slash: "/", or that of a .htaccess.
	Dir string
	// CleanURLs: /page answers for page.html (Vercel, Firebase).
	CleanURLs *bool
	// TrailingSlash: addresses end in a slash, or do not (Vercel, Firebase).
	TrailingSlash *bool
	// Public is the docroot's folder, as written (Firebase, Netlify publish).
	Public string
	// Ignore are patterns of files that are not deployed (Firebase).
	Ignore []string
	// Index are the directory index files (Apache DirectoryIndex).
	Index []string
	// Listing: directories without index are listed (Apache Options Indexes).
	Listing *bool
	// DirectorySlash: /dir redirects to /dir/ (Apache).
	DirectorySlash *bool
	// ErrorPages are the pages for error statuses (Apache ErrorDocument): a
	// path, a URL, or the text itself.
	ErrorPages map[int]string
}

// HeaderRule is one header that a host adds to the answers for a path.
type HeaderRule struct {
	// Path is the pattern as written; Name as written, Value without white
	// space around it. Unset means that the header is removed.
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

// clip makes the text of a rule fit for a report: one line, bounded.
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

// isURL reports whether s is an absolute web address. Netlify only takes these
// two schemes, in lower case.
func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// kindOf is the kind of a rule with a destination, by its status: the
// convention of all hosts but Apache.
func kindOf(status int, to string) Kind {
	switch {
	case status >= 300 && status < 400:
		return Redirect
	case status >= 200 && status < 300 && isURL(to):
		return Proxy
	case status >= 200 && status < 300:
		return Rewrite
	}
	return Status
}

// GenericRule is one [[redirect]] table of a configuration, for [Generic].
type GenericRule struct {
	From, To string
	// Status 0 means 301.
	Status int
	Force  bool
	Line   int
}

// Generic makes rules from a configuration, for hosts whose own rules sitelink
// cannot read. From is a path; a final "*" takes the rest, which ":splat" puts
// into the destination, and ":name" takes a segment. Path and pattern are
// compared after percent-decoding, a final slash counts, the first match wins.
// Without Force files come first.
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
		bad("from must begin with /")
		return
	case in.Status < 200 || in.Status > 599:
		bad("status " + strconv.Itoa(in.Status) + " is no status of HTTP")
		return
	case in.To == "" && in.Status < 400:
		bad("to is missing")
		return
	case in.To != "" && in.To[0] != '/' && !isURL(in.To):
		bad("to must begin with /, http:// or https://")
		return
	}
	r := Rule{Pattern: in.From, To: in.To, Status: in.Status, Kind: kindOf(in.Status, in.To), Force: in.Force, Stage: AfterFiles, Source: Source{f.Name, in.Line}, Text: clip(text)}
	if in.Force {
		r.Stage = BeforeFiles
	}
	path := unescapePath(in.From)
	if strings.Contains(strings.TrimSuffix(path, "*"), "*") {
		bad("a * may only stand at the end of from")
		return
	}
	if !strings.Contains(path, "*") && !strings.Contains(path, "/:") {
		r.match = exactPattern(path, false, true)
	} else {
		expr := "^" + quoteNames(path) + "$"
		compiled, err := newExpression(expr)
		if err != nil {
			bad("from is not understood: " + err.Error())
			return
		}
		r.match = expressionPattern(compiled, "", true)
		r.match.names = compiled.groupNames()
	}
	r.flags |= keepsQuery
	r.to = colonTemplate(in.To, r.match.names, func(int) escaping { return pathEscape })
	f.Rules = append(f.Rules, r)
}
