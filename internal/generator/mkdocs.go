package generator

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
