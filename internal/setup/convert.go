package setup

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/text"
)

// Converted is what the configuration of another link checker says in ours.
type Converted struct {
	// From is the checker, in its own writing.
	From string
	// Docroot and BaseURL are "" where the file does not name them.
	Docroot, BaseURL string
	// Check and External are lines of these tables, Ignores are tables [[ignore]].
	Check, External, Ignores []string
	// Lost are the options without equivalent, each with what to do about it.
	Lost []string

	from, skip, sites []string // the values of from and skip of check, and of skip of external
}

// peer is another link checker. Each of its options in peers.ini becomes one of ours: docroot,
// base-url, url, page and dir (regular expressions of addresses, files and directories to ignore),
// from and skip (linksets), text and linkset-url (other patterns of addresses), jobs, fragments, max-age; external, which
// is a flag of ours; status; always, which cannot be turned off; and same, which needs no
// option. A value that begins with "!" is the reason why we have no such option; an option that is off needs none.
type peer struct {
	title string
	// name matches the name of its file, says its text.
	name, says func() *regexp.Regexp
	read       func(text string) (map[string][]string, error)
}

//go:embed peers.ini
var peerOptions string

var peers = []peer{
	{"lychee", text.Regexp(`^\.?lychee.*\.toml$`), text.Regexp(`(?m)^(max_retries|exclude_path|include_fragments|no_progress|exclude_loopback|max_concurrency)\s*=`),
		document(".toml")},
	{"htmltest", text.Regexp(`^\.?htmltest.*\.ya?ml$`), text.Regexp(`(?m)^(DirectoryPath|IgnoreURLs|CheckExternal|IgnoreDirs):`),
		document(".yml")},
	{"html-proofer", text.Regexp(`(?i)^(Rakefile|\.?html-?proofer.*|.*\.rake)$`), text.Regexp(`(?i)html-?proofer`),
		rubyOptions},
	{"hyperlink", nil, text.Regexp(`(?m)^[^#\n]*\bhyperlink\s+[-.\w/]`),
		func(text string) (map[string][]string, error) { return commandOptions(text, "hyperlink") }},
	{"LinkChecker", text.Regexp(`^\.?linkchecker.*$`), text.Regexp(`(?m)^\[(checking|filtering)\]`),
		ini},
	{"Linklint", text.Regexp(`(?i)linklint`), text.Regexp(`(?m)^-(root|doc|orphan|ignore|skip|limit|case|host)\b|^[^#\n]*\blinklint\s+-`),
		func(text string) (map[string][]string, error) {
			if strings.Contains(text, "linklint -") {
				return commandOptions(text, "linklint") // a script
			}
			return commandOptions(text, "")
		}},
}

// Convert turns the configuration of another link checker into ours. The error says which
// are known.
func Convert(name string, text string) (*Converted, error) {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	at := slices.IndexFunc(peers, func(p peer) bool { return p.name != nil && p.name().MatchString(base) && p.says().MatchString(text) })
	if at < 0 {
		at = slices.IndexFunc(peers, func(p peer) bool { return p.says().MatchString(text) })
	}
	if at < 0 {
		return nil, fmt.Errorf("%s: not a configuration of lychee, htmltest, html-proofer, hyperlink, LinkChecker or Linklint", name)
	}
	p := &peers[at]
	options, err := p.read(text)
	if err != nil {
		return nil, fmt.Errorf("read %s as a configuration of %s: %w", name, p.title, err)
	}
	c := &Converted{From: p.title}
	_, section, _ := strings.Cut(peerOptions, "["+p.title+"]")
	section, _, _ = strings.Cut(section, "\n[")
	ours, err := ini(section)
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(options))
	for key := range options {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		to := strings.Join(ours[key], "")
		for _, value := range options[key] {
			if why := c.take(to, value); why != "" {
				c.Lost = append(c.Lost, strings.TrimSpace(key+" "+value)+": "+why)
			}
		}
	}
	for _, list := range []struct {
		in  *[]string
		key string
		all []string
	}{{&c.Check, "from", c.from}, {&c.Check, "skip", c.skip}, {&c.External, "skip", c.sites}} {
		if len(list.all) > 0 {
			*list.in = append(*list.in, list.key+" = ["+strings.Join(list.all, ", ")+"]")
		}
	}
	return c, nil
}

// take adds one option with one value. It returns why there is no equivalent, "" if all
// is well.
func (c *Converted) take(to, value string) (why string) {
	off := slices.Contains([]string{"false", "0", "no"}, value)
	check := func(line string) { c.Check = append(c.Check, line) }
	if strings.HasPrefix(value, "$") || strings.Contains(value, "#{") {
		return "its value is computed"
	}
	switch to {
	case "same":
	case "always":
		if off {
			return "sitelink always checks this"
		}
	case "status":
		if !strings.HasPrefix(value, "2") { // sitelink external accepts these
			return "accept a status of a host in [[external.host]]"
		}
	case "docroot":
		c.Docroot = strings.TrimSuffix(strings.TrimPrefix(value, "./"), "/")
	case "base-url":
		if !strings.Contains(value, "://") {
			value = "https://" + value
		}
		c.BaseURL = strings.TrimSuffix(value, "/") + "/"
	case "fragments":
		if off {
			check("fragments = false")
		}
	case "orphans":
		check("orphans = true")
	case "external", "offline":
		if off != (to == "offline") {
			return "" // sitelink asks other sites only if a flag says so
		}
		return "sitelink external asks other sites"
	case "jobs", "limit":
		if n, err := strconv.Atoi(value); err != nil || n < 1 || n > 999 && to != "limit" {
			return "not a number from 1 to 999"
		}
		check(to + " = " + value)
	case "max-age":
		d, err := time.ParseDuration(dayHours().ReplaceAllStringFunc(value, func(s string) string {
			n := 0
			fmt.Sscan(s, &n)
			return fmt.Sprintf("%dh", n*map[byte]int{'d': 24, 'w': 168}[s[len(s)-1]])
		}))
		if err != nil {
			return "not a time such as 48h"
		}
		c.External = append(c.External, "max-age = "+quote(d.String()))
	case "from":
		c.from = append(c.from, quote(value))
	case "skip":
		c.skip = append(c.skip, quote(value))
	case "linkset-url":
		c.ignore("url", strings.ReplaceAll(strings.ReplaceAll(value, "@", "**"), "#", "*"))
	case "text":
		c.ignore("url", value)
	case "url", "page", "dir":
		globs, ok := globsOf(value)
		if !ok {
			return "no pattern of ours says that; add [[ignore]] tables"
		}
		var own, sites []string
		for _, glob := range globs {
			switch {
			case to == "dir" && !strings.HasSuffix(glob, "/**"): // a file of that name
			case to != "url":
				own = append(own, strings.TrimPrefix(strings.TrimLeft(glob, "./"), c.Docroot+"/"))
			case otherScheme().MatchString(glob): // never checked
			case namesHost(glob):
				sites = append(sites, glob)
			default:
				own = append(own, glob)
			}
		}
		if len(own) > 0 {
			c.ignore(strings.Replace(to, "dir", "page", 1), oneGlob(own))
		}
		if len(sites) > 0 {
			c.sites = append(c.sites, quote(oneGlob(sites)))
		}
	default:
		if !off {
			return cmp.Or(strings.TrimPrefix(to, "!"), "sitelink has no such option")
		}
	}
	return ""
}

func (c *Converted) ignore(key, glob string) {
	c.Ignores = append(c.Ignores, fmt.Sprintf("[[ignore]]\n%s = %s\nreason = %s\n", key, quote(glob), quote("from the configuration of "+c.From)))
}

var (
	dayHours    = text.Regexp(`\d+[dw]`)
	otherScheme = text.Regexp(`^(mailto|tel|javascript|data|ftp|file):`)
)

// namesHost reports whether a pattern begins with another site: https://x/**,
// **/*github.com/x*, **/*.slack.com*, **/*localhost*; but not **/*feed.xml*.
func namesHost(glob string) bool {
	part := strings.TrimLeft(strings.TrimPrefix(glob, "**/*"), ".")
	host, _, _ := strings.Cut(part, "/")
	host, _, _ = strings.Cut(strings.TrimRight(host, "*"), ":")
	suffix, known := publicsuffix.PublicSuffix(host)
	return strings.HasPrefix(part, "http:") || strings.HasPrefix(part, "https:") || host == "localhost" || host == "127.0.0.1" ||
		strings.Contains(host, ".") && (known || strings.Contains(suffix, ".")) && !slices.Contains([]string{"md", "py", "sh", "zip"}, suffix)
}

// oneGlob matches what one of the patterns matches.
func oneGlob(globs []string) string {
	if len(globs) == 1 {
		return globs[0]
	}
	return "{" + strings.Join(globs, ",") + "}"
}

// globsOf returns patterns that match what a regular expression finds, if there are some:
// "^/a/.*" gives /a/**, "old$" gives **/*old, and "old" **/*old* and **/*old*/**. An unescaped
// dot counts as a dot, which is what people mean.
func globsOf(expr string) (all []string, ok bool) {
	expr = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(expr, "^.*"), ".*"), "/?")
	if rest := strings.TrimSuffix(strings.TrimSuffix(expr, "$"), ".*"); len(rest) < len(expr)-1 && !strings.HasSuffix(rest, `\`) {
		expr = rest
	}
	expr = strings.TrimSuffix(expr, "/*") // any number of slashes, also none
	if strings.HasPrefix(expr, "http") {
		expr = "^" + expr
	}
	if strings.Trim(expr, `\^$.*+?()[]{}|`) == "" {
		return nil, false // it matches everything
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, false
	}
	parts, ok := globParts(tree.Simplify())
	for _, g := range parts {
		if i := strings.Index(g, "$"); i >= 0 && i < len(g)-1 {
			continue // nothing is after the end
		}
		g, fromStart := strings.CutPrefix(g, "^")
		if !fromStart {
			g = "**/*" + g
		}
		g, toEnd := strings.CutSuffix(g, "$")
		switch {
		case toEnd:
			all = append(all, g)
		case strings.HasSuffix(g, "/"):
			all = append(all, g+"**")
		default:
			all = append(all, g+"*", g+"*/**") // no pattern says both
		}
	}
	return all, ok && len(all) > 0
}

var globEscape = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, ",", `\,`)

// globParts returns the alternatives of an expression; ^ and $ stand for its ends.
func globParts(n *syntax.Regexp) (all []string, ok bool) {
	switch n.Op {
	case syntax.OpLiteral:
		return []string{globEscape.Replace(string(n.Rune))}, true
	case syntax.OpBeginLine, syntax.OpBeginText:
		return []string{"^"}, true
	case syntax.OpEndLine, syntax.OpEndText:
		return []string{"$"}, true
	case syntax.OpAnyCharNotNL:
		return []string{"."}, true
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpWordBoundary:
		return []string{"$", "/", "[^0-9A-Za-z_]"}, true
	case syntax.OpCapture:
		return globParts(n.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return []string{"*", "*/**/*"}, n.Sub[0].Op == syntax.OpAnyCharNotNL
	case syntax.OpQuest:
		all, ok = globParts(n.Sub[0])
		return append([]string{""}, all...), ok
	case syntax.OpCharClass: // an alternative of single characters, as in a|b
		if len(n.Rune) > 8 {
			return nil, false
		}
		for i := 0; i < len(n.Rune); i += 2 {
			for r := n.Rune[i]; r <= n.Rune[i+1] && len(all) < 8; r++ {
				all = append(all, globEscape.Replace(string(r)))
			}
		}
		return all, true
	case syntax.OpAlternate, syntax.OpConcat:
		if all = nil; n.Op == syntax.OpConcat {
			all = []string{""}
		}
		for _, sub := range n.Sub {
			parts, fine := globParts(sub)
			if !fine || len(parts)*max(1, len(all)) > 32 {
				return nil, false
			}
			if n.Op == syntax.OpAlternate {
				all = append(all, parts...)
				continue
			}
			var joined []string
			for _, a := range all {
				for _, p := range parts {
					joined = append(joined, a+p)
				}
			}
			all = joined
		}
		return all, true
	}
	return nil, false
}

// document reads TOML or YAML. Names of tables count as options.
func document(ext string) func(text string) (map[string][]string, error) {
	return func(text string) (map[string][]string, error) {
		d, err := generator.ParseDocument(ext, []byte(text))
		options := map[string][]string{}
		for key, value := range d {
			list, isList := value.([]any)
			if !isList {
				list = []any{value}
			}
			for _, v := range list {
				options[key] = append(options[key], fmt.Sprint(v))
			}
		}
		return options, err
	}
}

// rubyPair matches an option of html-proofer in Ruby, in YAML and on the command line:
// :ignore_urls => [/x/, "y"], ignore_urls: [...], --ignore-urls "/x/,y".
var (
	rubyComment = text.Regexp(`(?m)^\s*#.*$`)
	rubyPair    = text.Regexp(`(?m)(?:[:"']?\b([a-z_]\w+)["']?\s*(?:=>|:(?:[ \t]|$))|--([a-z][\w-]+)(?:[ =]|$))[ \t]*(\[[^\]]*\]|%r\{.*?\}|/(?:\\.|[^/\n])+/|"[^"\n]*"|'[^'\n]*'|[\w.,/$][\w.,/${}-]*)?((?:\n\s+-\s+.+)*)`)
	rubyValue   = text.Regexp(`%r\{(.*?)\}|/((?:\\.|[^/\n])+)/|"([^"\n]*)"|'([^'\n]*)'|([\w.$][\w./-]*)`)
	rubyDir     = text.Regexp(`(?m)check_director(?:y|ies)\(?\s*\[?["']([^"']+)|htmlproofer\s+["']?([\w./$][\w./${}-]*)|htmlproofer\s.*\s["']?([_.$][\w./{}-]*|[\w./-]+/)["']?\s*$`)
	rubyName    = text.Regexp(`^[a-z_]\w*$`)
	otherFlags  = text.Regexp(`(?m)^[ \t]*[^-\s].*\s--[a-z].*$`)
)

func rubyOptions(text string) (map[string][]string, error) {
	options := map[string][]string{}
	text = strings.ReplaceAll(rubyComment().ReplaceAllString(text, ""), "\\\n", " ")
	text = otherFlags().ReplaceAllStringFunc(text, func(line string) string {
		if !strings.Contains(strings.ToLower(line), "proofer") {
			return "" // another program's
		}
		return line
	})
	if m := rubyDir().FindStringSubmatch(text); m != nil {
		options["docroot"] = []string{strings.Trim(variable(text, strings.Join(m[1:], "")), `"'`)}
	}
	for _, m := range rubyPair().FindAllStringSubmatch(text, -1) {
		key, value := strings.ReplaceAll(m[1]+m[2], "-", "_"), cmp.Or(strings.TrimRight(m[3], ",")+m[4], "true")
		list := strings.Contains(key, "ignore") && !strings.Contains(key, "status")
		add := func(value string, isText bool) {
			if list && value == "" {
				return // as after the last comma
			}
			if list && isText && value[0] != '$' {
				value = "^" + regexp.QuoteMeta(value) + "$"
			}
			options[key] = append(options[key], value)
		}
		switch value = variable(text, value); {
		case m[2] != "" && list: // the command line's: /x/,y
			for value := range strings.SplitSeq(strings.Trim(value, `"'`), ",") {
				expr := strings.TrimSuffix(strings.TrimPrefix(value, "/"), "/")
				add(strings.ReplaceAll(expr, `\/`, "/"), len(expr)+2 != len(value))
			}
			continue
		case m[2] != "":
			add(strings.Trim(value, `"'`), false)
			continue
		case list && rubyName().MatchString(value) && value != "true" && value != "false":
			value = variable(text, "$"+value)
		}
		for _, v := range rubyValue().FindAllStringSubmatch(value, -1) {
			add(strings.ReplaceAll(strings.Join(v[1:], ""), `\/`, "/"), v[1]+v[2] == "")
		}
	}
	return options, nil
}

// variable returns what a script or Rakefile sets the variable $x or ${x} to, or adds to it:
// "a" for DEST=a, and /a/ /b/ for x = [/a/] and x.push(/b/). It returns any other word, or a
// variable that is not set so, as it is.
func variable(text, word string) string {
	name, is := strings.CutPrefix(word, "$")
	if !is {
		return word
	}
	var values []string
	for _, m := range regexp.MustCompile(`\b`+regexp.QuoteMeta(strings.Trim(name, "{}"))+`\s*(?:\+?=|<<|\.push\()\s*(\[[^\]]*\]|%r\{.*?\}|"[^"\n]*"|'[^'\n]*'|[^\s)]+)`).FindAllStringSubmatch(text, -1) {
		if m[1] != "[]" {
			values = append(values, m[1])
		}
	}
	return cmp.Or(strings.Join(values, " "), word)
}

// commandOptions reads the arguments of a program, "" for a file that holds nothing else:
// "hyperlink public/ --check-anchors -j 4", "-skip /a/@".
func commandOptions(text, program string) (map[string][]string, error) {
	options := map[string][]string{}
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		if program != "" {
			_, rest, found := strings.Cut(line, program+" ")
			if !found || program == "linklint" && !strings.HasPrefix(rest, "-") {
				continue
			}
			line, _, _ = strings.Cut(rest, "&&")
		}
		key := ""
		for word := range strings.FieldsSeq(line) {
			word = variable(text, strings.Trim(word, `"'`))
			switch name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "="); {
			case strings.HasPrefix(word, "-"):
				if key = name; has {
					options[key], key = append(options[key], value), ""
				} else {
					options[key] = append(options[key], "")
				}
			case key != "" && options[key][len(options[key])-1] == "" && !flagsAlone[key]:
				options[key][len(options[key])-1] = word
			case program != "hyperlink":
				options["linkset"] = append(options["linkset"], word)
			default:
				options["docroot"] = append(options["docroot"], word)
			}
		}
	}
	return options, nil
}

// flagsAlone are flags of hyperlink and Linklint that take no value.
var flagsAlone = map[string]bool{"check-anchors": true, "github-actions": true, "orphan": true, "case": true, "net": true, "quiet": true, "silent": true, "error": true, "warn": true, "xref": true}

// ini reads the options of all sections. The lines of a list are indented.
func ini(text string) (map[string][]string, error) {
	options, key := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch name, value, has := strings.Cut(trimmed, "="); {
		case trimmed == "" || strings.ContainsAny(trimmed[:1], "#;["):
		case key != "" && strings.TrimLeft(line, " \t") != line:
			options[key] = append(options[key], trimmed)
		case has:
			if key = strings.ToLower(strings.TrimSpace(name)); strings.TrimSpace(value) != "" {
				options[key] = append(options[key], strings.TrimSpace(value))
			}
		}
	}
	return options, nil
}
