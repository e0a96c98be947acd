package templates

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
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
	// Text is the rule as the content of a file, or as text to paste.
	Text string
	// Where tells a person where Text belongs.
	Where string

	syntax    headerSyntax
	endpoints Endpoints
}

type headerSyntax uint8

const (
	headerLines headerSyntax = iota // a file of lines, with # for comments
	headerPaths                     // _headers: a path, and indented lines for it below
	headerTOML                      // lines that have to be valid TOML after every change
	headerVercel
	headerFirebase
)

// HeaderRules returns the rules that make a host with this profile send the
// endpoints, the preferred rule first. Netlify reads two files; use the one that
// exists. The result is empty for hosts that cannot set headers, such as GitHub
// Pages, and when e has no endpoint.
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

// backslashQuoted quotes a value without backslashes and control characters.
func backslashQuoted(value string) string {
	return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
}

// maxHeaderFile is the size limit, in bytes, of a file to edit.
const maxHeaderFile = 4 << 20

// Insert returns the content of the rule's file with the rule added. text is the
// current content, empty when the file does not exist. All other bytes stay. A
// rule from an earlier call is replaced; if it is the same, the result equals
// text. An error means that the file is damaged or sets one of the headers
// itself. Then a person has to add Text.
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
			return nil, fmt.Errorf("%s:%d: the file already names a %s endpoint", r.File, v.Line, v.Rel)
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
			return nil, fmt.Errorf("%s: the host would replace :splat in the endpoint", r.File)
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

// Remove returns the content of the rule's file without what Insert added, byte
// for byte what it was before. A file that Insert created becomes empty. Only
// the kind of file matters, not the rule's endpoints.
func (r HeaderRule) Remove(text []byte) ([]byte, error) {
	switch {
	case r.File == "":
		return nil, errors.New("the rule belongs in the server's own configuration")
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

// verify checks that the host would read the new rule, and that Remove restores
// the old content.
func (r HeaderRule) verify(clean, out []byte) error {
	values, err := ReadHeaders(r.File, out)
	if err != nil {
		return fmt.Errorf("%w; the rule cannot be added", err)
	}
	want := map[string]string{"pingback": r.endpoints.Pingback, "webmention": r.endpoints.Webmention}
	for _, v := range values {
		if v.URI == want[v.Rel] && v.All {
			delete(want, v.Rel)
		}
	}
	for rel, uri := range want {
		if uri != "" {
			return fmt.Errorf("%s: the host would not read the %s rule at that place", r.File, rel)
		}
	}
	back, err := r.Remove(out)
	if err != nil || !bytes.Equal(back, clean) {
		return fmt.Errorf("%s: the rule could not be removed again", r.File)
	}
	return nil
}

// The marks around a rule in a file of lines. The second form means that the last
// line of the file had no line end before the rule was added.
const (
	headerBegin     = "# sitelink:begin"
	headerBeginOpen = "# sitelink:begin, after a line without end"
	headerEnd       = "# sitelink:end"
)

// headerBlock is the place of a rule with its marks in a file. It includes the
// line end that was added before it.
type headerBlock struct {
	from, to int
	open     bool // the line before had no line end
}

// findLines finds the marked rule. ok is false when the text has no mark.
func findLines(text []byte) (b headerBlock, ok bool, err error) {
	begin := -1
	at := 0
	for line := range bytes.Lines(text) {
		switch content := string(bytes.TrimRight(line, "\r\n")); content {
		case headerBegin, headerBeginOpen:
			if begin >= 0 || ok {
				return b, false, errors.New("the mark \"" + headerBegin + "\" occurs twice")
			}
			begin = at
			b = headerBlock{from: at, open: content == headerBeginOpen}
		case headerEnd:
			if begin < 0 {
				return b, false, errors.New("the mark \"" + headerEnd + "\" has no beginning")
			}
			b.to, begin, ok = at+len(line), -1, true
		}
		at += len(line)
	}
	if begin >= 0 {
		return b, false, errors.New("the mark \"" + headerBegin + "\" has no end")
	}
	if ok && b.open {
		b.from -= len(lineEnd(text[:b.from]))
	}
	return b, ok, nil
}

// lineEnd returns the line end at the end of text, or "".
func lineEnd(text []byte) string {
	switch {
	case bytes.HasSuffix(text, []byte("\r\n")):
		return "\r\n"
	case bytes.HasSuffix(text, []byte("\n")):
		return "\n"
	}
	return ""
}

// insertLines adds rule between marks at the end of text, or replaces the rule
// between the marks.
func insertLines(text []byte, rule string) ([]byte, error) {
	old, ok, err := findLines(text)
	if err != nil {
		return nil, err
	}
	if !ok {
		old = headerBlock{from: len(text), to: len(text), open: len(text) > 0 && lineEnd(text) == ""}
	}
	return putLines(text, old, rule), nil
}

// insertPath adds rule, whose first line is a path, to _headers. If the file has
// lines for that path already, the rest of the rule goes there, because
// Cloudflare applies only the last one of two equal paths. clean is text without
// the rule.
func insertPath(text, clean []byte, rule string) ([]byte, error) {
	path, headers, _ := strings.Cut(rule, "\n")
	old, ok, err := findLines(text)
	if err != nil {
		return nil, err
	}
	after, open := afterPath(clean, path)
	switch {
	case after < 0:
		return insertLines(text, rule)
	case ok && after <= old.from && pathOf(clean, old.from) == path:
		return putLines(text, old, headers), nil
	}
	return putLines(clean, headerBlock{from: after, to: after, open: open}, headers), nil
}

// afterPath returns the offset after the last line that equals path, or -1. open
// reports that this line has no line end.
func afterPath(text []byte, path string) (after int, open bool) {
	after, at := -1, 0
	for line := range bytes.Lines(text) {
		if at += len(line); string(bytes.TrimSpace(line)) == path {
			after, open = at, lineEnd(line) == ""
		}
	}
	return after, open
}

// pathOf returns the path that headers at off in _headers apply to.
func pathOf(text []byte, off int) string {
	path := ""
	for line := range bytes.Lines(text[:min(off, len(text))]) {
		if trimmed := string(bytes.TrimSpace(line)); isHeaderPath(trimmed) {
			path = trimmed
		}
	}
	return path
}

// isHeaderPath reports whether a trimmed line of _headers is a path.
func isHeaderPath(line string) bool {
	return strings.HasPrefix(line, "/") || strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")
}

// putLines replaces old with rule between marks.
func putLines(text []byte, old headerBlock, rule string) []byte {
	begin, eol := headerBegin, "\n"
	if first := bytes.IndexByte(text, '\n'); first > 0 && text[first-1] == '\r' {
		eol = "\r\n"
	}
	block := begin + "\n" + rule + headerEnd + "\n"
	if old.open {
		block = "\n" + headerBeginOpen + "\n" + rule + headerEnd + "\n"
	}
	block = strings.ReplaceAll(block, "\n", eol)
	return apply(nil, text, []splice{{old.from, old.to, block}})
}

// removeLines removes the marked rule.
func removeLines(text []byte) ([]byte, error) {
	b, ok, err := findLines(text)
	if err != nil || !ok {
		return text, err
	}
	if b.open && b.to < len(text) { // text was added after the rule: the line before needs its line end now
		b.from += len(lineEnd(text[:bytes.Index(text[b.from:], []byte("#"))+b.from]))
	}
	return apply(nil, text, []splice{{b.from, b.to, ""}}), nil
}
