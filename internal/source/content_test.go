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
