package templates

import "strings"

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
// endpoints, as text to paste. Netlify reads two files; use the one that exists. The result is empty for hosts that cannot set headers, such as GitHub
// Pages, and when e has no endpoint.
func HeaderRules(profile string, e Endpoints) []HeaderRule {
	if e.IsZero() {
		return nil
	}
	switch profile {
	case "netlify":
		return []HeaderRule{
			{"_headers", true, underscoreHeaders(e), "at the end of _headers, which is published with the site"},
			{"netlify.toml", false, netlifyTOML(e), "at the end of netlify.toml"},
		}
	case "cloudflare-pages":
		return []HeaderRule{{"_headers", true, underscoreHeaders(e), "at the end of _headers, which is published with the site; below an existing line /*, without that line"}}
	case "vercel":
		return []HeaderRule{{"vercel.json", false, jsonRule("/(.*)", e), `in vercel.json, in the list "headers"`}}
	case "firebase":
		return []HeaderRule{{"firebase.json", false, jsonRule("**", e), `in firebase.json, in the list "headers" of "hosting"`}}
	case "apache":
		return []HeaderRule{{".htaccess", true, htaccess(e), "in .htaccess at the top of the docroot; the host must allow FileInfo there and have mod_headers"}}
	case "nginx":
		return []HeaderRule{{"", false, nginxConf(e), "in the server block, and in each location that has an add_header of its own"}}
	case "caddy":
		return []HeaderRule{{"", false, caddyfile(e), "in the block of the site in the Caddyfile"}}
	case "lighttpd":
		return []HeaderRule{{"", false, lighttpdConf(e), "in lighttpd.conf, with mod_setenv loaded"}}
	}
	return nil
}

// linkHeader is the value of the Link header.
func (e Endpoints) linkHeader() string {
	return "<" + e.Webmention + `>; rel="webmention"`
}

// eachHeader calls f with the name and value of each header.
func (e Endpoints) eachHeader(f func(name, value string)) {
	if e.Pingback != "" {
		f("X-Pingback", e.Pingback)
	}
	if e.Webmention != "" {
		f("Link", e.linkHeader())
	}
}

func underscoreHeaders(e Endpoints) string {
	text := "/*\n"
	e.eachHeader(func(name, value string) { text += "  " + name + ": " + value + "\n" })
	return text
}

func netlifyTOML(e Endpoints) string {
	text := "[[headers]]\n  for = \"/*\"\n  [headers.values]\n"
	e.eachHeader(func(name, value string) { text += "    " + name + " = " + backslashQuoted(value) + "\n" })
	return text
}

// htaccess returns rules for Apache, where a percent sign starts a format.
func htaccess(e Endpoints) string {
	text := "<IfModule mod_headers.c>\n"
	e.eachHeader(func(name, value string) {
		action := "set"
		if name == "Link" {
			action = "add"
		}
		text += "  Header " + action + " " + name + " " + backslashQuoted(strings.ReplaceAll(value, "%", "%%")) + "\n"
	})
	return text + "</IfModule>\n"
}

// nginxConf returns rules for nginx, where only a variable can produce a dollar
// sign.
func nginxConf(e Endpoints) string {
	text := ""
	e.eachHeader(func(name, value string) {
		text += "add_header " + name + " " + strings.ReplaceAll(backslashQuoted(value), "$", "${sitelink_dollar}") + ";\n"
	})
	if strings.Contains(text, "$") {
		text = "# in the http block: geo $sitelink_dollar { default \"$\"; }\n" + text
	}
	return text
}

// caddyfile returns rules for Caddy. Endpoints contain neither backquotes, which
// delimit the value, nor the braces of placeholders.
func caddyfile(e Endpoints) string {
	text := ""
	e.eachHeader(func(name, value string) {
		if name == "Link" {
			name = "+Link"
		}
		text += "header " + name + " `" + value + "`\n"
	})
	return text
}

func lighttpdConf(e Endpoints) string {
	var parts []string
	e.eachHeader(func(name, value string) {
		parts = append(parts, `  "`+name+`" => `+backslashQuoted(value))
	})
	return "setenv.add-response-header += (\n" + strings.Join(parts, ",\n") + "\n)\n"
}

// jsonRule returns the rule as one element of a "headers" list.
func jsonRule(source string, e Endpoints) string {
	var parts []string
	e.eachHeader(func(name, value string) {
		parts = append(parts, `{ "key": "`+name+`", "value": `+backslashQuoted(value)+` }`)
	})
	return `{ "source": "` + source + `", "headers": [` + strings.Join(parts, ", ") + "] }\n"
}

// backslashQuoted quotes a value without backslashes and control characters.
func backslashQuoted(value string) string {
	return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
}

// isHeaderPath reports whether a trimmed line of _headers is a path.
func isHeaderPath(line string) bool {
	return strings.HasPrefix(line, "/") || strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")
}
