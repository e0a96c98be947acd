package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// inProject writes the files of a project into a new working directory, and finds
// it with the configuration that its sitelink.toml holds.
func inProject(t *testing.T, files map[string]string) *project.Project {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", t.TempDir()) // no generator is started
	for name, text := range files {
		testkit.Write(t, name, text)
	}
	cfg := testkit.Must(config.Load(config.Input{}))(t)
	p := testkit.Must(project.Find(t.Context(), dir, project.Options{Config: cfg}))(t)
	return p
}

// checked runs an audit and returns its findings as page:code lines.
func checked(t *testing.T, p *project.Project, opt Options) (*check.Result, string) {
	t.Helper()
	opt.Today = func() (baseline.Date, error) { return "2026-01-01", nil }
	a := testkit.Must(Open(t.Context(), p, opt))(t)
	r := testkit.Must(a.Check(t.Context()))(t)
	var lines []string
	for _, f := range r.Findings {
		place := f.Page
		if f.Source != nil {
			place = fmt.Sprintf("%s:%d", f.Source.File, f.Source.Line)
		}
		lines = append(lines, fmt.Sprintf("%s %s", place, f.Code))
	}
	slices.Sort(lines)
	return r, strings.Join(lines, "\n")
}

var jekyllSite = map[string]string{
	"_config.yml":        "url: https://example.net\n",
	"post.md":            "# Post\n\n[gone](/gone/)\n",
	"_site/post.html":    "<h1>Post</h1><p><a href=/gone/>gone</a>",
	"_site/index.html":   "<a href=post.html>post</a>",
	"_site/other/a.html": "<a href=missing.html>x</a>",
}

func with(extra ...string) map[string]string {
	all := map[string]string{}
	for name, text := range jekyllSite {
		all[name] = text
	}
	for i := 0; i < len(extra); i += 2 {
		all[extra[i]] = extra[i+1]
	}
	return all
}

func TestCheck(t *testing.T) {
	p := inProject(t, jekyllSite)
	if _, got := checked(t, p, Options{}); got != "other/a.html missing-file\npost.html missing-directory" {
		t.Errorf("findings\n%s", got)
	}
	if _, got := checked(t, p, Options{Sources: true}); got != "other/a.html missing-file\npost.md:3 missing-directory" {
		t.Errorf("findings by their sources\n%s", got)
	}
}

// A baseline takes out what it accepts, and another build what it has too.
func TestCheckBaseline(t *testing.T) {
	p := inProject(t, jekyllSite)
	r, _ := checked(t, p, Options{})
	var accepted bytes.Buffer
	if err := baseline.New(r.Findings[:1], baseline.Terms{}).Write(&accepted); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, toml, want string }{
		{"file", "[check]\nbaseline = 'accepted.jsonl'\n", "post.html missing-directory"},
		{"other_build", "[check]\nbaseline-docroot = 'old'\n", "other/a.html missing-file"},
		{"none", "", "other/a.html missing-file\npost.html missing-directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := inProject(t, with("sitelink.toml", test.toml, "accepted.jsonl", accepted.String(), "old/post.html", jekyllSite["_site/post.html"]))
			r, got := checked(t, p, Options{Baseline: true})
			if got != test.want {
				t.Errorf("findings\n%s\nwant\n%s", got, test.want)
			}
			if (r.Summary.Baseline != nil) != (test.toml != "") {
				t.Errorf("the summary has the baseline %v", r.Summary.Baseline)
			}
		})
	}
}

// A baseline that cannot be read is a fault of the configuration, with a hint.
func TestMissingBaseline(t *testing.T) {
	p := inProject(t, with("sitelink.toml", "[check]\nbaseline = 'gone.jsonl'\n"))
	_, err := Open(t.Context(), p, Options{Baseline: true, Today: func() (baseline.Date, error) { return "2026-01-01", nil }})
	if hint, usage := text.Hint(err); !usage || !strings.Contains(hint, "baseline write") {
		t.Errorf("error %v with the hint %q", err, hint)
	}
}

// Links are written with the places of findings and without accepted findings.
func TestLinks(t *testing.T) {
	p := inProject(t, jekyllSite)
	a := testkit.Must(Open(t.Context(), p, Options{Sources: true}))(t)
	var out bytes.Buffer
	if _, err := a.Links(t.Context(), &out, func(dst []byte, l *check.Link, source *check.Position, cause string) []byte {
		file := ""
		if isFinding := l.Verdict == check.Error; isFinding != (cause != "") {
			t.Errorf("%s %s has the cause %q", l.Page, l.Verdict, cause)
		}
		if source != nil {
			file = source.File
		}
		return fmt.Appendf(dst, "%s %s %s\n", l.Page, l.Verdict, file)
	}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "index.html ok \nother/a.html error \npost.html error post.md\n" {
		t.Errorf("links\n%s", got)
	}
}

// Pages without the configured endpoints are findings, and links to the endpoints
// are not.
func TestEndpoints(t *testing.T) {
	p := inProject(t, with("sitelink.toml", "[templates]\nwebmention = 'https://example.net/webmention'\n",
		"_site/index.html", `<!doctype html><title>x</title><link rel="webmention" href="https://example.net/webmention"><a href="https://example.net/webmention">x</a>`))
	_, got := checked(t, p, Options{})
	if !strings.Contains(got, "post.html endpoint-missing") || strings.Contains(got, "index.html") {
		t.Errorf("findings of %v\n%s", p.BaseURLs, got)
	}
}

// An updated site shares what did not change, and is checked like a new one.
func TestUpdate(t *testing.T) {
	p := inProject(t, jekyllSite)
	a, err := Open(t.Context(), p, Options{})
	testkit.Check(t, err)
	testkit.Must(a.Check(t.Context()))(t)
	testkit.Check(t, os.WriteFile("_site/post.html", []byte("<a href=index.html>home</a>"), 0o644))
	if a, err = a.Update(t.Context(), []string{"post.html"}); err != nil {
		t.Fatal(err)
	}
	r, err := a.Check(t.Context())
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Page != "other/a.html" {
		t.Errorf("findings %v, error %v", r.Findings, err)
	}
}

func TestFails(t *testing.T) {
	warning := &check.Result{Findings: []check.Finding{{Verdict: check.Warning}}, Summary: check.Summary{Warnings: 1}}
	for level, want := range map[string]bool{"error": false, "warning": true, "never": false} {
		if got := Fails(level, warning); got != want {
			t.Errorf("Fails(%s) = %v for a warning", level, got)
		}
	}
}

// TestNewerContent: a check says that a source was edited after the build, and nothing
// for files of about the same time, or of git.
func TestNewerContent(t *testing.T) {
	files := map[string]string{
		"zola.toml": "base_url = \"https://example.net\"\n", "content/a.md": "a", "content/.git/b.md": "b", "content/logo.svg": "<svg/>",
		"public/index.html": "<!doctype html><title>x</title>", "public/a/index.html": "<!doctype html><title>a</title>",
	}
	p := inProject(t, files)
	built := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		after time.Duration
		want  bool
	}{
		{"content/a.md", time.Minute, true}, {"content/a.md", time.Second, false}, {"content/a.md", -time.Hour, false},
		{"content/.git/b.md", time.Hour, false}, {"content/logo.svg", time.Hour, true}, {"zola.toml", time.Hour, true},
	} {
		for name := range files {
			testkit.Check(t, os.Chtimes(name, built, built))
		}
		// An older page of an earlier build changes nothing.
		testkit.Check(t, errors.Join(os.Chtimes("public/index.html", built, built.Add(-time.Hour)), os.Chtimes(c.name, built, built.Add(c.after))))
		r, _ := checked(t, p, Options{Hints: true})
		got := slices.Contains(r.Summary.Notes, c.name+" is newer than public: run zola build, or sitelink check --build")
		if got != c.want || len(r.Summary.Notes) > 0 != c.want {
			t.Errorf("%s, %v after the build: %q", c.name, c.after, r.Summary.Notes)
		}
	}
}

// TestStale: pages of an earlier build are those that are older than the last build and
// have no source, of each generator that leaves such pages in the docroot.
func TestStale(t *testing.T) {
	built := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	const html = "<!doctype html><title>x</title>"
	for _, c := range []struct {
		name, config, docroot string
		sources, written, old string
		want                  string
	}{
		{"hugo", "hugo.toml", "public", "content/a.md content/b.md", "index.html a/index.html tags/x/index.html", "b/index.html gone/index.html", "gone/index.html"},
		{"deferred templates", "hugo.toml", "public", "content/a.md", "index.html a/index.html", "en/index.html sitemap.xml", ""},
		{"eleventy", "eleventy.config.mjs", "_site", "index.md a.md src/b.md", "index.html a/index.html", "b/index.html gone/index.html", "gone/index.html"},
		{"a slug", "eleventy.config.mjs", "_site", "a.md posts/2020-01-02-gone.md", "index.html a/index.html", "2020/gone/index.html", ""},
		{"front matter", "eleventy.config.mjs", "_site", "a.md posts/slug.md", "index.html a/index.html", "named/index.html", ""},
		{"incremental", "eleventy.config.mjs", "_site", "a.md b.md c.md", "index.html a/index.html", "b/index.html c/index.html tags/x/index.html", ""},
		{"no source is known", "eleventy.config.mjs", "_site", "x.txt", "index.html a/index.html", "gone/index.html", ""},
		{"pelican", "pelicanconf.py", "output", "content/a.md", "index.html a.html", "gone.html category/x.html", "category/x.html, gone.html"},
		{"sphinx writes what has changed", "conf.py", "_build/html", "index.rst a.rst", "index.html a.html", "_modules/x.html", ""},
		{"mkdocs empties", "mkdocs.yml", "site", "docs/index.md docs/a.md", "index.html a/index.html", "gone/index.html", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{c.config: "project = 'x'\n"}
			for name := range strings.FieldsSeq(c.sources) {
				files[name] = "---\ntitle: " + map[bool]string{true: "Named"}[strings.HasSuffix(name, "slug.md")] + "\n---\n"
			}
			for name := range strings.FieldsSeq(c.written + " " + c.old) {
				files[c.docroot+"/"+name] = html
			}
			if c.config == "mkdocs.yml" {
				files[c.config] = "site_name: x\n"
			}
			p := inProject(t, files)
			for name := range files {
				at := built.Add(-time.Hour)
				if page, ok := strings.CutPrefix(name, c.docroot+"/"); ok && slices.Contains(strings.Fields(c.written), page) {
					at = built
				}
				testkit.Check(t, os.Chtimes(name, at, at))
			}
			r, _ := checked(t, p, Options{Hints: true})
			want := []string(nil)
			if c.want != "" {
				want = []string{StaleNote(c.docroot, strings.Split(c.want, ", "), "the last build did not write") + "; run sitelink check --build"}
			}
			if p.Generator == nil || !slices.Equal(r.Summary.Notes, want) {
				t.Errorf("got %q, want %q", r.Summary.Notes, want)
			}
		})
	}
}
