package templates

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
)

// A HeaderRule makes a host send the endpoints in headers: X-Pingback, and Link
// with rel="webmention". A Link header never names a pingback server (PB-19). The
// values equal the ones in the elements (PB-16), and each header is set once
// (PB-14). Hosts send the headers with all files, which the specification allows
// (PB-12). [HeaderRules] creates the rules.
type HeaderRule struct {
	// File is the name of the file that the host reads, in the docroot or in
	// the project directory. It is empty when a person has to add the rule to
	// the server's own configuration.
	File      string
	InDocroot bool
	// Text is the rule.
	Text string
	// Where tells a person where Text belongs.
	Where string
}

// HeaderRules returns the rules that make a host with this profile send the
// endpoints, as text to paste. Netlify reads two files; use the one that exists. The
// result is empty for hosts that cannot set headers, such as GitHub Pages, and when e has
// no endpoint.
func HeaderRules(profile string, e Endpoints) (rules []HeaderRule) {
	k, _ := host.KindByName(profile)
	for _, f := range k.Headers {
		if e.IsZero() {
			continue
		}
		var lines []string
		for _, header := range []struct{ line, endpoint, value string }{
			{f.Pingback, e.Pingback, e.Pingback}, {f.Webmention, e.Webmention, "<" + e.Webmention + `>; rel="webmention"`},
		} {
			if header.endpoint == "" {
				continue
			}
			if f.Quote != nil {
				header.value = f.Quote(header.value)
			}
			lines = append(lines, fmt.Sprintf(header.line, header.value))
		}
		at := slices.IndexFunc(k.Files, func(r host.RuleFile) bool { return r.Name == f.File })
		rule := HeaderRule{f.File, at >= 0 && !k.Files[at].InProject, f.Before + strings.Join(lines, f.Separator) + f.After, f.Where}
		if strings.Contains(rule.Text, "${sitelink_dollar}") {
			rule.Text = "# in the http block: geo $sitelink_dollar { default \"$\"; }\n" + rule.Text
		}
		rules = append(rules, rule)
	}
	return rules
}
