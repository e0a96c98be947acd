//go:build integration && unix

package main

import (
	"strings"
	"testing"
)

// TestInjectLateHead: with a head that only the built pages show to be long,
// inject takes a place that the check accepts after the next build.
func TestInjectLateHead(t *testing.T) {
	for name, head := range map[string]string{
		"own":     "<head><title>t</title>{{ range seq 300 }}<style>.a{{ . }} { color: red }</style>{{ end }}</head>",
		"charset": "<head>{{ range seq 300 }}<style>.a{{ . }} { color: red }</style>{{ end }}<meta charset=utf-8></head>",
	} {
		t.Run(name, func(t *testing.T) {
			eachHugo(t, func(t *testing.T, p *hugoProject) {
				p.files("", map[string]string{
					"sitelink.toml":                "base-url = 'https://example.org/'\n[templates]\nwebmention = 'https://example.org/webmention'\n",
					"layouts/_default/single.html": "<!doctype html><html>" + head + "<body>{{ .Content }}</body></html>\n",
					"layouts/_default/list.html":   "<!doctype html><html>" + head + "<body>{{ .Content }}</body></html>\n",
					"content/_index.md":            page("home"),
					"content/a.md":                 page("a"),
				})
				p.hugo()
				p.sitelink(0, []string{"inject"}, "line after <head>")
				p.hugo()
				if said := p.sitelink(0, []string{"check", "--source", "off"}); strings.Contains(said, "endpoint-") {
					t.Errorf("the check objects to the place:\n%s", said)
				}
				p.sitelink(0, []string{"inject", "--check"})
			})
		})
	}
}
