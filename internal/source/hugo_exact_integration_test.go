//go:build integration

package source

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHugoExact: with the render hook of docs/reference/source-positions.md,
// Hugo 0.160 and later write where each link comes from. Nothing else
// distinguishes the same sentence in two files on a list page.
func TestHugoExact(t *testing.T) {
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Skip("no SITELINK_HUGO: .ci/run installs one")
	}
	doc, err := os.ReadFile("../../docs/reference/source-positions.md")
	testkit.Check(t, err)
	_, hook, ok := strings.Cut(string(doc), "layouts/_markup/render-link.html")
	if ok {
		_, hook, ok = strings.Cut(hook, "\n```\n")
	}
	hook, _, closed := strings.Cut(hook, "```\n")
	if !ok || !closed || !strings.Contains(hook, "$.Position") {
		t.Fatal("docs/reference/source-positions.md has no render hook")
	}
	project := t.TempDir()
	for name, text := range map[string]string{
		"hugo.toml":                        "baseURL = 'https://example.org/'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n",
		"layouts/single.html":              "<main>{{ .Content }}</main>",
		"layouts/list.html":                "<main>{{ .Content }}{{ range .Pages.ByTitle }}{{ .Content }}{{ end }}</main>",
		"layouts/_markup/render-link.html": hook,
		"layouts/_shortcodes/gap.html":     "\n\n{{ .Inner }}\n\n",
		"content/p/a.md":                   "---\ntitle: A\n---\nSame words [x](/gone/) everywhere.\n",
		"content/p/c.md":                   "---\ntitle: C\n---\nTwice the same sentence, with [a link](/twice/) in it.\n",
		"content/p/d.md":                   "---\ntitle: D\n---\n\nTwice the same sentence, with [a link](/twice/) in it.\n",
		"content/p/b.md":                   "---\ntitle: B\n---\n\nSame words [x](/gone/) everywhere.\n\n{{< gap >}}x{{< /gap >}} ä [y](/later/ \"title\") [ref][r]\n\n[r]: /defined/\n",
	} {
		file := filepath.Join(project, filepath.FromSlash(name))
		testkit.Write(t, file, text)
	}
	build := func(on string) []byte {
		cmd := exec.Command(hugo, "--quiet")
		cmd.Dir, cmd.Env = project, append(os.Environ(), "HUGO_PARAMS_SITELINK_SOURCEMAP="+on)
		testkit.Run(t, cmd)
		page, err := os.ReadFile(filepath.Join(project, "public", "p", "index.html"))
		testkit.Check(t, err)
		return page
	}
	places := func(want ...string) {
		t.Helper()
		for i, got := range place(t, project, "public", want) {
			if got != want[i] {
				t.Errorf("got %s, want %s", got, want[i])
			}
		}
	}
	if n := bytes.Count(build("true"), []byte("<!-- sitelink:source p/")); n != 6 {
		t.Errorf("%d comments on the list, want 6", n)
	}
	places("public/p/index.html /gone/ content/p/a.md:4:16", "public/p/index.html /gone/ content/p/b.md:5:16",
		"public/p/index.html /later/ content/p/b.md:7:32", "public/p/index.html /defined/ content/p/b.md:9:6",
		"public/p/index.html /twice/ content/p/c.md:4:40", "public/p/index.html /twice/ content/p/d.md:5:40",
		"public/p/b/index.html /gone/ content/p/b.md:5:16")
	if page := build("false"); bytes.Contains(page, []byte("sitelink")) {
		t.Errorf("comments in a build that is not for checks:\n%s", page)
	}
	places("public/p/index.html /twice/ -", "public/p/b/index.html /gone/ content/p/b.md:5:16")
}
