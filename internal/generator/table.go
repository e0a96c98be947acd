package generator

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"regexp"

	"github.com/sitelink/sitelink/internal/disk"
)

// row describes one generator.
type row struct {
	name  Name
	title string
	// usual is what people type to build a project.
	usual   string
	docroot string
	// files are the names of configuration files; configs returns those of a
	// project.
	files   []string
	configs func(tree fs.FS, names []string) []string
	// settings reads the configuration of a project for a build with these
	// arguments.
	settings func(ctx context.Context, p Project, run Runner, args []string) (Settings, error)
	// command returns the command that builds a project into a directory. strict
	// are the flags that make it fail at warnings. If no flag does so reliably,
	// warning is the beginning of a line with a warning.
	command func(p Project, run Runner, out string) Command
	strict  []string
	warning string
	// baseFlags are the flags of the build that name the address, outFlags those
	// that name the directory to build into, quietFlags those that hide warnings.
	baseFlags, outFlags, quietFlags []string
}

// rows is the table of generators.
var rows = []row{hugoRow, jekyllRow, eleventyRow, zolaRow, mkdocsRow, astroRow, docusaurusRow}

func rowOf(n Name) *row {
	for i := range rows {
		if rows[i].name == n {
			return &rows[i]
		}
	}
	return nil
}

// marks are the files that identify a generator, the surest first. For names that
// other programs use as well, one of also must exist too.
var marks = []struct {
	generator Name
	names     []string
	also      []string
}{
	{Hugo, []string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config/_default"}, nil},
	{Hugo, hugoOldFiles, []string{"layouts", "themes", "archetypes", "_vendor"}},
	{Jekyll, jekyllRow.files, nil},
	{Eleventy, eleventyRow.files, nil},
	{Zola, []string{"zola.toml"}, nil},
	{Zola, []string{"config.toml"}, []string{"templates"}},
	{MkDocs, mkdocsRow.files, nil},
	{Astro, astroRow.files, nil},
	{Docusaurus, docusaurusRow.files, nil},
	{Hugo, hugoOldFiles, []string{"content"}},
}

// firstOf returns the first of names that exists: the one that the generator
// reads.
func firstOf(tree fs.FS, names []string) []string {
	for _, name := range names {
		if info, err := fs.Stat(tree, name); err == nil && !info.IsDir() {
			return []string{name}
		}
	}
	return nil
}

var astroRow = row{
	name: Astro, title: "Astro", usual: "npx astro build", docroot: "dist",
	files:   []string{"astro.config.mjs", "astro.config.js", "astro.config.ts", "astro.config.cjs"},
	configs: firstOf,
	settings: fromScript(func(all []property) (docroot, base string) {
		if base = topLevel(all, "site"); base != "" || topLevel(all, "base") != "" {
			base = joinBase(base, topLevel(all, "base"))
		}
		return topLevel(all, "outDir"), base
	}),
	command: func(p Project, _ Runner, out string) Command {
		return args(local(p, "astro"), "build", "--outDir", out)
	},
	baseFlags: []string{"--site"},
	outFlags:  []string{"--outDir"},
}

var docusaurusRow = row{
	name: Docusaurus, title: "Docusaurus", usual: "npx docusaurus build", docroot: "build",
	files:   []string{"docusaurus.config.js", "docusaurus.config.ts", "docusaurus.config.mjs"},
	configs: firstOf,
	settings: fromScript(func(all []property) (docroot, base string) {
		if base = topLevel(all, "url"); base != "" || topLevel(all, "baseUrl") != "" {
			base = joinBase(base, topLevel(all, "baseUrl"))
		}
		return "", base
	}),
	command: func(p Project, _ Runner, out string) Command {
		return args(local(p, "docusaurus"), "build", "--out-dir", out)
	},
	outFlags: []string{"--out-dir"},
}

var eleventyRow = row{
	name: Eleventy, title: "Eleventy", usual: "npx eleventy", docroot: "_site",
	files:   []string{".eleventy.js", "eleventy.config.js", "eleventy.config.mjs", "eleventy.config.cjs", "eleventy.config.ts"},
	configs: firstOf,
	settings: fromScript(func(all []property) (docroot, base string) {
		for _, p := range all {
			if p.name == "setOutputDirectory(" {
				docroot = p.value
			}
		}
		return cmp.Or(docroot, inside(all, "dir", "output")), topLevel(all, "pathPrefix")
	}),
	command: func(p Project, _ Runner, out string) Command {
		return args(local(p, "eleventy"), "--output="+out)
	},
	baseFlags: []string{"--pathprefix"},
	outFlags:  []string{"--output"},
}

var jekyllRow = row{
	name: Jekyll, title: "Jekyll", usual: "jekyll build", docroot: "_site",
	files:   []string{"_config.yml", "_config.yaml", "_config.toml"},
	configs: firstOf,
	settings: fromDocument(func(d map[string]any) (docroot, base string) {
		if base = textOf(d["url"]); base != "" || textOf(d["baseurl"]) != "" {
			base = joinBase(base, textOf(d["baseurl"]))
		}
		return textOf(d["destination"]), base
	}),
	command: func(p Project, run Runner, out string) Command {
		program := []string{"jekyll"}
		// A Gemfile fixes the versions. Without it, jekyll runs by itself.
		if _, err := fs.Stat(os.DirFS(p.Dir), "Gemfile"); err == nil && (run.Programs["bundle"] != "" || run.Programs["jekyll"] == "") {
			program = []string{"bundle", "exec", "jekyll"}
		}
		return args(program, "build", "--destination", out)
	},
	strict:    []string{"--strict_front_matter"},
	baseFlags: []string{"-b", "--baseurl"},
	outFlags:  []string{"-d", "--destination"},
}

// fromDocument returns a function that reads the settings from the project's one
// configuration file.
func fromDocument(read func(d map[string]any) (docroot, base string)) func(context.Context, Project, Runner, []string) (Settings, error) {
	return func(_ context.Context, p Project, _ Runner, _ []string) (Settings, error) {
		if len(p.Configs) == 0 {
			return oneRoot("", "", ""), nil
		}
		d, err := readDocument(p, p.Configs[0])
		if err != nil {
			return Settings{}, err
		}
		docroot, base := read(d)
		return oneRoot(docroot, base, p.Configs[0]), nil
	}
}

// fromScript is fromDocument for a configuration that is a program.
func fromScript(read func(all []property) (docroot, base string)) func(context.Context, Project, Runner, []string) (Settings, error) {
	return func(_ context.Context, p Project, _ Runner, _ []string) (Settings, error) {
		if len(p.Configs) == 0 {
			return oneRoot("", "", ""), nil
		}
		text, err := readConfig(p, p.Configs[0])
		if err != nil {
			return Settings{}, err
		}
		docroot, base := read(scriptProperties(string(text)))
		return oneRoot(docroot, base, p.Configs[0]), nil
	}
}

var mkdocsRow = row{
	name: MkDocs, title: "MkDocs", usual: "mkdocs build", docroot: "site",
	files:   []string{"mkdocs.yml", "mkdocs.yaml"},
	configs: firstOf,
	settings: fromDocument(func(d map[string]any) (docroot, base string) {
		return textOf(d["site_dir"]), textOf(d["site_url"])
	}),
	command: func(_ Project, _ Runner, out string) Command {
		return args([]string{"mkdocs"}, "build", "--site-dir", out)
	},
	strict:   []string{"--strict"},
	outFlags: []string{"-d", "--site-dir"},
}

// zolaBase matches a key that every Zola project has, and no Hugo project.
var zolaBase = regexp.MustCompile(`(?m)^\s*base_url\s*=`)

// isZola reports whether config.toml is a configuration of Zola, not of Hugo:
// projects of both may have themes.
func isZola(tree fs.FS) bool {
	text, err := disk.ReadFS(tree, "config.toml", maxConfig)
	return err == nil && zolaBase.Match(text)
}

var zolaRow = row{
	name: Zola, title: "Zola", usual: "zola build", docroot: "public",
	files:   []string{"zola.toml", "config.toml"},
	configs: firstOf,
	settings: fromDocument(func(d map[string]any) (docroot, base string) {
		return textOf(d["output_dir"]), textOf(d["base_url"])
	}),
	command: func(_ Project, _ Runner, out string) Command {
		return args([]string{"zola"}, "build", "--force", "--output-dir", out) // forced, since the directory may exist and be empty
	},
	baseFlags: []string{"-u", "--base-url"},
	outFlags:  []string{"-o", "--output-dir"},
}
