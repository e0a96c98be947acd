package source

import (
	"bytes"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
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
	hits := c.aliases()[normalPath(from)]
	of := -1 // of the page that the rule leads to
	for i, h := range hits {
		if h.key != PageKey(strings.TrimPrefix(to, basePath)) {
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

// apacheFields returns the source and the destination of a rule in .htaccess, "" for
// other lines.
func apacheFields(line []byte) (from, to string) {
	fields := strings.Fields(string(line))
	if n := len(fields); n > 2 {
		switch directive := strings.ToLower(fields[0]); {
		case directive == "rewriterule":
			return fields[1], strings.Trim(fields[2], `"`)
		case strings.HasPrefix(directive, "redirect"):
			return fields[n-2], strings.Trim(fields[n-1], `"`)
		}
	}
	return "", ""
}

// isRuleTemplate reports whether the name is that of a template of a rule file, such
// as index.redir.
func isRuleTemplate(name string) bool { return strings.Contains(path.Base(name), "redir") }

// ruleTemplates returns the lines of templates of rule files, by their first field.
func (m *Map) ruleTemplates() map[string][]*Position {
	found := map[string][]*Position{}
	for _, f := range m.files() {
		if !isRuleTemplate(f.name) || m.opt.Generator.Traits().Modules && f.dir.kind != Template {
			continue
		}
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxTemplate)
		line := 0
		for l := range bytes.Lines(text) {
			line++
			if from, _ := ruleFields(l); from != "" {
				column := len([]rune(string(l[:bytes.Index(l, []byte(from))]))) + 1
				at := f.contentFile.position(line, column)
				at.Kind = Template
				found[from] = append(found[from], at)
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

// aliasKeys are the keys of front matter that hold other addresses of the page.
var aliasKeys = wordSet("aliases alias redirect_from redirects")

// readAliases reads the paths below these keys.
func (c *contentIndex) readAliases() map[string][]alias {
	all := map[string][]alias{}
	c.eachFrontMatter(func(i int, text []byte) {
		f, lines := &c.files[i], newLines(text)
		for _, v := range values(text, 0, len(text)) {
			if aliasKeys[v.key] && strings.HasPrefix(v.text, "/") {
				to := normalPath(v.text)
				all[to] = append(all[to], alias{f.page, *f.position(lines.at(v.at))})
			}
		}
	})
	return all
}
