// Package layout reads the templates of site generators: which bytes are HTML,
// which are actions, and where the head of the pages they produce starts and
// ends.
//
// [Walk] takes templates by name, with their language, and returns a [Doc]: the
// tags that matter, with their file, their offset and the conditions under which
// they are written. The package performs no I/O and executes no template. It
// tokenises text as the HTML Living Standard does
// (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), so a
// </head> in a script, a comment or an attribute does not count. An action is a
// gap in the text, whatever it writes.
package layout

import "slices"

// Language is the template language of a file.
type Language uint8

const (
	// HTML is text without actions.
	HTML Language = iota
	// Go is the language of html/template, with Hugo's functions.
	Go
	// Liquid is Jekyll's and Eleventy's default language.
	Liquid
	// Jinja is Jinja, Nunjucks and Tera, which share their delimiters.
	Jinja
	// Astro is a component of Astro: front matter, HTML, {expressions}.
	Astro
	// YAML is a configuration file, of which only comments are recognised.
	YAML
	// TOML is a configuration file, of which only comments are recognised.
	TOML
)

// Comment returns text as a comment of the language. text must not contain the
// end of a comment.
func (l Language) Comment(text string) string {
	switch l {
	case Go:
		return "{{/* " + text + " */}}"
	case Liquid:
		return "{% comment %}" + text + "{% endcomment %}"
	case Jinja:
		return "{# " + text + " #}"
	case Astro:
		return "{/* " + text + " */}"
	case YAML, TOML:
		return "# " + text
	}
	return "<!-- " + text + " -->"
}

var names = [...]string{HTML: "html", Go: "go", Liquid: "liquid", Jinja: "jinja", Astro: "astro", YAML: "yaml", TOML: "toml"}

// String returns the language's name.
func (l Language) String() string {
	if int(l) < len(names) {
		return names[l]
	}
	return "unknown"
}

// Named returns the language of that name.
func Named(name string) (l Language, ok bool) {
	for i, n := range names {
		if n == name {
			return Language(i), true
		}
	}
	return HTML, false
}

// Spot is a place in a template where something can be inserted.
type Spot struct {
	Pos
	// Before is the number of bytes before it on the page, as far as the
	// templates show: a lower bound.
	Before int
	// Data is the expression for the page at this place: "." or "$" in Go
	// templates, or "" when neither is the page. It is "." in all other
	// languages.
	Data string
	// Cached: the text at this place is produced for one page and reused for others.
	Cached bool
	// InBlock is the name of the innermost block around it. Other templates may
	// replace a block.
	InBlock string
	// Chain are the files from the root to this one, for messages.
	Chain []string

	branches []int
}

// Always reports whether s is written every time that whenever is.
func (s Spot) Always(whenever Spot) bool {
	return len(s.branches) <= len(whenever.branches) && slices.Equal(s.branches, whenever.branches[:len(s.branches)])
}

// Call is a call of another template in the head.
type Call struct {
	Spot
	Name string
	// Arg is the data that it passes, as written. Found is the file of the
	// called template, or "".
	Arg, Found string
	// Page reports whether the called template gets the page as its data.
	Page bool
	// CachedCall: the output of the called template is reused for several pages.
	CachedCall bool
	// Guarded: the call is made only if the template exists.
	Guarded bool
	// InBody: as far as the templates show, the body has already started,
	// through text or elements that a head cannot contain.
	InBody bool
}

// Link is a link element that the template itself has.
type Link struct {
	Spot
	// Rel is pingback or webmention.
	Rel string
}

// Doc describes the head of a page as its templates write it.
type Doc struct {
	// Heads are the spots after each <head>, and HeadEnds the spots before each
	// </head>, both outside scripts, comments and the like.
	Heads, HeadEnds []Spot
	// Charset is the spot after the charset declaration in the head.
	Charset *Spot
	// Body is where the body starts: its tag, or content that only a body can have.
	Body *Spot
	// BodyFirst: stray text or elements start the body before the first </head>,
	// which therefore does not end a head.
	BodyFirst bool
	// Implied is the spot after the last element, such as title or link, of a
	// head without tags.
	Implied *Spot
	// XHTML: the page declares itself to be XHTML.
	XHTML bool
	// Calls are the calls of other templates in the head, in order.
	Calls []Call
	// Links are elements in the head, or before its end, that already name an
	// endpoint.
	Links []Link
	// PageFunc is an expression for the page that works everywhere, or "". The
	// caller sets it before [Doc.Place].
	PageFunc string
	// Files are all files that were read.
	Files []string
	// Extends is the template that the root extends.
	Extends string
	// Blocks are the names of the blocks in the head, in order. AllBlocks are the
	// names of all blocks of the page.
	Blocks, AllBlocks []string
	// Defines are the names that the files define for other templates.
	Defines []string
	// IsDocument: a doctype or <html> shows that this is a whole page.
	IsDocument bool
}
