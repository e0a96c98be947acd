package generator

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
