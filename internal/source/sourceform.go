package source

import (
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/weburl"
)

// SourceForm returns a suggestion for a link in the form in which its author has to
// write it at a position: the path of a Markdown file where the generator turns such
// paths into addresses, and what is written there with another fragment. It is "" if
// that form is not known, and the suggestion itself if no other form is needed.
func (m *Map) SourceForm(p *Position, l *Link, suggestion string) string {
	i, ok := m.content.byDisplay[p.File]
	if !ok || !read.IsMarkdown(p.File) {
		return suggestion
	}
	from, written := m.content.files[i], ""
	d := m.document(from)
	for k := range d.Links {
		if line, column := d.Lines.At(d.Links[k].At); line == p.Line && column == p.Column {
			written = d.Links[k].Value
		}
	}
	name, fragment, _ := strings.Cut(written, "#")
	_, meant, asks := strings.Cut(suggestion, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	want := path.Join(path.Dir(from.name), read.Decode(name))
	t := m.opt.Generator.Traits()
	rest, inContent := strings.CutPrefix(name, t.ContentRoot)
	if inContent = inContent && t.ContentRoot != ""; inContent {
		want = path.Join(m.opt.Generator.Content()[0], read.Decode(rest))
	}
	named := read.IsMarkdown(name) && !strings.HasPrefix(name, "/") && !strings.Contains(name, "://")
	to := ""
	switch relative := name != "" && !strings.HasPrefix(name, "/") && !strings.Contains(name, ":"); {
	case named && asks && fragment != "" && written != l.Raw: // the path is right
		return name + "#" + meant
	case named && (t.ResolvesMarkdown || t.ContentRoot != ""):
		to = nearestFile(m, from, want)
	case relative && t.WarnsOfAddresses && path.Ext(name) == "" && fragment == "":
		to = nearestFile(m, from, want+".md")
	default:
		return suggestion
	}
	if a := m.address(suggestion, l.Page); to == "" && suggestion != "" {
		if found := m.content.makersOf(PageKey(a.target)); len(found) == 1 {
			to = m.content.files[found[0]].name
		}
	}
	switch rel := weburl.Relative("/"+from.name, "/"+to); {
	case to == "" && named:
		return ""
	case to == "" || to == want:
		return suggestion
	case inContent:
		return t.ContentRoot + strings.TrimPrefix(to, m.opt.Generator.Content()[0]+"/") + fragment
	case strings.HasPrefix(name, "./") && !strings.HasPrefix(rel, ".."):
		return "./" + rel + fragment
	default:
		return rel + fragment
	}
}
