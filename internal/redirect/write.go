package redirect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// The functions in this file write permanent redirects into a rule file. They return what to
// insert into its text, and where. The text is what the file has, or a valid file without
// rules.

// Pair is an address before and after, decoded. A "*" at the end of both stands for all
// that is below.
type Pair struct{ Old, New string }

func escapePath(p string) string { return (&url.URL{Path: p}).EscapedPath() }

// slashRule returns the path and the destination of a rule: /a/* becomes /b/:splat.
func slashRule(r Pair) (from, to string) {
	from, to, splat := splatted(r)
	if splat {
		return escapePath(from) + "*", escapePath(to) + ":splat"
	}
	return escapePath(from), escapePath(to)
}

// WriteRedirects writes lines of _redirects, before all others: the first that matches
// counts.
func WriteRedirects(text []byte, rules []Pair) (int, string, error) {
	var b strings.Builder
	nl := LineEnd(text)
	for _, r := range rules {
		from, to := slashRule(r)
		fmt.Fprintf(&b, "%s %s 301%s", from, to, nl)
	}
	return len(text) - len(bytes.TrimPrefix(text, []byte(bom))), b.String(), nil
}

// WriteNetlifyTOML writes tables of netlify.toml, before the first of their kind.
func WriteNetlifyTOML(text []byte, rules []Pair) (int, string, error) {
	var b strings.Builder
	nl := LineEnd(text)
	at := len(text)
	for off := 0; off < len(text); {
		line, _, _ := bytes.Cut(text[off:], []byte("\n"))
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[[redirects]]")) {
			at = off
			break
		}
		off += len(line) + 1
	}
	if at == len(text) && len(text) > 0 {
		if text[len(text)-1] != '\n' {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	for _, r := range rules {
		from, to := slashRule(r)
		fmt.Fprintf(&b, "[[redirects]]%[1]s  from = \"%[2]s\"%[1]s  to = \"%[3]s\"%[1]s  status = 301%[1]s", nl, from, to)
		if at < len(text) {
			b.WriteString(nl)
		}
	}
	return at, b.String(), nil
}

// WriteHtaccess writes lines of .htaccess.
func WriteHtaccess(text []byte, rules []Pair) (int, string, error) {
	var b strings.Builder
	nl := LineEnd(text)
	for _, r := range rules {
		from, to, splat := splatted(r)
		if splat { // Redirect applies to all that begins with the path
			fmt.Fprintf(&b, "Redirect 301 \"%s\" \"%s\"%s", from, escapePath(to), nl)
			continue
		}
		fmt.Fprintf(&b, "RedirectMatch 301 \"^%s$\" \"%s\"%s", strings.ReplaceAll(regexp.QuoteMeta(from), `"`, `\x22`), apacheText.Replace(to), nl)
	}
	return len(text) - len(bytes.TrimPrefix(text, []byte(bom))), b.String(), nil
}

// apacheText escapes the destination of RedirectMatch, which Apache encodes itself.
var apacheText = strings.NewReplacer(`\`, `\\`, `$`, `\$`, `"`, `\"`)

// pathPattern matches what is special in the patterns of path-to-regexp.
var pathPattern = text.Regexp(`[():*+?{}\\]`)

// WriteVercel writes entries of the array redirects of vercel.json.
func WriteVercel(text []byte, rules []Pair) (int, string, error) {
	var entries []any
	for _, r := range rules {
		from, to, splat := splatted(r)
		from, to = pathPattern().ReplaceAllString(escapePath(from), `\$0`), strings.NewReplacer(":", "%3A", "$", "%24").Replace(escapePath(to))
		if splat {
			from, to = from+"(.*)", to+"$1" // :path* leaves out a slash at the end
		}
		entries = append(entries, map[string]any{"source": from, "destination": to, "permanent": true})
	}
	return jsonEntries(text, "redirects", bytes.IndexByte(text, '{'), entries)
}

var simplePath = text.Regexp(`^[A-Za-z0-9/_.~-]*$`)

// IsPlain reports whether a path has nothing that a glob or a pattern understands in
// another way.
func IsPlain(path string) bool { return simplePath().MatchString(path) }

// WriteFirebase writes entries of the array redirects of firebase.json.
func WriteFirebase(text []byte, rules []Pair) (int, string, error) {
	at := bytes.Index(text, []byte(`"hosting"`))
	if at < 0 {
		return 0, "", errors.New("it has no hosting: add redirects for the old addresses")
	}
	at += len(`"hosting"`)
	if rest := bytes.TrimLeft(text[at:], " \t\r\n:"); len(rest) > 0 && rest[0] == '{' {
		at = len(text) - len(rest)
	} else {
		at = -1 // several sites
	}
	var entries []any
	for _, r := range rules {
		from, to, splat := splatted(r)
		entry := map[string]any{"destination": to, "type": 301} // Firebase escapes it
		if IsPlain(from) {
			entry["source"] = from
		} else {
			entry["regex"] = "^" + regexp.QuoteMeta(from) + "$"
		}
		entries = append(entries, entry)
		if splat { // a capture cannot be empty
			entries = append(entries, map[string]any{
				"regex": "^" + regexp.QuoteMeta(from) + "(.+)$", "destination": pathPattern().ReplaceAllStringFunc(to, url.QueryEscape) + ":1", "type": 301,
			})
		}
	}
	return jsonEntries(text, "redirects", at, entries)
}

// jsonEntries inserts entries into the array called key of a text, or a new one into the
// object that begins at an offset; that is -1 if it is not known.
func jsonEntries(text []byte, key string, object int, entries []any) (int, string, error) {
	nl := LineEnd(text)
	var lines []string
	for _, e := range entries {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e); err != nil {
			return 0, "", err
		}
		lines = append(lines, nl+"    "+strings.TrimSuffix(line.String(), "\n"))
	}
	insert := strings.Join(lines, ",")
	after := func(at int) string {
		if rest := bytes.TrimSpace(text[at:]); len(rest) == 0 || rest[0] == ']' || rest[0] == '}' {
			return ""
		}
		return ","
	}
	if at := bytes.Index(text, []byte(`"`+key+`"`)); at >= 0 {
		i := bytes.IndexByte(text[at:], '[')
		if i < 0 || strings.TrimSpace(string(text[at+len(key)+2:at+i])) != ":" {
			return 0, "", errors.New("its " + key + " are not a list: add the old addresses yourself")
		}
		at += i + 1
		if tail := after(at); tail != "" {
			return at, insert + tail, nil
		}
		return at, insert + nl + "  ", nil
	}
	if object < 0 {
		return 0, "", errors.New("it has no list of " + key + ": add one for the old addresses")
	}
	return object + 1, nl + `  "` + key + `": [` + insert + nl + "  ]" + after(object+1), nil
}

func splatted(r Pair) (from, to string, splat bool) {
	if rest, ok := strings.CutSuffix(r.Old, "*"); ok {
		return rest, strings.TrimSuffix(r.New, "*"), true
	}
	return r.Old, r.New, false
}

// WriteAzure writes entries of the array routes of staticwebapp.config.json. A route cannot
// lead to another place for each address that it matches.
func WriteAzure(text []byte, rules []Pair) (int, string, error) {
	var entries []any
	for _, r := range rules {
		if strings.Contains(r.Old, "*") {
			return 0, "", errors.New("a route cannot name " + quote(r.Old) + ": its * stands for any text")
		}
		entries = append(entries, map[string]any{"route": escapePath(r.Old), "redirect": escapePath(r.New), "statusCode": 301})
	}
	return jsonEntries(text, "routes", bytes.IndexByte(text, '{'), entries)
}

// LineEnd returns what ends the lines of a text.
func LineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
