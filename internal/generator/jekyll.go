package generator

import (
	"context"
	"io/fs"
	"os"
)

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
		// A Gemfile fixes the versions; without bundler there is no other way.
		if _, err := fs.Stat(os.DirFS(p.Dir), "Gemfile"); err == nil && (run.Programs["bundle"] != "" || run.Programs["jekyll"] == "") {
			program = []string{"bundle", "exec", "jekyll"}
		}
		return args(program, "build", "--destination", out)
	},
	strict:    []string{"--strict_front_matter"},
	baseFlags: []string{"-b", "--baseurl"},
	outFlags:  []string{"-d", "--destination"},
}

// fromDocument reads settings from the project's one configuration file.
func fromDocument(read func(d map[string]any) (docroot, base string)) func(context.Context, Project, Runner, []string) (Settings, error) {
	return func(_ context.Context, p Project, _ Runner, _ []string) (Settings, error) {
		if len(p.Configs) == 0 {
			return single("", "", ""), nil
		}
		d, err := readDocument(p, p.Configs[0])
		if err != nil {
			return Settings{}, err
		}
		docroot, base := read(d)
		return single(docroot, base, p.Configs[0]), nil
	}
}

// fromScript does the same for a configuration that is a program.
func fromScript(read func(all []property) (docroot, base string)) func(context.Context, Project, Runner, []string) (Settings, error) {
	return func(_ context.Context, p Project, _ Runner, _ []string) (Settings, error) {
		if len(p.Configs) == 0 {
			return single("", "", ""), nil
		}
		text, err := readConfig(p, p.Configs[0])
		if err != nil {
			return Settings{}, err
		}
		docroot, base := read(scriptProperties(string(text)))
		return single(docroot, base, p.Configs[0]), nil
	}
}
