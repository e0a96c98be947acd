package move

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/testkit"
)

// matrixFiles are those of each site of the matrix.
var matrixFiles = map[string]string{
	"layouts/_default/single.html": "<!doctype html><title>{{ .Title }}</title>{{ .Content }}{{ range .GetTerms \"tags\" }}<a href=\"{{ .RelPermalink }}\">{{ .Title }}</a>{{ end }}\n",
	"layouts/_default/list.html":   "<!doctype html><title>{{ .Title }}</title>{{ .Content }}{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">{{ .Title }}</a>{{ end }}\n",
	"static/img/p.svg":             "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
	"static/_redirects":            "/first /second 302\n",
}

// matrixPages are those of one language: a section with two pages, one of them a bundle.
var matrixPages = map[string]string{
	"_index.md":         "---\ntitle: Home\n---\n[a]({{< relref \"/posts/a\" >}})\n",
	"posts/_index.md":   "---\ntitle: Posts\n---\nThe [first]({{< relref \"a\" >}}).\n",
	"posts/a.md":        "---\ntitle: A\ntags: [x]\n---\n## Set up\n\n[b]({{< relref \"b\" >}}) ![](/img/p.svg)\n",
	"posts/b/index.md":  "---\ntitle: B\n---\n[a]({{< relref \"a#set-up\" >}}) ![](pic.svg)\n",
	"posts/b/pic.svg":   "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n",
	"docs/deep/c.md":    "---\ntitle: C\n---\n<a href=\"/img/p.svg\">p</a>\n",
	"docs/deep/LEAF.md": "---\ntitle: Leaf\n---\nText\n",
}

const languages = "defaultContentLanguage = \"en\"\n[languages.en]\nweight = 1\n[languages.de]\nweight = 2\n"

// matrixSites are sites with their configurations. The base URL is https://h.example/ if
// none is given. Their pages are in English, in German too if there are two languages.
var matrixSites = []struct {
	name, config string
	directories  bool              // the languages have directories of their own
	files        map[string]string // more, or others; "" removes one
	refused      []string          // moves that lose addresses which nothing can keep
}{
	{name: "one language"},
	{name: "suffix", config: languages},
	{name: "directory", config: strings.NewReplacer("weight = 1", "weight = 1\ncontentDir = \"content/en\"", "weight = 2", "weight = 2\ncontentDir = \"content/de\"").Replace(languages), directories: true},
	{name: "in subdirectory", config: "defaultContentLanguageInSubdir = true\n" + languages},
	{name: "hosts", config: strings.NewReplacer("weight = 1", "weight = 1\nbaseURL = \"https://en.example/\"", "weight = 2", "weight = 2\nbaseURL = \"https://de.example/\"").Replace(languages),
		refused: []string{"bundle", "section", "section to a deeper place", "image"}}, // no rules of one host can be proved
	{name: "ugly", config: "uglyURLs = true\n" + languages},
	{name: "base path", config: "baseURL = \"https://h.example/sub/\"\n" + languages},
	{name: "url and slug", files: map[string]string{
		"content/posts/a.md":       "---\ntitle: A\nslug: first\n---\n## Set up\n\n[b]({{< relref \"b\" >}})\n",
		"content/posts/b/index.md": "---\ntitle: B\nurl: /special/b/\n---\n[a]({{< relref \"a#set-up\" >}}) ![](pic.svg)\n",
	}},
	{name: "permalinks", config: "[permalinks]\nposts = \"/p/:title/\"\n"},
	{name: "no section pages", config: languages, files: map[string]string{"content/posts/_index.md": "", "content/posts/_index.de.md": ""}},
	{name: "cascade", files: map[string]string{"content/posts/_index.md": "---\ntitle: Posts\ncascade:\n  outputs: [html, json]\noutputs: [html, rss, json]\n---\n",
		"layouts/_default/single.json": "{}\n", "layouts/_default/list.json": "{}\n"}, refused: []string{"page to another section"}},
	{name: "mounts", config: "[[module.mounts]]\nsource = \"content\"\ntarget = \"content\"\n[[module.mounts]]\nsource = \"more\"\ntarget = \"content/more\"\n[[module.mounts]]\nsource = \"static\"\ntarget = \"static\"\n",
		files: map[string]string{"more/m.md": "---\ntitle: M\n---\n[a]({{< relref \"/posts/a\" >}})\n"}},
	{name: "theme", config: "theme = \"t\"\n", files: map[string]string{"themes/t/static/img/p.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n", "themes/t/layouts/404.html": "<!doctype html>\n"}},
}

// matrixMoves are moves of each site. CONTENT is the directory of content. A name that
// the site does not have is left out.
var matrixMoves = []struct{ name, old, new string }{
	{"page", "CONTENT/posts/a.md", "CONTENT/posts/alpha.md"},
	{"page to another section", "CONTENT/posts/a.md", "CONTENT/docs/deep/a.md"},
	{"one translation", "CONTENT/posts/a.de.md", "CONTENT/posts/alpha.de.md"},
	{"bundle", "CONTENT/posts/b", "CONTENT/posts/beta"},
	{"section", "CONTENT/posts", "CONTENT/news"},
	{"section to a deeper place", "CONTENT/posts", "CONTENT/docs/news"},
	{"case", "CONTENT/docs/deep/LEAF.md", "CONTENT/docs/deep/leaf.md"},
	{"image", "static/img/p.svg", "static/img/q.svg"},
	{"case of an image", "static/img/p.svg", "static/img/P.svg"},
	{"heading", "CONTENT/posts/a.md#Set up", "Setting up"},
	{"mounted page", "more/m.md", "more/n.md"},
}

// matrixShort are the moves that long runs try, and the first six those of each run.
var matrixShort = []string{
	"one language/section to a deeper place", "suffix/one translation", "hosts/page", "url and slug/bundle", "hosts/image", "no section pages/section to a deeper place",
	"directory/page to another section", "base path/image",
	"suffix/section", "in subdirectory/page", "hosts/bundle", "ugly/bundle", "base path/section", "url and slug/page", "permalinks/page",
	"mounts/mounted page", "theme/case of an image", "one language/case", "suffix/heading",
}

func matrixSite(i int) map[string]string {
	site := matrixSites[i]
	files := maps.Clone(matrixFiles)
	base := "baseURL = \"https://h.example/\"\n"
	if strings.Contains(site.config, "baseURL") {
		base = ""
	}
	files["hugo.toml"] = base + site.config
	for name, text := range matrixPages {
		if !strings.Contains(site.config, "languages") {
			files["content/"+name] = text
		} else if site.directories {
			files["content/en/"+name], files["content/de/"+name] = text, text
		} else {
			files["content/"+name] = text
			if strings.HasSuffix(name, ".md") {
				files["content/"+strings.TrimSuffix(name, ".md")+".de.md"] = text
			}
		}
	}
	maps.Copy(files, site.files)
	if strings.Contains(site.config, "/sub/") {
		for name, text := range files {
			files[name] = strings.ReplaceAll(text, "/img/", "/sub/img/")
		}
	}
	maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
	return files
}

// TestHugoMatrix: after each move, everything answers that answered before, there is no
// new finding, and the move back leaves the files as they were. SITELINK_MATRIX=all tries
// all moves of all sites, which takes ten minutes with Hugo itself; else those of matrixShort.
func TestHugoMatrix(t *testing.T) {
	hugoEnv(t)
	short := testkit.Longer(matrixShort[:6], matrixShort)
	for i, site := range matrixSites {
		files := matrixSite(i)
		for _, mv := range matrixMoves {
			content := "content"
			if site.directories {
				content = "content/de"
			}
			from, to := strings.Replace(mv.old, "CONTENT", content, 1), strings.Replace(mv.new, "CONTENT", content, 1)
			name, fragment, heading := strings.Cut(from, "#")
			if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(f string) bool { return f == name || strings.HasPrefix(f, name+"/") }) {
				continue
			}
			if os.Getenv("SITELINK_MATRIX") != "all" && !slices.Contains(short, site.name+"/"+mv.name) {
				continue
			}
			t.Run(site.name+"/"+mv.name, func(t *testing.T) {
				if os.Getenv("SITELINK_HUGO") == "" && (site.name == "cascade" || site.name == "ugly" && strings.HasPrefix(mv.name, "section")) {
					t.Skip("the stand-in has no output formats, and other files of bundles with uglyURLs")
				}
				t.Parallel()
				root := newSite(t, files)
				before := publish(t, root)
				p, err := plan(t, root, Options{Old: from, New: to})
				testkit.Check(t, err)
				if slices.Contains(site.refused, mv.name) {
					if len(p.Lost) == 0 || len(p.Broken) > 0 {
						t.Errorf("lost %v, broken %v", p.Lost, p.Broken)
					}
					return
				}
				testkit.Check(t, p.Set.Apply(t.Context(), "test"))
				if len(p.Broken)+len(p.Lost) > 0 {
					t.Errorf("broken %v, lost %v", p.Broken, p.Lost)
				}
				lost, worse := compare(t, before, publish(t, root))
				if len(lost)+len(worse) > 0 {
					t.Errorf("lost %q, new findings %q after\n%s", lost, worse, strings.Join(added(t, p), "\n"))
				}
				back := Options{Old: to, New: from}
				if heading {
					back = Options{Old: name + "#" + to, New: fragment}
				}
				again, err := plan(t, root, back)
				if err != nil {
					t.Fatalf("back: %v", err)
				}
				testkit.Check(t, again.Set.Apply(t.Context(), "test"))
				for name, text := range sources(t, root) {
					made := files[name] == "" && strings.HasPrefix(filepath.Base(name), "_index.") // for a section that has none
					if text != files[name] && !made {
						t.Errorf("there and back, %s is\n%s\nwant\n%s", name, text, files[name])
					}
				}
			})
		}
	}
}

// sources returns the sources of a site.
func sources(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".sitelink" || d.Name() == "public" || d.Name() == "resources") {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() && d.Name() != ".hugo_build.lock" {
			text, readErr := os.ReadFile(name)
			rel, _ := filepath.Rel(root, name)
			files[filepath.ToSlash(rel)], err = string(text), readErr
		}
		return err
	})
	testkit.Check(t, err)
	return files
}

// published is a site that Hugo built, with its findings.
type published struct {
	*audit.Audit
	findings []string
}

func publish(t *testing.T, root string) published {
	t.Helper()
	testkit.Check(t, os.RemoveAll(filepath.Join(root, "public")))
	cmd := exec.Command("hugo", "--quiet")
	cmd.Dir = root
	testkit.Run(t, cmd)
	cfg := &config.Config{}
	cfg.Fragments, cfg.Profile = true, "netlify"
	p, err := project.Find(t.Context(), root, project.Options{Config: cfg, Env: os.Environ()})
	testkit.Check(t, err)
	a, err := audit.Open(t.Context(), p, audit.Options{})
	testkit.Check(t, err)
	r, err := check.Run(t.Context(), audit.Handle(a.Site), audit.CheckOptions(p))
	testkit.Check(t, err)
	all := published{Audit: a}
	for _, f := range r.Findings {
		all.findings = append(all.findings, fmt.Sprintf("%s %s %s", f.Code, f.Target, f.Fragment))
	}
	return all
}

// compare returns the addresses that only the site before answers, and the findings that
// only the one after has.
func compare(t *testing.T, before, after published) (lost, worse []string) {
	tree := before.Site.Tree()
	for i := range tree.Len() {
		address := before.Site.Href(docroot.NodeID(i))
		if answers(before.Site.Request(address)) && !answers(after.Site.Request(address)) && tree.Path(docroot.NodeID(i)) != "_redirects" {
			lost = append(lost, address)
		}
	}
	for _, f := range after.findings {
		if !slices.Contains(before.findings, f) {
			worse = append(worse, f)
		}
	}
	return lost, worse
}
