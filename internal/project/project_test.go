package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// files writes files below a new directory, by name and text. A name that ends in
// a slash is a directory.
func files(t *testing.T, list ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := 0; i+1 < len(list); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(list[i]))
		if strings.HasSuffix(list[i], "/") {
			testkit.Check(t, os.MkdirAll(name, 0o755))
			continue
		}
		testkit.Write(t, name, list[i+1])
	}
	return dir
}

// find finds the project without any program of a generator.
func find(t *testing.T, dir string, opt Options) *Project {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	p := testkit.Must(Find(t.Context(), dir, opt))(t)
	return p
}

func TestFind(t *testing.T) {
	hugo := []string{".git/", "", "hugo.toml", "baseURL = 'https://example.net/blog/'\n"}
	tests := []struct {
		name  string
		files []string
		from  string // below the root of the files
		opt   Options

		root, generator, docroot, base, profile string
		uncertain                               string // in the message and hint about the docroot
		notes                                   []string
	}{
		{name: "hugo", files: hugo, root: ".", generator: "hugo", docroot: "public", base: "https://example.net/blog/", profile: "generic",
			notes: []string{"Hugo site (hugo.toml): checking public, published at https://example.net/blog/"}},
		{name: "hugo_from_below", files: append(hugo, "content/post/", ""), from: "content/post", root: ".", generator: "hugo",
			docroot: "../../public", base: "https://example.net/blog/", profile: "generic",
			notes: []string{"Hugo site (hugo.toml): checking ../../public, published at https://example.net/blog/"}},
		{name: "hugo_in_docs", files: []string{".git/", "", "docs/hugo.toml", "baseURL = 'https://example.net/'\n"}, root: ".", generator: "hugo",
			docroot: "docs/public", base: "https://example.net/", profile: "generic",
			notes: []string{"Hugo site (hugo.toml): checking docs/public, published at https://example.net/"}},
		{name: "built_by_sitelink", files: append(hugo, ".sitelink/public/index.html", ""), root: ".", generator: "hugo",
			docroot: ".sitelink/public", base: "https://example.net/blog/", profile: "generic",
			notes: []string{"Hugo site (hugo.toml): checking .sitelink/public, published at https://example.net/blog/"}},
		{name: "section_of_the_docroot", files: append(hugo, "public/en/index.html", ""), opt: Options{Docroot: "public/en"}, root: ".", generator: "hugo",
			docroot: "public/en", base: "https://example.net/blog/en/", profile: "generic",
			notes: []string{"Hugo site (hugo.toml), published at https://example.net/blog/en/"}},
		{name: "configured", files: hugo, opt: Options{Config: &config.Config{Docroot: "out", BaseURLs: []string{"https://example.com/"}}},
			root: ".", generator: "hugo", docroot: "out", base: "https://example.com/", profile: "generic"},
		{name: "no_generator", files: []string{"public/index.html", ""}, root: ".", docroot: "public", profile: "generic",
			notes: []string{"no docroot configured, checking public"}},
		{name: "nothing", root: ".", docroot: ".", profile: "generic", notes: []string{"no docroot configured, checking ."}},
		{name: "home_page", files: []string{"index.html", "", "package.json", "{}"}, root: ".", docroot: ".", profile: "generic", notes: []string{"no docroot configured, checking ."}},
		{name: "sources", files: []string{"package.json", "{}", "public/robots.txt", ""}, root: ".", docroot: "public", profile: "generic",
			uncertain: "since it has package.json: build the site first, or name the directory that it was built into: sitelink check DIR;"},
		{name: "several_built", files: []string{"index.html", "", "node_modules/x/a.html", "", "dist/index.html", "", "docs/_build/html/index.html", ""}, root: ".", docroot: ".",
			profile: "generic", uncertain: "since it has node_modules: name the built site: sitelink check dist, or sitelink check docs/_build/html;"},
		{name: "markdown", files: []string{"posts/a.md", "", "templates/a.html", ""}, root: ".", docroot: ".", profile: "generic", uncertain: "since it has posts/: "},
		{name: "configuration_above", files: []string{"sitelink.toml", "", "a/b/", ""}, from: "a/b", root: ".", docroot: ".", profile: "generic",
			notes: []string{"no docroot configured, checking ."}},
		{name: "repository_wins_over_configuration", files: []string{".git/", "", "a/sitelink.toml", "", "a/b/", ""}, from: "a/b", root: ".",
			docroot: ".", profile: "generic", notes: []string{"no docroot configured, checking ."}},
		{name: "host", files: []string{"netlify.toml", "", "public/index.html", ""}, root: ".", docroot: "public", profile: "netlify",
			notes: []string{"no docroot configured, checking public"}},
		{name: "published_and_built_by_sitelink", files: append(hugo, "netlify.toml", "[build]\npublish = 'public'\n", ".sitelink/public/index.html", ""), root: ".", generator: "hugo",
			docroot: ".sitelink/public", base: "https://example.net/blog/", profile: "netlify",
			notes: []string{"Hugo site (hugo.toml): checking .sitelink/public, published at https://example.net/blog/, host netlify (netlify.toml)"}},
		{name: "host_above_the_configuration", files: []string{".git/", "", "netlify.toml", "", "docs/hugo.toml", "", "docs/sitelink.toml", ""}, from: "docs", root: ".",
			generator: "hugo", docroot: "public", profile: "netlify", notes: []string{"Hugo site (hugo.toml): checking public, host netlify (../netlify.toml)"}},
		{name: "configuration_below_a_generator", files: []string{".git/", "", "hugo.toml", "", "netlify.toml", "", "api/sitelink.toml", "", "api/index.html", ""}, from: "api", root: ".",
			docroot: ".", profile: "generic", notes: []string{"no docroot configured, checking ."}},
		{name: "host_not_clear", files: []string{"netlify.toml", "", "vercel.json", "{}", "public/index.html", ""}, root: ".", docroot: "public", profile: "generic",
			notes: []string{"no docroot configured, checking public", "warning: the host is ambiguous: netlify.toml says netlify, vercel.json says vercel; only what these hosts have in common applies; choose one with --profile NAME"}},
		{name: "github_pages", files: []string{"public/CNAME", "www.example.org\n"}, root: ".", docroot: "public", base: "https://www.example.org/", profile: "github-pages",
			notes: []string{"no docroot configured, checking public"}},
		{name: "wrong_settings", files: []string{"_config.yml", "a: [\n"}, root: ".", generator: "jekyll", docroot: "_site", profile: "generic",
			notes: []string{"warning: Jekyll: ", "Jekyll site (_config.yml): checking _site"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := files(t, test.files...)
			p := find(t, filepath.Join(dir, test.from), test.opt)
			if want := filepath.Join(dir, test.root); p.Root != want {
				t.Errorf("root %s, want %s", p.Root, want)
			}
			generator := ""
			if p.Generator != nil {
				generator = string(p.Generator.Generator)
			}
			if generator != test.generator || filepath.ToSlash(p.Docroot) != test.docroot || strings.Join(p.BaseURLs, " ") != test.base || p.Profile != test.profile {
				t.Errorf("generator %q, docroot %q, base %q, profile %q", generator, p.Docroot, p.BaseURLs, p.Profile)
			}
			hint, usage := text.Hint(p.uncertain)
			if usage != (test.uncertain != "") || usage && !strings.Contains(p.CheckDocroot().Error()+": "+hint, test.uncertain) {
				t.Errorf("uncertain %v: %s, want %q", p.uncertain, hint, test.uncertain)
			}
			var notes []string
			for _, n := range p.Notes {
				text := n.Text
				if n.Warning {
					text = "warning: " + text
				}
				notes = append(notes, text)
			}
			if !slices.EqualFunc(notes, test.notes, strings.HasPrefix) {
				t.Errorf("notes %q, want %q", notes, test.notes)
			}
		})
	}
}

// A commit that a git hook builds elsewhere belongs to the project of Dir.
func TestBuiltElsewhere(t *testing.T) {
	dir := files(t, ".git/", "", "hugo.toml", "baseURL = 'https://example.net/'\n")
	tree := files(t, "index.html", "")
	p := find(t, dir, Options{Docroot: tree, BuiltElsewhere: true})
	if p.Generator == nil || strings.Join(p.BaseURLs, " ") != "https://example.net/" || p.Docroot != tree {
		t.Errorf("docroot %s of generator %v at %v", p.Docroot, p.Generator, p.BaseURLs)
	}
	if p = find(t, dir, Options{Docroot: tree}); p.Generator != nil || len(p.BaseURLs) > 0 {
		t.Errorf("without BuiltElsewhere: generator %v at %v", p.Generator, p.BaseURLs)
	}
}

// Another docroot of the run has its own host and addresses.
func TestWithDocroot(t *testing.T) {
	dir := files(t, ".git/", "", "public/index.html", "", "old/_redirects", "/a /b 301!\n")
	p := find(t, dir, Options{})
	q := testkit.Must(p.WithDocroot(t.Context(), "old"))(t)
	if p.Profile != "generic" || q.Profile != "netlify" || q.ProfileFrom != "old/_redirects:1" || q.Root != p.Root {
		t.Errorf("profiles %s and %s", p.Profile, q.Profile)
	}
}

// The directory of the process does not matter, and must not be needed.
func TestFindRelative(t *testing.T) {
	if _, err := Find(t.Context(), "public", Options{}); err == nil {
		t.Error("no error for a relative path")
	}
}

func TestFromRoot(t *testing.T) {
	root := t.TempDir()
	p := &Project{Dir: root, Root: root}
	for docroot, want := range map[string]string{
		"public": "public", "./public/": "public", ".": ".", filepath.Join(root, "a", "b"): "a/b",
		"..public": "..public", "..": filepath.ToSlash(filepath.Dir(root)),
	} {
		if got := p.FromRoot(docroot); got != want {
			t.Errorf("FromRoot(%s) = %s, want %s", docroot, got, want)
		}
	}
}

func TestCheckDocroot(t *testing.T) {
	dir := files(t, ".git/", "", "hugo.toml", "", "file", "x", "empty/", "")
	for docroot, want := range map[string]string{
		"public": "run hugo first, or sitelink check --build, which checks what it builds",
		"empty":  "run hugo first, or sitelink check --build, which checks what it builds",
		"file":   "name the directory that holds it: sitelink check .",
		".":      "",
		`a\b`:    `write / instead of \; Windows understands it too`,
	} {
		hint := ""
		err := CheckDocroot(dir, docroot)
		if err != nil {
			hint, _ = text.Hint(err)
		}
		if hint != want && (runtime.GOOS != "windows" || docroot != `a\b`) { // a path there
			t.Errorf("%s: hint %q of %v, want %q", docroot, hint, err, want)
		}
	}
}

// TestOtherDocroot: a mistyped name of the docroot has the right one as its hint, if that is built.
func TestOtherDocroot(t *testing.T) {
	dir := files(t, ".git/", "", "hugo.toml", "", "public/index.html", "")
	for _, docroot := range []string{"publik", "content/public", ".git"} {
		p := testkit.Must(Find(t.Context(), dir, Options{Docroot: docroot}))(t)
		if hint, _ := text.Hint(p.CheckDocroot()); hint != "this project's site is in public: sitelink check public" {
			t.Errorf("%s: %q", docroot, hint)
		}
	}
}

// An error of loading keeps its text and gets a hint.
func TestExplainLoad(t *testing.T) {
	for _, c := range []struct {
		docroot string
		err     error
		hint    string
	}{
		{"x", fmt.Errorf("read docroot x: %w", fs.ErrPermission), "make the directory readable for the user who runs sitelink"},
		{"x", fmt.Errorf("read docroot x: %w", site.ErrNoPages), buildFirst},
		{".sitelink/public", fmt.Errorf("read docroot x: %w", site.ErrNoPages), "the build wrote no pages: does the project have content, and templates for it?"},
		{"x", errors.New("other"), ""},
	} {
		got := (&Project{Docroot: c.docroot}).ExplainLoad(c.err)
		hint, _ := text.Hint(got)
		if hint != c.hint || !errors.Is(got, c.err) || got.Error() != c.err.Error() {
			t.Errorf("ExplainLoad(%v) = %v with hint %q", c.err, got, hint)
		}
	}
}
