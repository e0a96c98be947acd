package templates

import (
	"fmt"
	"strings"
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

// headerFormat is how a host reads header rules: pingback and webmention are lines with
// a %s for the value, which quote has made safe.
type headerFormat struct {
	profile                                        string
	rule                                           HeaderRule // without the text
	before, pingback, separator, webmention, after string
	quote                                          func(value string) string
}

var headerFormats = []headerFormat{
	{"netlify", HeaderRule{"_headers", true, "", "at the end of _headers, which is published with the site"},
		"/*\n", "  X-Pingback: %s\n", "", "  Link: %s\n", "", nil},
	{"netlify", HeaderRule{"netlify.toml", false, "", "at the end of netlify.toml"},
		"[[headers]]\n  for = \"/*\"\n  [headers.values]\n", "    X-Pingback = %s\n", "", "    Link = %s\n", "", backslashQuoted},
	{"cloudflare-pages", HeaderRule{"_headers", true, "", "at the end of _headers, which is published with the site; below an existing line /*, without that line"},
		"/*\n", "  X-Pingback: %s\n", "", "  Link: %s\n", "", nil},
	{"vercel", HeaderRule{"vercel.json", false, "", `in vercel.json, in the list "headers"`},
		`{ "source": "/(.*)", "headers": [`, jsonPingback, ", ", jsonWebmention, "] }\n", backslashQuoted},
	{"firebase", HeaderRule{"firebase.json", false, "", `in firebase.json, in the list "headers" of "hosting"`},
		`{ "source": "**", "headers": [`, jsonPingback, ", ", jsonWebmention, "] }\n", backslashQuoted},
	{"apache", HeaderRule{".htaccess", true, "", "in .htaccess at the top of the docroot; the host must allow FileInfo there and have mod_headers"},
		"<IfModule mod_headers.c>\n", "  Header set X-Pingback %s\n", "", "  Header add Link %s\n", "</IfModule>\n",
		func(value string) string { return backslashQuoted(strings.ReplaceAll(value, "%", "%%")) }}, // a percent sign starts a format
	{"nginx", HeaderRule{"", false, "", "in the server block, and in each location that has an add_header of its own"},
		"", "add_header X-Pingback %s;\n", "", "add_header Link %s;\n", "",
		func(value string) string {
			return strings.ReplaceAll(backslashQuoted(value), "$", "${sitelink_dollar}")
		}}, // only a variable can have a dollar sign
	// Endpoints contain neither backquotes, which delimit the value, nor the braces of placeholders.
	{"caddy", HeaderRule{"", false, "", "in the block of the site in the Caddyfile"},
		"", "header X-Pingback `%s`\n", "", "header +Link `%s`\n", "", nil},
	{"lighttpd", HeaderRule{"", false, "", "in lighttpd.conf, with mod_setenv loaded"},
		"setenv.add-response-header += (\n", `  "X-Pingback" => %s`, ",\n", `  "Link" => %s`, "\n)\n", backslashQuoted},
}

const (
	jsonPingback   = `{ "key": "X-Pingback", "value": %s }`
	jsonWebmention = `{ "key": "Link", "value": %s }`
)

// HeaderRules returns the rules that make a host with this profile send the
// endpoints, as text to paste. Netlify reads two files; use the one that exists. The
// result is empty for hosts that cannot set headers, such as GitHub Pages, and when e has
// no endpoint.
func HeaderRules(profile string, e Endpoints) (rules []HeaderRule) {
	for _, f := range headerFormats {
		if f.profile != profile || e.IsZero() {
			continue
		}
		var lines []string
		for _, header := range []struct{ line, endpoint, value string }{
			{f.pingback, e.Pingback, e.Pingback}, {f.webmention, e.Webmention, "<" + e.Webmention + `>; rel="webmention"`},
		} {
			if header.endpoint == "" {
				continue
			}
			if f.quote != nil {
				header.value = f.quote(header.value)
			}
			lines = append(lines, fmt.Sprintf(header.line, header.value))
		}
		rule := f.rule
		rule.Text = f.before + strings.Join(lines, f.separator) + f.after
		if strings.Contains(rule.Text, "${sitelink_dollar}") {
			rule.Text = "# in the http block: geo $sitelink_dollar { default \"$\"; }\n" + rule.Text
		}
		rules = append(rules, rule)
	}
	return rules
}

// backslashQuoted quotes a value without backslashes and control characters.
func backslashQuoted(value string) string {
	return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
}

// isHeaderPath reports whether a trimmed line of _headers is a path.
func isHeaderPath(line string) bool {
	return strings.HasPrefix(line, "/") || strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")
}
