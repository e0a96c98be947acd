package move

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/pelletier/go-toml/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestMain is the stand-in for the generators too: the tests run without them, and .ci/run
// runs them again with SITELINK_HUGO and others, so with the programs themselves.
func TestMain(m *testing.M) {
	stand := map[string]func(args []string) error{"hugo": standIn, "jekyll": jekyllStandIn, "mkdocs": pagesStandIn, "npx": pagesStandIn}[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]
	if stand == nil {
		testkit.InMemory()
		os.Exit(m.Run())
	}
	if err := stand(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR", err)
		os.Exit(1)
	}
}

// hugoEnv puts Hugo on the path: SITELINK_HUGO, or the stand-in.
func hugoEnv(t *testing.T) {
	t.Helper()
	if hugo := os.Getenv("SITELINK_HUGO"); hugo != "" {
		t.Setenv("PATH", filepath.Dir(hugo)+string(os.PathListSeparator)+os.Getenv("PATH"))
		return
	}
	standInFor(t, "hugo")
}

// jekyllEnv puts Jekyll on the path: the installed one with SITELINK_HUGO, or the stand-in.
func jekyllEnv(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("jekyll"); err != nil || os.Getenv("SITELINK_HUGO") == "" {
		standInFor(t, "jekyll")
	}
}

func standInFor(t *testing.T, program string) {
	t.Helper()
	own, err := os.Executable()
	dir := t.TempDir()
	if err == nil {
		err = os.Symlink(own, filepath.Join(dir, program+strings.TrimSuffix(filepath.Ext(own), ".test")))
	}
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// standInSite does of Hugo what the sites of these tests need: pages, sections, bundles,
// aliases, languages, mounts, ref, menus, shortcodes and layouts.
type standInSite struct {
	config struct {
		BaseURL                        string
		Theme                          string
		UglyURLs                       bool
		DefaultContentLanguage         string
		DefaultContentLanguageInSubdir bool
		Permalinks                     map[string]string
		Languages                      map[string]struct {
			BaseURL, ContentDir string
		}
		Module struct {
			Mounts []struct{ Source, Target string }
		}
		Menus map[string][]struct{ Name, URL, PageRef string }
	}
	multihost bool
	out       string
	content   []mount
	pages     []*standInPage
}

type standInPage struct {
	Title                      string
	Params                     map[string]any
	RelPermalink, Content      string
	Pages                      []*standInPage
	file, logical, lang, alias string // file is relative to the project, alias is the directory of relative aliases
	name                       string // in the docroot
	section                    bool
	text                       string
	site                       *standInSite
}

func (p *standInPage) GetTerms(string) []string { return nil }

func standIn(args []string) error {
	s := &standInSite{out: "public"}
	text, err := os.ReadFile("hugo.toml")
	if err == nil {
		err = toml.Unmarshal(text, &s.config)
	}
	if err != nil {
		return err
	}
	lang := ""
	for i, arg := range args {
		if arg == "--destination" {
			s.out = args[i+1]
		} else if arg == "--lang" {
			lang = args[i+1]
		}
	}
	for name, l := range s.config.Languages {
		s.multihost = s.multihost || l.BaseURL != ""
		if l.ContentDir != "" {
			s.content = append(s.content, mount{dir: l.ContentDir, target: name})
		}
	}
	for _, m := range s.config.Module.Mounts {
		if rest, ok := strings.CutPrefix(m.Target+"/", "content/"); ok {
			s.content = append(s.content, mount{dir: m.Source, target: strings.Trim(rest, "/")})
		}
	}
	if len(s.content) == 0 {
		s.content = []mount{{dir: "content"}}
	}
	switch command := strings.Join(args[:min(2, len(args))], " "); command {
	case "config mounts":
		return s.printMounts()
	case "config --format":
		return json.NewEncoder(os.Stdout).Encode(map[string]any{"publishdir": "public", "baseurl": s.base(cmp.Or(lang, s.config.DefaultContentLanguage, "en")),
			"languages": s.config.Languages, "defaultcontentlanguage": cmp.Or(s.config.DefaultContentLanguage, "en")})
	case "list all":
		if err := s.read(); err != nil {
			return err
		}
		fmt.Println("path,slug,title,date,expiryDate,publishDate,draft,permalink,kind,section")
		for _, p := range s.pages {
			if p.file != "" {
				base, _ := url.Parse(s.base(p.lang))
				fmt.Printf("%s,,,,,,%v,%s://%s%s,page,\n", p.file, p.Params["draft"] == true, base.Scheme, base.Host, p.RelPermalink)
			}
		}
		return nil
	}
	if err := s.read(); err != nil {
		return err
	}
	return s.build()
}

func (s *standInSite) printMounts() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	type mounted struct{ Source, Target, Lang string }
	modules := []map[string]any{{"path": "project", "dir": dir + "/"}}
	var own []mounted
	for _, m := range s.content {
		at := mounted{m.dir, path.Join("content", m.target), ""}
		if s.config.Languages[m.target].ContentDir != "" {
			at.Target, at.Lang = "content", m.target
		}
		own = append(own, at)
	}
	modules[0]["mounts"] = append(own, mounted{"static", "static", ""}, mounted{"layouts", "layouts", ""})
	if s.config.Theme != "" {
		modules = append(modules, map[string]any{"path": s.config.Theme, "dir": dir + "/themes/" + s.config.Theme + "/", "mounts": []mounted{{"static", "static", ""}, {"layouts", "layouts", ""}}})
	}
	for _, m := range modules {
		if err := json.NewEncoder(os.Stdout).Encode(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *standInSite) base(lang string) string {
	return cmp.Or(s.config.Languages[lang].BaseURL, s.config.BaseURL)
}

// prefixes are what comes before the paths of a language in addresses and in the docroot.
func (s *standInSite) prefixes(lang string) (address, dir string) {
	base, _ := url.Parse(s.base(lang))
	address = strings.TrimSuffix(base.Path, "/")
	switch isDefault := lang == "" || lang == cmp.Or(s.config.DefaultContentLanguage, "en"); {
	case s.multihost:
		return address, lang
	case !isDefault || s.config.DefaultContentLanguageInSubdir && lang != "":
		return address + "/" + lang, lang
	}
	return address, ""
}

var frontMatter = regexp.MustCompile(`(?s)^(?:\x{feff})?(---|\+\+\+)\r?\n(.*?)(?:---|\+\+\+)\r?\n`)

// read reads the pages, with the sections that need no file.
func (s *standInSite) read() error {
	for _, m := range s.content {
		err := filepath.WalkDir(m.dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
				return nil
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(m.dir, name)
			p := &standInPage{file: filepath.ToSlash(name), Params: map[string]any{}, site: s}
			target := m.target
			if s.config.Languages[target].ContentDir != "" {
				p.lang, target = target, ""
			} else if len(s.config.Languages) > 0 {
				p.lang = cmp.Or(s.config.DefaultContentLanguage, "en")
			}
			p.text = string(text)
			if at := frontMatter.FindStringSubmatchIndex(p.text); at != nil {
				matter := strings.ReplaceAll(p.text[at[4]:at[5]], "\r", "")
				if p.text[at[2]] == '-' {
					err = yaml.Unmarshal([]byte(matter), &p.Params)
				} else {
					err = toml.Unmarshal([]byte(matter), &p.Params)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				p.text = p.text[at[1]:]
			}
			p.Title, _ = p.Params["title"].(string)
			stem := strings.TrimSuffix(path.Join(target, filepath.ToSlash(rel)), ".md")
			for lang := range s.config.Languages {
				if rest, ok := strings.CutSuffix(stem, "."+lang); ok {
					stem, p.lang = rest, lang
				}
			}
			p.logical = strings.ReplaceAll(strings.ToLower(stem), " ", "-")
			if base := path.Base(p.logical); base == "index" || base == "_index" {
				p.logical, p.section = strings.TrimPrefix(path.Dir(p.logical), "."), base == "_index"
			}
			s.pages = append(s.pages, p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, lang := range slices.Sorted(maps.Keys(s.config.Languages)) {
		s.addSections(lang)
	}
	if len(s.config.Languages) == 0 {
		s.addSections("")
	}
	for _, p := range s.pages {
		s.place(p)
	}
	return nil
}

// addSections adds the home page and those of the directories at the top.
func (s *standInSite) addSections(lang string) {
	need := map[string]bool{"": true}
	for _, p := range s.pages {
		if top, _, ok := strings.Cut(p.logical, "/"); ok && p.lang == lang {
			need[top] = true
		}
	}
	for _, p := range s.pages {
		if p.lang == lang {
			delete(need, p.logical)
		}
	}
	for _, logical := range slices.Sorted(maps.Keys(need)) {
		s.pages = append(s.pages, &standInPage{Title: logical, logical: logical, lang: lang, section: true, site: s})
	}
}

// place gives a page its address.
func (s *standInSite) place(p *standInPage) {
	prefix, dir := s.prefixes(p.lang)
	at := "/" + p.logical
	section, _, _ := strings.Cut(p.logical, "/")
	if pattern := s.config.Permalinks[section]; pattern != "" && !p.section {
		at = strings.TrimSuffix(strings.ReplaceAll(pattern, ":title", strings.ToLower(p.Title)), "/")
	}
	if slug, ok := p.Params["slug"].(string); ok {
		at = path.Join(path.Dir(at), slug)
	}
	if given, ok := p.Params["url"].(string); ok {
		at = strings.TrimSuffix(given, "/")
	}
	at = strings.TrimSuffix(at, "/")
	p.alias = path.Join("/", dir, path.Dir(at))
	if s.config.UglyURLs && !p.section && at != "" {
		p.name, at = path.Join(dir, at+".html"), at+".html"
	} else {
		p.name, at = path.Join(dir, at, "index.html"), at+"/"
	}
	p.RelPermalink = prefix + at
}

// find returns the page that ref names on another one.
func (s *standInSite) find(on *standInPage, ref string) (*standInPage, error) {
	ref = strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(ref, " ", "-")), ".md")
	for lang := range s.config.Languages {
		ref = strings.TrimSuffix(ref, "."+lang)
	}
	if base := path.Base(ref); base == "index" || base == "_index" {
		ref = path.Dir(ref)
	}
	dir := path.Dir(on.logical)
	if strings.Contains(on.file, "/index.") || strings.Contains(on.file, "_index.") {
		dir = on.logical
	}
	names := []string{path.Join(dir, ref), path.Join(path.Dir(dir), ref), strings.Trim(ref, "/")}
	if strings.HasPrefix(ref, "/") {
		names = names[2:]
	}
	for _, name := range names {
		for _, p := range s.pages {
			if p.lang == on.lang && p.logical == strings.TrimPrefix(name, "./") {
				return p, nil
			}
		}
	}
	var found []*standInPage
	for _, p := range s.pages {
		if p.lang == on.lang && path.Base(p.logical) == ref {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("REF_NOT_FOUND: Ref %q: %q: %d pages", ref, on.file, len(found))
	}
	return found[0], nil
}

var (
	shortcode = regexp.MustCompile(`\{\{[<%]\s*(\w+)((?:\s+(?:\w+=)?"[^"]*")*)\s*[>%]\}\}`)
	argument  = regexp.MustCompile(`(?:(\w+)=)?"([^"]*)"`)
)

// standInShortcode is the context of the template of a shortcode.
type standInShortcode map[any]string

func (c standInShortcode) Get(key any) string { return c[key] }

func (s *standInSite) render(p *standInPage) (err error) {
	text := shortcode.ReplaceAllStringFunc(p.text, func(code string) string {
		m, args := shortcode.FindStringSubmatch(code), standInShortcode{}
		for i, a := range argument.FindAllStringSubmatch(m[2], -1) {
			if args[i] = a[2]; a[1] != "" {
				args[a[1]] = a[2]
			}
		}
		if m[1] == "ref" || m[1] == "relref" {
			name, fragment, _ := strings.Cut(args[0], "#")
			to, findErr := p, error(nil)
			if name != "" {
				to, findErr = s.find(p, name)
			}
			if err = cmp.Or(err, findErr); err != nil {
				return ""
			}
			if fragment != "" {
				fragment = "#" + fragment
			}
			return to.RelPermalink + fragment
		}
		out, execErr := s.execute("shortcodes/"+m[1]+".html", args)
		err = cmp.Or(err, execErr)
		return out
	})
	if err != nil {
		return err
	}
	raw, _ := os.ReadFile("hugo.toml")
	options := []goldmark.Option{goldmark.WithParserOptions(parser.WithAutoHeadingID())}
	if bytes.Contains(raw, []byte("unsafe = true")) {
		options = append(options, goldmark.WithRendererOptions(html.WithUnsafe()))
	}
	var out bytes.Buffer
	err = goldmark.New(options...).Convert([]byte(text), &out)
	p.Content = out.String()
	return err
}

func (s *standInSite) execute(layout string, data any) (string, error) {
	text, err := os.ReadFile(filepath.Join("layouts", layout))
	if err != nil {
		if text, err = os.ReadFile(filepath.Join("themes", s.config.Theme, "layouts", layout)); err != nil {
			return "", err
		}
	}
	base, _ := url.Parse(s.config.BaseURL)
	menus := map[string][]map[string]string{}
	for name, entries := range s.config.Menus {
		for _, e := range entries {
			to := base.Path + strings.TrimPrefix(e.URL, "/")
			if e.PageRef != "" {
				p, err := s.find(&standInPage{}, e.PageRef)
				if err != nil {
					return "", err
				}
				to = p.RelPermalink
			}
			menus[name] = append(menus[name], map[string]string{"Name": e.Name, "URL": to})
		}
	}
	t, err := template.New(layout).Funcs(template.FuncMap{
		"site":      func() map[string]any { return map[string]any{"Menus": menus, "Data": s.data(), "GetPage": s.getPage} },
		"relURL":    func(to string) string { return base.Path + to },
		"slice":     func(all ...any) []any { return all },
		"replaceRE": func(re, with, text string) string { return regexp.MustCompile(re).ReplaceAllString(text, with) },
		"readFile": func(name string) (string, error) {
			text, err := os.ReadFile(strings.TrimPrefix(name, "/"))
			return string(text), err
		},
		"errorf":  func(format string, args ...any) (string, error) { return "", fmt.Errorf(format, args...) },
		"strings": func() standInStrings { return standInStrings{} },
	}).Parse(strings.ReplaceAll(string(text), "site.GetPage ", "call site.GetPage "))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, data)
	return out.String(), err
}

type standInStrings struct{}

func (standInStrings) TrimPrefix(prefix, text string) string { return strings.TrimPrefix(text, prefix) }

func (s *standInSite) getPage(ref string) *standInPage {
	p, _ := s.find(&standInPage{}, ref)
	return p
}

func (s *standInSite) data() map[string]any {
	all := map[string]any{}
	names, _ := filepath.Glob("data/*.json")
	for _, name := range names {
		var v any
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &v) == nil {
			all[strings.TrimSuffix(filepath.Base(name), ".json")] = v
		}
	}
	return all
}

func (s *standInSite) write(name, text string) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

func (s *standInSite) build() error {
	langs := []string{""}
	if s.multihost {
		langs = slices.Collect(maps.Keys(s.config.Languages))
	}
	for _, from := range []string{filepath.Join("themes", s.config.Theme, "static"), "static"} {
		for name, text := range standInFiles(from) {
			for _, lang := range langs {
				if err := s.write(path.Join(lang, name), text); err != nil {
					return err
				}
			}
		}
	}
	for _, p := range s.pages {
		for _, other := range s.pages {
			if p.section && other != p && other.lang == p.lang && strings.HasPrefix(other.logical, p.logical) {
				p.Pages = append(p.Pages, other)
			}
		}
	}
	for _, p := range s.pages { // an alias gives way to a page
		all, _ := p.Params["aliases"].([]any)
		_, dir := s.prefixes(p.lang)
		for _, alias := range all {
			name := alias.(string)
			if strings.HasPrefix(name, "/") {
				name = path.Join("/", dir, name)
			} else {
				name = path.Join(p.alias, name)
			}
			if path.Ext(name) != ".html" {
				name += "/index.html"
			}
			text := "<!doctype html><title>x</title><link rel=\"canonical\" href=\"" + p.RelPermalink + "\"><meta http-equiv=\"refresh\" content=\"0; url=" + p.RelPermalink + "\">"
			if err := s.write(name, text); err != nil {
				return err
			}
		}
	}
	for _, p := range s.pages {
		if err := s.render(p); err != nil {
			return err
		}
		layout := "/single.html"
		if p.section {
			layout = "/list.html"
		}
		section, _, _ := strings.Cut(strings.TrimPrefix(p.logical, "/"), "/")
		text, err := s.execute(section+layout, p)
		if os.IsNotExist(err) { // of the layout, not of a file that it reads
			text, err = s.execute("_default"+layout, p)
		}
		if os.IsNotExist(err) {
			continue // Hugo warns
		}
		if err == nil {
			err = s.write(p.name, text)
		}
		if err != nil {
			return err
		}
		if path.Base(p.file) == "index.md" || path.Base(p.file) == "_index.md" || strings.HasPrefix(path.Base(p.file), "index.") { // the files of a bundle
			for name, text := range standInFiles(path.Dir(p.file)) {
				if path.Ext(name) != ".md" && !(p.section && strings.Contains(name, "/")) {
					if err := s.write(path.Join(strings.TrimSuffix(strings.TrimSuffix(p.name, "index.html"), ".html"), name), text); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// standInFiles returns the files below a directory.
func standInFiles(dir string) map[string]string {
	files := map[string]string{}
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, err := os.ReadFile(name)
			rel, _ := filepath.Rel(dir, name)
			files[filepath.ToSlash(rel)] = string(text)
			return err
		}
		return nil
	})
	return files
}

// jekyllStandIn does of Jekyll what the sites of these tests need: pages and posts with
// layouts, the tags link, post_url and raw, and jekyll-redirect-from.
func jekyllStandIn(args []string) error {
	out := "_site"
	for i, arg := range args {
		if arg == "--destination" || arg == "-d" {
			out = args[i+1]
		}
	}
	text, err := os.ReadFile("_config.yml")
	if err != nil {
		return err
	}
	var config struct {
		URL              string
		Include, Plugins []string
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return err
	}
	s := &standInSite{out: out}
	type source struct{ text, name string }
	pages, posts := map[string]source{}, map[string]string{}
	matters := map[string]map[string]any{}
	for file, text := range standInFiles(".") {
		isPost := strings.HasPrefix(file, "_posts/")
		if top := file[0]; !isPost && (top == '_' || top == '.') && !slices.Contains(config.Include, file) {
			continue
		}
		at := frontMatter.FindStringSubmatchIndex(text)
		if at == nil {
			if err := s.write(file, text); err != nil {
				return err
			}
			continue
		}
		name, matter := strings.TrimSuffix(file, ".md"), map[string]any{}
		if err := yaml.Unmarshal([]byte(text[at[4]:at[5]]), &matter); err != nil {
			return err
		}
		if isPost {
			posts[strings.TrimPrefix(name, "_posts/")] = file
			name = strings.Replace(strings.TrimPrefix(name, "_posts/"), "-", "/", 3)
		}
		matters[file] = matter
		pages[file] = source{text[at[1]:], strings.TrimSuffix(name, ".html") + ".html"}
	}
	for file, page := range pages {
		var out bytes.Buffer
		text, err := jekyllTags(page.text, func(file string) string { return pages[file].name }, posts)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(text), &out); err != nil {
			return err
		}
		text = out.String()
		if layout, ok := matters[file]["layout"].(string); ok {
			around, err := os.ReadFile("_layouts/" + layout + ".html")
			if err != nil {
				return err
			}
			title, _ := matters[file]["title"].(string)
			shell, err := jekyllTags(string(around), func(file string) string { return pages[file].name }, posts)
			if err != nil {
				return err
			}
			text = strings.NewReplacer("{{ page.title }}", title, "{{ content }}", text).Replace(shell)
		}
		if err := s.write(page.name, text); err != nil {
			return err
		}
		from, _ := matters[file]["redirect_from"].([]any)
		for _, old := range from {
			to := config.URL + "/" + page.name
			name := strings.TrimPrefix(old.(string), "/")
			if path.Ext(name) != ".html" {
				name = path.Join(name, "index.html")
			}
			if err := s.write(name, "<!doctype html><title>x</title><link rel=\"canonical\" href=\""+to+"\"><meta http-equiv=\"refresh\" content=\"0; url="+to+"\">"); err != nil {
				return err
			}
		}
	}
	return nil
}

var jekyllTag = regexp.MustCompile(`\{% raw %\}(.*?)\{% endraw %\}|\{% (link|post_url) (\S+) %\}`)

func jekyllTags(text string, nameOf func(file string) string, posts map[string]string) (out string, err error) {
	out = jekyllTag.ReplaceAllStringFunc(text, func(tag string) string {
		m := jekyllTag.FindStringSubmatch(tag)
		if m[2] == "" {
			return m[1]
		}
		file := m[3]
		if m[2] == "post_url" {
			file = posts[file]
		}
		if nameOf(file) == "" {
			err = fmt.Errorf("could not find %s", m[3])
		}
		return "/" + nameOf(file)
	})
	return out, err
}

var (
	relativeFile = regexp.MustCompile(`(?m)(?:^layout: |from ')(\.[^'\n]+)`)
	markdownLink = regexp.MustCompile(`\]\(([^)#]+\.md)`)
)

// pagesStandIn does of MkDocs and Astro what the sites of these tests need: a page for each
// file, links to files, and layouts that must exist.
func pagesStandIn(args []string) error {
	s, dir := &standInSite{out: args[len(args)-1]}, "docs"
	if slices.Contains(args, "astro") {
		dir = "src/pages"
	}
	address := func(file string) string {
		return path.Join("/", strings.TrimSuffix(strings.TrimSuffix(file, path.Ext(file)), "index"))
	}
	files := standInFiles(dir)
	for file, text := range files {
		for _, m := range relativeFile.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path.Join(dir, path.Dir(file), m[1])); err != nil {
				return err
			}
		}
		text = frontMatter.ReplaceAllString(text, "")
		name := path.Join(address(file), "index.html")
		switch path.Ext(file) {
		case ".md":
			text = markdownLink.ReplaceAllStringFunc(text, func(link string) string {
				if to := path.Join(path.Dir(file), link[2:]); files[to] != "" {
					return "](" + strings.TrimSuffix(address(to), "/") + "/"
				}
				return link
			})
			var out bytes.Buffer
			if err := goldmark.New(goldmark.WithParserOptions(parser.WithAutoHeadingID())).Convert([]byte(text), &out); err != nil {
				return err
			}
			text = out.String()
		case ".astro":
		default:
			name = file
		}
		if err := s.write(name, text); err != nil {
			return err
		}
	}
	return nil
}
