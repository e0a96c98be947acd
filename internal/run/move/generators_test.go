package move

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestMkDocsMoves: links follow a page, and a broken link of the page that moves stays as
// it is.
func TestMkDocsMoves(t *testing.T) {
	if mkdocs := os.Getenv("SITELINK_MKDOCS"); mkdocs != "" {
		t.Setenv("PATH", filepath.Dir(mkdocs)+string(os.PathListSeparator)+os.Getenv("PATH"))
	} else {
		standInFor(t, "mkdocs")
	}
	root := newSite(t, map[string]string{
		"mkdocs.yml":        "site_name: t\nsite_url: https://h.example/\n",
		"docs/index.md":     "[a](guide/a.md#set-up) [gone](guide/gone.md)\n",
		"docs/guide/a.md":   "# A\n\n[b](b.md) [gone](none.md) [deep](../none/) [home](../index.md)\n\n## Set up\n",
		"docs/guide/b.md":   "# B\n\n[a](a.md) [gone](gone.md)\n",
		"docs/guide/p.svg":  "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
		"docs/other/c.md":   "# C\n\n[a](../guide/a.md) [gone](../guide/a2.md)\n",
		"docs/other/d.html": "<!doctype html><title>d</title>\n",
	})
	want := []string{
		"[a](help/deep/a.md#set-up) [gone](guide/gone.md)", "[b](../../guide/b.md) [gone](none.md) [deep](../none/) [home](../../index.md)",
		"[a](../help/deep/a.md) [gone](gone.md)", "[a](../help/deep/a.md) [gone](../guide/a2.md)",
	}
	p, err := planFor(t, root, "generic", Options{Old: "docs/guide/a.md", New: "docs/help/deep/a.md"})
	testkit.Check(t, err)
	expect(t, p, want, len(p.Broken))
}

// TestAstroMoves: a page of Astro finds its layout and its pictures from its new place, and
// a build that fails is shown as Astro prints it.
func TestAstroMoves(t *testing.T) {
	npm := os.Getenv("SITELINK_NPM")
	if npm != "" {
		t.Setenv("PATH", filepath.Join(npm, "node_modules", ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	} else {
		standInFor(t, "npx")
	}
	t.Setenv("ASTRO_TELEMETRY_DISABLED", "1")
	root := newSite(t, map[string]string{
		"package.json":        "{\"type\": \"module\"}\n",
		"astro.config.mjs":    "export default {site: 'https://h.example'}\n",
		".gitignore":          "node_modules\n.astro\ndist\n",
		"src/layouts/L.astro": "---\nconst {title} = Astro.props.frontmatter ?? Astro.props\n---\n<html><head><title>{title}</title></head><body><slot /></body></html>\n",
		"src/pages/index.md":  "---\nlayout: ../layouts/L.astro\ntitle: Home\n---\n[a](/a/) [b](/b/)\n",
		"src/pages/a.md":      "---\nlayout: ../layouts/L.astro\ntitle: A\n---\n[home](/) [b](../b/)\n",
		"src/pages/b.astro":   "---\nimport L from '../layouts/L.astro'\n---\n<L title=\"B\"><a href=\"/a/\">a</a></L>\n",
	})
	if npm != "" {
		testkit.Check(t, os.Symlink(filepath.Join(npm, "node_modules"), filepath.Join(root, "node_modules")))
	}
	for _, tt := range []struct {
		old, new string
		want     []string
	}{
		{"src/pages/a.md", "src/pages/docs/a.md", []string{"[a](/docs/a/) [b](/b/)", "layout: ../../layouts/L.astro", "[home](/) [b](../../b/)", "<L title=\"B\"><a href=\"/docs/a/\">a</a></L>"}},
		{"src/pages/b.astro", "src/pages/docs/b.astro", []string{"[a](/a/) [b](/docs/b/)", "import L from '../../layouts/L.astro'", "[home](/) [b](../docs/b/)"}},
	} {
		p, err := planFor(t, root, "generic", Options{Old: tt.old, New: tt.new})
		if err != nil {
			t.Errorf("%s: %v", tt.old, err)
			continue
		}
		expect(t, p, tt.want, len(p.Broken))
	}
	put(t, root, "src/pages/b.astro", "---\nimport L from '../layouts/None.astro'\n---\n<L/>\n")
	_, err := planFor(t, root, "generic", Options{Old: "src/pages/a.md", New: "src/pages/c.md"})
	var failed *BuildError
	if !errors.As(err, &failed) || !slices.ContainsFunc(failed.Output, func(line string) bool { return strings.Contains(line, "layouts/None.astro") }) {
		t.Errorf("a build that fails: %v, %+v", err, failed)
	} else {
		t.Logf("the output:\n%s", strings.Join(failed.Output, "\n"))
	}
}
