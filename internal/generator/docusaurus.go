package generator

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
