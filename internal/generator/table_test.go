package generator

import (
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// A theme does not identify Hugo: Zola has them in the same directory.
func TestDetectZola(t *testing.T) {
	for text, want := range map[string]Name{
		"title = 'x'\nbase_url = 'https://blog.example'\n": Zola,
		"baseURL = 'https://blog.example'\n":               Hugo,
	} {
		p, ok := Detect(testkit.MakeDocroot(t, map[string]string{"config.toml": text, "themes/x/theme.toml": "", "content/a.md": ""}), None)
		if !ok || p.Generator != want {
			t.Errorf("%q: %q, want %q", text, p.Generator, want)
		}
	}
}
