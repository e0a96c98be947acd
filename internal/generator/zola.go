package generator

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
