// Package generator knows static site generators: how to recognise the project of
// each, where it writes the site, at which address the site is published, and
// which command builds it.
//
// [Detect] finds the [Project] in a directory, [Project.Settings] reads its
// configuration, and [Project.Command] returns the command that builds it. Each
// generator is a row of a table; Hugo has a file of its own. The package builds
// and writes nothing. It starts only programs that print the configuration of a
// project, through a [Runner].
//
// docs/guide/getting-started-other.md is the manual.
package generator

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Name names a generator: "hugo".
type Name string

// The generators whose projects are recognised.
const (
	None       Name = ""
	Hugo       Name = "hugo"
	Jekyll     Name = "jekyll"
	Eleventy   Name = "eleventy"
	Zola       Name = "zola"
	MkDocs     Name = "mkdocs"
	Astro      Name = "astro"
	Docusaurus Name = "docusaurus"
	// Plain is a directory with Markdown files and no known generator.
	Plain Name = "plain"
)

// Title is the name as its makers write it: "Hugo".
func (n Name) Title() string {
	if r := rowOf(n); r != nil {
		return r.title
	}
	return string(n)
}

// Project is a directory that a generator makes a site from.
type Project struct {
	Generator Name
	// Dir is the directory as it was given to [Detect].
	Dir string
	// Configs are the generator's configuration files, slash paths relative to
	// Dir. A later one overrides those before it.
	Configs []string
	// Docroot is where the generator writes the site by default, a slash path
	// relative to Dir. [Settings] has the configured directory.
	Docroot string
}

// Detect finds the generator's project in a directory by its configuration files.
// ok is false if there is none. A file that cannot be read counts as missing.
func Detect(dir string) (p Project, ok bool) {
	tree := os.DirFS(dir)
	for _, m := range marks {
		if anyOf(tree, m.names) && (m.also == nil || anyOf(tree, m.also)) {
			name := m.generator
			if name == Hugo && m.names[0] == "config.toml" && isZola(tree) {
				name = Zola
			}
			r := rowOf(name)
			return Project{name, dir, r.configs(tree, r.files), r.docroot}, true
		}
	}
	return Project{}, false
}

// Find looks for the project that a docroot was built from. above are the
// directories above the docroot, others are directories that may have built it
// elsewhere, such as the working directory; the likeliest come first. Find returns
// the first with a generator's configuration, else the first of above with
// Markdown files in the usual directories, as [Plain].
func Find(above, others []string) (p Project, ok bool) {
	for _, dirs := range [][]string{above, others} {
		for _, dir := range dirs {
			if p, ok := Detect(dir); ok {
				return p, true
			}
		}
	}
	for _, dir := range above {
		for _, sub := range []string{"content", "docs", "src", "posts", "pages"} {
			if hasMarkdown(os.DirFS(dir), sub) {
				return Project{Generator: Plain, Dir: dir}, true
			}
		}
	}
	return Project{}, false
}

func anyOf(dir fs.FS, names []string) bool {
	for _, name := range names {
		if _, err := fs.Stat(dir, name); err == nil {
			return true
		}
	}
	return false
}

// maxPeek bounds how many entries of a directory are examined for Markdown.
const maxPeek = 200

func hasMarkdown(dir fs.FS, sub string) bool {
	seen, found := 0, false
	fs.WalkDir(dir, sub, func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxPeek || err != nil {
			return fs.SkipAll
		}
		if !d.IsDir() && IsMarkdown(name) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// IsMarkdown reports whether a file holds Markdown, by its name.
func IsMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mdx", ".mkd":
		return true
	}
	return false
}

// IsConfig reports whether a file of that name in the top directory of a project
// is the configuration of a generator.
func IsConfig(name string) bool {
	for i := range marks {
		if slices.Contains(marks[i].names, name) {
			return true
		}
	}
	return false
}
