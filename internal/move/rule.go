package move

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/edit"
	"github.com/sitelink/sitelink/internal/project"
)

// ruleFile is the file with the redirect rules of the host, and how a rule is written.
type ruleFile struct {
	name   string // slash path below the root
	format func(text []byte, rules []Pair) (at int, insert string, err error)
	// empty is a text without rules in which an entry is not a line of its own, "" where
	// it is.
	empty string
	// first means that the host follows rules before it looks for files.
	first bool
}

// find returns the range of a rule that an earlier move wrote, two equal offsets if there
// is none.
func (f *ruleFile) find(text []byte, rule Pair) (start, end int) {
	_, own, err := f.format([]byte(f.empty), []Pair{rule})
	if err != nil {
		return 0, 0
	}
	if f.empty == "" { // lines
		own = strings.TrimPrefix(strings.ReplaceAll(own, "\n", lineEnd(text)), lineEnd(text))
	} else {
		own = strings.ReplaceAll(strings.TrimSpace(own), "\n", lineEnd(text))
	}
	if start = bytes.Index(text, []byte(own)); start < 0 {
		return 0, 0
	}
	if end = start + len(own); f.empty != "" { // an entry takes a comma along
		before, after := bytes.TrimRight(text[:start], " \t\r\n"), bytes.TrimLeft(text[end:], " \t\r\n")
		switch {
		case bytes.HasPrefix(after, []byte(",")):
			end = len(text) - len(after) + 1
		case bytes.HasSuffix(before, []byte(",")):
			start = len(before) - 1
		}
	}
	return start, end
}

// leadingBack returns the ranges of the rules of earlier moves in the other direction.
// They would make a loop.
func (m *planner) leadingBack(f *ruleFile, text []byte) (ranges [][2]int) {
	for _, p := range m.names.all() {
		from, to := m.rooted(p.New), m.rooted(p.Old)
		for _, back := range []Pair{{from + "*", to + "*"}, {from, to}} {
			if start, end := f.find(text, back); start < end {
				ranges = append(ranges, [2]int{start, end})
			}
		}
	}
	return ranges
}

// addRules adds a rule for each old address to the rule file of the host: one for a
// whole directory where nothing of it stays. It reports whether there is such a file.
func (m *planner) addRules(pairs []Pair) (changed bool, err error) {
	for name := range m.names.files { // feeds, pictures of bundles, other formats
		address := m.names.base + "/" + strings.TrimSuffix(name, "index.html")
		if to, ok := m.names.of(address); ok && !isFingerprinted(name) {
			pairs = append(pairs, Pair{address, to})
		}
	}
	f := m.hostRules()
	pairs = slices.DeleteFunc(m.joinRules(pairs, f.first), func(p Pair) bool { return p.New == "" || m.aliased[p.Old] || m.ruled[p] })
	if len(pairs) == 0 || f.name == "" {
		return false, nil
	}
	text, hash := []byte(nil), ""
	if m.exists(f.name) || slices.Contains(m.plan.Set.Files(), f.name) {
		if text, hash, err = m.plan.Set.Read(f.name); err != nil {
			return false, ExplainEdit(err)
		}
	}
	written := make([]Pair, len(pairs)) // the docroot is what the host has at its root
	for i, p := range pairs {
		written[i] = Pair{m.rooted(p.Old), m.rooted(p.New)}
	}
	at, insert, err := f.format(text, written)
	if err != nil {
		m.note("%s: %v", f.name, err)
		return false, nil
	}
	for _, p := range pairs {
		m.ruled[p] = true
	}
	if hash == "" {
		return true, ExplainEdit(m.plan.Set.Create(f.name, []byte(insert)))
	}
	for _, r := range m.leadingBack(&f, text) {
		if err := m.plan.Set.Replace(f.name, hash, r[0], r[1], ""); err != nil && !errors.Is(err, edit.ErrOverlap) {
			return false, ExplainEdit(err)
		}
	}
	return true, ExplainEdit(m.plan.Set.Replace(f.name, hash, at, at, insert))
}

// rewriteRules lets the rules that lead to a moved address lead to the new one.
func (m *planner) rewriteRules(files map[string]bool) error {
	f := m.hostRules()
	if f.name == "" || !m.exists(f.name) {
		return nil
	}
	doc, err := m.document(f.name)
	if err != nil {
		return ExplainEdit(err)
	}
	removed := m.leadingBack(&f, doc.text)
	for i := range doc.links {
		d := &doc.links[i]
		if d.Kind != destination.Rule && d.Key != "to" && d.Key != "destination" || !strings.HasPrefix(d.Value, "/") {
			continue
		}
		name, tail := splitTail(d.Value)
		to, ok := m.names.of(m.names.base + name)
		if !ok {
			continue
		}
		if slices.ContainsFunc(removed, func(r [2]int) bool { return r[0] <= d.Start && d.End <= r[1] }) {
			continue // the rule is for that address: addRules removes it
		}
		raw, err := d.Encode(m.rooted(to) + tail)
		if err != nil {
			m.note("%s: %v; the rule stays as it is", f.name, err)
			continue
		}
		if err := m.plan.Set.Replace(f.name, doc.hash, d.Start, d.End, raw); err != nil {
			return ExplainEdit(err)
		}
		m.plan.Links++
		files[f.name] = true
	}
	return nil
}

// joinRules replaces the addresses below a directory by one rule for all of it.
func (m *planner) joinRules(pairs []Pair, first bool) []Pair {
	var all []Pair
	for _, p := range pairs {
		for _, d := range slices.Backward(m.names.directories) { // the outermost
			rest, ok := strings.CutPrefix(p.Old, d.Old)
			if ok && p.New == d.New+rest && !(first && m.keepsFiles(d.Old)) && !m.hasRules(d.Old) {
				if m.needsRule(d.Old) {
					all = append(all, Pair{d.Old + "*", d.New + "*"})
				}
				p.New = ""
				break
			}
		}
		if p.New != "" {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Pair) int { return strings.Compare(a.Old, b.Old) })
	return slices.Compact(all)
}

// needsRule reports whether a directory has more than pages with aliases.
func (m *planner) needsRule(dir string) bool {
	for name := range m.names.files {
		address := m.names.base + "/" + strings.TrimSuffix(name, "index.html")
		if strings.HasPrefix(address, dir) && !isFingerprinted(name) && !m.aliased[address] {
			if _, ok := m.names.of(address); ok {
				return true
			}
		}
	}
	return false
}

// hasRules reports whether the host has rules for addresses below a directory, which a
// rule for the whole directory before them would hide.
func (m *planner) hasRules(dir string) bool {
	below, rules := m.rooted(dir), m.before.audit.Site.Rules()
	if rules == nil {
		return false
	}
	for _, r := range rules.Rules() {
		pattern := strings.ReplaceAll(strings.TrimPrefix(r.Pattern, "^"), `\`, "")
		if rest, ok := strings.CutPrefix(pattern, below); ok && rest != "" && !wholeDirectory.MatchString(rest) {
			return true
		}
	}
	return false
}

// wholeDirectory matches the ends of patterns for all below a directory.
var wholeDirectory = regexp.MustCompile(`^(?:\*|\(\.[*+]\)\$?|:path\*)$`)

func (m *planner) keepsFiles(dir string) bool {
	for name := range m.names.files {
		address := m.names.base + "/" + strings.TrimSuffix(name, "index.html")
		if strings.HasPrefix(address, dir) && m.names.stay(address) {
			return true
		}
	}
	return false
}

// hostRules returns the rule file of the host, the zero value for none.
func (m *planner) hostRules() ruleFile {
	p := m.shadow.project
	before := m.names.files
	static := func(name string) (string, bool) {
		for _, mt := range m.pages.static {
			if file := path.Join(mt.dir, name); mt.target == "" && m.exists(file) {
				return file, true
			}
		}
		return "", false
	}
	cloudflare := p.Profile == "cloudflare-pages"
	if file, ok := static("_redirects"); ok {
		return ruleFile{name: file, format: redirectsLines, first: cloudflare}
	}
	if file, ok := m.ruleTemplate(); ok && before["_redirects"] {
		return ruleFile{name: file, format: redirectsTemplate, first: cloudflare}
	}
	if dir, ok := m.belowRoot(filepath.ToSlash(p.RuleDir)); ok && p.RuleDir != "" {
		for _, f := range []ruleFile{
			{"netlify.toml", netlifyTables, "", false},
			{"vercel.json", vercelRules, `{"redirects": []}`, true},
			{"firebase.json", firebaseRules, `{"hosting": {"redirects": []}}`, true},
		} {
			if f.name = path.Join(dir, f.name); m.exists(f.name) {
				return f
			}
		}
	}
	if file, ok := static(".htaccess"); ok {
		return ruleFile{name: file, format: apacheLines, first: true}
	}
	if len(m.pages.static) > 0 {
		dir := m.pages.static[0]
		for _, mt := range m.pages.static {
			if own, ok := m.belowRoot(filepath.ToSlash(m.generatorDir(p))); ok && mt.target == "" && strings.HasPrefix(mt.dir, own) {
				dir = mt
				break
			}
		}
		switch {
		case (p.Profile == "netlify" || cloudflare) && !before["_redirects"] && dir.target == "":
			return ruleFile{name: path.Join(dir.dir, "_redirects"), format: redirectsLines, first: cloudflare}
		case p.Profile == "apache" && !before[".htaccess"] && dir.target == "":
			return ruleFile{name: path.Join(dir.dir, ".htaccess"), format: apacheLines, first: true}
		}
	}
	return ruleFile{}
}

func (m *planner) generatorDir(p *project.Project) string {
	if p.Generator != nil {
		return p.Generator.Dir
	}
	return p.Abs(p.Docroot)
}

func rulePath(p string) string { return (&url.URL{Path: p}).EscapedPath() }

// redirectsLines writes lines of _redirects, before all others: the first that matches
// counts.
func redirectsLines(text []byte, rules []Pair) (int, string, error) {
	var b strings.Builder
	nl := lineEnd(text)
	for _, r := range rules {
		from, to, splat := splatted(r)
		if splat {
			from, to = rulePath(from)+"*", rulePath(to)+":splat"
		} else {
			from, to = rulePath(from), rulePath(to)
		}
		fmt.Fprintf(&b, "%s %s 301%s", from, to, nl)
	}
	return bomLength(text), b.String(), nil
}

// ruleTemplate returns the template of the home page that writes _redirects.
func (m *planner) ruleTemplate() (string, bool) {
	var found []string
	for _, mt := range m.pages.layouts {
		for _, pattern := range []string{"index.*redir*", "home.*redir*", "_default/index.*redir*", "_default/home.*redir*"} {
			names, _ := filepath.Glob(m.shadow.at(path.Join(mt.dir, pattern)))
			for _, name := range names {
				if file, ok := m.belowRoot(filepath.ToSlash(name)); ok {
					found = append(found, file)
				}
			}
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// redirectsTemplate writes lines into a template of _redirects.
func redirectsTemplate(text []byte, rules []Pair) (int, string, error) {
	at, insert, err := redirectsLines(text, rules)
	if bytes.HasPrefix(text[at:], []byte("{{-")) { // which would remove the end of the last line
		insert += "{{/* moved files are above */}}"
	}
	return at, insert, err
}

// netlifyTables writes tables of netlify.toml, before the first of their kind.
func netlifyTables(text []byte, rules []Pair) (int, string, error) {
	var b strings.Builder
	nl := lineEnd(text)
	at := len(text)
	for off := 0; off < len(text); {
		line, _, _ := bytes.Cut(text[off:], []byte("\n"))
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[[redirects]]")) {
			at = off
			break
		}
		off += len(line) + 1
	}
	if at == len(text) && len(text) > 0 {
		if text[len(text)-1] != '\n' {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	for _, r := range rules {
		from, to, splat := splatted(r)
		from, to = rulePath(from), rulePath(to)
		if splat {
			from, to = from+"*", to+":splat"
		}
		fmt.Fprintf(&b, "[[redirects]]%[1]s  from = %[2]s%[1]s  to = %[3]s%[1]s  status = 301%[1]s", nl, quoteJSON(from), quoteJSON(to))
		if at < len(text) {
			b.WriteString(nl)
		}
	}
	return at, b.String(), nil
}

// apacheLines writes lines of .htaccess.
func apacheLines(text []byte, rules []Pair) (int, string, error) {
	var b strings.Builder
	nl := lineEnd(text)
	for _, r := range rules {
		from, to, splat := splatted(r)
		if splat { // Redirect applies to all that begins with the path
			fmt.Fprintf(&b, "Redirect 301 \"%s\" \"%s\"%s", from, rulePath(to), nl)
			continue
		}
		fmt.Fprintf(&b, "RedirectMatch 301 \"^%s$\" \"%s\"%s", escapeRegexp(from), apacheText.Replace(to), nl)
	}
	return bomLength(text), b.String(), nil
}

// apacheText escapes the destination of RedirectMatch, which Apache encodes itself.
var apacheText = strings.NewReplacer(`\`, `\\`, `$`, `\$`, `"`, `\"`)

func escapeRegexp(s string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(s), `"`, `\x22`)
}

// pathPattern matches what is special in the patterns of path-to-regexp.
var pathPattern = regexp.MustCompile(`[():*+?{}\\]`)

// vercelRules writes entries of the array redirects of vercel.json.
func vercelRules(text []byte, rules []Pair) (int, string, error) {
	var entries []any
	for _, r := range rules {
		from, to, splat := splatted(r)
		from, to = pathPattern.ReplaceAllString(rulePath(from), `\$0`), placeholderFree(to)
		if splat {
			from, to = from+"(.*)", to+"$1" // :path* leaves out a slash at the end
		}
		entries = append(entries, map[string]any{"source": from, "destination": to, "permanent": true})
	}
	return jsonRules(text, bytes.IndexByte(text, '{'), entries)
}

// simplePath matches paths without anything that a glob or a pattern understands in
// another way.
var simplePath = regexp.MustCompile(`^[A-Za-z0-9/_.~-]*$`)

// firebaseRules writes entries of the array redirects of firebase.json.
func firebaseRules(text []byte, rules []Pair) (int, string, error) {
	at := bytes.Index(text, []byte(`"hosting"`))
	if at < 0 {
		return 0, "", errors.New("it has no hosting: add redirects for the old addresses")
	}
	at += len(`"hosting"`)
	if rest := bytes.TrimLeft(text[at:], " \t\r\n:"); len(rest) > 0 && rest[0] == '{' {
		at = len(text) - len(rest)
	} else {
		at = -1 // several sites
	}
	var entries []any
	for _, r := range rules {
		from, to, splat := splatted(r)
		entry := map[string]any{"destination": to, "type": 301} // Firebase escapes it
		if simplePath.MatchString(from) {
			entry["source"] = from
		} else {
			entry["regex"] = "^" + regexp.QuoteMeta(from) + "$"
		}
		entries = append(entries, entry)
		if splat { // a capture cannot be empty
			entries = append(entries, map[string]any{
				"regex": "^" + regexp.QuoteMeta(from) + "(.+)$", "destination": pathPattern.ReplaceAllStringFunc(to, url.QueryEscape) + ":1", "type": 301,
			})
		}
	}
	return jsonRules(text, at, entries)
}

// placeholderFree writes a path as a destination in which nothing is a placeholder.
func placeholderFree(to string) string {
	return strings.NewReplacer(":", "%3A", "$", "%24").Replace(rulePath(to))
}

// jsonRules inserts entries into the array redirects of a text, or a new one into the
// object that begins at an offset; that is -1 if it is not known.
func jsonRules(text []byte, object int, entries []any) (int, string, error) {
	nl := lineEnd(text)
	var lines []string
	for _, e := range entries {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e); err != nil {
			return 0, "", err
		}
		lines = append(lines, nl+"    "+strings.TrimSuffix(line.String(), "\n"))
	}
	insert := strings.Join(lines, ",")
	after := func(at int) string {
		if rest := bytes.TrimSpace(text[at:]); len(rest) == 0 || rest[0] == ']' || rest[0] == '}' {
			return ""
		}
		return ","
	}
	if at := bytes.Index(text, []byte(`"redirects"`)); at >= 0 {
		i := bytes.IndexByte(text[at:], '[')
		if i < 0 || strings.TrimSpace(string(text[at+len(`"redirects"`):at+i])) != ":" {
			return 0, "", errors.New("its redirects are not a list: add the old addresses yourself")
		}
		at += i + 1
		if tail := after(at); tail != "" {
			return at, insert + tail, nil
		}
		return at, insert + nl + "  ", nil
	}
	if object < 0 {
		return 0, "", errors.New("it has no list of redirects: add one for the old addresses")
	}
	return object + 1, nl + `  "redirects": [` + insert + nl + "  ]" + after(object+1), nil
}

func splatted(r Pair) (from, to string, splat bool) {
	if rest, ok := strings.CutSuffix(r.Old, "*"); ok {
		return rest, strings.TrimSuffix(r.New, "*"), true
	}
	return r.Old, r.New, false
}

func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func bomLength(text []byte) int {
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return 3
	}
	return 0
}
