package source

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
)

// A generator writes a _redirects file from two places: the lines of a template,
// and the aliases in the front matter of pages, over which the template loops.

// ruleFile is the name of the file.
const ruleFile = "_redirects"

// ruleAt returns where a rule is written, nil if that is not certain. line is its
// line in the docroot, and templates are the lines of templates.
func (c *contentIndex) ruleAt(templates map[string][]*Position, line []byte, basePath string) *Position {
	from, to := read.RuleFields(line)
	if from == "" {
		return nil
	}
	if found := templates[from]; len(found) > 0 {
		if len(found) > 1 {
			return nil
		}
		return found[0]
	}
	hits := c.aliases()[read.NormalPath(from)]
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

// ruleTemplates returns the lines of templates of rule files, by their first field.
func (m *Map) ruleTemplates() map[string][]*Position {
	found := map[string][]*Position{}
	for _, f := range m.files() {
		if !read.IsRuleTemplate(f.name) || m.opt.Generator.Traits().Modules && f.dir.kind != read.Template {
			continue
		}
		text, _ := system.ReadFS(f.dir.fsys, f.name, maxTemplate)
		line := 0
		for l := range bytes.Lines(text) {
			line++
			if from, _ := read.RuleFields(l); from != "" {
				column := len([]rune(string(l[:bytes.Index(l, []byte(from))]))) + 1
				at := f.contentFile.position(line, column)
				at.Kind = read.Template
				found[from] = append(found[from], at)
			}
		}
	}
	return found
}
