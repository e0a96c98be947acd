package move

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Pages of Astro name the files that they need by paths relative to themselves: layouts,
// components, pictures. A build fails as soon as one does not exist, and no page shows
// most of them. When a page moves to another directory, these paths follow.

// imported matches the path of an import of JavaScript, static or dynamic, or of a glob.
var imported = regexp.MustCompile(`(?m)(?:^[ \t]*(?:import|export)\b[^'"` + "`" + `;]*|\b(?:import|glob)\(\s*)['"](\.{1,2}/[^'"\n]+)['"]`)

// layoutLine matches the layout of a page of Markdown.
var layoutLine = regexp.MustCompile(`(?m)^layout:[ \t]*['"]?(\.{1,2}/[^'"\s]+)`)

// rewriteImports lets the pages of Astro that move name the same files as before.
func rewriteImports(m *rewriter) error {
	if m.generator() != generator.Astro {
		return nil
	}
	for _, file := range m.plan.Set.Files() {
		to := m.plan.Set.NewName(file)
		if path.Dir(to) == path.Dir(file) || !generator.IsMarkdown(file) && path.Ext(file) != ".astro" {
			continue
		}
		doc, err := m.document(file)
		if err != nil {
			return err
		}
		for _, e := range importEdits(doc, m.plan.Renames[0], m.exists) {
			if err := m.replacePath(doc, e.Start, e.End, e.Text, m.edited); err != nil {
				return err
			}
		}
	}
	return nil
}

// modules are the suffixes that an import may leave out.
var modules = []string{"", ".ts", ".js", ".tsx", ".jsx", ".mjs"}

// importEdits returns the edits of a page when a file or directory gets a new name: of the
// relative paths of imports, pictures and values of front matter that name a file.
func importEdits(doc *document, rename Pair, exists func(file string) bool) (all []destination.Edit) {
	newName := func(file string) string {
		if rest, ok := strings.CutPrefix(file, rename.Old); ok && (rest == "" || rest[0] == '/') {
			return rename.New + rest
		}
		return file
	}
	follow := func(start, end int, value string) {
		pattern := "" // of a glob: what it names is a directory
		if i := strings.IndexAny(value, "*{["); i >= 0 {
			i = strings.LastIndexByte(value[:i], '/') + 1
			value, pattern = value[:i], value[i:]
		}
		file := path.Join(path.Dir(doc.file), value)
		if !strings.HasPrefix(value, ".") || !slices.ContainsFunc(modules, func(suffix string) bool { return exists(file + suffix) }) {
			return
		}
		now := weburl.Relative("/"+newName(doc.file), "/"+newName(file))
		if !strings.HasPrefix(now, ".") {
			now = "./" + now
		}
		if strings.HasSuffix(value, "/") {
			now += "/"
		}
		if now += pattern; now != value+pattern {
			all = append(all, destination.Edit{Start: start, End: end, Text: now})
		}
	}
	for _, re := range []*regexp.Regexp{imported, layoutLine} {
		if re == imported && path.Ext(doc.file) == ".md" {
			continue // it has no code
		}
		for _, at := range re.FindAllSubmatchIndex(doc.text, -1) {
			follow(at[2], at[3], string(doc.text[at[2]:at[3]]))
		}
	}
	for i := range doc.links {
		if d := &doc.links[i]; d.Kind == destination.FrontMatter || d.Kind == destination.Inline && d.Element == "img" {
			if raw, err := d.Encode(d.Value); err == nil && raw == d.Raw() { // nothing is escaped
				follow(d.Start, d.End, d.Value)
			}
		}
	}
	slices.SortFunc(all, func(a, b destination.Edit) int { return a.Start - b.Start })
	return slices.CompactFunc(all, func(a, b destination.Edit) bool { return a.Start == b.Start })
}
