// Package layout reads the templates of site generators: which bytes are HTML,
// which are actions, and where the head of the pages that they make begins and
// ends.
//
// What enters is the text of templates, by name, and their language; what
// leaves is a [Doc]: the tags that matter with their file, offset and the
// conditions under which they are written. The package performs no I/O of its
// own and executes no template. Text is tokenised as the HTML Living Standard
// says (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), so
// that a </head> in a script, a comment or an attribute is none; an action is a
// hole in the text, whatever it writes.
package layout

// Language is the template language of a file.
type Language uint8

const (
	// HTML is text without actions.
	HTML Language = iota
	// Go is the language of html/template, with Hugo's functions.
	Go
	// Liquid is Jekyll's and Eleventy's default language.
	Liquid
	// Jinja stands for Jinja, Nunjucks and Tera, whose delimiters are the same.
	Jinja
	// Astro is a component of Astro: front matter, HTML, {expressions}.
	Astro
	// YAML is a configuration file; only its comments are known.
	YAML
	// TOML is a configuration file; only its comments are known.
	TOML
)

// Comment returns text as a comment of the language. text must not hold what
// ends one.
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
