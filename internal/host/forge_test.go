package host

import "testing"

// TestSlugs: the ids of headings. The ids of GitHub are what github-slugger 2 returns,
// except for Σ at the end of a word, which Ruby and Go make σ.
func TestSlugs(t *testing.T) {
	for _, test := range []struct{ text, github, gitlab, forgejo string }{
		{"Hello, World!", "hello-world", "hello-world", "hello-world"},
		{"A & B -- C", "a--b----c", "a-b-c", "a--b----c"},
		{" 🎉 Party", "--party", "-party", "-party"},
		{":tada: v1.2_x", "tada-v12_x", "tada-v12_x", "tada-v12_x"},
		{"2024", "2024", "anchor-2024", "2024"},
		{"Тест «наголовка» Ⅷ²", "тест-наголовка-ⅷ", "тест-наголовка-ⅷ", "тест-наголовка-ⅷ²"},
		{"中文,标题 हिन्दी", "中文标题-हिन्दी", "中文标题-हिन्दी", "中文标题-हनद"},
		{"İΣ Ⓐ a\tb", "i̇σ-ⓐ-ab", "i̇σ-ⓐ-ab", "iσ--a-b"},
		{"?!", "", "", ""},
	} {
		for i, slug := range []struct {
			forge, want string
			of          func(string) string
		}{{"github", test.github, githubSlug}, {"gitlab", test.gitlab, gitlabSlug}, {"forgejo", test.forgejo, forgejoSlug}} {
			if got := slug.of(test.text); got != slug.want {
				t.Errorf("%d: %s makes %q of %q, want %q", i, slug.forge, got, test.text, slug.want)
			}
		}
	}
}
