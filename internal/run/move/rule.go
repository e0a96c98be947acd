package move

import (
	"bytes"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
)

// RuleFile is the file with the redirect rules of a host, and how a rule is written. Its
// name is a slash path below the root, "" if the host has no such file.
type RuleFile struct {
	host.RuleFile

	// base is the base path. All rules lead to paths of the host, which begin with it.
	base string
}

// Insert returns what to insert into the text of the file, and where, so that each old
// address redirects to the new one permanently. The addresses are decoded paths below the
// docroot. The file may be empty.
func (f RuleFile) Insert(text []byte, rules []Pair) (at int, insert string, err error) {
	based := make([]redirect.Pair, len(rules))
	for i, r := range rules {
		based[i] = redirect.Pair(f.based(r))
	}
	if len(text) > 0 || f.Empty == "" {
		return f.Write(text, based)
	}
	at, insert, err = f.Write([]byte(f.Empty), based)
	return 0, f.Empty[:at] + insert + f.Empty[at:] + "\n", err
}

// based returns a rule with the base path where the host wants it.
func (f *RuleFile) based(rule Pair) Pair {
	if rule.New = f.base + rule.New; f.Based {
		rule.Old = f.base + rule.Old
	}
	return rule
}

// find returns the range of a rule that an earlier move wrote, or two equal offsets.
func (f *RuleFile) find(text []byte, rule Pair) (start, end int) {
	_, own, _ := f.Write([]byte(f.Empty), []redirect.Pair{redirect.Pair(f.based(rule))}) // no error in a text without rules
	if f.Empty == "" {                                                                   // lines
		own = strings.TrimPrefix(strings.ReplaceAll(own, "\n", redirect.LineEnd(text)), redirect.LineEnd(text))
	} else {
		own = strings.ReplaceAll(strings.TrimSpace(own), "\n", redirect.LineEnd(text))
	}
	if start = bytes.Index(text, []byte(own)); start < 0 {
		return 0, 0
	}
	if end = start + len(own); f.Empty != "" { // an entry takes a comma along
		before, after := bytes.TrimRight(text[:start], " \t\r\n"), bytes.TrimLeft(text[end:], " \t\r\n")
		switch {
		case bytes.HasPrefix(after, []byte(",")):
			start, end = len(before), len(text)-len(after)+1
		case bytes.HasSuffix(before, []byte(",")):
			start = len(before) - 1
		}
	}
	return start, end
}

// rules are those that the move writes, by one edit, and the ranges of those that it
// removes.
type rules struct {
	pairs   []Pair
	edit    destination.Edit
	isNew   bool // the file
	dropped [][2]int
}

// leadingBack returns the ranges of the rules of earlier moves in the other direction,
// sorted.
func (m *mover) leadingBack(f *RuleFile, text []byte) (ranges [][2]int) {
	pairs := m.names.all()
	for name := range m.names.files { // feeds, pictures of bundles, other formats
		if to, ok := m.names.of(m.names.address(name)); ok {
			pairs = append(pairs, Pair{m.names.address(name), to})
		}
	}
	for _, p := range pairs {
		from, to := m.rooted(p.New), m.rooted(p.Old)
		for _, back := range []Pair{{from + "*", to + "*"}, {from, to}, {strings.TrimSuffix(from, "/"), to}, {strings.TrimSuffix(from, ".html"), strings.TrimSuffix(to, ".html")}} {
			if start, end := f.find(text, back); start < end && !slices.Contains(ranges, [2]int{start, end}) {
				ranges = append(ranges, [2]int{start, end})
			}
		}
	}
	slices.SortFunc(ranges, func(a, b [2]int) int { return a[0] - b[0] })
	var joined [][2]int // entries that follow each other share a comma
	for _, r := range ranges {
		if n := len(joined); n > 0 && r[0] <= joined[n-1][1] {
			joined[n-1][1] = max(joined[n-1][1], r[1])
		} else {
			joined = append(joined, r)
		}
	}
	for i, r := range joined {
		before, after := bytes.TrimRight(text[:r[0]], " \t\r\n"), bytes.TrimLeft(text[r[1]:], " \t\r\n")
		if f.Empty != "" && bytes.HasSuffix(before, []byte("[")) && bytes.HasPrefix(after, []byte("]")) { // the list is empty now
			joined[i] = [2]int{len(before), len(text) - len(after)}
		}
	}
	return joined
}

// addRules adds a rule for each old address to the rule file of the host: one for a
// whole directory where nothing of it stays. It reports whether there is such a file.
func (m *mover) addRules(pairs []Pair, after *version) (changed bool, err error) {
	f := m.hostRules()
	pairs = slices.DeleteFunc(m.joinRules(pairs, &f, after), func(p Pair) bool { return p.New == "" || slices.Contains(m.rules.pairs, p) })
	if len(pairs) == 0 || f.Name == "" {
		return false, nil
	}
	text, hash := []byte(nil), ""
	m.rules.isNew = m.rules.isNew || !m.exists(f.Name)
	if !m.rules.isNew {
		if text, hash, err = m.plan.Set.Read(f.Name); err != nil {
			return false, err
		}
	}
	all := slices.Concat(m.rules.pairs, pairs)
	written := make([]Pair, len(all)) // the docroot is what the host has at its root
	for i, p := range all {
		written[i] = Pair{m.rooted(p.Old), m.rooted(p.New)}
	}
	at, insert, err := f.Insert(cut(text, m.rules.dropped), written)
	if err != nil {
		m.note("%s: %v", f.Name, err)
		return false, nil
	}
	m.rules.pairs = all
	if m.rules.isNew {
		m.plan.Set.Drop(f.Name)
		return true, m.plan.Set.Create(f.Name, []byte(insert))
	}
	m.plan.Set.Withdraw(f.Name, m.rules.edit)
	at = uncut(at, m.rules.dropped)
	m.rules.edit = destination.Edit{Start: at, End: at, Text: insert}
	return true, m.plan.Set.Replace(f.Name, hash, at, at, insert)
}

// rewriteRules lets the rules that lead to a moved address lead to the new one.
func (m *mover) rewriteRules() error {
	f := m.hostRules()
	if f.Name == "" || !m.exists(f.Name) {
		return nil
	}
	doc, err := m.document(f.Name)
	if err != nil {
		return err
	}
	for i := range doc.links {
		d := &doc.links[i]
		if d.Form != read.FormRule && !slices.Contains(f.To, d.Key) || !strings.HasPrefix(d.Value, "/") {
			continue
		}
		name, tail := destination.CutTail(d.Value)
		to, ok := m.names.of(name)
		if !ok {
			to, ok = m.names.of(m.names.base + name) // of a rewrite
			to = m.rooted(to)
		}
		if !ok {
			continue
		}
		if slices.ContainsFunc(m.rules.dropped, func(r [2]int) bool { return r[0] <= d.Start && d.End <= r[1] }) {
			continue // the rule is for that address, and goes
		}
		raw, err := d.Encode(to + tail)
		if f.Based && !redirect.IsPlain(to) {
			err = errors.New("the new address would be a pattern for Apache")
		}
		if err != nil {
			m.note("%s: %v; the rule stays as it is", f.Name, err)
			continue
		}
		if err := m.replace(doc, d.Start, d.End, raw); err != nil {
			return err
		}
	}
	return nil
}

// joinRules replaces the addresses below a directory by one rule for all of it, if there
// are such rules. If the host follows rules first, nothing may be left there.
func (m *mover) joinRules(pairs []Pair, f *RuleFile, after *version) []Pair {
	joins := func(d Pair) bool {
		if f.Single || m.hasRules(d.Old) || slices.ContainsFunc(pairs, func(p Pair) bool {
			rest, ok := strings.CutPrefix(p.Old, d.Old)
			return ok && p.New != d.New+rest
		}) {
			return false
		}
		for name := range after.files() {
			if f.First && strings.HasPrefix(m.names.address(name), d.Old) {
				return false
			}
		}
		return true
	}
	var all []Pair
	for _, p := range pairs {
		for _, d := range slices.Backward(m.names.directories) { // the outermost
			if strings.HasPrefix(p.Old, d.Old) && joins(d) {
				p = Pair{d.Old + "*", d.New + "*"}
				break
			}
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Pair) int { return strings.Compare(a.Old, b.Old) })
	return slices.Compact(all)
}

// hasRules reports whether the host has rules for addresses below a directory, which a
// rule for the whole directory before them would hide.
func (m *mover) hasRules(dir string) bool {
	rules := m.before.audit.Site.Rules()
	if rules == nil {
		return false
	}
	for _, r := range rules.Rules() {
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(r.Path(), `\`, ""), dir); ok && rest != "" && !wholeDirectory().MatchString(rest) {
			return true
		}
	}
	return false
}

// wholeDirectory matches the ends of patterns for all below a directory.
var wholeDirectory = text.Regexp(`^(?:\*|\(\.[*+]\)\$?|:path\*)$`)

// Host says where the redirect rules of a site may be. Directories and names are slash
// paths below Root.
type Host struct {
	Root string
	// Profile is the name of the host's profile.
	Profile string
	// Base is the base path, "" for none.
	Base string
	// RuleDir has the rule files that are not published, "" for none.
	RuleDir string
	// Dir is where a new rule file goes that is not published, "" for nowhere.
	Dir string
	// Static are directories of files that are published unchanged at the top of
	// the docroot. New names the one for a new file, "" for none.
	Static []string
	New    string
	// Layouts are directories of templates. A template may write _redirects.
	Layouts []string
	// Exists reports whether there is a source file, Published whether the docroot has
	// a file at its top.
	Exists, Published func(name string) bool
}

// Rules returns the rule file, which need not exist yet.
func (h Host) Rules() RuleFile {
	f := h.find()
	f.base = destination.PercentDecoded(h.Base)
	return f
}

func (h Host) find() RuleFile {
	row, _ := host.KindByName(h.Profile)
	known := slices.DeleteFunc(slices.Clone(row.Files), func(f host.RuleFile) bool { return f.Write == nil })
	files := known
	if len(known) == 0 { // a host without rules, or an unknown one
		for _, k := range host.Kinds() {
			files = append(files, slices.DeleteFunc(slices.Clone(k.Files), func(f host.RuleFile) bool { return f.Write == nil })...)
		}
	}
	for _, f := range files {
		dirs := h.Static
		if f.InProject && h.RuleDir != "" {
			dirs = append([]string{h.RuleDir}, dirs...)
		}
		for _, dir := range dirs {
			if file := path.Join(dir, f.Name); h.Exists(file) {
				f.Name = file
				return RuleFile{RuleFile: f}
			}
		}
		if f.Name == redirectsFile && h.Published(f.Name) {
			if file, ok := h.template(); ok {
				f.Name, f.Write = file, redirectsTemplate
				return RuleFile{RuleFile: f}
			}
		}
	}
	for _, f := range known {
		dir := h.New
		if f.InProject {
			dir = h.Dir
		}
		if f.Create && dir != "" && !h.Published(f.Name) {
			f.Name = path.Join(dir, f.Name)
			return RuleFile{RuleFile: f}
		}
	}
	return RuleFile{}
}

// redirectsFile is the name of the rule file that templates write.
const redirectsFile = "_redirects"

// template returns the template of the home page that writes _redirects.
func (h Host) template() (file string, ok bool) {
	var found []string
	for _, dir := range h.Layouts {
		for _, pattern := range []string{"index.*redir*", "home.*redir*", "_default/index.*redir*", "_default/home.*redir*"} {
			names, _ := filepath.Glob(filepath.Join(h.Root, filepath.FromSlash(path.Join(dir, pattern))))
			for _, name := range names {
				rel, _ := filepath.Rel(h.Root, name) // both are clean
				found = append(found, filepath.ToSlash(rel))
			}
		}
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// hostRules returns the rule file of the host, the zero value for none.
func (m *mover) hostRules() RuleFile {
	p := m.shadow.project
	for _, r := range m.before.audit.Site.Roots() {
		if strings.Trim(r.Dir, "/") != "" {
			return RuleFile{} // each host has rules of its own, which this docroot cannot prove
		}
	}
	h := Host{
		Root: m.shadow.root, Profile: p.Profile, Base: m.names.base, Exists: m.exists,
		Published: func(name string) bool { return m.names.files[name] },
	}
	h.RuleDir, _ = m.belowRoot(filepath.ToSlash(p.RuleDir)) // "" is not below it
	for _, mt := range m.pages.static {
		if mt.target == "" {
			h.Static = append(h.Static, mt.dir)
		}
	}
	// The project's own directories come first. Another generator's static files are in
	// the directory of the project: such files in it are not published.
	if (p.Generator == nil || p.Generator.Generator.Traits().Modules) && len(h.Static) > 0 {
		h.New = h.Static[0]
	}
	for _, mt := range m.pages.layouts {
		h.Layouts = append(h.Layouts, mt.dir)
	}
	h.Dir = RuleDir(p, m.shadow.root)
	return h.Rules()
}

// RuleDir returns the slash path below root where a new rule file of the project goes
// that is not published, "" if that is not below the root.
func RuleDir(p *project.Project, root string) string {
	dirs, _ := p.SourceDirs()
	for _, dir := range dirs {
		if rel, _ := filepath.Rel(root, dir); filepath.IsLocal(rel) { // "" is not
			return filepath.ToSlash(rel)
		}
	}
	return ""
}

func rulePath(p string) string { return (&url.URL{Path: p}).EscapedPath() }

// redirectsTemplate writes lines into a template of _redirects.
func redirectsTemplate(text []byte, rules []redirect.Pair) (int, string, error) {
	at, insert, err := redirect.WriteRedirects(text, rules)
	if bytes.HasPrefix(text[at:], []byte("{{-")) { // which would remove the end of the last line
		insert += "{{/* moved files are above */}}"
	}
	return at, insert, err
}
