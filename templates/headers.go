package templates

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A HeaderRule makes a host send the endpoints in headers: X-Pingback, and Link
// with rel="webmention". A Link header never names a pingback server (PB-19).
// The values are those of the elements (PB-16), and each header is set once
// (PB-14). Hosts send them with all files, which the specification allows
// (PB-12).
type HeaderRule struct {
	// File is the name of the file that the host reads: in the docroot, or in the
	// directory of the project. It is empty where a person has to put the rule
	// into the server's own configuration.
	File      string
	InDocroot bool
	// Text is the rule as it stands in a file of its own, or is to be pasted.
	Text string
	// Where says for a person where Text belongs.
	Where string

	syntax    headerSyntax
	endpoints Endpoints
}

type headerSyntax uint8

const (
	headerLines headerSyntax = iota // a file of lines, with # for comments
	headerPaths                     // likewise, _headers: lines for a path stand below it
	headerTOML                      // likewise, and TOML after every change
	headerVercel
	headerFirebase
)

// HeaderRules returns the rules by which a host of this profile sends the
// endpoints, the preferred one first: for Netlify, which reads two files, the
// caller takes the one that is there. It returns none for hosts that cannot, such as
// GitHub Pages, and when there is no endpoint.
func HeaderRules(profile string, e Endpoints) []HeaderRule {
	if e.IsZero() {
		return nil
	}
	rule := func(file string, inDocroot bool, syntax headerSyntax, text, where string) HeaderRule {
		return HeaderRule{File: file, InDocroot: inDocroot, Text: text, Where: where, syntax: syntax, endpoints: e}
	}
	switch profile {
	case "netlify":
		return []HeaderRule{
			rule("_headers", true, headerPaths, underscoreHeaders(e), "at the end of _headers, which is published with the site"),
			rule("netlify.toml", false, headerTOML, netlifyTOML(e), "at the end of netlify.toml"),
		}
	case "cloudflare-pages":
		return []HeaderRule{rule("_headers", true, headerPaths, underscoreHeaders(e), "at the end of _headers, which is published with the site")}
	case "vercel":
		return []HeaderRule{rule("vercel.json", false, headerVercel, newDocument(jsonRule("/(.*)", e)),
			`in vercel.json, in the list "headers"`)}
	case "firebase":
		return []HeaderRule{rule("firebase.json", false, headerFirebase, `"headers": [`+"\n"+jsonIndent+jsonRule("**", e)+"\n]\n",
			`in firebase.json, in the list "headers" of "hosting"`)}
	case "apache":
		return []HeaderRule{rule(".htaccess", true, headerLines, htaccess(e), "in .htaccess at the top of the docroot; the host must allow FileInfo there and have mod_headers")}
	case "nginx":
		return []HeaderRule{rule("", false, headerLines, nginxConf(e), "in the server block, and in each location that has an add_header of its own")}
	case "caddy":
		return []HeaderRule{rule("", false, headerLines, caddyfile(e), "in the block of the site in the Caddyfile")}
	case "lighttpd":
		return []HeaderRule{rule("", false, headerLines, lighttpdConf(e), "in lighttpd.conf, with mod_setenv loaded")}
	}
	return nil
}

// linkHeader is the value of the Link header.
func (e Endpoints) linkHeader() string {
	return "<" + e.Webmention + `>; rel="webmention"`
}

// each calls f with the name and value of each header.
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

// htaccess writes rules for Apache, to which a percent sign begins a format.
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

// nginxConf writes rules for nginx, which has no way to write a dollar sign but
// a variable that holds one.
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

// caddyfile writes rules for Caddy. A backquote ends the value there, and is
// none of the characters of an endpoint; nor are the braces of its placeholders.
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

// backslashQuoted quotes a value that holds neither backslash nor control
// character.
func backslashQuoted(value string) string {
	return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
}

// maxHeaderFile bounds a file that is edited.
const maxHeaderFile = 4 << 20

// Insert returns the text of the rule's file with the rule in it: text is what
// the file holds, empty when there is none. All other bytes stay where they
// are. A rule that an earlier call put there is replaced; if it is the same,
// the result equals text. Errors say why the rule cannot be put there: what the
// file holds is damaged, or sets one of the headers itself. Then a person has
// to, see Text.
func (r HeaderRule) Insert(text []byte) ([]byte, error) {
	clean, err := r.Remove(text)
	if err != nil {
		return nil, err
	}
	values, err := ReadHeaders(r.File, clean)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v.Rel == "pingback" && r.endpoints.Pingback != "" || v.Rel == "webmention" && r.endpoints.Webmention != "" {
			return nil, fmt.Errorf("%s:%d: the file names a %s endpoint itself", r.File, v.Line, v.Rel)
		}
	}
	var out []byte
	switch r.syntax {
	case headerVercel:
		out, err = insertJSON(clean, "/(.*)", r.endpoints)
	case headerFirebase:
		out, err = insertJSON(clean, "**", r.endpoints, "hosting")
	case headerPaths:
		if strings.Contains(r.Text, ":splat") {
			return nil, fmt.Errorf("%s: the host would put something else in place of :splat in an endpoint", r.File)
		}
		out, err = insertPath(text, clean, r.Text)
	default:
		out, err = insertLines(text, r.Text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	return out, r.verify(clean, out)
}

// Remove returns the text of the rule's file without what Insert put there, to
// the byte what it was before; a file that Insert began is empty then. Only the
// kind of file matters, not the rule's endpoints.
func (r HeaderRule) Remove(text []byte) ([]byte, error) {
	switch {
	case r.File == "":
		return nil, errors.New("the rule belongs into the server's own configuration")
	case len(text) > maxHeaderFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", r.File, maxHeaderFile)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, fmt.Errorf("%s is not UTF-8 text", r.File)
	}
	var out []byte
	var err error
	switch r.syntax {
	case headerVercel:
		out, err = removeJSON(text, "/(.*)")
	case headerFirebase:
		out, err = removeJSON(text, "**", "hosting")
	default:
		out, err = removeLines(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	return out, nil
}

// verify reads what was written, and removes it again: only then it may be kept.
func (r HeaderRule) verify(clean, out []byte) error {
	values, err := ReadHeaders(r.File, out)
	if err != nil {
		return fmt.Errorf("%w; the rule cannot be put there", err)
	}
	want := map[string]string{"pingback": r.endpoints.Pingback, "webmention": r.endpoints.Webmention}
	for _, v := range values {
		if v.URI == want[v.Rel] && v.All {
			delete(want, v.Rel)
		}
	}
	for rel, uri := range want {
		if uri != "" {
			return fmt.Errorf("%s: the %s rule would not be read where it belongs", r.File, rel)
		}
	}
	back, err := r.Remove(out)
	if err != nil || !bytes.Equal(back, clean) {
		return fmt.Errorf("%s: the rule could not be taken out again", r.File)
	}
	return nil
}
