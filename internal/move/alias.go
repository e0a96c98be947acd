package move

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/edit"
	"github.com/sitelink/sitelink/internal/generator"
)

// addAliases lets each moved page answer its old address as well: by its front matter
// if the generator makes redirects of it.
func (m *planner) addAliases() error {
	key := m.aliasKey()
	var moved []movedPage
	for _, p := range m.names.moved {
		moved = append(moved, p)
	}
	slices.SortFunc(moved, func(a, b movedPage) int { return strings.Compare(a.before.file, b.before.file) })
	var rest []Pair
	for _, p := range moved {
		if p.before.address == p.after.address {
			continue
		}
		if done, err := m.alias(key, p.before.file, p.before.rooted); err != nil {
			return err
		} else if !done {
			continue
		}
		m.aliased[p.before.address] = true
		if err := m.dropAlias(p); err != nil {
			return err
		}
	}
	for _, p := range m.names.all() {
		if !m.aliased[p.Old] {
			rest = append(rest, p)
		}
	}
	_, err := m.addRules(rest)
	return err
}

// alias gives the page of a file an alias more, by its front matter. done is false if
// that is not possible.
func (m *planner) alias(key, file, alias string) (done bool, err error) {
	if key == "" || !generator.IsMarkdown(file) && path.Ext(file) != ".html" {
		return false, nil
	}
	text, hash, err := m.plan.Set.Read(file)
	if err != nil {
		return false, ExplainEdit(err)
	}
	of := m.aliases[file]
	if of == nil {
		of = &aliases{}
		m.aliases[file] = of
	}
	at, insert, err := InsertAlias(text, key, append(of.names, alias)...)
	if err != nil {
		m.note("%s: %v", file, err)
		return false, nil
	}
	m.plan.Set.Withdraw(file, of.edit)
	of.names, of.edit = append(of.names, alias), edit.Edit{Start: at, End: at, Text: insert}
	return true, ExplainEdit(m.plan.Set.Replace(file, hash, at, at, insert))
}

// aliases are those that the move adds to one file, by one edit.
type aliases struct {
	names []string
	edit  edit.Edit
}

// aliasKey returns the key of front matter that makes redirects, "" for none.
func (m *planner) aliasKey() string {
	g := m.shadow.project.Generator
	if g == nil {
		return ""
	}
	dir, _ := m.belowRoot(g.Dir)
	return AliasKey(&g.Project, func(name string) []byte {
		text, _, err := m.plan.Set.Read(path.Join(dir, name))
		if err != nil {
			return nil // the generator reads it, or fails and says so
		}
		return text
	})
}

// AliasKey returns the key of front matter of which a generator makes redirects, ""
// for none. read returns the text of a configuration file, nil if it cannot be read.
func AliasKey(g *generator.Project, read func(name string) []byte) string {
	switch g.Generator {
	case generator.Hugo:
		return "aliases"
	case generator.Jekyll:
		for _, name := range g.Configs {
			if bytes.Contains(read(name), []byte("jekyll-redirect-from")) {
				return "redirect_from"
			}
		}
	}
	return ""
}

var (
	aliasLine   = regexp.MustCompile(`(?mi)^(aliases|redirect_from)[ \t]*:[ \t]*(.*?)[ \t]*\r?$`)
	aliasTOML   = regexp.MustCompile(`(?mi)^[ \t]*(?:"?aliases"?)[ \t]*=[ \t]*\[`)
	tableTOML   = regexp.MustCompile(`(?m)^[ \t]*\[`)
	itemYAML    = regexp.MustCompile(`^([ \t]*-[ \t]+)\S`)
	plainYAML   = regexp.MustCompile(`^/[A-Za-z0-9/_.~-]*$`)
	aliasesJSON = regexp.MustCompile(`(?i)"aliases"[ \t\r\n]*:[ \t\r\n]*\[`)
)

// InsertAlias returns what to insert into the front matter of a text, and where, so
// that the page has these aliases too.
func InsertAlias(text []byte, key string, aliases ...string) (at int, insert string, err error) {
	bom := 0
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		bom = 3
	}
	nl := "\n"
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		nl = "\r\n"
	}
	rest := text[bom:]
	switch {
	case fenced(rest, "---"):
		start, end, ok := matter(rest, "---")
		if !ok {
			return 0, "", fmt.Errorf("its front matter has no end")
		}
		at, insert, err = insertYAML(rest[start:end], key, aliases, nl)
		return bom + start + at, insert, err
	case fenced(rest, "+++"):
		start, end, ok := matter(rest, "+++")
		if !ok {
			return 0, "", fmt.Errorf("its front matter has no end")
		}
		at, insert, err = insertTOML(rest[start:end], key, aliases, nl)
		return bom + start + at, insert, err
	case bytes.HasPrefix(rest, []byte("{")) && !bytes.HasPrefix(rest, []byte("{{")):
		value := quoted(aliases, quoteJSON)
		if loc := aliasesJSON.FindIndex(rest); loc != nil {
			return bom + loc[1], value + comma(rest[loc[1]:]), nil
		}
		return bom + 1, nl + `  "` + key + `": [` + value + "],", nil
	}
	return bom, "---" + nl + key + ":" + nl + items("- ", aliases, nl) + "---" + nl, nil
}

// quoted returns the values of a list in brackets.
func quoted(aliases []string, quote func(string) string) string {
	all := make([]string, len(aliases))
	for i, alias := range aliases {
		all[i] = quote(alias)
	}
	return strings.Join(all, ", ")
}

// items returns the lines of a list in YAML.
func items(mark string, aliases []string, nl string) string {
	var b strings.Builder
	for _, alias := range aliases {
		b.WriteString(mark + quoteYAML(alias) + nl)
	}
	return b.String()
}

func fenced(text []byte, fence string) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimRight(line, " \t\r")) == fence
}

// matter returns the range of front matter between two fences, without them.
func matter(text []byte, fence string) (start, end int, ok bool) {
	start = bytes.IndexByte(text, '\n') + 1
	for at := start; at > 0 && at < len(text); {
		line, _, more := bytes.Cut(text[at:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == fence {
			return start, at, true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return 0, 0, false
}

// comma returns what separates an item from those that follow it in brackets.
func comma(rest []byte) string {
	if rest = bytes.TrimLeft(rest, " \t\r\n"); len(rest) == 0 || rest[0] == ']' {
		return ""
	}
	return ", "
}

func insertYAML(text []byte, key string, aliases []string, nl string) (int, string, error) {
	for _, loc := range aliasLine.FindAllSubmatchIndex(text, -1) {
		if !strings.EqualFold(string(text[loc[2]:loc[3]]), key) {
			continue
		}
		given := string(text[loc[4]:loc[5]])
		switch {
		case strings.HasPrefix(given, "["):
			return loc[4] + 1, quoted(aliases, quoteYAML) + comma(text[loc[4]+1:]), nil
		case given == "" || strings.HasPrefix(given, "#"):
			end := loc[1]
			if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
				end += i + 1
			}
			item := "- "
			if m := itemYAML.FindSubmatch(text[end:]); m != nil {
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
	if loc := tableTOML.FindIndex(text); loc != nil {
		// An array of several lines may begin a line with a bracket.
		if before := text[:loc[0]]; bytes.Count(before, []byte("[")) == bytes.Count(before, []byte("]")) {
			end = loc[0]
		}
	}
	if loc := aliasTOML.FindIndex(text[:end]); loc != nil {
		return loc[1], quoted(aliases, quoteJSON) + comma(text[loc[1]:]), nil
	}
	if bytes.Contains(bytes.ToLower(text[:end]), []byte("\n"+key+" ")) || bytes.HasPrefix(text, []byte(key)) {
		return 0, "", fmt.Errorf("%s in its front matter is not a list: add %s there yourself", key, strings.Join(aliases, ", "))
	}
	return 0, key + " = [" + quoted(aliases, quoteJSON) + "]" + nl, nil
}

func quoteYAML(s string) string {
	if plainYAML.MatchString(s) {
		return s
	}
	return quoteJSON(s)
}

// quoteJSON quotes a string for JSON, TOML and YAML.
func quoteJSON(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// dropAlias removes an alias that is the page's own address now: the page moves back.
func (m *planner) dropAlias(p movedPage) error {
	text, hash, err := m.plan.Set.Read(p.before.file)
	if err != nil {
		return ExplainEdit(err)
	}
	_, end, ok := matter(bytes.TrimPrefix(text, []byte("\ufeff")), "---")
	if !ok {
		_, end, ok = matter(bytes.TrimPrefix(text, []byte("\ufeff")), "+++")
	}
	if !ok {
		return nil
	}
	own := strings.Trim(p.after.rooted, "/")
	doc := newDocument(p.before.file, text, hash, m.generator())
	for _, l := range doc.links {
		if l.Start > end || l.Key != "aliases" && l.Key != "redirect_from" {
			continue
		}
		decoded, err := url.PathUnescape(l.Value)
		if err != nil || strings.Trim(decoded, "/") != own || own == "" {
			continue
		}
		// A line of a list goes as a whole; in brackets the item takes its comma along.
		start, stop := bytes.LastIndexByte(text[:l.Start], '\n')+1, l.End
		if i := bytes.IndexByte(text[stop:], '\n'); i >= 0 && itemYAML.Match(text[start:stop]) {
			return ExplainEdit(m.plan.Set.Replace(p.before.file, hash, start, stop+i+1, ""))
		}
		start = l.Start
		for start > 0 && (text[start-1] == '"' || text[start-1] == '\'') && stop < len(text) && text[stop] == text[start-1] {
			start, stop = start-1, stop+1
		}
		if tail := bytes.TrimLeft(text[stop:], " \t\r\n"); len(tail) > 0 && tail[0] == ',' {
			stop = len(text) - len(tail) + 1
			for stop < len(text) && text[stop] == ' ' {
				stop++
			}
		} else if head := bytes.TrimRight(text[:start], " \t\r\n"); len(head) > 0 && head[len(head)-1] == ',' {
			start = len(head) - 1
		}
		return ExplainEdit(m.plan.Set.Replace(p.before.file, hash, start, stop, ""))
	}
	return nil
}
