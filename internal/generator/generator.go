// Package generator knows static site generators: how to recognise the project of
// each, where it writes the site, at which address the site is published, and
// which command builds it.
//
// [Detect] finds the [Project] in a directory, [Project.Settings] reads its
// configuration, and [Project.Command] returns the command that builds it. Each
// generator is a row of a table; Hugo has files of its own. The package starts no
// program and writes nothing.
//
// docs/guide/getting-started-other.md is the manual.
package generator

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Name names a generator: "hugo".
type Name string

// Generators that other packages have rules for. The table of this package has all
// that are recognised.
const (
	None       Name = ""
	Hugo       Name = "hugo"
	Jekyll     Name = "jekyll"
	Eleventy   Name = "eleventy"
	Zola       Name = "zola"
	MkDocs     Name = "mkdocs"
	Astro      Name = "astro"
	Docusaurus Name = "docusaurus"
	Vite       Name = "vite"
	// Plain is a directory with Markdown files and no known generator.
	Plain Name = "plain"
)

// Title is the name as its makers write it: "Hugo".
func (n Name) Title() string { return cmp.Or(rowOf(n).title, string(n)) }

// Named returns the generator that pages name in their element meta, such as
// "Docusaurus v3.9.2" or "mkdocs-1.6.1, mkdocs-material-9.5"; [None] for another.
func Named(words string) Name {
	for i := range rows {
		for _, name := range []string{rows[i].title, string(rows[i].name)} {
			if len(words) >= len(name) && strings.EqualFold(words[:len(name)], name) {
				return rows[i].name
			}
		}
	}
	return None
}

// Static is what a project has to have for a build that writes a site of files instead of a
// program: "@sveltejs/adapter-static"; "" if every build does.
func (n Name) Static() string { return rowOf(n).static }

// Project is a directory that a generator makes a site from.
type Project struct {
	Generator Name
	// Dir is the directory as it was given to [Detect].
	Dir string
	// Source is the directory below Dir that holds the configuration, a slash path;
	// "" for Dir itself.
	Source string
	// Configs are the generator's configuration files, slash paths relative to
	// Dir. A later one overrides those before it.
	Configs []string
	// Args are the flags of the project's own command that change what is built.
	Args []string
	// Builder is the builder of Sphinx: html or dirhtml.
	Builder string
	// By says what identifies the generator: files, and packages in files.
	By string
	// Docroot is where the generator writes the site by default, a slash path
	// relative to Dir; of several usual places one that exists. [Settings] has the configured directory.
	Docroot string
}

// Names returns the names of all generators, in the order of the table.
func Names() (all []string) {
	for _, r := range rows {
		all = append(all, string(r.name))
	}
	return all
}

// Configs returns the names of the generator's configuration files.
func (n Name) Configs() []string { return slices.Clone(rowOf(n).files) }

// Detect finds the generator's project in a directory by its configuration files, and by
// the packages that it depends on. ok is false if it finds none. A file that cannot be read
// counts as missing. If only names a generator, a configuration file with a name that this
// generator uses is enough.
func Detect(dir string, only Name) (p Project, ok bool) {
	there := namesIn(dir)
	for i, m := range marks {
		r := rowOf(m.generator)
		for _, source := range append([]string{""}, r.sources...) {
			if only != None && only != m.generator {
				break
			}
			if by, ok := marked(dir, there, i, source); ok {
				p = r.project(dir, source, "")
				p.By = by
				return p, true
			}
		}
	}
	r := rowOf(only)
	for _, source := range append([]string{""}, r.sources...) {
		if p = r.project(dir, source, ""); len(p.Configs) > 0 {
			p.By = p.Configs[0]
			return p, true
		}
	}
	return Project{}, false
}

// In returns the project of this generator in a directory that has no configuration file
// of it.
func (n Name) In(dir string) Project { return rowOf(n).project(dir, "", "") }

// project returns the project of a directory with its configuration in source. builder is
// "" if no command names one.
func (r *row) project(dir, source, builder string) Project {
	tree := os.DirFS(dir)
	p := Project{Generator: r.name, Dir: dir, Source: source}
	var names []string
	for _, name := range r.files {
		names = append(names, path.Join(source, name))
	}
	switch {
	case r.configs != nil:
		p.Configs = r.configs(tree, names)
	case r.overrides:
		p.Configs = slices.DeleteFunc(names, func(name string) bool { return firstOf(tree, []string{name}) == nil })
	default:
		p.Configs = firstOf(tree, names)
	}
	for _, docroot := range r.docroots {
		docroot = path.Join(source, docroot)
		if !fs.ValidPath(docroot) || builder != "" && path.Base(docroot) != builder {
			continue // it would be above the project, or is not of this builder
		}
		if info, err := fs.Stat(tree, docroot); p.Docroot == "" || err == nil && info.IsDir() {
			p.Docroot = docroot
			if err == nil {
				break
			}
		}
	}
	if r.dirBuilder != "" {
		p.Builder = path.Base(p.Docroot)
	}
	return p
}

// Find looks for the project that a docroot was built from. above are the
// directories above the docroot, others are directories that may have built it
// elsewhere, such as the working directory; the likeliest come first. Find returns
// the first with a generator's configuration, else the first of above with
// Markdown files in the usual directories, as [Plain].
func Find(above, others []string, only Name) (p Project, ok bool) {
	for _, dirs := range [][]string{above, others} {
		for _, dir := range dirs {
			if p, ok := Detect(dir, only); ok {
				return p, true
			}
		}
	}
	for _, dir := range above {
		for _, sub := range plainContent {
			if hasMarkdown(os.DirFS(dir), sub) {
				return Project{Generator: Plain, Dir: dir}, true
			}
		}
	}
	return Project{}, false
}

// Built returns the directories that may hold the built site of an unknown
// generator, as slash paths relative to dir: those where generators usually write,
// if they have a home page.
func Built(dir string) (found []string) {
	tree := os.DirFS(dir)
	names := []string{"www", "html", "docs"}
	for _, r := range rows {
		for _, source := range append([]string{""}, r.sources...) {
			for _, docroot := range r.docroots {
				names = append(names, path.Join(source, docroot))
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if fs.ValidPath(name) && firstOf(tree, []string{name + "/index.html"}) != nil {
			found = append(found, name)
		}
	}
	return found
}

// Sources returns the name of a file or directory in dir that shows that it holds
// the sources of a program or of a site, "" for none. node_modules is the surest.
func Sources(dir string) string {
	for _, name := range []string{
		"node_modules", "package.json", "deno.json", "pyproject.toml", "requirements.txt", "Gemfile", "go.mod", "Cargo.toml", "composer.json", "Makefile",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return name
		}
	}
	for _, name := range plainContent {
		if hasMarkdown(os.DirFS(dir), name) {
			return name + "/"
		}
	}
	return ""
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

// IsConfig reports whether a file of that path in a project is the configuration of
// a generator.
func IsConfig(name string) bool {
	return slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(r.files, func(f string) bool {
			return name == f || strings.Contains(f, "/") && strings.HasSuffix(name, "/"+f)
		})
	})
}

// HasConfig reports whether a hidden directory has the configuration, as .vitepress.
func (n Name) HasConfig(dir string) bool {
	return slices.ContainsFunc(rowOf(n).files, func(f string) bool {
		above := path.Dir(f)
		return above != "." && (dir == above || strings.HasSuffix(dir, "/"+above))
	})
}

// Foreign reports whether no author edits the files of a directory of a project: tools keep
// hidden directories and packages, and the generator writes others. name is a slash path
// in tree, the directory of the project. Content may have sections with most of these names.
func (n Name) Foreign(tree fs.FS, name string) bool {
	switch base := path.Base(name); base {
	case "node_modules", "bower_components", "__pycache__":
		return true
	case "vendor", "_vendor": // with what Go, Hugo, Composer or Bundler writes there
		return slices.ContainsFunc([]string{"modules.txt", "autoload.php", "bundle", "cache", "gems", "ruby"}, func(file string) bool {
			_, err := fs.Stat(tree, path.Join(name, file))
			return err == nil
		})
	default:
		r := rowOf(n)
		return name != "." && base[0] == '.' || slices.Contains(r.docroots, name) || slices.Contains(r.Caches, name)
	}
}

// Lock returns the name of the file that the generator locks while it builds; "" if it
// locks none.
func (p Project) Lock() string {
	if r := rowOf(p.Generator); r.lock != "" {
		return filepath.Join(p.Dir, filepath.FromSlash(p.Source), r.lock)
	}
	return ""
}

// Content returns the directories of content of a project. Their names are not
// part of the addresses of pages. It is not for Hugo, because Hugo's
// configuration names them.
func (n Name) Content() []string {
	if n == Plain {
		return plainContent
	}
	return rowOf(n).content
}

var plainContent = []string{"content", "docs", "src", "posts", "pages"}
