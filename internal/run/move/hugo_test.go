package move

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
)

// hugoSite is a site with links in all forms that lead to content/docs/a.md, and
// relative links on that page.
var hugoSite = map[string]string{
	"hugo.toml": `baseURL = "https://h.example/sub/"
disableKinds = ["taxonomy", "term"]
[markup.goldmark.parser]
autoHeadingIDType = "github-ascii"
[markup.goldmark.renderer]
unsafe = true
[[menus.main]]
name = "A"
pageRef = "/docs/a"
[[menus.main]]
name = "B"
url = "/docs/b/"
`,
	"layouts/_default/single.html": `<!doctype html><title>{{ .Title }}</title>{{ range site.Menus.main }}<a href="{{ .URL }}">{{ .Name }}</a>{{ end }}
<nav><a href="{{ "docs/a/" | relURL }}">fixed</a></nav>{{ with .Params.image }}<img src="{{ . | relURL }}">{{ end }}
<ul>{{ range site.Data.links }}<li><a href="{{ printf "/sub/%s/" .name }}">composed</a></li>{{ end }}</ul>
{{ .Content }}
`,
	"layouts/_default/list.html":                   "<!doctype html><title>{{ .Title }}</title>\n{{ .Content }}\n",
	"layouts/_default/_markup/render-heading.html": `<h{{ .Level }} id="{{ .Anchor }}">{{ .Text }}</h{{ .Level }}>`,
	"layouts/shortcodes/card.html":                 `<a class="card" href="{{ .Get "link" }}">card</a>`,
	"data/links.json":                              `[{"name": "docs/a"}]`,
	"content/_index.md":                            "---\ntitle: Home\n---\nHome [a](docs/a/) and [b](docs/b/).\n",
	"content/docs/_index.md":                       "---\ntitle: Docs\n---\n\n## Set up\n",
	"content/docs/a.md":                            "---\ntitle: A\naliases: [/x/]\n---\n## One\n\n[rel](../b/) [ref]({{< relref \"b\" >}}) [rooted]({{< ref \"/docs/b/index.md\" >}}) ![](/sub/img/p.svg)\n\n[self](#one)\n\n## One\n",
	"content/docs/b/index.md":                      "\ufeff---\r\ntitle: B\r\nimage: docs/a/\r\n---\r\n[inline](../a/#one) [titled](../a/ \"t\") [brackets](<../a/>) [full][r] ![](pic.svg)\r\n\r\n[r]: /sub/docs/a/?q=1#one\r\n\r\n<https://h.example/sub/docs/a/> <a href='/sub/docs/a'>raw</a> [ref]({{< relref \"a.md#one\" >}}) {{< card link=\"/sub/docs/a/\" >}}\r\n",
	"content/docs/b/pic.svg":                       "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
	"content/docs/draft.md":                        "+++\ntitle = \"D\"\ndraft = true\n+++\n[a]({{< ref \"a\" >}})\n\n## 日 x\n",
	"content/docs/other.md":                        "---\ntitle: O\n---\n[gone](../a/gone/) [not a](/sub/docs/ab/) [stays](/sub/docs/own.txt) [too](/sub/docs/plain/) [other](/sub/docs/#one)\n",
	"static/docs/own.txt":                          "own\n",
	"static/docs/plain/index.html":                 "<!doctype html><title>plain</title>\n",
	"static/img/p.svg":                             "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
	"static/font.woff":                             "\x00\xff\x01",
	"static/_redirects":                            "/first /sub/docs/b/ 302\n/second /docs/b/ 200\n",
}

// newSite writes a site that git tracks.
func newSite(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		put(t, root, name, text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.autocrlf", "false"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@h.example", "commit", "-qm", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		testkit.Run(t, cmd)
	}
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o666)
	}
	testkit.Check(t, err)
}

func plan(t *testing.T, root string, opt Options) (*Plan, error) {
	t.Helper()
	return planFor(t, root, "netlify", opt)
}

func planFor(t *testing.T, root, profile string, opt Options) (*Plan, error) {
	t.Helper()
	p, err := projectIn(t, root, profile)
	testkit.Check(t, err)
	return Make(t.Context(), p, opt)
}

func projectIn(t *testing.T, root, profile string) (*project.Project, error) {
	cfg, err := config.Load(config.Input{Dir: root, Flags: []config.Setting{{Key: "profile", Values: []string{profile}}}})
	testkit.Check(t, err)
	return project.Find(t.Context(), root, project.Options{Config: cfg, Env: os.Environ()})
}

// added returns the lines that a plan adds.
func added(t *testing.T, p *Plan) []string {
	t.Helper()
	var diff bytes.Buffer
	testkit.Check(t, p.Set.Diff(&diff))
	var lines []string
	for line := range strings.Lines(diff.String()) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ ") {
			lines = append(lines, strings.TrimSuffix(line[1:], "\n"))
		}
	}
	return lines
}

// expect compares the lines that a plan adds, in any order. faults is how many links it
// would break, and addresses lose.
func expect(t *testing.T, p *Plan, want []string, faults int) {
	t.Helper()
	got, want := slices.Sorted(slices.Values(added(t, p))), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) || faults > 0 {
		t.Errorf("%v: the diff adds\n%s\nwant\n%s\nbroken %v, lost %v, composed %v", p.Renames, strings.Join(got, "\n"), strings.Join(want, "\n"), p.Broken, p.Lost, p.Composed)
	}
}

func TestHugoMoves(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, hugoSite)
	toA := []string{ // each form, with the new address in the same form
		"Home [a](docs/new/c/) and [b](docs/b/).",
		"[inline](../new/c/#one) [titled](../new/c/ \"t\") [brackets](<../new/c/>) [full][r] ![](pic.svg)\r",
		"[r]: /sub/docs/new/c/?q=1#one\r",
		"<https://h.example/sub/docs/new/c/> <a href='/sub/docs/new/c'>raw</a> [ref]({{< relref \"c.md#one\" >}}) {{< card link=\"/sub/docs/new/c/\" >}}\r",
		"image: docs/new/c/\r",
		"[a]({{< ref \"c\" >}})",
		"aliases: [/docs/a/, /x/]",
		"[rel](../../b/) [ref]({{< relref \"b\" >}}) [rooted]({{< ref \"/docs/b/index.md\" >}}) ![](/sub/img/p.svg)",
		"pageRef = \"/docs/new/c\"",
		"<nav><a href=\"{{ \"docs/new/c/\" | relURL }}\">fixed</a></nav>{{ with .Params.image }}<img src=\"{{ . | relURL }}\">{{ end }}",
	}
	for _, tt := range []struct {
		name, old, new string
		want           []string
		addresses      []Pair
		composed       bool
	}{
		{"a page", "content/docs/a.md", "content/docs/new/c.md", toA, []Pair{{"/sub/docs/a/", "/sub/docs/new/c/"}}, true},
		{"by addresses", "/docs/a/", "https://h.example/sub/docs/new/c/", toA, []Pair{{"/sub/docs/a/", "/sub/docs/new/c/"}}, true},
		{"a bundle", "content/docs/b/index.md", "content/docs/b2", []string{
			"Home [a](docs/a/) and [b](docs/b2/).", "aliases:\r", "- /docs/b/\r", "url = \"/docs/b2/\"", "/docs/b/* /sub/docs/b2/:splat 301", "/first /sub/docs/b2/ 302", "/second /docs/b2/ 200",
			"[rel](../b2/) [ref]({{< relref \"b2\" >}}) [rooted]({{< ref \"/docs/b2/index.md\" >}}) ![](/sub/img/p.svg)",
		}, []Pair{{"/sub/docs/b/", "/sub/docs/b2/"}}, false},
		{"a static file", "static/img/p.svg", "static/pictures/", []string{
			"/img/p.svg /sub/pictures/p.svg 301",
			"[rel](../b/) [ref]({{< relref \"b\" >}}) [rooted]({{< ref \"/docs/b/index.md\" >}}) ![](/sub/pictures/p.svg)",
		}, []Pair{{"/sub/img/p.svg", "/sub/pictures/p.svg"}}, false},
		{"a binary file", "static/font.woff", "static/f.woff", []string{"/font.woff /sub/f.woff 301"}, []Pair{{"/sub/font.woff", "/sub/f.woff"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.new == "static/pictures/" {
				tt.new += "p.svg"
			}
			p, err := plan(t, root, Options{Old: tt.old, New: tt.new})
			testkit.Check(t, err)
			expect(t, p, tt.want, len(p.Broken)+len(p.Lost))
			if !slices.Equal(p.Addresses, tt.addresses) {
				t.Errorf("addresses %v", p.Addresses)
			}
			if tt.composed != slices.ContainsFunc(p.Composed, func(f check.Finding) bool { return f.Raw == "/sub/docs/a/" }) {
				t.Errorf("composed: %v", p.Composed)
			}
		})
	}
	if status := gitStatus(t, root); status != "" {
		t.Errorf("planning changed the project:\n%s", status)
	}
}

func gitStatus(t *testing.T, root string) string {
	t.Helper()
	cmd := exec.Command("git", "status", "--porcelain")
	cmd.Dir = root
	out, err := cmd.Output()
	testkit.Check(t, err)
	return string(out)
}

// TestHugoSection: a whole section moves, is built and checked, and comes back.
func TestHugoSection(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, hugoSite)
	status := gitStatus(t, root)
	p, err := plan(t, root, Options{Old: "/docs/", New: "/guide/"})
	testkit.Check(t, err)
	if len(p.Broken)+len(p.Lost) > 0 {
		t.Errorf("broken %v, lost %v", p.Broken, p.Lost)
	}
	lines := added(t, p)
	for _, want := range []string{"/docs/* /sub/guide/:splat 301", "/first /sub/guide/b/ 302", "- /docs/", "pageRef = \"/guide/a\"", "[rel](../b/) [ref]({{< relref \"b\" >}}) [rooted]({{< ref \"/guide/b/index.md\" >}}) ![](/sub/img/p.svg)"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "/docs/b") }) {
		t.Errorf("a rule for a part of the section:\n%s", strings.Join(lines, "\n"))
	}
	testkit.Check(t, p.Set.Apply(t.Context(), "test"))
	again, err := plan(t, root, Options{Old: "/guide/", New: "/docs/"}) // and the moved site can move back
	if err != nil || len(again.Broken) > 0 {
		t.Errorf("moving back: %v, broken %+v", err, again)
	} else if lines := added(t, again); slices.Contains(lines, "- /docs/b/") {
		t.Errorf("a page keeps an alias of its own address:\n%s", strings.Join(lines, "\n"))
	}
	if _, err := destination.Undo(t.Context(), root, os.Environ()); err != nil {
		t.Fatal(err)
	}
	if now := gitStatus(t, root); now != status {
		t.Errorf("git's index is not as it was:\n%s", now)
	}
	for name, text := range hugoSite {
		if got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestHugoHeadings(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, hugoSite)
	// The page has two headings of this text, so the second gets the id of the first.
	p, err := plan(t, root, Options{Old: "/docs/a/#one", New: "Two & more"})
	testkit.Check(t, err)
	want := []string{"## Two & more", "[self](#two--more)", "[inline](../a/#two--more) [titled](../a/ \"t\") [brackets](<../a/>) [full][r] ![](pic.svg)\r",
		"[r]: /sub/docs/a/?q=1#two--more\r", "<https://h.example/sub/docs/a/> <a href='/sub/docs/a'>raw</a> [ref]({{< relref \"a.md#two--more\" >}}) {{< card link=\"/sub/docs/a/\" >}}\r"}
	got := added(t, p)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(p.Broken) > 0 || p.Heading == nil || *p.Heading != (Pair{"one", "two--more"}) {
		t.Errorf("the diff adds\n%s\nwant\n%s\nbroken %v, heading %v", strings.Join(got, "\n"), strings.Join(want, "\n"), p.Broken, p.Heading)
	}
	if p, err = plan(t, root, Options{Old: "content/docs/a.md#one-1", New: "Other", KeepID: true}); err != nil {
		t.Fatal(err)
	}
	if got := added(t, p); !slices.Equal(got, []string{"## Other {#one-1}"}) || len(p.Broken) > 0 {
		t.Errorf("with the id kept: %q, broken %v", got, p.Broken)
	}
	if p, err = plan(t, root, Options{Old: "content/docs#Set up", New: "Start"}); err != nil || !slices.Equal(added(t, p), []string{"## Start"}) {
		t.Errorf("a heading of a section: %v, %v", p, err)
	}
	if p, err = plan(t, root, Options{Old: "content/docs/draft.md#日 x", New: "y"}); err != nil || p.Heading == nil || *p.Heading != (Pair{"-x", "y"}) {
		t.Errorf("a heading with another id than it seems: %+v, %v", p, err)
	}
	for _, text := range []string{"", " ", "a\nb"} {
		if _, err := plan(t, root, Options{Old: "content/docs/a.md#one", New: text}); err == nil || !strings.Contains(err.Error(), "empty or has several lines") {
			t.Errorf("%q as a heading: %v", text, err)
		}
	}
	for name, want := range map[string]string{"static/img/p.svg#One": "is not a page", "content/docs/a.md#One": "2 headings are", "content/docs/a.md#None": "no heading"} {
		if _, err := plan(t, root, Options{Old: name, New: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	put(t, root, "layouts/docs/list.html", "<!doctype html><title>{{ .Title }}</title><h2>Set up</h2>")
	if _, err := plan(t, root, Options{Old: "content/docs#Set up", New: "x", KeepID: true}); err == nil || !strings.Contains(err.Error(), "the id of this heading is not known") {
		t.Errorf("an id that is not known: %v", err)
	}
}

// TestHugoTemplates: a page without a template for its new place does not move.
func TestHugoTemplates(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, map[string]string{
		"hugo.toml":                "baseURL = \"https://h.example/\"\ndisableKinds = [\"taxonomy\", \"term\"]\n[permalinks]\nposts = \"/p/:title/\"\n",
		"layouts/docs/single.html": "<!doctype html><title>{{ .Title }}</title>",
		"layouts/docs/list.html":   "<!doctype html><title>{{ .Title }}</title>",
		"layouts/more/single.html": "<!doctype html><title>{{ .Title }}</title>",
		"layouts/keep/single.html": "<!doctype html><title>{{ .Title }}</title>",
		"content/keep/d.md":        "---\ntitle: D\n---\n",
		"content/docs/a.md":        "---\ntitle: A\n---\n",
		"content/docs/b.md":        "---\ntitle: B\n---\n",
		"content/none/c.md":        "---\ntitle: C\n---\n",
	})
	testkit.Check(t, os.Chmod(filepath.Join(root, "content", "keep", "d.md"), 0o444))
	for _, tt := range []struct{ old, new, want string }{
		{"content/docs/a.md", "content/more/a.md", ""},
		{"content/docs/a.md", "content/other/a.md", "1 page would not be published after the move, such as /other/a/,"},
		{"content/docs", "content/other", "3 pages would not be published after the move, such as /other/,"},
		{"content/docs", "content/more", "1 page would not be published after the move, such as /more/,"},
		{"content/keep/d.md", "content/more/d.md", "content/keep/d.md: is read-only"},
		{"/docs/a/", "/posts/a/", "content/posts/a.md would not be at /posts/a/:"},
		{"content/docs/a.md", "content/docs/b.md", "content/docs/b.md: already exists"},
		{"content/none/c.md", "content/other/c.md", ""},
	} {
		_, err := plan(t, root, Options{Old: tt.old, New: tt.new})
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s to %s: %v", tt.old, tt.new, err)
		}
	}
}

// TestHugoRefusals: what goes wrong changes nothing and says why.
func TestHugoRefusals(t *testing.T) {
	hugoEnv(t)
	files := map[string]string{}
	for name, text := range hugoSite {
		files[name] = text
	}
	files["content/docs/other.md"] += "{{< needs \"/docs/draft\" >}}\n"
	files["layouts/shortcodes/needs.html"] = `{{ if not (site.GetPage (.Get 0)) }}{{ errorf "no page %s" (.Get 0) }}{{ end }}`
	root := newSite(t, files)
	var failed *BuildError
	if _, err := plan(t, root, Options{Old: "content/docs/draft.md", New: "content/docs/d2.md"}); !errors.As(err, &failed) || !strings.Contains(err.Error(), "cannot be built after the move") || !strings.Contains(strings.Join(failed.Output, "\n"), "no page /docs/draft") {
		t.Errorf("a build that fails after the move: %v", err)
	}
	// The user saves a file while the copy is built.
	path := os.Getenv("PATH")
	program, err := exec.LookPath("hugo")
	testkit.Check(t, err)
	put(t, root, "bin/hugo", "#!/bin/sh\necho '[a](docs/a/) is new' >>"+filepath.Join(root, "content/_index.md")+"\nexec "+program+" \"$@\"\n")
	testkit.Check(t, os.Chmod(filepath.Join(root, "bin/hugo"), 0o777))
	t.Setenv("PATH", filepath.Join(root, "bin")+string(os.PathListSeparator)+path)
	if _, err := plan(t, root, Options{Old: "content/docs/a.md", New: "content/docs/c.md"}); !errors.Is(err, destination.ErrStale) || !strings.Contains(err.Error(), "content/_index.md") {
		t.Errorf("a source that changed: %v", err)
	}
	t.Setenv("PATH", path)
	put(t, root, "layouts/_default/list.html", "{{ .None.X }}")
	if _, err := plan(t, root, Options{Old: "content/docs/a.md", New: "content/docs/c.md"}); err == nil || !strings.Contains(err.Error(), "cannot be built as it is") {
		t.Errorf("a build that fails before the move: %v", err)
	}
	t.Setenv("PATH", "")
	if _, err := plan(t, root, Options{Old: "content/docs/a.md", New: "content/docs/c.md"}); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("without Hugo: %v", err)
	}
	t.Setenv("PATH", path)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := project.Find(ctx, root, project.Options{Env: os.Environ()})
	testkit.Check(t, err)
	cancel()
	if _, err := Make(ctx, p, Options{Old: "content/docs/a.md", New: "content/docs/c.md"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
	if status := gitStatus(t, root); strings.Contains(status, "->") || strings.Contains(status, "docs/") {
		t.Errorf("the project changed:\n%s", status)
	}
	if entries, err := os.ReadDir(filepath.Join(root, ".sitelink")); err == nil {
		t.Errorf("the copy was not removed: %v", entries)
	}
}

// TestHugoComposed: a switcher between versions composes links from the address of its
// page. Links that worked still work after the move. An alias that is relative to the
// page keeps its address, and a section keeps a page that Hugo makes by itself.
func TestHugoComposed(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, map[string]string{
		"hugo.toml":                    "baseURL = \"https://h.example/\"\ndisableKinds = [\"taxonomy\", \"term\"]\n",
		"layouts/_default/single.html": "<!doctype html><title>{{ .Title }}</title>\n{{ $url := .RelPermalink }}{{ $rest := replaceRE \"^(/more)?/v[0-9]\" \"\" $url }}<a href=\"/v0{{ $rest }}\">v0</a> <a href=\"/v1{{ $rest }}\">v1</a>\n{{ if eq $url \"/v2/a/\" }}<a href=\"/\">short</a>{{ end }}{{ .Content }}\n",
		"layouts/_default/list.html":   "<!doctype html><title>{{ .Title }}</title>\n{{ .Content }}\n",
		"content/_index.md":            "---\ntitle: Home\n---\n[v2](/v2/) [a](/v2/a/)\n",
		"content/v1/a.md":              "---\ntitle: A\n---\n",
		"content/v2/a.md":              "---\ntitle: A\naliases: [short]\n---\n",
	})
	p, err := plan(t, root, Options{Old: "content/v2/a.md", New: "content/v2/deep/b.md"})
	testkit.Check(t, err)
	expect(t, p, []string{"aliases:", "- /v1/deep/b/", "[v2](/v2/) [a](/v2/deep/b/)", "aliases: [/v2/a/, /v2/short/, short]"}, len(p.Broken)+len(p.Lost))
	if len(p.Kept) != 1 || p.Kept[0] != (Pair{"/v1/deep/b/", "/v1/a/"}) {
		t.Errorf("kept: %v", p.Kept)
	}
	put(t, root, "content/more/v4/_index.md", "---\ntitle: Four\n---\n") // it has the page that the section needs
	for old, to := range map[string]string{"content/v2": "content/more/v3", "/v2/": "/more/v4/"} {
		p, err := plan(t, root, Options{Old: old, New: to})
		testkit.Check(t, err)
		at, lines := strings.Trim(strings.TrimPrefix(to, "content"), "/"), added(t, p)
		if !slices.Contains(lines, "- /v2/") || !slices.Contains(lines, "[v2](/"+at+"/) [a](/"+at+"/a/)") || len(p.Broken)+len(p.Lost) > 0 {
			t.Errorf("a section without a file: the diff adds\n%s\nbroken %v, lost %v", strings.Join(lines, "\n"), p.Broken, p.Lost)
		}
	}
}

// TestHugoPaths: shortcodes, templates and front matter that name a file by its path in
// the project get its new path, whether or not they make a link of it.
func TestHugoPaths(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, map[string]string{
		"hugo.toml":                    "baseURL = \"https://h.example/\"\ndisableKinds = [\"taxonomy\", \"term\"]\n",
		"layouts/_default/single.html": "<!doctype html><title>{{ .Title }}</title>\n{{ with .Params.code }}{{ readFile . }}{{ end }}{{ .Content }}\n",
		"layouts/_default/list.html":   "<!doctype html><title>{{ .Title }}</title>\n{{ readFile \"static/code/run.sh\" }}{{ .Content }}{{/* static/code/run.sh */}}\n",
		"layouts/shortcodes/code.html": "{{ $f := .Get \"file\" }}<a href=\"/{{ strings.TrimPrefix \"static/\" $f }}\">code</a> {{ readFile $f }}",
		"layouts/shortcodes/only.html": "{{ readFile (.Get 0) }}",
		"content/_index.md":            "---\ntitle: Home\n---\n",
		"content/a.md":                 "---\ntitle: A\ncode: /static/code/run.sh\n---\n{{< code file=\"static/code/run.sh\" >}} {{< only \"static/code/run.sh\" >}}\n\nThe file static/code/run.sh is text, static/code/run.sh2 is another.\n",
		"content/code/_index.md":       "---\ntitle: Code\ncode: code/run.sh\n---\n",
		"content/resources/b.md":       "---\ntitle: B\nother: [\"x/static/code/run.sh\", \"static/code2/run.sh\", \"/x/static/code/run.sh\"]\n---\nSection: {{< only \"static/code/run.sh\" >}}\n",
		"static/code/run.sh":           "echo run\n",
	})
	testkit.Check(t, os.Chmod(filepath.Join(root, "hugo.toml"), 0o444)) // it has no menu to edit
	for _, tt := range []struct{ old, new, path string }{
		{"static/code/run.sh", "static/code/deep/start.sh", "static/code/deep/start.sh"},
		{"static/code", "static/examples", "static/examples/run.sh"},
	} {
		p, err := plan(t, root, Options{Old: tt.old, New: tt.new})
		testkit.Check(t, err)
		got := added(t, p)
		for _, want := range []string{
			"code: /" + tt.path,
			"{{< code file=\"" + tt.path + "\" >}} {{< only \"" + tt.path + "\" >}}",
			"{{ readFile \"" + tt.path + "\" }}{{ .Content }}{{/* static/code/run.sh */}}",
			"Section: {{< only \"" + tt.path + "\" >}}",
		} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no line %q in\n%s", tt.old, want, strings.Join(got, "\n"))
			}
		}
		if len(got) != 5 || len(p.Broken)+len(p.Lost)+len(p.Composed) > 0 { // and a rule
			t.Errorf("%s: the diff adds\n%s\nbroken %v, lost %v, composed %v", tt.old, strings.Join(got, "\n"), p.Broken, p.Lost, p.Composed)
		}
	}
}

// TestHugoHiddenLinks: links in raw HTML follow although Hugo leaves the HTML out, and a
// broken link stays as it is.
func TestHugoHiddenLinks(t *testing.T) {
	hugoEnv(t)
	root := newSite(t, map[string]string{
		"hugo.toml":                    "baseURL = \"https://h.example/\"\ndisableKinds = [\"taxonomy\", \"term\"]\n",
		"layouts/_default/single.html": "<!doctype html><title>{{ .Title }}</title>{{ .Content }}\n",
		"layouts/_default/list.html":   "<!doctype html><title>{{ .Title }}</title>{{ .Content }}\n",
		"content/_index.md":            "---\ntitle: Home\n---\n<a href=\"/docs/a/#set-up\">a</a> <a href=\"docs/gone/\">gone</a> `<a href=\"/docs/a/\">`\n",
		"content/docs/a.md":            "---\ntitle: A\n---\n## Set up\n\n<a href=\"../b/\">b</a> [gone](../gone/) <img src=\"../../p.svg\"> <a href=\"../gone/\">gone</a>\n",
		"content/docs/b.md":            "---\ntitle: B\n---\n<div>\n<img src='../a/p.svg'> <a href=../a/>a</a> <a href=\"https://o.example/docs/a/\">other</a>\n</div>\n",
		"static/p.svg":                 "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
		"static/_redirects":            "",
	})
	for _, tt := range []struct {
		old, new string
		want     []string
	}{
		{"content/docs/a.md", "content/help/deep/c.md", []string{
			"<a href=\"/help/deep/c/#set-up\">a</a> <a href=\"docs/gone/\">gone</a> `<a href=\"/docs/a/\">`", "aliases:", "- /docs/a/",
			"<a href=\"../../../docs/b/\">b</a> [gone](../gone/) <img src=\"../../../p.svg\"> <a href=\"../gone/\">gone</a>",
			"<img src='../a/p.svg'> <a href=../../help/deep/c/>a</a> <a href=\"https://o.example/docs/a/\">other</a>",
		}},
		{"content/docs/a.md#Set up", "Start", []string{"<a href=\"/docs/a/#start\">a</a> <a href=\"docs/gone/\">gone</a> `<a href=\"/docs/a/\">`", "## Start"}},
		{"static/p.svg", "static/q.svg", []string{"<a href=\"../b/\">b</a> [gone](../gone/) <img src=\"../../q.svg\"> <a href=\"../gone/\">gone</a>", "/p.svg /q.svg 301"}},
	} {
		p, err := plan(t, root, Options{Old: tt.old, New: tt.new})
		if err != nil {
			t.Errorf("%s: %v", tt.old, err)
			continue
		}
		expect(t, p, tt.want, len(p.Broken)+len(p.Lost))
	}
}
