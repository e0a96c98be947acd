package config

import (
	"slices"
	"strings"
)

// Kind is the type of a key's value.
type Kind uint8

const (
	// Word is one of a few words, or a free one; see [Key.Values].
	Word Kind = iota
	// Path is a file or directory. In the configuration file it is relative
	// to the directory of the project, elsewhere to the working directory.
	Path
	// List is any number of texts. In the file it may be a single string.
	List
	// Reports is a List of formats, each NAME or NAME=FILE; FILE is a Path.
	Reports
	// Rules is the list of ignore rules: [[ignore]] tables in the file.
	Rules
	// Bool is true or false.
	Bool
	// Switch is true, false or "auto".
	Switch
	// Number is a whole number from 0.
	Number
	// Size is a number of bytes with an optional unit, such as 1GiB.
	Size
)

// Key is one thing that can be configured.
type Key struct {
	// Name is the key in the file, and with -- before it the flag.
	Name string
	// Table is the table of the file that holds the key, "" for the top level.
	Table string
	Kind  Kind
	// Values are the words accepted, empty when any text is.
	Values []string
	// Default says what holds when nobody sets the key, for a person.
	Default string
	// Arg names the value in the help of the flag.
	Arg string
	// Help is one line, lower case, no full stop.
	Help string

	set func(l *loader, values []string, place string) error
}

// keys is the one definition of what can be configured, in the order of the
// manual.
var keys = []Key{
	{Name: "docroot", Kind: Path, Arg: "DIR", Default: "where the project's generator writes, else public if it is there, else .",
		Help: "directory to check, served as the root of the site",
		set:  text(func(c *Config) *string { return &c.Docroot })},
	{Name: "base-url", Kind: List, Arg: "URL", Default: "what the project's generator says",
		Help: "address at which the docroot is published; links to it are internal, whether http or https",
		set:  baseURLs},
	{Name: "profile", Arg: "NAME", Default: "generic",
		Help: "how the host answers paths: apache, caddy, cloudflare-pages, firebase, generic, github-pages, hugo-server, lighttpd, linklint, netlify, nginx, s3 or vercel",
		set:  profile},
	{Name: "index", Kind: List, Arg: "NAME", Default: "the profile's list",
		Help: "default index file of a directory; replaces the profile's list, first found answers",
		set:  index},
	{Name: "autoindex", Values: []string{"list", "error"}, Arg: "list|error", Default: "what the profile does",
		Help: "what answers a directory without index file: a listing (warning) or an error",
		set:  word(func(c *Config) *string { return &c.Autoindex })},
	{Name: "base", Values: []string{"html5", "document-order"}, Arg: "RULE", Default: "html5",
		Help: "how base elements are read: html5, as browsers do, or document-order, each for what follows it",
		set:  word(func(c *Config) *string { return &c.Base })},
	{Name: "tags", Values: []string{"modern", "linklint"}, Arg: "TABLE", Default: "modern",
		Help: "which elements hold links: modern, all that is followed today, or linklint's table",
		set:  word(func(c *Config) *string { return &c.Tags })},
	{Name: "map", Kind: List, Arg: "RULE", Default: "none",
		Help: "rewrite of link paths: PREFIX removes leading segments, /a=/b puts /b in place of /a",
		set:  maps},
	{Name: "default-charset", Arg: "NAME", Default: "the profile's",
		Help: "encoding of pages that declare none",
		set:  charsetName},
	{Name: "page-extensions", Kind: List, Arg: "EXT", Default: "html, htm, shtml, xhtml",
		Help: "ending of the names of HTML pages, such as php; replaces the list, xhtml is read as XML",
		set:  pageExtensions},
	{Name: "max-page-size", Kind: Size, Arg: "SIZE", Default: "1GiB",
		Help: "pages above this size are not read, and reported",
		set:  pageSize},

	{Name: "jobs", Table: "check", Kind: Number, Arg: "N", Default: "0",
		Help: "number of workers; 0 is one per processor",
		set:  jobs},
	{Name: "from", Table: "check", Kind: List, Arg: "LINKSET", Default: "none",
		Help: "check only pages of LINKSET, such as /sub/@, as far as links lead to them from its seed /sub/; @ is any text, # any text without slash",
		set:  linksets(func(c *Config) *[]string { return &c.From })},
	{Name: "skip", Table: "check", Kind: List, Arg: "LINKSET", Default: "none",
		Help: "do not check the links of pages of LINKSET; that these pages exist is checked",
		set:  linksets(func(c *Config) *[]string { return &c.Skip })},
	{Name: "limit", Table: "check", Kind: Number, Arg: "N", Default: "0",
		Help: "check the links of N pages at most; 0 is all",
		set:  limit},
	{Name: "orphans", Table: "check", Kind: Bool, Default: "false",
		Help: "report files that no page links to, and pages that no chain of links leads to",
		set:  boolean(func(c *Config) *bool { return &c.Orphans })},
	{Name: "fragments", Table: "check", Kind: Bool, Default: "true",
		Help: "check fragments and the names of image maps; --fragments=false leaves them out",
		set:  boolean(func(c *Config) *bool { return &c.Fragments })},
	{Name: "script-fragments", Table: "check", Values: []string{"warn", "error", "silent"}, Arg: "HOW", Default: "warn",
		Help: "fragments that only scripts can serve: warn once per page, error for each, or silent",
		set:  word(func(c *Config) *string { return &c.ScriptFragments })},
	{Name: "fail-on", Table: "check", Values: []string{"error", "warning", "never"}, Arg: "LEVEL", Default: "error",
		Help: "exit 1 on findings of this level: error, warning (any finding) or never",
		set:  word(func(c *Config) *string { return &c.FailOn })},
	{Name: "source", Table: "check", Values: []string{"auto", "off"}, Arg: "WHEN", Default: "auto",
		Help: "positions in the author's sources: auto (where a project is found) or off",
		set:  word(func(c *Config) *string { return &c.Source })},
	{Name: "format", Table: "check", Kind: Reports, Values: formatNames, Arg: "NAME[=FILE]", Default: "text",
		Help: "format of the report: " + oneOf(formatNames) + "; with =FILE it goes there",
		set:  formats},
	{Name: "group-by", Table: "check", Values: []string{"page", "target", "code", "owner"}, Arg: "WHAT", Default: "page",
		Help: "what findings stand under (formats text and markdown): page, target, code, or owner by CODEOWNERS",
		set:  word(func(c *Config) *string { return &c.GroupBy })},
	{Name: "show", Table: "check", Values: []string{"findings", "all"}, Arg: "WHAT", Default: "findings",
		Help: "what the report lists: findings, or all links (formats text and jsonl)",
		set:  word(func(c *Config) *string { return &c.Show })},
	{Name: "output", Table: "check", Kind: Path, Arg: "FILE", Default: "-",
		Help: "write the report to FILE, which stays whole when that fails; - is standard output",
		set:  text(func(c *Config) *string { return &c.Output })},
	{Name: "baseline", Table: "check", Kind: Path, Arg: "FILE", Default: "none",
		Help: "report only findings that FILE, written by sitelink baseline, does not accept",
		set:  text(func(c *Config) *string { return &c.Baseline })},
	{Name: "baseline-ref", Table: "check", Arg: "REF", Default: "none",
		Help: "take the baseline as it is in this commit of git, such as origin/main",
		set:  text(func(c *Config) *string { return &c.BaselineRef })},
	{Name: "baseline-docroot", Table: "check", Kind: Path, Arg: "DIR", Default: "none",
		Help: "report only findings that the site in DIR, another build, does not have",
		set:  text(func(c *Config) *string { return &c.BaselineDocroot })},
	{Name: "color", Table: "check", Values: []string{"auto", "always", "never"}, Arg: "WHEN", Default: "auto",
		Help: "colour: auto (on terminals), always or never",
		set:  word(func(c *Config) *string { return &c.Color })},
	{Name: "progress", Table: "check", Kind: Switch, Values: []string{"auto", "true", "false"}, Arg: "WHEN", Default: "auto",
		Help: "line of progress on standard error: auto (on terminals), true or false",
		set:  word(func(c *Config) *string { return &c.Progress })},

	{Name: "ignore", Kind: Rules, Arg: "RULE", Default: "none",
		Help: "findings to accept: a URL pattern, or url=..,page=..,fragment=..,code=.. all of which must match",
		set:  ignores},
}

// Keys returns all keys in the order of the manual.
func Keys() []Key { return slices.Clone(keys) }

// Lookup returns the key of that name.
func Lookup(name string) (Key, bool) {
	for _, k := range keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Env returns the variable that sets the key: SITELINK_BASE_URL for base-url.
func (k Key) Env() string {
	return "SITELINK_" + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Repeats tells whether the flag may be given several times.
func (k Key) Repeats() bool { return k.Kind == List || k.Kind == Reports || k.Kind == Rules }

// split takes a variable apart: lists at commas, rules, which hold commas
// themselves, at line ends.
func (k Key) split(text string) []string {
	separator := ","
	switch k.Kind {
	case List, Reports:
	case Rules:
		separator = "\n"
	default:
		return []string{text}
	}
	var values []string
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			values = append(values, part)
		}
	}
	return values
}

// names returns the names of the keys in a table of the file.
func names(table string) []string {
	var all []string
	for _, k := range keys {
		if k.Table == table {
			all = append(all, k.Name)
		}
	}
	return all
}
