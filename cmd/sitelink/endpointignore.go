package main

import (
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
)

// endpointIgnores accepts links to the endpoints: a program answers there, also
// where the site itself has the same host, and no file of the docroot.
func endpointIgnores(cfg *config.Config) []check.Ignore {
	var rules []check.Ignore
	e := endpointsOf(cfg)
	for _, uri := range []string{e.Pingback, e.Webmention} {
		if uri == "" {
			continue
		}
		for _, code := range []check.Code{check.MissingFile, check.MissingDirectory} {
			rules = append(rules, check.Ignore{URL: literal.Replace(uri), Code: code, MayBeUnused: true,
				Origin: "[templates]", Reason: "a program answers at the endpoint"})
		}
	}
	return rules
}

// literal escapes what a pattern gives a meaning.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)
