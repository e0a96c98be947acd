package host

import (
	"fmt"
	pathpkg "path"
	"slices"
	"strconv"
	"strings"
)

// ProfileKey is one field of a [Profile] as the configuration names it.
type ProfileKey struct {
	// Name is the key in the table [host] of sitelink.toml.
	Name string
	// Values are the words that the key takes; nil for other types.
	Values []string
	// Type is "word", "text", "list", "status" or "switch".
	Type string
	// Help is one line, lower case, no full stop.
	Help string

	field func(*Profile) any
}

func ways(w ...Way) []string {
	out := make([]string, len(w))
	for i := range w {
		out[i] = string(w[i])
	}
	return out
}

// rulesWays returns the values of the key rules, rulesHelp what they mean.
func rulesWays() []string {
	all := ways(RulesNone)
	for _, k := range kinds {
		if k.Rules != RulesNone {
			all = append(all, string(k.Rules))
		}
	}
	return all
}

func rulesHelp() string {
	var all []string
	for _, k := range kinds {
		if k.Rules != RulesNone {
			var names []string
			for _, f := range k.Files {
				names = append(names, f.Name)
			}
			all = append(all, string(k.Rules)+" ("+strings.Join(names, ", ")+")")
		}
	}
	return strings.Join(all, ", ")
}

var profileKeys = []ProfileKey{
	{Name: "index", Type: "list", Help: "default index files of a directory, in the order tried",
		field: func(p *Profile) any { return &p.Index }},
	{Name: "any-case", Type: "switch", Help: "names match in any letter case where none matches exactly",
		field: func(p *Profile) any { return &p.AnyCase }},
	{Name: "index-any-case", Type: "switch", Help: "index files match in any letter case",
		field: func(p *Profile) any { return &p.FoldIndex }},
	{Name: "charset", Type: "text", Help: "encoding that the host's Content-Type gives for HTML and CSS, whatever the files say; empty for none",
		field: func(p *Profile) any { return &p.Charset }},
	{Name: "directory", Values: ways(Redirect, RedirectIndex, Serve, Missing), Type: "word",
		Help:  "/dir: redirect to /dir/, the same only when it has an index file or is listed, serve that file, or missing",
		field: func(p *Profile) any { return &p.Directory }},
	{Name: "directory-slash", Values: ways(Serve, Redirect), Type: "word", Help: "/dir/ with index file: serve it, or redirect to /dir",
		field: func(p *Profile) any { return &p.DirectorySlash }},
	{Name: "index-file", Values: ways(Serve, Redirect, RedirectBare), Type: "word",
		Help:  "/dir/index.html: serve it, or redirect to /dir/ or, bare, to /dir",
		field: func(p *Profile) any { return &p.IndexFile }},
	{Name: "index-name", Values: ways(Missing, Redirect, RedirectBare, RedirectAlways), Type: "word",
		Help:  "/dir/index: missing, redirect to /dir/ unless it is a file, or, bare or always, to /dir",
		field: func(p *Profile) any { return &p.IndexName }},
	{Name: "empty-directory", Type: "status", Help: "status of a directory without index file",
		field: func(p *Profile) any { return &p.EmptyDirectory }},
	{Name: "page", Values: ways(Missing, Serve, Redirect), Type: "word",
		Help:  "/page when there is page.html: missing, serve it, or redirect to /page/",
		field: func(p *Profile) any { return &p.Page }},
	{Name: "page-suffixes", Type: "list", Help: "suffixes that a page's address may leave out, in the order tried",
		field: func(p *Profile) any { return &p.PageSuffixes }},
	{Name: "page-file", Values: ways(Serve, Redirect, RedirectAlways), Type: "word",
		Help:  "/page.html: serve it, redirect to /page unless that is a file, or redirect always, file or not",
		field: func(p *Profile) any { return &p.PageFile }},
	{Name: "page-slash", Values: ways(Missing, Serve, Redirect), Type: "word",
		Help:  "/page/ when there is page.html and no directory: missing, serve it, or redirect to /page",
		field: func(p *Profile) any { return &p.PageSlash }},
	{Name: "page-first", Type: "switch", Help: "/page is page.html even if there is a directory of that name",
		field: func(p *Profile) any { return &p.PageFirst }},
	{Name: "page-slash-first", Type: "switch", Help: "/page/ is page.html even if there is a directory of that name",
		field: func(p *Profile) any { return &p.PageSlashFirst }},
	{Name: "trailing-slash", Values: ways(Keep, Add, Remove), Type: "word",
		Help:  "every path: keep, add a slash where the last name has no suffix, or remove it, by a redirect",
		field: func(p *Profile) any { return &p.TrailingSlash }},
	{Name: "file-slash", Values: ways(Missing, Serve, ServeSlash, Redirect), Type: "word",
		Help:  "a slash or path after a file: missing, serve the file, the same for a slash alone, or redirect to it",
		field: func(p *Profile) any { return &p.FileSlash }},
	{Name: "slashes", Values: ways(Merge, Keep, Redirect), Type: "word",
		Help:  "empty segments: merge, keep (nothing answers), or redirect to the path without them",
		field: func(p *Profile) any { return &p.Slashes }},
	{Name: "encoded-slash", Values: ways(Serve, Keep, Missing), Type: "word", Help: "%2F: a slash, part of a name, or missing",
		field: func(p *Profile) any { return &p.EncodedSlash }},
	{Name: "reserved-escape", Values: ways(Serve, Keep), Type: "word",
		Help:  "the escape of a character with a meaning in URLs (;/?:@&=+$,#): that character, or part of a name",
		field: func(p *Profile) any { return &p.ReservedEscape }},
	{Name: "above-root", Type: "status", Help: "status of encoded dots above the root; 0: they stop there",
		field: func(p *Profile) any { return &p.AboveRoot }},
	{Name: "bad-escape", Type: "status", Help: "status of a percent sign without two hexadecimal digits after it; 0: the sign is part of the name",
		field: func(p *Profile) any { return &p.BadEscape }},
	{Name: "invalid-utf8", Type: "status", Help: "status of a path that is not UTF-8; 0 for none",
		field: func(p *Profile) any { return &p.InvalidUTF8 }},
	{Name: "deny", Type: "list", Help: "patterns of names that the host does not serve",
		field: func(p *Profile) any { return &p.Deny }},
	{Name: "denied", Type: "status", Help: "status of those names",
		field: func(p *Profile) any { return &p.Denied }},
	{Name: "rules", Values: rulesWays(), Type: "word",
		Help:  "rule files that the host reads: none, or those of a host: " + rulesHelp(),
		field: func(p *Profile) any { return &p.Rules }},
	{Name: "drop-query", Type: "switch", Help: "a redirect of the host loses the query",
		field: func(p *Profile) any { return &p.DropQuery }},
	{Name: "raw-location", Type: "switch", Help: "a redirect of the host escapes nothing",
		field: func(p *Profile) any { return &p.RawLocation }},
	{Name: "error-page", Type: "text", Help: "file at the root that is sent with 404 even when asked for by name; empty for none",
		field: func(p *Profile) any { return &p.ErrorPage }},
	{Name: "fallback", Type: "text", Help: "file that is sent with status 200 for every missing path; empty for none",
		field: func(p *Profile) any { return &p.Fallback }},
	{Name: "fallback-unless", Type: "text", Help: "file that turns the fallback off for its directory and all below",
		field: func(p *Profile) any { return &p.FallbackUnless }},
	{Name: "portable", Type: "switch", Help: "warn about links that other servers answer differently",
		field: func(p *Profile) any { return &p.Portable }},
}

// ProfileKeys returns the fields of a profile that the configuration can set,
// in the order in which the manual lists them.
func ProfileKeys() []ProfileKey { return slices.Clone(profileKeys) }

// Set sets a field: a list to all values, any other field to the only one. The
// error says which values the field takes.
func (p *Profile) Set(key string, values []string) error {
	i := slices.IndexFunc(profileKeys, func(k ProfileKey) bool { return k.Name == key })
	if i < 0 {
		return fmt.Errorf("no such key")
	}
	k := &profileKeys[i]
	if list, ok := k.field(p).(*[]string); ok {
		for _, v := range values {
			if v == "" || strings.Contains(v, "/") {
				return fmt.Errorf("must be names without a slash, not %q", v)
			}
			if _, err := pathpkg.Match(v, ""); err != nil {
				return fmt.Errorf("invalid pattern %q", v)
			}
		}
		*list = slices.Clone(values)
		return nil
	}
	if len(values) != 1 {
		return fmt.Errorf("must be one value, not %d", len(values))
	}
	value := values[0]
	if len(k.Values) > 0 && !slices.Contains(k.Values, value) {
		return fmt.Errorf("must be one of %s, not %q", strings.Join(k.Values, ", "), value)
	}
	switch f := k.field(p).(type) {
	case *string:
		*f = value
	case *Way:
		*f = Way(value)
	case *bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		*f = b
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("must be a whole number, not %q", value)
		}
		if k.Type == "status" && n != 0 && (n < 400 || n > 599) {
			return fmt.Errorf("must be a status from 400 to 599, or 0, not %d", n)
		}
		*f = n
	}
	return nil
}

// Describe returns the profile as the table [host] of sitelink.toml, with a
// comment for each field.
func (p *Profile) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "profile = %q\n\n[host]\n", p.Name)
	for i := range profileKeys {
		k := &profileKeys[i]
		fmt.Fprintf(&b, "# %s\n%s = ", k.Help, k.Name)
		switch f := k.field(p).(type) {
		case *[]string:
			b.WriteByte('[')
			for i, v := range *f {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(strconv.Quote(v))
			}
			b.WriteByte(']')
		case *string:
			b.WriteString(strconv.Quote(*f))
		case *Way:
			b.WriteString(strconv.Quote(string(*f)))
		case *bool:
			b.WriteString(strconv.FormatBool(*f))
		case *int:
			b.WriteString(strconv.Itoa(*f))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
