// Package generator knows the programs that make static sites: how the project
// of each is recognised, where it writes the site, at which address the site is
// published, and by which command it is built.
//
// The directory of a project enters; a [Project] and its [Settings] leave. A
// generator is a file of this package and a row of its table. Nothing is built
// and nothing is written here. The only programs that are started are those that
// print the configuration of a project, through a [Runner].
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
	// Plain is a directory with Markdown files and no generator that is known.
	Plain Name = "plain"
)

// Title is the name as its makers write it: "Hugo".
func (n Name) Title() string {
	if r := rowOf(n); r != nil {
		return r.title
	}
	return string(n)
}

// Project is a directory that a generator makes a site of.
type Project struct {
	Generator Name
	// Dir is the directory, as it was given to [Detect].
	Dir string
	// Configs are the files of the generator's configuration, slash paths
	// relative to Dir, in the order in which a later one rules over an earlier
	// one.
	Configs []string
	// Docroot is where the generator writes the site when nothing is configured:
	// a slash path relative to Dir. [Settings] has what is configured.
	Docroot string
}

// Detect tells which generator's project a directory is; ok is false if no file
// there says so. What cannot be read is as if it were not there.
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
// directories above the docroot, others further ones that may have built it
// elsewhere, such as the working directory; the likeliest first. The first that a
// generator's configuration marks is returned; else the first of above that
// holds Markdown where such projects have it, as [Plain].
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

// maxPeek bounds how many entries of a directory are looked at for Markdown.
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

// IsMarkdown tells by its name whether a file holds Markdown.
func IsMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mdx", ".mkd":
		return true
	}
	return false
}

// IsConfig tells whether a file of that name in the top directory of a project
// is the configuration of a generator.
func IsConfig(name string) bool {
	for i := range marks {
		if slices.Contains(marks[i].names, name) {
			return true
		}
	}
	return false
}
