package move

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Jekyll's tags link and post_url name a source file. A build fails if one names a file
// that does not exist. So all tags that name a moved file are rewritten, even if no page
// shows their link.

var (
	// liquidTag matches a tag with its name and its first word.
	liquidTag = text.Regexp(`\{%-?\s*(\w+)(?:\s+([^\s%}]+))?\s*(?:[^%]|%[^}])*?-?%\}`)
	// postName matches the name of a post with the directories before it.
	postName = text.Regexp(`^(?:.*/)?\d{2,4}-\d{1,2}-\d{1,2}-[^/]+$`)
)

// maxLiquidBytes is the size of the largest file in which tags are looked for.
const maxLiquidBytes = 16 << 20

// rewriteTags lets Jekyll's tags name the files that move by their new names.
func (m *mover) rewriteTags() error {
	if !m.generator().Traits().SourceTags {
		return nil
	}
	moved := map[string]string{}
	tree := m.pages.content[0]
	for _, name := range m.plan.Set.Files() {
		from, _ := tree.rel(name)
		moved[from], _ = tree.rel(m.plan.Set.NewName(name))
	}
	return filepath.WalkDir(m.shadow.at(tree.dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, _ := m.belowRoot(filepath.ToSlash(name))
		if d.IsDir() {
			if rel, _ := tree.rel(file); file != tree.dir && m.generator().Foreign(os.DirFS(m.shadow.at(tree.dir)), rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, _ := system.Read(name, maxLiquidBytes) // what is larger is no source
		edits := tagEdits(string(text), moved)
		if len(edits) == 0 {
			return nil
		}
		doc, err := m.document(file)
		if err != nil {
			if m.refuse(err) {
				return nil
			}
			return err
		}
		return m.replaceAll(doc, edits)
	})
}

func (m *mover) replaceAll(doc *document, edits []destination.Edit) error {
	for _, e := range edits {
		if err := m.replace(doc, e.Start, e.End, e.Text); err != nil {
			return err
		}
	}
	return nil
}

// tagEdits returns the edits of a text after files were moved. Text between raw and
// endraw, or comment and endcomment, stays.
func tagEdits(text string, moved map[string]string) []destination.Edit {
	var all []destination.Edit
	verbatim := ""
	for _, at := range liquidTag().FindAllStringSubmatchIndex(text, -1) {
		name := text[at[2]:at[3]]
		switch {
		case verbatim != "":
			if name == "end"+verbatim {
				verbatim = ""
			}
			continue
		case name == "raw" || name == "comment":
			verbatim = name
			continue
		case at[4] < 0:
			continue
		}
		start, end := at[4], at[5]
		was := text[start:end]
		bare := strings.TrimPrefix(was, "/")
		slash := was[:len(was)-len(bare)]
		switch name {
		case "link":
			if to, ok := moved[bare]; ok {
				all = append(all, destination.Edit{Start: start, End: end, Text: slash + to})
			}
		case "post_url":
			for from, to := range moved {
				if postOf(from) != bare || !postName().MatchString(bare) {
					continue
				}
				if now := postOf(to); now != "" {
					all = append(all, destination.Edit{Start: start, End: end, Text: slash + now})
				} else { // a page now
					all = append(all, destination.Edit{Start: at[2], End: end, Text: "link " + to})
				}
			}
		}
	}
	return all
}

// postOf returns the name that post_url has for the file of a post, or "" for another
// file.
func postOf(file string) string {
	dir, base := path.Split(file)
	before, after, ok := strings.Cut("/"+dir, "/_posts/")
	name := path.Join(before, after, strings.TrimSuffix(base, path.Ext(base)))
	if name = strings.TrimPrefix(name, "/"); !ok || !postName().MatchString(name) {
		return ""
	}
	return name
}

// Pages of Astro name the files that they need by paths relative to themselves: layouts,
// components, pictures. A build fails as soon as one does not exist, and no page shows
// most of them. When a page moves to another directory, these paths follow.

// imported matches the path of an import of JavaScript, static or dynamic, or of a glob.
var imported = text.Regexp(`(?m)(?:^[ \t]*(?:import|export)\b[^'"` + "`" + `;]*|\b(?:import|glob)\(\s*)['"](\.{1,2}/[^'"\n]+)['"]`)

// layoutLine matches the layout of a page of Markdown.
var layoutLine = text.Regexp(`(?m)^layout:[ \t]*['"]?(\.{1,2}/[^'"\s]+)`)

// rewriteImports lets the pages of Astro that move name the same files as before.
func (m *mover) rewriteImports() error {
	if !m.generator().Traits().Imports {
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
		if err := m.replaceAll(doc, importEdits(doc, m.plan.Renames[0], m.exists)); err != nil {
			return err
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
	for _, re := range []*regexp.Regexp{imported(), layoutLine()} {
		if re == imported() && path.Ext(doc.file) == ".md" {
			continue // it has no code
		}
		for _, at := range re.FindAllSubmatchIndex(doc.text, -1) {
			follow(at[2], at[3], string(doc.text[at[2]:at[3]]))
		}
	}
	for i := range doc.links {
		if d := &doc.links[i]; d.Form == read.FormMatter || d.Form == read.FormInline && d.Element == "img" {
			if raw, err := d.Encode(d.Value); err == nil && raw == d.Raw() { // nothing is escaped
				follow(d.Start, d.End, d.Value)
			}
		}
	}
	slices.SortFunc(all, func(a, b destination.Edit) int { return a.Start - b.Start })
	return slices.CompactFunc(all, func(a, b destination.Edit) bool { return a.Start == b.Start })
}
