package move

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// aliasMoved lets each moved page answer its old address as well, if nothing else does:
// by its front matter if the generator makes redirects of it.
func (m *mover) aliasMoved(after *version) (changed bool, err error) {
	for _, old := range slices.Sorted(maps.Keys(m.names.moved)) {
		p := m.names.moved[old]
		if p.before.address == p.after.address || answers(after.audit.Site.Request(rulePath(old))) {
			continue
		}
		done, err := m.alias(p.before.file, p.after.rooted, p.before.address)
		if err != nil {
			return false, err
		}
		changed = changed || done
	}
	return changed, nil
}

// alias gives the page of a file an alias more, by its front matter. rooted is the
// address of the page after the move. done is false if that is not possible.
func (m *mover) alias(file, rooted, address string) (done bool, err error) {
	key := AliasKey(m.shadow.original, m.plan.Set)
	if key == "" || m.aliased[address] || !generator.IsMarkdown(file) && path.Ext(file) != ".html" {
		return false, nil
	}
	text, hash, err := m.plan.Set.Read(file)
	if err != nil {
		return false, err
	}
	of := m.aliasesOf(file)
	names := append(slices.Clone(of.names), m.aliasOf(rooted, address))
	at, insert, err := InsertAlias(cut(text, of.dropped), key, names...)
	if err != nil {
		m.note("%s: %v", file, err)
		return false, nil
	}
	m.plan.Set.Withdraw(file, of.edit)
	at = uncut(at, of.dropped)
	of.names, of.edit = names, destination.Edit{Start: at, End: at, Text: insert}
	m.aliased[address] = true
	return true, m.plan.Set.Replace(file, hash, at, at, insert)
}

// aliasOf returns the alias for an address, for a page at another one. Below the prefix of
// a language it is relative to the page: Hugo's versions disagree about whether an
// alias with a slash in front has the prefix of its language, and agree about this form.
func (m *mover) aliasOf(rooted, address string) string {
	old := m.rooted(address)
	if !m.generator().Traits().Modules || m.languageOf(address) == "" {
		return old
	}
	return weburl.Relative(path.Dir(strings.TrimSuffix(rooted, "/"))+"/", old)
}

// aliases are those that the move adds to one file, by one edit, and the ranges of those
// that it removes.
type aliases struct {
	names   []string
	edit    destination.Edit
	dropped [][2]int
}

func (m *mover) aliasesOf(file string) *aliases {
	if m.aliases[file] == nil {
		m.aliases[file] = &aliases{}
	}
	return m.aliases[file]
}

// cut returns a text without some ranges of it, which are sorted.
func cut(text []byte, ranges [][2]int) []byte {
	text = slices.Clone(text)
	for _, r := range slices.Backward(ranges) {
		text = slices.Delete(text, r[0], r[1])
	}
	return text
}

// uncut returns the offset before a text was cut.
func uncut(at int, ranges [][2]int) int {
	for _, r := range ranges {
		if at > r[0] {
			at += r[1] - r[0]
		}
	}
	return at
}

// AliasKey returns the key of front matter that the generator of a project makes
// redirects from, or "". set reads the configuration.
func AliasKey(p *project.Project, set *destination.Set) string {
	g := p.Generator
	if g == nil {
		return ""
	}
	t := g.Generator.Traits()
	if t.AliasPlugin == "" {
		return t.AliasKey
	}
	for _, name := range g.Configs {
		// One that cannot be read fails the build.
		if text, _, err := set.Read(path.Join(p.FromRoot(g.Dir), name)); err == nil && bytes.Contains(text, []byte(t.AliasPlugin)) {
			return t.AliasKey
		}
	}
	return ""
}

var (
	aliasLine   = text.Regexp(`(?mi)^(aliases|redirect_from)[ \t]*:[ \t]*(.*?)[ \t]*\r?$`)
	aliasTOML   = text.Regexp(`(?mi)^[ \t]*(?:"?aliases"?)[ \t]*=[ \t]*\[`)
	tableTOML   = text.Regexp(`(?m)^[ \t]*\[`)
	itemYAML    = text.Regexp(`^([ \t]*-[ \t]+)\S`)
	plainYAML   = text.Regexp(`^/[A-Za-z0-9/_.~-]*$`)
	aliasesJSON = text.Regexp(`(?i)"aliases"[ \t\r\n]*:[ \t\r\n]*\[`)
)

// InsertAlias returns what to insert into the front matter of a text, and where, so
// that the page has these aliases too.
func InsertAlias(text []byte, key string, aliases ...string) (at int, insert string, err error) {
	bom := bomLength(text)
	nl := "\n"
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		nl = "\r\n"
	}
	rest := text[bom:]
	fence, start, end, closed := matter(text)
	switch {
	case !closed:
		return 0, "", fmt.Errorf("its front matter has no end")
	case fence == "---":
		at, insert, err = insertYAML(text[start:end], key, aliases, nl)
		return start + at, insert, err
	case fence == "+++":
		at, insert, err = insertTOML(text[start:end], key, aliases, nl)
		return start + at, insert, err
	case bytes.HasPrefix(rest, []byte("{")) && !bytes.HasPrefix(rest, []byte("{{")):
		if loc := aliasesJSON().FindIndex(rest); loc != nil {
			at, insert = inBrackets(text, bom+loc[1], aliases, quoteJSON)
			return at, insert, nil
		}
		return bom + 1, nl + `  "` + key + `": [` + quoted(aliases, ", ", quoteJSON) + "],", nil
	}
	return bom, "---" + nl + key + ":" + nl + items("- ", aliases, nl) + "---" + nl, nil
}

// quoted returns the values of a list in brackets.
func quoted(aliases []string, separator string, quote func(string) string) string {
	all := make([]string, len(aliases))
	for i, alias := range aliases {
		all[i] = quote(alias)
	}
	return strings.Join(all, separator)
}

// inBrackets returns what to insert into a list behind its bracket, and where: in lines of
// their own, if its first item has one.
func inBrackets(text []byte, at int, aliases []string, quote func(string) string) (int, string) {
	rest := bytes.TrimLeft(text[at:], " \t\r\n")
	space, separator := string(text[at:len(text)-len(rest)]), ", "
	if strings.Contains(space, "\n") {
		at, separator = at+len(space), ","+space
	}
	insert := quoted(aliases, separator, quote)
	if len(rest) > 0 && rest[0] != ']' {
		insert += separator
	}
	return at, insert
}

func bomLength(text []byte) int { return len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff"))) }

// items returns the lines of a list in YAML.
func items(mark string, aliases []string, nl string) string {
	var b strings.Builder
	for _, alias := range aliases {
		b.WriteString(mark + quoteYAML(alias) + nl)
	}
	return b.String()
}

// matter returns the range of front matter between two fences, without them. fence is ""
// without front matter, and closed is false if it has no end.
func matter(text []byte) (fence string, start, end int, closed bool) {
	at := bomLength(text)
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	if fence = string(bytes.TrimRight(line, " \t\r")); fence != "---" && fence != "+++" {
		return "", at, at, true
	}
	start = min(len(text), at+len(line)+1)
	for at = start; at < len(text); at += len(line) + 1 {
		if line, _, _ = bytes.Cut(text[at:], []byte("\n")); string(bytes.TrimRight(line, " \t\r")) == fence {
			return fence, start, at, true
		}
	}
	return fence, start, start, false
}

func insertYAML(text []byte, key string, aliases []string, nl string) (int, string, error) {
	for _, loc := range aliasLine().FindAllSubmatchIndex(text, -1) {
		if !strings.EqualFold(string(text[loc[2]:loc[3]]), key) {
			continue
		}
		given := string(text[loc[4]:loc[5]])
		switch {
		case strings.HasPrefix(given, "["):
			at, insert := inBrackets(text, loc[4]+1, aliases, quoteYAML)
			return at, insert, nil
		case given == "" || strings.HasPrefix(given, "#"):
			end := loc[1]
			if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
				end += i + 1
			}
			item := "- "
			if m := itemYAML().FindSubmatch(text[end:]); m != nil {
				item = string(m[1])
			}
			return end, items(item, aliases, nl), nil
		default:
			return 0, "", fmt.Errorf("%s in its front matter is not a list: add %s there yourself", key, strings.Join(aliases, ", "))
		}
	}
	return len(text), key + ":" + nl + items("- ", aliases, nl), nil
}

func insertTOML(text []byte, key string, aliases []string, nl string) (int, string, error) {
	end := len(text)
	if loc := tableTOML().FindIndex(text); loc != nil {
		// An array of several lines may begin a line with a bracket.
		if before := text[:loc[0]]; bytes.Count(before, []byte("[")) == bytes.Count(before, []byte("]")) {
			end = loc[0]
		}
	}
	if loc := aliasTOML().FindIndex(text[:end]); loc != nil {
		at, insert := inBrackets(text, loc[1], aliases, quoteJSON)
		return at, insert, nil
	}
	if bytes.Contains(bytes.ToLower(text[:end]), []byte("\n"+key+" ")) || bytes.HasPrefix(text, []byte(key)) {
		return 0, "", fmt.Errorf("%s in its front matter is not a list: add %s there yourself", key, strings.Join(aliases, ", "))
	}
	return 0, key + " = [" + quoted(aliases, ", ", quoteJSON) + "]" + nl, nil
}

func quoteYAML(s string) string {
	if plainYAML().MatchString(s) {
		return s
	}
	return quoteJSON(s)
}

// quoteJSON quotes a string for JSON, TOML and YAML.
func quoteJSON(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// takeBack removes the aliases and rules that lead from the new addresses to the old
// ones: an earlier move wrote them, and they would make a loop. If what moves is not
// committed, this takes the earlier move back, and the addresses that only it gave need
// no redirects.
func (m *mover) takeBack(ctx context.Context, from, to string) error {
	back := false
	for _, p := range m.names.moved {
		dropped, err := m.dropAlias(p)
		if err != nil {
			return err
		}
		back = back || dropped
	}
	if f := m.hostRules(); f.Name != "" && m.exists(f.Name) {
		text, hash, _ := m.plan.Set.Read(f.Name) // what cannot be read has none
		m.rules.dropped = m.leadingBack(&f, text)
		for _, r := range m.rules.dropped {
			if err := m.plan.Set.Replace(f.Name, hash, r[0], r[1], ""); err != nil {
				return err
			}
		}
		back = back || len(m.rules.dropped) > 0
	}
	m.returns = (back || m.plan.Set.Committed(ctx, to)) && !m.plan.Set.Committed(ctx, from)
	if m.returns {
		m.note("this takes an earlier move back: the addresses that %s has now get no redirects", from)
	}
	return nil
}

// dropAlias removes an alias that is the page's own address after the move.
func (m *mover) dropAlias(p movedPage) (dropped bool, err error) {
	if !generator.IsMarkdown(p.before.file) && path.Ext(p.before.file) != ".html" || p.before.address == p.after.address {
		return false, nil
	}
	text, hash, _ := m.plan.Set.Read(p.before.file) // what cannot be read has none
	for _, at := range aliasValues(text) {
		value := destination.PercentDecoded(string(text[at[0]:at[1]]))
		if !strings.HasPrefix(value, "/") {
			value = path.Join(path.Dir(strings.TrimSuffix(p.before.rooted, "/")), value)
		}
		own := p.after.rooted
		if !samePath(value, own) && !samePath(m.rooted(m.languageOf(p.after.address))+value, own) {
			continue
		}
		of := m.aliasesOf(p.before.file)
		start, end := aliasRange(text, at[0], at[1])
		of.dropped = append(of.dropped, [2]int{start, end})
		return true, m.plan.Set.Replace(p.before.file, hash, start, end, "")
	}
	return false, nil
}

// aliasValues returns the ranges of the aliases in front matter, without their quotes.
func aliasValues(text []byte) (all [][2]int) {
	_, _, end, _ := matter(text)
	if d := json.NewDecoder(bytes.NewReader(text)); bytes.HasPrefix(text, []byte("{")) && d.Decode(new(json.RawMessage)) == nil {
		end = int(d.InputOffset())
	}
	for _, key := range aliasList().FindAllIndex(text[:end], -1) {
		for _, v := range aliasValue().FindAllSubmatchIndex(text[key[0]:key[1]], -1)[1:] { // the first is the key
			all = append(all, [2]int{key[0] + v[2], key[0] + v[3]})
		}
	}
	return all
}

var (
	// aliasList matches a key with its list: in brackets, or a line for each item.
	aliasList = text.Regexp(`(?mi)(?:^[ \t]*"?|[,{][ \t]*")(?:aliases|redirect_from)"?[ \t]*[:=](?:\s*\[[^\]]*\]|[ \t]*\r?\n(?:[ \t]*-[ \t]+.*\n?)+)`)
	// aliasValue matches a key or value.
	aliasValue = text.Regexp(`([^\s"',:=\[\]{}-][^\s"',=\[\]]*)`)
)

// aliasRange returns what goes with the value of an alias in front matter: its line, or
// its comma; the key, if it is the only one; and the front matter, if nothing else is in it.
func aliasRange(text []byte, start, end int) (int, int) {
	lineOf := func(at int) (int, int) {
		stop := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			stop = at + i + 1
		}
		return bytes.LastIndexByte(text[:at], '\n') + 1, stop
	}
	line, stop := lineOf(start)
	if itemYAML().Match(text[line:end]) {
		next, _ := lineOf(stop)
		key := bytes.LastIndexByte(text[:max(0, line-1)], '\n') + 1
		_, after := lineOf(next)
		if start, end = line, stop; !aliasLine().Match(text[key:line]) || itemYAML().Match(text[next:after]) {
			return start, end
		}
		start = key
	} else {
		for start > 0 && (text[start-1] == '"' || text[start-1] == '\'') && end < len(text) && text[end] == text[start-1] {
			start, end = start-1, end+1
		}
		head, tail := bytes.TrimRight(text[:start], " \t\r\n"), bytes.TrimLeft(text[end:], " \t\r\n")
		switch {
		case bytes.HasPrefix(tail, []byte(",")):
			end = len(text) - len(bytes.TrimLeft(tail[1:], " \t\r\n"))
			return start, end
		case bytes.HasSuffix(head, []byte(",")):
			return len(head) - 1, end
		case !bytes.HasSuffix(head, []byte("[")) || !bytes.HasPrefix(tail, []byte("]")):
			return start, end
		}
		if line, stop = lineOf(start); !aliasKeyLine().Match(text[line:stop]) {
			return start, end // other values are in the line
		}
		start, end = line, stop
	}
	if fence, from, to, _ := matter(text); fence != "" && from == start && to == end {
		_, end = lineOf(end)
		return bomLength(text), end
	}
	return start, end
}

// aliasKeyLine matches a line with one alias, in brackets.
var aliasKeyLine = text.Regexp(`(?i)^[ \t]*"?(?:aliases|redirect_from)"?[ \t]*[:=][ \t]*\[[^\[\]]*\][ \t]*,?[ \t]*\r?\n$`)

// A template may compose links from the address of its own page: a switcher between
// the versions of a documentation writes the name of another version into it. When the
// page moves, these links change although no source has them, and lead to addresses
// that never existed. What such a link led to before gets an alias with the new address,
// so the link keeps working. A link that led nowhere before the move is no new finding.

// composed are the links of the new site that templates compose in another way than
// before the move.
type composed struct {
	// broken are those that led nowhere before either.
	broken map[linkPlace]bool
	// aliases are the addresses that the others ask for, with those that they led to,
	// as they are after the move. Sorted.
	aliases []Pair
}

// linkPlace identifies a link of a built site.
type linkPlace struct {
	page   string
	offset int64
	raw    string
}

// compose compares the links of the pages with new findings with the links that these
// pages had before.
func (m *mover) compose(ctx context.Context, after *version, added []check.Finding) (*composed, error) {
	c := &composed{broken: map[linkPlace]bool{}}
	findings := map[string][]check.Finding{} // by page
	for _, f := range added {
		if f.Element != "" && f.Code != check.ViaRedirect {
			findings[f.Page] = append(findings[f.Page], f)
		}
	}
	if len(findings) == 0 {
		return c, nil
	}
	before := map[string]string{} // pages of the old site by those of the new one
	byAddress := map[string]string{}
	for name := range m.before.files() {
		if path.Ext(name) == ".html" {
			byAddress[m.names.pageAfter(m.before.addressOf(name))] = name
		}
	}
	old, now := map[string][]check.Link{}, map[string][]check.Link{}
	for page := range findings {
		if name, ok := byAddress[after.addressOf(page)]; ok {
			before[page], old[name], now[page] = name, nil, nil
		}
	}
	if err := m.linksOf(ctx, m.before, old); err != nil {
		return nil, err
	}
	if err := m.linksOf(ctx, after, now); err != nil {
		return nil, err
	}
	asked := map[string]string{}
	for _, page := range slices.Sorted(maps.Keys(before)) {
		name := before[page]
		places, err := after.audit.PlaceLinks(ctx, now[page])
		if err != nil {
			return nil, err
		}
		was := map[int]*check.Link{}
		of := func(l *check.Link) string { return l.Element + " " + l.Attribute }
		pairByPlace(was, len(old[name]), len(now[page]), func(i int) (*check.Link, string) { return &old[name][i], of(&old[name][i]) }, func(j int) string { return of(&now[page][j]) })
		placed := m.placed[name]
		pairByPlace(was, len(placed), len(places), func(i int) (*check.Link, check.Position) { return &placed[i].link, placed[i].place }, func(j int) check.Position {
			if places[j] == nil {
				return check.Position{}
			}
			return *places[j]
		})
		m.composePage(c.broken, asked, findings[page], now[page], was)
	}
	for _, old := range slices.Sorted(maps.Keys(asked)) {
		c.aliases = append(c.aliases, Pair{old, asked[old]})
	}
	return c, nil
}

// linksOf reads the links of the pages that are the keys of a map.
func (m *mover) linksOf(ctx context.Context, v *version, pages map[string][]check.Link) error {
	_, err := check.Links(ctx, audit.Handle(v.audit.Site), v.options(), check.Query{}, func(l *check.Link) error {
		if all, ok := pages[l.Page]; ok { // calls do not overlap
			pages[l.Page] = append(all, *l)
		}
		return nil
	})
	return err
}

// placedLink is a link with the place in the sources where it is written.
type placedLink struct {
	link  check.Link
	place check.Position
}

// pairByPlace adds to was the links before the move, by the indexes of the links after
// it. Two links are paired if they come from one place, and if the template there writes
// as many links as before, because it writes them in the same order. old and now return
// the places.
func pairByPlace[P comparable](was map[int]*check.Link, olds, nows int, old func(i int) (*check.Link, P), now func(j int) P) {
	before, after := map[P][]*check.Link{}, map[P][]int{}
	for i := range olds {
		l, at := old(i)
		before[at] = append(before[at], l)
	}
	for j := range nows {
		after[now(j)] = append(after[now(j)], j)
	}
	for at, js := range after {
		for n, j := range js {
			if len(before[at]) == len(js) {
				was[j] = before[at][n]
			}
		}
	}
}

// composePage judges the findings of one page by the links that it had before, which
// was has by the indexes of those that it has now. It adds the links that led nowhere before
// to broken, and the addresses that others ask for to asked, with those that they led to.
func (m *mover) composePage(broken map[linkPlace]bool, asked map[string]string, findings []check.Finding, now []check.Link, was map[int]*check.Link) {
	places := map[linkPlace]int{}
	for j, l := range now {
		places[linkPlace{l.Page, l.Offset, l.Raw}] = j
	}
	for _, f := range findings {
		at := linkPlace{f.Page, f.Offset, f.Raw}
		b := was[places[at]]
		if b == nil {
			continue
		}
		switch to, _ := sitePath(f.Target); {
		case b.Raw == f.Raw: // it is the author's, and has to be written in another way
		case b.Code == f.Code, isMissing(b.Code) && isMissing(f.Code):
			broken[at] = true
		case isMissing(f.Code):
			if address, ok := sitePath(cmp.Or(b.Final, b.Target)); ok {
				asked[to] = m.names.pageAfter(address)
			}
		}
	}
}

// isMissing reports whether a finding says that nothing answers an address, so that an
// alias can.
func isMissing(code check.Code) bool {
	return code == check.MissingFile || code == check.MissingDirectory || code == check.MissingIndex || code == check.Fallback
}

// answer lets addresses redirect to others: by front matter if a page with a source is
// there, else by rules of the host. It returns those that redirect. after is the site
// without these redirects.
func (m *mover) answer(addresses []Pair, after *version) (done []Pair, err error) {
	byAddress := map[string]*page{} // after the move
	for _, p := range m.pages.byFile {
		byAddress[m.names.pageAfter(p.address)] = p
	}
	var rest []Pair
	for _, a := range addresses {
		isPage := strings.HasSuffix(a.Old, "/") || path.Ext(a.Old) == ".html"
		if p := byAddress[a.New]; p != nil && isPage {
			ok, err := m.alias(p.file, m.rooted(a.New), a.Old)
			if err != nil && !m.refuse(err) {
				return nil, err
			}
			if ok && err == nil {
				done = append(done, a)
				continue
			}
		}
		if a.New != "" && answers(after.audit.Site.Request(rulePath(a.New))) {
			rest = append(rest, a)
		}
	}
	ruled, err := m.addRules(rest, after)
	if ruled {
		done = append(done, rest...)
	}
	return done, err
}
