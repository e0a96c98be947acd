package generator

import "cmp"

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
