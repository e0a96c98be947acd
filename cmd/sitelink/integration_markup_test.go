//go:build integration && linux

package main_test

import (
	"slices"
	"strings"
	"testing"
)

// foreignTemplates are pages with HTML templates inside svg and math.
var foreignTemplates = map[string]string{
	"foreignobject": `<svg><foreignObject><template><a href=t1 id=t1>t</a></template><a href=a1>x</a></foreignObject></svg><a href=a2 id=i2>x</a>`,
	"svg-title":     `<svg><title><template><b><table><tr></template></title></svg><a href=a1 id=i1>x</a>`,
	"mtext":         `<math><mtext><template><p></template></mtext></math><a href=a1 id=i1>x</a>`,
	"nested":        `<svg><desc><template><svg><desc><template><a href=t1></template></desc></svg><a href=t2></template></desc></svg><a href=a1>x</a>`,
	"several":       `<p>` + strings.Repeat(`<svg><title><template>x</template></title></svg><a href=a1>x</a>`, 40) + `<a href=a2 id=last>x</a>`,
	"not-html":      `<svg><template><a href=a1 id=i1></a></template></svg><form><form><a href=a2>x</a>`,
	"in-comment":    `<svg><desc><p></desc></svg><a href=a1>x</a><!-- <template> <a href=n> -->`,
	"in-template":   `<template><svg><desc><template><a href=t1></template></desc></svg><a href=t2></a></template><a href=a1>x</a><form><form>`,
	"deep":          `<form><form>` + strings.Repeat("<div>", 600) + `<svg><desc><p></desc></svg><a href=a1 id=i1>x</a>`,
	"large":         `<svg><desc><p>x</p></desc></svg><a href=a1 id=i1>x</a>` + strings.Repeat(" ", 5<<20) + `<a href=a2>x</a>`,
}

// TestChromiumForeignTemplates: of pages with templates inside svg and math,
// and of irregular pages without a tree, sitelink has the links and ids that
// Chromium has.
func TestChromiumForeignTemplates(t *testing.T) {
	files := map[string]string{}
	for name, content := range foreignTemplates {
		files[name+".html"] = "<!doctype html><meta charset=utf-8><title>x</title><body>" + content
	}
	docroot := writeFixtures(t, files)
	got := map[string][]string{}
	eachLink(t, docroot, nil, func(r *row) {
		page := strings.TrimSuffix(r.Page, ".html")
		if r.Element == "a" && r.Code != "inert" {
			got[page] = append(got[page], r.Raw)
		}
	})
	b := startChromium(t)
	origin := serveFixtures(t, docroot)
	for name := range foreignTemplates {
		b.Load(origin + "/" + name + ".html")
		var want []string
		b.Eval(`[...document.querySelectorAll("a")].map(a => a.getAttribute("href"))`, &want)
		if len(want) == 0 || !slices.Equal(got[name], want) {
			t.Errorf("%s: sitelink finds the links %q, Chromium %q", name, got[name], want)
		}
	}
}
