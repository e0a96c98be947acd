// Package docs holds what the program shows of its own documents: pages of the manual, the
// meaning of each code, and the options of other checkers.
package docs

import (
	"embed"
	"strings"
	"sync"
)

//go:embed index.md start guide from reference
var files embed.FS

// Page returns a page of the manual by its name: "codes" or "reference/codes". "manual" is
// the list of all pages. ok is false if there is none.
func Page(name string) (markdown string, ok bool) {
	if name == "manual" {
		name = "index"
	}
	for _, dir := range []string{"", "start/", "guide/", "from/", "reference/"} {
		if data, err := files.ReadFile(dir + name + ".md"); err == nil {
			return string(data), true
		}
	}
	return "", false
}

// Code is what reference/codes.md has about one code.
type Code struct {
	Name string
	// Level is the usual verdict, "error" or "warning"; "" for the code of a link
	// that was not checked.
	Level string
	// Cause and Cure are sentences without markup. Such links have no Cure.
	Cause, Cure string
	// Finding is what a text report shows for an example, in lines.
	Finding string
}

// String returns the code for a person.
func (c Code) String() string {
	text := c.Name + ": " + c.Cause + "\n"
	if c.Level == "" {
		return text + "Such a link is not checked; the summary counts it.\n"
	}
	return text + c.Cure + "\n\nExample:\n" + c.Finding
}

// Codes returns all codes in the order of the document. Each run of the program calls it,
// to check the codes of a configuration: regular expressions would take 9 ms.
var Codes = sync.OnceValue(func() []Code {
	var all []Code
	codes, _ := Page("codes")
	for _, section := range strings.Split(codes, "\n### `")[1:] {
		name, rest, _ := strings.Cut(section, "`\n\n**")
		level, rest, _ := strings.Cut(rest, ":** ")
		cause, rest, _ := strings.Cut(rest, "\n\n**Cure:** ")
		cure, rest, ok := strings.Cut(rest, "\n\n```text\n")
		finding, _, _ := strings.Cut(rest, "```")
		if ok {
			all = append(all, Code{Name: name, Level: strings.ToLower(level), Cause: plain(cause), Cure: plain(cure), Finding: finding})
		}
	}
	_, unchecked, _ := strings.Cut(codes, "\n## Links that were not checked\n")
	unchecked, _, _ = strings.Cut(unchecked, "\n## ")
	for _, row := range strings.Split(unchecked, "\n| `")[1:] {
		name, cause, _ := strings.Cut(strings.TrimSpace(row), "` | ")
		cause, _, _ = strings.Cut(cause, " |\n")
		all = append(all, Code{Name: name, Cause: plain(strings.TrimSuffix(cause, " |"))})
	}
	return all
})

// plain returns Markdown without its markup, in one line: "See `[host]` in [Profiles](p.md)."
// becomes "See [host] in Profiles."
func plain(markdown string) string {
	var b strings.Builder
	for rest := markdown; rest != ""; {
		before, after, isLink := strings.Cut(rest, "](")
		open := strings.LastIndexByte(before, '[')
		if !isLink || open < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(before[:open] + before[open+1:])
		_, rest, _ = strings.Cut(after, ")")
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "`", "")), " ")
}
