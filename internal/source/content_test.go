package source

import (
	"slices"
	"strings"
	"testing"
)

func TestGeneratorKeys(t *testing.T) {
	tests := []struct {
		g         Generator
		key, want string
	}{
		{Hugo, "01-a/b", ""},
		{Jekyll, "_posts/2024-05-01-hello", "2024/05/01/hello hello 2024-05-01-hello"},
		{Jekyll, "trips/_posts/2024-5-1-rome", "trips/2024/5/1/rome"},
		{Jekyll, "_guides/setup", "guides/setup"},
		{Jekyll, "_pages/about", "about"},
		{MkDocs, "docs", ""},
		{MkDocs, "docs/guide/01-setup", "guide/01-setup guide/setup"},
		{Astro, "src/content/docs/a/b", "a/b"},
		{Astro, "src/pages/about", "about"},
		{Docusaurus, "docs/02-guide/03-install", "docs/guide/install guide/install"},
		{Docusaurus, "versioned_docs/version-1.0/old", "docs/1.0/old docs/old"},
		{Docusaurus, "i18n/fr/docusaurus-plugin-content-docs/current/a", "fr/docs/a"},
		{Docusaurus, "i18n/fr/docusaurus-plugin-content-docs/version-1.0/a", "fr/docs/1.0/a"},
		{Docusaurus, "i18n/fr/docusaurus-plugin-content-pages/a", "fr/a"},
		{Docusaurus, "blog/2021-08-26-welcome", ""},
		{Zola, "content/blog/2020-01-02-foo", "blog/2020/01/02/foo blog/foo"},
	}
	for _, tt := range tests {
		got := generatorKeys(tt.g, tt.key)
		for want := range strings.FieldsSeq(tt.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s %s: %q lacks %q", tt.g, tt.key, got, want)
			}
		}
		if tt.g == Hugo && got != nil {
			t.Errorf("%s %s: %q", tt.g, tt.key, got)
		}
	}
}

// TestEditLink finds the file that a page's edit link names, however deep the
// project is in its repository. Two links to different files give no result.
func TestEditLink(t *testing.T) {
	c := &contentIndex{byDisplay: map[string]int{"docs/a.md": 0, "docs/b.md": 1}, files: []contentFile{{display: "docs/a.md"}, {display: "docs/b.md"}}}
	tests := []struct{ links, want string }{
		{"https://github.com/o/r/edit/main/docs/a.md", "docs/a.md"},
		{"https://github.com/o/r/edit/main/website/docs/a.md?x#y", "docs/a.md"},
		{"https://gitlab.example/g/s/r/-/edit/main/docs/b.md", "docs/b.md"},
		{"https://codeberg.org/o/r/_edit/main/docs/b.md", "docs/b.md"},
		{"https://github.com/o/r/blob/main/docs/a.md=editthispage", "docs/a.md"},
		{"https://github.com/o/r/blob/main/docs/a.md=source", ""},
		{"https://github.com/o/r/edit/main/docs/none.md", ""},
		{"https://github.com/o/r/edit/main/docs/a.md https://github.com/o/r/edit/main/docs/b.md", ""},
		{"/edit/main/docs/a.md", ""},
	}
	for _, tt := range tests {
		var links []pageLink
		for raw := range strings.FieldsSeq(tt.links) {
			raw, label, _ := strings.Cut(raw, "=")
			links = append(links, pageLink{element: "a", label: label, addr: addressOf(raw, "", "")})
		}
		if f, _ := c.editLink(links); f.display != tt.want {
			t.Errorf("%s: got %q, want %q", tt.links, f.display, tt.want)
		}
	}
}
