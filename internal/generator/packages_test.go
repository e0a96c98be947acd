package generator

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestDependencies: each kind of file names a package that the project depends on, and
// what only looks like one does not.
func TestDependencies(t *testing.T) {
	for _, tc := range []struct {
		file, text string
		row        Name
		want       string
	}{
		{"package.json", `{"devDependencies": {"astro": "5"}}`, Astro, "astro in package.json"},
		{"package.json", `{"scripts": {"astro": "astro"}, "keywords": ["astro"], "name": "astro"}`, Astro, ""},
		{"package.json", `{"dependencies": {"@11ty/eleventy": "3"}}`, Eleventy, "@11ty/eleventy in package.json"},
		{"package.json", `{"dependencies": {"@11ty/eleventy-img": "3"}}`, Eleventy, ""},
		{"package.json", `{"dependencies": {"x": "astro"}`, Astro, ""},
		{"Gemfile", "group :docs do\n  gem 'github-pages', '1'\nend\n", Jekyll, "github-pages in Gemfile"},
		{"Gemfile", "gem \"jekyll-feed\"\n# gem 'jekyll'\n", Jekyll, ""},
		{"Gemfile.lock", "GEM\n  specs:\n    jekyll (4.3.1)\n", Jekyll, "jekyll in Gemfile.lock"},
		{"requirements.txt", "# zensical\nZensical==0.1\n", "zensical", "zensical in requirements.txt"},
		{"docs/requirements-docs.txt", "zensical\n", "zensical", "zensical in docs/requirements-docs.txt"},
		{"requirements.txt", "zensical-plugin\nmkdocs # zensical\n", "zensical", ""},
		{"pyproject.toml", "[project]\nkeywords = ['zensical']\n[project.optional-dependencies]\ndocs = ['zensical[x]>=1']\n", "zensical", "zensical in pyproject.toml"},
		{"pyproject.toml", "[tool.poetry.group.docs.dependencies]\nzensical = '^1'\n", "zensical", "zensical in pyproject.toml"},
		{"pyproject.toml", "[project]\nname = 'zensical'\nkeywords = ['zensical']\n[tool.zensical]\nx = 'zensical'\n", "zensical", ""},
		{"uv.lock", "[[package]]\nname = \"zensical\"\nversion = \"1\"\n", "zensical", "zensical in uv.lock"},
		{"poetry.lock", "[[package]]\nname = \"zensical\"\n", "zensical", "zensical in poetry.lock"},
		{"Pipfile", "[packages]\nzensical = \"*\"\n", "zensical", "zensical in Pipfile"},
		{"requirements.txt", "pelican[markdown]\n", "pelican", "pelican in requirements.txt"},
	} {
		pkg, file := Depends(testkit.MakeDocroot(t, map[string]string{tc.file: tc.text}), rowOf(tc.row).packages)
		if got := pkg + " in " + file; got != tc.want && (pkg != "" || tc.want != "") {
			t.Errorf("%s %q: got %q, want %q", tc.file, tc.text, got, tc.want)
		}
	}
}

// TestDependenciesAbove: a Python project has one environment, up to the root of its
// repository.
func TestDependenciesAbove(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"requirements.txt": "zensical", "repo/docs/mkdocs.yml": "", "other/docs/mkdocs.yml": "", "other/pyproject.toml": "[dependency-groups]\ndocs = ['properdocs']", "other/.git/HEAD": "", "repo/.git/HEAD": ""})
	for repo, want := range map[string]Name{"repo": MkDocs, "other": "properdocs"} {
		if p, _ := Detect(filepath.Join(dir, repo, "docs"), None); p.Generator != want {
			t.Errorf("%s: %s, want %s", repo, p.Generator, want)
		}
	}
}

// TestSphinxBuilder: what was built says who built it. What publishes the site counts before
// that; see TestHabits.
func TestSphinxBuilder(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"plain":         {map[string]string{}, "html docs/_build/html /a.html "},
		"built":         {map[string]string{"docs/_build/dirhtml/index.html": ""}, "dirhtml docs/_build/dirhtml /a/ docs/_build/dirhtml"},
		"built as html": {map[string]string{"docs/_build/dirhtml/index.html": "", "docs/_build/html/index.html": ""}, "html docs/_build/html /a.html "},
	} {
		tc.files["docs/conf.py"] = "project = 'x'"
		p, _ := Detect(testkit.MakeDocroot(t, tc.files), None)
		s := testkit.Must(p.Settings(nil))(t)
		if got := p.Builder + " " + p.Docroot + " " + string(s.Form) + " " + s.FormFrom; got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// TestWorkspaces: the packages of a monorepo by their two lists.
func TestWorkspaces(t *testing.T) {
	files := map[string]string{"packages/a/x": "", "packages/b/x": "", "packages/file": "", "apps/web/x": "", "other/x": ""}
	for name, text := range map[string]string{
		"pnpm-workspace.yaml": "packages:\n- 'packages/*'\n- apps/**\n- '!packages/b'\n",
		"package.json":        `{"workspaces": {"packages": ["packages/*", "!packages/b", "apps/*", "../*"]}}`,
	} {
		files[name] = text
		if got := Workspaces(testkit.MakeDocroot(t, files)); !slices.Equal(got, []string{"packages/a", "apps/web"}) {
			t.Errorf("%s: %q", name, got)
		}
		delete(files, name)
	}
}

// TestExcluded: patterns of MkDocs and its relatives, in either file, for any docs_dir.
func TestExcluded(t *testing.T) {
	for _, tc := range []struct {
		name       Name
		file, text string
		page, want string
	}{
		{MkDocs, "mkdocs.yml", "exclude_docs: |\n  draft.md\n", "docs/sub/draft.md", "exclude_docs"},
		{MkDocs, "mkdocs.yaml", "draft_docs: |\n  # no\n  /drafts/\n", "docs/drafts/a.md", "draft_docs"},
		{MkDocs, "mkdocs.yml", "docs_dir: content/en\nexclude_docs: a.md\n", "content/en/a.md", "exclude_docs"},
		{MkDocs, "mkdocs.yml", "docs_dir: content/en\nexclude_docs: a.md\n", "docs/a.md", ""},
		{MkDocs, "mkdocs.yml", "exclude_docs: a.md\n", "docs/b.md", ""},
		{"zensical", "zensical.toml", "[project]\nexclude_docs = \"a.md\"\n", "docs/a.md", "exclude_docs"},
		{"properdocs", "properdocs.yml", "exclude_docs: a.md\n", "docs/a.md", "exclude_docs"},
		{Hugo, "mkdocs.yml", "exclude_docs: a.md\n", "docs/a.md", ""},
	} {
		if got := Excluded(tc.name, testkit.MakeDocroot(t, map[string]string{tc.file: tc.text}), tc.page); got != tc.want {
			t.Errorf("%s %q %s: %q", tc.file, tc.text, tc.page, got)
		}
	}
}
