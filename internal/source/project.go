package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Generator is the program that made the pages.
type Generator string

// The generators whose projects are recognised.
const (
	None       Generator = ""
	Hugo       Generator = "hugo"
	Jekyll     Generator = "jekyll"
	Eleventy   Generator = "eleventy"
	Zola       Generator = "zola"
	MkDocs     Generator = "mkdocs"
	Astro      Generator = "astro"
	Docusaurus Generator = "docusaurus"
	// Plain is a directory with Markdown files and no generator that is known.
	Plain Generator = "plain"
)

// markers are the files that tell a generator, in the order of their weight.
// also must be there too, when not empty: names that others use as well.
var markers = []struct {
	generator Generator
	names     []string
	also      []string
}{
	{Hugo, []string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config/_default"}, nil},
	{Hugo, []string{"config.toml", "config.yaml", "config.yml", "config.json"}, []string{"layouts", "themes", "archetypes", "_vendor"}},
	{Jekyll, []string{"_config.yml", "_config.yaml", "_config.toml"}, nil},
	{Eleventy, []string{"eleventy.config.js", "eleventy.config.mjs", "eleventy.config.cjs", "eleventy.config.ts", ".eleventy.js"}, nil},
	{Zola, []string{"zola.toml"}, nil},
	{Zola, []string{"config.toml"}, []string{"templates"}},
	{MkDocs, []string{"mkdocs.yml", "mkdocs.yaml"}, nil},
	{Astro, []string{"astro.config.mjs", "astro.config.js", "astro.config.ts", "astro.config.cjs"}, nil},
	{Docusaurus, []string{"docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs"}, nil},
	{Hugo, []string{"config.toml", "config.yaml", "config.yml", "config.json"}, []string{"content"}},
}

// Detect tells which generator's project a directory is, None if no file says so.
func Detect(dir fs.FS) Generator {
	for _, m := range markers {
		if anyOf(dir, m.names) && (m.also == nil || anyOf(dir, m.also)) {
			return m.generator
		}
	}
	return None
}

func anyOf(dir fs.FS, names []string) bool {
	for _, name := range names {
		if _, err := fs.Stat(dir, name); err == nil {
			return true
		}
	}
	return false
}

// FindProject looks for the project that a docroot was built from. above are
// the directories above the docroot, others further ones that may have built it
// elsewhere, such as the working directory; the likeliest first. The first that a
// generator's configuration marks is returned; else the first of above that
// holds Markdown where such projects have it. dir is empty when there is none.
func FindProject(above, others []string) (dir string, g Generator) {
	for _, dir := range slices.Concat(above, others) {
		if g := Detect(os.DirFS(dir)); g != None {
			return dir, g
		}
	}
	for _, dir := range above {
		for _, sub := range []string{"content", "docs", "src", "posts", "pages"} {
			if hasMarkdown(os.DirFS(dir), sub) {
				return dir, Plain
			}
		}
	}
	return "", None
}

// maxPeek bounds how many entries of a directory are looked at for Markdown.
const maxPeek = 200

func hasMarkdown(dir fs.FS, sub string) bool {
	seen, found := 0, false
	fs.WalkDir(dir, sub, func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxPeek || err != nil {
			return fs.SkipAll
		}
		if !d.IsDir() && isMarkdown(name) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mdx", ".mkd":
		return true
	}
	return false
}

// cause strips the operation and path off an error: the message has them.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
