package generator

import (
	"io/fs"
	"regexp"
)

// zolaBase is a key that every project of Zola has, and none of Hugo.
var zolaBase = regexp.MustCompile(`(?m)^\s*base_url\s*=`)

// isZola tells whether config.toml, a name that Hugo read first, is Zola's: a
// project of either may have themes.
func isZola(tree fs.FS) bool {
	text, err := readRegular(tree, "config.toml")
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
		return args([]string{"zola"}, "build", "--force", "--output-dir", out) // forced: an empty directory may be there
	},
	baseFlags: []string{"-u", "--base-url"},
	outFlags:  []string{"-o", "--output-dir"},
}
