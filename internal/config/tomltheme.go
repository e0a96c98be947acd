package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Theme is a [[templates.theme]] table: a theme of Hugo and the template that it
// leaves to its users, beside those that `sitelink inject` knows.
type Theme struct {
	// Name is the theme's directory or the end of its module's path.
	Name string
	// Stub is the partial, as the theme calls it: head/custom.html.
	Stub string
}

// themeFields are the keys of the table, each with what takes its value.
var themeFields = []struct {
	name string
	set  func(t *Theme, text string) error
}{
	{"name", func(t *Theme, text string) error { t.Name = text; return nil }},
	{"stub", func(t *Theme, text string) error {
		if !fs.ValidPath(text) || text == "." || strings.ContainsAny(text, "\"`{}\\") {
			return fmt.Errorf("want the path of a partial such as head/custom.html, got %q", text)
		}
		t.Stub = text
		return nil
	}},
}

// themeHeader begins a [[templates.theme]].
func (f *tomlFile) themeHeader(at *Error) {
	f.cfg.Templates.Themes = append(f.cfg.Templates.Themes, Theme{})
	f.themeAt = append(f.themeAt, at)
}

// themeKey takes one key of the last [[templates.theme]].
func (f *tomlFile) themeKey(path []string, at *Error, n *unstable.Node) {
	name := strings.Join(path, ".")
	themes := f.cfg.Templates.Themes
	if len(f.themeAt) == 0 {
		f.failAt(at, "write [[templates.theme]]", "theme is a list of tables")
		return
	}
	var names []string
	for _, field := range themeFields {
		names = append(names, field.name)
		if field.name != name {
			continue
		}
		text, err := hookText(n)
		if err == nil && strings.TrimSpace(text) == "" {
			err = errors.New("the value is empty")
		}
		if err == nil {
			err = field.set(&themes[len(themes)-1], text)
		}
		if err != nil {
			f.failAt(at, "", "%s: %v", name, err)
			f.themeAt[len(f.themeAt)-1] = nil // one message is enough
		}
		return
	}
	f.failAt(at, didYouMean(name, names), "unknown key %q in [[templates.theme]]", name)
}

// inlineThemes takes theme = [{name = "...", stub = "..."}, ...].
func (f *tomlFile) inlineThemes(at *Error, n *unstable.Node) {
	if n.Kind != unstable.Array {
		f.failAt(at, "write [[templates.theme]]", "theme is a list of tables, got %s", describe(n))
		return
	}
	for it := n.Children(); it.Next(); {
		table := it.Node()
		if table.Kind != unstable.InlineTable {
			f.failAt(at, "write [[templates.theme]]", "theme is a list of tables, got %s in it", describe(table))
			return
		}
		f.themeHeader(f.at(table))
		for fields := table.Children(); fields.Next(); {
			path, first := keyPath(fields.Node().Key())
			f.themeKey(path, f.at(first), fields.Node().Value())
		}
	}
}

// endThemes demands what a table must have.
func (f *tomlFile) endThemes() {
	for i, at := range f.themeAt {
		t := f.cfg.Templates.Themes[i]
		switch {
		case at == nil:
		case t.Name == "":
			f.failAt(at, `add name = "..."`, "templates.theme: the table names no theme")
		case t.Stub == "":
			f.failAt(at, `add stub = "head/custom.html", as the theme calls it`, "templates.theme: the table names no stub")
		}
	}
}
