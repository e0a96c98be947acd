package source

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/weburl"
)

// SourceForm returns a suggestion for a link in the form that its author has to
// write at a position. It is the path of a Markdown file if the generator turns such
// paths into addresses, or the written text with another fragment. It is "" if the
// form is not known, and the suggestion itself if no other form is needed.
func (m *Map) SourceForm(p *Position, l *BuiltLink, suggestion string) string {
	i, ok := m.content.byDisplay[p.File]
	t := m.opt.Generator.Traits()
	target, meant, asks := strings.Cut(suggestion, "#")
	if !ok || !read.IsMarkdown(p.File) || !asks && !t.ResolvesMarkdown && t.ContentRoot == "" {
		return suggestion
	}
	from, written := m.content.files[i], ""
	d := m.document(from)
	var others []string
	for k := range d.Links {
		if line, column := d.Lines.At(d.Links[k].At); line == p.Line && column == p.Column {
			written = d.Links[k].Value
		} else {
			others = append(others, d.Links[k].Value)
		}
	}
	name, had, _ := strings.Cut(written, "#")
	asID := name != "" && "#"+read.Decode(written) == read.Decode(l.Raw) // MyST, see matchScore
	fragment := had
	if asks && !asID {
		fragment = meant
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	want := path.Join(path.Dir(from.name), read.Decode(name))
	rest, inContent := strings.CutPrefix(name, t.ContentRoot)
	if inContent = inContent && t.ContentRoot != ""; inContent {
		want = path.Join(m.opt.Generator.Content()[0], read.Decode(rest))
	}
	rooted := strings.HasPrefix(name, "/")
	if asID && rooted {
		want = read.Decode(name[1:])
	}
	named := read.IsMarkdown(name) && (asID || !rooted) && !strings.Contains(name, "://")
	to := ""
	switch {
	case asID && (path.Ext(name) == "" || path.Ext(name) == ".html"):
		if to = nearestFile(m, from, strings.TrimSuffix(want, ".html")+".md"); path.Ext(name) == "" {
			to = strings.TrimSuffix(to, ".md")
		}
	case asID:
		to = nearestFile(m, from, want)
	case named && asks && had != "" && written != l.Raw && strings.HasPrefix(l.Raw, target+"#"): // the path is right
		return name + fragment
	case named && (t.ResolvesMarkdown || t.ContentRoot != ""), t.ResolvesMarkdown && suggestion == "" && !rooted && !read.IsContent(name) && path.Ext(name) != "" && !strings.Contains(name, ":"):
		to = nearestFile(m, from, want)
	case WantsFile(m.opt.Generator, name, others):
		to = nearestFile(m, from, strings.TrimSuffix(want, ".html")+".md")
	default:
		return suggestion
	}
	if a := m.address(suggestion, l.Page); to == "" && suggestion != "" && !asID {
		if found := m.content.makersOf(PageKey(a.target)); len(found) == 1 {
			to = m.content.files[found[0]].name
		}
	}
	switch rel := weburl.Relative("/"+from.name, "/"+to); {
	case to == "" && named:
		return ""
	case to == "" || to == want:
		return suggestion
	case asID && rooted:
		return "/" + to + fragment
	case inContent:
		return t.ContentRoot + strings.TrimPrefix(to, m.opt.Generator.Content()[0]+"/") + fragment
	case strings.HasPrefix(name, "./") && !strings.HasPrefix(rel, ".."):
		return "./" + rel + fragment
	default:
		return rel + fragment
	}
}

// WantsFile reports whether a link of a Markdown file should be the path of a page's file
// and not the page's address. That is so if the generator wants such paths, and none of
// others, the other links of the file, is a relative address. name has no fragment.
func WantsFile(g Generator, name string, others []string) bool {
	isAddress := func(value string) bool {
		value, _, _ = strings.Cut(value, "#")
		ext := path.Ext(value)
		return value != "" && value[0] != '/' && !strings.ContainsAny(value, ":?{<") && (ext == "" || ext == ".html")
	}
	files := slices.ContainsFunc(others, func(other string) bool { name, _, _ := strings.Cut(other, "#"); return read.IsMarkdown(name) })
	return g.Traits().WantsFiles && isAddress(name) && (files || !slices.ContainsFunc(others, isAddress))
}

// Setting returns where the configuration, or else a template, has what the first group of is
// matches; nil if that is in no place, or in several.
func (m *Map) Setting(is *regexp.Regexp) *Position {
	for _, kind := range []read.SourceKind{read.Configuration, read.Template} {
		var found []*Position
		for _, f := range m.templates().files {
			if f.dir.kind == kind {
				for _, at := range is.FindAllSubmatchIndex(f.text, 2) {
					found = append(found, f.position(at[2]))
				}
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return nil
}

// Unpublished says why no page answers a link although a content file would make it:
// the file is a draft, or its date is in the future or past. It is "" if that is not
// so. prefix is put before the name of the file. built returns when the docroot was built.
func (m *Map) Unpublished(l *BuiltLink, prefix string, built func() time.Time) string {
	a := m.address(l.Raw, l.Page)
	key, c := PageKey(a.target), m.content
	if a.target == "" || m.pageOf(&a) != "" {
		return ""
	}
	found := c.makersOf(key)
	drafts, title := m.opt.Generator.Traits().Drafts, m.opt.Generator.Title()
	if len(found) == 0 && drafts != nil && drafts.DatedDir != "" { // the date and the categories may be in the address
		found = c.byLast[path.Base("/"+key)]
	}
	if len(found) != 1 {
		return ""
	}
	f := &c.files[found[0]]
	file := path.Join(prefix, f.display)
	if key := generator.Excluded(m.opt.Generator, m.opt.Project, f.name); key != "" {
		return fmt.Sprintf("%s in the configuration of %s excludes %s", key, title, file)
	}
	if drafts == nil {
		return ""
	}
	of := map[string]string{}
	d := m.document(*f)
	for _, v := range d.Matter {
		if _, ok := of[v.Key]; !ok && !v.Nested {
			of[v.Key] = v.Text
		}
	}
	if read.FrontMatter(d.Lines.Text) == 0 { // Pelican has lines of it without marks around them
		for line := range strings.Lines(string(d.Lines.Text)) {
			key, value, ok := strings.Cut(line, ":")
			if !ok {
				break
			}
			of[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	why := ""
	for _, value := range drafts.Values {
		if key, is, _ := strings.Cut(value, ": "); strings.EqualFold(of[key], is) {
			why = cmp.Or(why, "has "+value)
		}
	}
	if drafts.Dir != "" && strings.Contains("/"+f.name, "/"+drafts.Dir+"/") || why == "has draft: true" {
		why = "is a draft"
	}
	if list := drafts.ListFile; list != "" {
		if name, text := m.nearest(f.name, list); text != nil && !bytes.Contains(text, []byte(strings.TrimPrefix(f.name, path.Dir(name)+"/"))) {
			why = "is not in " + path.Join(prefix, name)
		}
	}
	date := ""
	for _, key := range drafts.Dates {
		date = cmp.Or(date, firstDate(of[key]))
	}
	if drafts.DatedDir != "" {
		date = cmp.Or(date, firstDate(datePrefix().FindString(path.Base(f.name))))
		if !strings.Contains("/"+f.name, "/"+drafts.DatedDir+"/") {
			date = ""
		}
	}
	expiry := ""
	for _, key := range drafts.Expiry {
		expiry = cmp.Or(expiry, firstDate(of[key]))
	}
	switch today := built().Format(time.DateOnly); {
	case why != "":
	case date > today:
		return fmt.Sprintf("%s makes no page of %s before its date, %s", title, file, date)
	case expiry != "" && expiry <= today:
		why = "expired on " + expiry
	default:
		return ""
	}
	return fmt.Sprintf("%s %s, so %s makes no page of it", file, why, title)
}

// nearest returns the file of a name that is nearest above a content file, with its text.
func (m *Map) nearest(file, name string) (at string, text []byte) {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		at = path.Join(dir, name)
		if text, err := system.ReadFS(m.project, at, maxContentFile); err == nil {
			return at, text
		}
		if dir == "." {
			return "", nil
		}
	}
}

// firstDate returns the date that a value begins with, "" for none.
func firstDate(value string) string {
	if _, err := time.Parse(time.DateOnly, value[:min(len(value), len(time.DateOnly))]); err != nil {
		return ""
	}
	return value[:len(time.DateOnly)]
}
