package check

import (
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// isMarkdownPath tells whether a link, as written, is the relative path of a
// Markdown file: what an author writes to name another page, and what generators
// pass through unchanged when they cannot find it.
func isMarkdownPath(raw string) bool {
	raw = strings.TrimSpace(raw)
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw = raw[:i]
	}
	if strings.Contains(raw, ":") || strings.HasPrefix(raw, "//") {
		return false
	}
	switch strings.ToLower(path.Ext(raw)) {
	case ".md", ".markdown", ".mdown", ".mdx":
		return true
	}
	return false
}

// ofMarkdown returns the page of the Markdown file that a link names, "" if there
// is none. The file's path counts from the file that it is written in: a.md beside
// b.md, which become a/index.html and b/index.html.
func (x *fileIndex) ofMarkdown(f *Finding) string {
	raw, _, _ := strings.Cut(strings.TrimSpace(f.Raw), "#")
	raw, _, _ = strings.Cut(raw, "?")
	name := string(weburl.PercentDecode(nil, raw))
	name = strings.TrimSuffix(name, path.Ext(name))
	if last := path.Base(name); last == "index" || last == "_index" || strings.EqualFold(last, "README") {
		name = path.Dir(name)
	}
	from := []string{path.Dir(f.Page), path.Dir(path.Dir(f.Page))}
	if strings.HasPrefix(name, "/") {
		from = []string{""}
	}
	for _, dir := range from {
		p := strings.TrimPrefix(path.Join("/", dir, name), "/")
		for _, try := range []string{path.Join(p, "index.html"), p + ".html"} {
			if n, ok := x.s.Lookup(try); ok {
				if got := replacePath(x.s, f, x.s.Href(n)); got != f.Raw {
					return got
				}
			}
		}
	}
	return ""
}
