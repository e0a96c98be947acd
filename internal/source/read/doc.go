// Package read turns the bytes of one source file into what its author wrote there: the
// destinations of links with their exact places, the values of front matter and data, the
// headings, and the tags of templates. It knows neither the project nor the site.
//
// [Links] returns all destinations of a file, [Parse] a content file with what surrounds
// them, and [TemplateLinks] the links of a template.
package read
