package source

import (
	"bytes"
	"path"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/disk"
)

// A generator writes a _redirects file from two places: the lines of a template,
// and the aliases in the front matter of pages, over which the template loops.

// ruleFile is the name of the file.
const ruleFile = "_redirects"

// ruleAt returns where a rule is written, nil if that is not certain. line is its
// line in the docroot, and templates are the lines of templates.
func (c *contentIndex) ruleAt(templates map[string][]*Position, line []byte, basePath string) *Position {
	from, to := ruleFields(line)
	if from == "" {
		return nil
	}
	if found := templates[from]; len(found) > 0 {
		if len(found) > 1 {
			return nil
		}
		return found[0]
	}
	hits := c.aliasesOf()[normalPath(from)]
	if len(hits) == 0 {
		return nil
	}
	of := -1 // of the page that the rule leads to
	for i, h := range hits {
		if h.key != pageKey(strings.TrimPrefix(to, basePath)) {
			continue
		}
		if of >= 0 {
			return nil
		}
		of = i
	}
	if of < 0 && len(hits) == 1 {
		of = 0
	}
	if of < 0 {
		return nil
	}
	return &hits[of].at
}

// lineOf returns a line of a text, counted from 1.
func lineOf(text []byte, line int) []byte {
	for l := range bytes.Lines(text) {
		if line--; line == 0 {
			return l
		}
	}
	return nil
}

// ruleFields returns the first two fields of a rule, "" for other lines.
func ruleFields(line []byte) (from, to string) {
	fields := strings.Fields(string(line))
	if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
		return "", ""
	}
	return fields[0], fields[1]
}

// isRuleTemplate reports whether the name is that of a template of a rule file, such
// as index.redir.
func isRuleTemplate(name string) bool { return strings.Contains(path.Base(name), "redir") }

// ruleTemplates returns the lines of templates of rule files, by their first field.
func (m *Map) ruleTemplates() map[string][]*Position {
	found := map[string][]*Position{}
	for _, f := range m.templateFiles() {
		if !isRuleTemplate(f.name) || m.opt.Generator == Hugo && f.dir.kind != Template {
			continue
		}
		text, err := disk.ReadFS(f.dir.fsys, f.name, maxTemplate)
		if err != nil {
			continue // as if it had no rules
		}
		line := 0
		for l := range bytes.Lines(text) {
			line++
			if from, _ := ruleFields(l); from != "" {
				column := len([]rune(string(l[:bytes.Index(l, []byte(from))]))) + 1
				found[from] = append(found[from], &Position{File: f.display, Line: line, Column: column, Kind: Template, Module: f.dir.module})
			}
		}
	}
	return found
}

// alias is an alias in the front matter of a content file.
type alias struct {
	key string // of the file's page
	at  Position
}

// aliasIndex holds the aliases of all content files, by their normalPath.
type aliasIndex struct {
	once sync.Once
	of   map[string][]alias
}

// aliasesOf reads the aliases when the first one is needed.
func (c *contentIndex) aliasesOf() map[string][]alias {
	c.aliases.once.Do(func() {
		c.aliases.of = map[string][]alias{}
		listed := map[int]string{} // keys that Hugo or a unique name gave
		for key, i := range c.listed {
			listed[i] = key
		}
		for i, f := range c.files {
			text, err := disk.ReadFS(f.dir.fsys, f.name, maxContentFile)
			if err != nil {
				continue
			}
			end := frontMatter(text)
			key, ok := listed[i]
			if !ok {
				key = f.key
			}
			lines := newLines(text[:end])
			eachAlias(text[:end], func(at int, value string) {
				line, column := lines.at(at)
				p := Position{File: f.display, Line: line, Column: column, Kind: f.dir.kind, Module: f.dir.module}
				c.aliases.of[normalPath(value)] = append(c.aliases.of[normalPath(value)], alias{key, p})
			})
		}
	})
	return c.aliases.of
}

// aliasKeys are the keys of front matter that hold other addresses of the page.
var aliasKeys = wordSet("aliases alias redirect_from redirects")

// eachAlias calls f with the paths below these keys and their offsets.
func eachAlias(matter []byte, f func(at int, value string)) {
	inside := false
	off := 0
	for line := range bytes.Lines(matter) {
		start := 0
		if k := keyOnLine.FindSubmatchIndex(line); k != nil {
			// A key within a table, such as params.aliases, is another one.
			inside = k[2] <= 1 && aliasKeys[strings.ToLower(string(line[k[2]:k[3]]))]
			start = k[3]
		}
		for i := start; inside && i < len(line); i++ {
			if line[i] != '/' || i > 0 && !bytes.ContainsRune([]byte("\"'[,: \t-="), rune(line[i-1])) {
				continue
			}
			end := i
			for end < len(line) && !bytes.ContainsRune([]byte("\"'],} \t\r\n"), rune(line[end])) {
				end++
			}
			f(off+i, string(line[i:end]))
			i = end
		}
		off += len(line)
	}
}
