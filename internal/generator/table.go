package generator

import (
	"context"
	"io/fs"
)

// row is what is known of one generator.
type row struct {
	name  Name
	title string
	// usual is what somebody types to build a project.
	usual   string
	docroot string
	// files are the names of configuration files; configs lists those that a
	// project has.
	files   []string
	configs func(tree fs.FS, names []string) []string
	// settings reads the configuration of a project, for a build with these
	// arguments.
	settings func(ctx context.Context, p Project, run Runner, args []string) (Settings, error)
	// command is the command that builds a project into a directory, strict what
	// lets it fail at warnings. Where no switch does that in each case, warning
	// is how a line begins by which the generator warns.
	command func(p Project, run Runner, out string) Command
	strict  []string
	warning string
	// baseFlags are the flags of the build by which an address is given, outFlags
	// those by which a directory to build into is, quietFlags those that hide the
	// lines of warning.
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

// marks are the files that tell a generator, in the order of their weight. also
// must be there too, when not empty: names that others use as well.
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

// firstOf lists the first of names that is there: the one that the generator
// reads.
func firstOf(tree fs.FS, names []string) []string {
	for _, name := range names {
		if info, err := fs.Stat(tree, name); err == nil && !info.IsDir() {
			return []string{name}
		}
	}
	return nil
}
