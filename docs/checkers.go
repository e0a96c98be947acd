package docs

import (
	"strings"
	"sync"
)

// Option is an option of another link checker, in a row of from/*.md.
type Option struct {
	// Checker is the name of the page: "lychee".
	Checker string
	// Names are its names there, in lower case and with hyphens: "ignore-files". Other
	// words, such as "the directory", stand for what has no name.
	Names []string
	// Ours are sentences without markup about what does the same in sitelink.
	Ours string
	// Example is a command, flags of sitelink check, or a line of sitelink.toml.
	Example string
}

// Options returns the options of other link checkers that from/*.md lists, those that most
// people use first.
var Options = sync.OnceValue(func() (all []Option) {
	for _, checker := range []string{"lychee", "html-proofer", "linkchecker", "hyperlink", "htmltest", "linklint"} {
		page, _ := Page(checker)
		_, table, _ := strings.Cut(page, "\n|---|---|---|\n")
		for row := range strings.Lines(table) {
			cells := strings.Split(strings.Trim(row, "| \n"), " | ")
			o := Option{Checker: checker, Ours: plain(cells[1]), Example: strings.Trim(cells[2], "`")}
			for name := range strings.SplitSeq(plain(cells[0]), ", ") {
				o.Names = append(o.Names, strings.ReplaceAll(strings.ToLower(name), "_", "-"))
			}
			all = append(all, o)
		}
	}
	return all
})
