package inject

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
)

var (
	themeLine = regexp.MustCompile(`(?m)^"?theme"?\s*[=:]\s*\[?["']?([\w./-]+)`)
	layoutDir = regexp.MustCompile(`(?m)^layoutDir\s*=\s*["']([^"']+)`)
	mountRow  = regexp.MustCompile(`source = "([^"]+)"\ntarget = "layouts/([^"]+)"`)
	ending    = regexp.MustCompile(`\.md$`)
)

func configOf(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "hugo.*"))
	for _, name := range found {
		if text, err := os.ReadFile(name); err == nil {
			return string(text)
		}
	}
	return ""
}

// themesOf returns the directories of the theme, and of the themes that it uses.
func themesOf(dir string) (all []string) {
	for at := dir; ; {
		m := themeLine.FindStringSubmatch(configOf(at))
		if m == nil {
			return all
		}
		at = filepath.Join(dir, "themes", m[1])
		all = append(all, at)
	}
}

// smallPage is what a template gets.
type smallPage struct {
	Kind, Title, Content, Permalink string
	Params                          map[string]any
}

// buildSmall builds a small Hugo site without Hugo: layouts of the project and its themes,
// partials, baseof templates, and mounts of layouts. It writes the home page, and one page
// for each Markdown file.
func buildSmall(dir, out string) error {
	s := smallSite{}
	if m := layoutDir.FindStringSubmatch(configOf(dir)); m != nil {
		s.add(filepath.Join(dir, filepath.FromSlash(m[1])), "")
	}
	s.add(filepath.Join(dir, "layouts"), "")
	if text, err := os.ReadFile(filepath.Join(dir, "config/_default/module.toml")); err == nil {
		for _, m := range mountRow.FindAllStringSubmatch(string(text), -1) {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m[1])))
			if err != nil {
				return err
			}
			s[smallKey(m[2])] = string(text)
		}
	}
	for _, theme := range themesOf(dir) {
		s.add(filepath.Join(theme, "layouts"), "")
	}
	pages := map[string]smallPage{"index.html": {Kind: "home", Title: "Home"}}
	err := fs.WalkDir(os.DirFS(dir), "content", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			rel := ending.ReplaceAllString(strings.TrimPrefix(name, "content/"), "/index.html")
			pages[rel] = smallPage{Kind: "page", Title: path.Dir(rel), Permalink: "/" + strings.TrimSuffix(rel, "index.html")}
		}
		return nil
	})
	for name, p := range pages {
		section, _, _ := strings.Cut(name, "/")
		text, renderErr := s.render(p, section)
		if renderErr == nil && text != nil {
			name = filepath.Join(out, filepath.FromSlash(name))
			renderErr = errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, text, 0o666))
		}
		err = errors.Join(err, renderErr)
	}
	return err
}

// smallSite has the layouts by their names.
type smallSite map[string]string

func (s smallSite) add(dir, below string) {
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(dir, name)
		text, err := os.ReadFile(name)
		if k := smallKey(path.Join(below, filepath.ToSlash(rel))); err == nil {
			if _, above := s[k]; !above {
				s[k] = string(text)
			}
		}
		return nil
	})
}

func smallKey(name string) string {
	name = strings.TrimPrefix(name, "_default/")
	if rest, ok := strings.CutPrefix(name, "partials/"); ok {
		return "_partials/" + rest
	}
	return name
}

// render returns a page, nil if there is no template for it.
func (s smallSite) render(p smallPage, section string) ([]byte, error) {
	names := []string{"single.html", "all.html"}
	if p.Kind == "home" {
		names = []string{"index.html", "list.html", "all.html"}
	}
	text := ""
	for _, name := range names {
		if text = s[name]; text != "" {
			break
		}
	}
	if text == "" || strings.Contains(text, "define") {
		base := s[section+"/baseof.html"]
		if base == "" {
			base = s["baseof.html"]
		}
		text = base + text
	}
	if text == "" {
		return nil, nil
	}
	return s.execute(text, p, p)
}

func (s smallSite) execute(text string, data any, p smallPage) ([]byte, error) {
	partial := func(name string, data ...any) (string, error) {
		name = strings.TrimPrefix(name, "partials/")
		if path.Ext(name) == "" {
			name += ".html"
		}
		text, ok := s["_partials/"+name]
		if !ok {
			return "", fmt.Errorf("partial %q not found", name)
		}
		var dot any
		if len(data) > 0 {
			dot = data[0]
		}
		out, err := s.execute(text, dot, p)
		return string(out), err
	}
	t, err := template.New("").Funcs(template.FuncMap{
		"partial": partial, "partialCached": partial, "page": func() smallPage { return p }, "site": func() map[string]string { return map[string]string{"a": "b"} },
		"partials":  func() include { return include{partial} },
		"templates": func() exists { return exists{s} },
		"slice":     func(all ...any) []any { return all },
		"in":        func(all []any, one string) bool { return slices.Contains(all, any(one)) },
		"seq":       func(n int) []int { return make([]int, n) },
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

type include struct {
	partial func(name string, data ...any) (string, error)
}

// Include is the function partials.Include.
func (i include) Include(name string, data ...any) (string, error) { return i.partial(name, data...) }

type exists struct{ s smallSite }

// Exists is the function templates.Exists.
func (e exists) Exists(name string) bool {
	_, ok := e.s[smallKey(name)]
	return ok
}

// TestCachedPartial: of a cached partial, the first page that Hugo happens to build writes the
// elements for all pages, so it is no place for them.
func TestCachedPartial(t *testing.T) {
	for call, matches := range map[string]bool{`{{ partial "a.html" . }}`: true, `{{ partials.Include "a.html" . }}`: true, `{{ partialCached "a.html" . }}`: false, `{{ partials.IncludeCached "a.html" . }}`: false} {
		if got := partialCall().MatchString(call); got != matches {
			t.Errorf("%s: %t", call, got)
		}
	}
}
