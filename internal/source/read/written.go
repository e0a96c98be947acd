package read

// Form is a syntax in which an author writes the destination of a link.
type Form uint8

// The forms of destinations.
const (
	FormWord       Form = iota // a word in markup that is not parsed: Org, AsciiDoc, reStructuredText
	FormInline                 // [text](here), ![text](here)
	FormDefinition             // [label]: here
	FormAutolink               // <here>, or a bare address
	FormHTML                   // an attribute of HTML
	FormComponent              // an attribute of a component in MDX
	FormShortcode              // a parameter of a shortcode of Hugo
	FormMatter                 // a value of front matter
	FormData                   // a value of a data or configuration file
	FormString                 // a string in an action of a template
	FormCSS                    // a URL of a style sheet
	FormRule                   // what a rule of a rule file names; package destination tells it from a word
)

// Written is a place of a file where its author may have written the
// destination of a link.
type Written struct {
	// At is the offset of its first byte. Position is the offset that a
	// source.Position names: they differ for strings in actions of templates.
	At, Position int
	// Value is the destination without the escapes of its form.
	Value string
	Form  Form
	// Element is the element that it becomes, "" if that is not known. Label is
	// the text of the link, as letters and digits in lower case.
	Element, Label string
	// Name is the name of the shortcode or attribute, or the function of an
	// action. Key is the key of a value of data or front matter, in lower case,
	// or the name of a shortcode's parameter.
	Name, Key string
	// Size is the length in bytes of what is written, 0 if that follows from
	// the form.
	Size int

	// Order is the offset of the link itself, which comes before the definition of a
	// reference link or after it. ref is the normalised label of a reference link.
	Order int
	Ref   string
	// IsGuess reports that this may be no link: it is a parameter of a shortcode, or a word
	// in a markup that is not parsed. AsMarkdown reports that it is a parameter of a {{%
	// %}} shortcode: the output of such a shortcode is parsed as Markdown.
	IsGuess, AsMarkdown bool
}

// Definition is the destination of a link reference definition.
type Definition struct {
	At   int
	Dest string
}

// heading is a heading of a Markdown file, or a term of a definition list.
type heading struct {
	at    int    // of its text
	id    string // "" if the author gives none
	label string
}
