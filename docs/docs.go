// Package docs holds what the program shows of its own documents: the meaning of
// each code, from reference/codes.md.
package docs

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed reference/codes.md
var codes string

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

var (
	codeSection = regexp.MustCompile("(?m)^### `([a-z-]+)`\n\n\\*\\*(Error|Warning):\\*\\* ((?:.+\n)+)\n\\*\\*Cure:\\*\\* ((?:.+\n)+)\n```text\n((?:.*\n)*?)```$")
	codeRow     = regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (.*) \\|$")
	markdown    = regexp.MustCompile("\\[([^\\]]+)\\]\\([^)]+\\)|`")
)

// String returns the code for a person.
func (c Code) String() string {
	text := c.Name + ": " + c.Cause + "\n"
	if c.Level == "" {
		return text + "Such a link is not checked; the summary counts it.\n"
	}
	return text + c.Cure + "\n\nExample:\n" + c.Finding
}

// Codes returns all codes in the order of the document.
var Codes = sync.OnceValue(func() []Code {
	plain := func(text string) string {
		return strings.Join(strings.Fields(markdown.ReplaceAllString(text, "$1")), " ")
	}
	var all []Code
	for _, m := range codeSection.FindAllStringSubmatch(codes, -1) {
		all = append(all, Code{Name: m[1], Level: strings.ToLower(m[2]), Cause: plain(m[3]), Cure: plain(m[4]), Finding: m[5]})
	}
	_, unchecked, _ := strings.Cut(codes, "\n## Links that were not checked\n")
	unchecked, _, _ = strings.Cut(unchecked, "\n## ")
	for _, m := range codeRow.FindAllStringSubmatch(unchecked, -1) {
		all = append(all, Code{Name: m[1], Cause: plain(m[2])})
	}
	return all
})
