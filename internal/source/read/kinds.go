package read

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
)

// The extensions of files by what is in them.
var (
	htmlExtensions    = WordSet(".html .htm")
	contentExtensions = WordSet(".html .htm .org .adoc .asciidoc .ad .rst .pdc .pandoc .gotmpl")
	// templates that write HTML
	templateExtensions = WordSet(".html .htm .gohtml .tmpl .liquid .njk .hbs .mustache .ejs .jinja .jinja2 .j2 .tera .php .astro .vue .svelte")
	programExtensions  = WordSet(".js .ts .mjs .mts .cjs .py .rb")
	dataExtensions     = WordSet(".toml .yaml .yml .json .csv .xml")
	assetExtensions    = WordSet(".css .scss .svg")
	otherExtensions    = WordSet(".pug .jsx .tsx .md .mdx") // templates of another kind, and content that may be one
)

func hasExtension(name string, of ...map[string]bool) bool {
	ext := strings.ToLower(path.Ext(name))
	return slices.ContainsFunc(of, func(set map[string]bool) bool { return set[ext] })
}

func IsHTMLName(name string) bool { return hasExtension(name, htmlExtensions) }

// IsContent reports whether a name is that of a content file.
func IsContent(name string) bool { return hasExtension(name, contentExtensions) || IsMarkdown(name) }

// IsHTMLLike reports whether a template with this name writes HTML.
func IsHTMLLike(name string) bool { return hasExtension(name, templateExtensions) }

// IsTemplate reports whether a file with this name may write links into pages.
func IsTemplate(name string) bool {
	return IsRuleTemplate(name) || hasExtension(name, templateExtensions, programExtensions, dataExtensions, assetExtensions, otherExtensions)
}

// KindOf returns the kind of a file by its name, for generators other than
// Hugo.
func KindOf(name string) SourceKind {
	switch {
	case generator.IsConfig(name):
		return Configuration
	case hasExtension(name, WordSet(".md .mdx")):
		return Content
	case hasExtension(name, dataExtensions), hasExtension(name, programExtensions) && strings.Contains("/"+name, "/_data/"):
		return Data
	case hasExtension(name, assetExtensions):
		return Asset
	}
	return Template
}

// IsHTMLTemplate reports whether an HTML file among the content is a template,
// for example of a theme in the project. A page would have front matter.
func IsHTMLTemplate(name string, text []byte) bool {
	return IsHTMLName(name) && FrontMatter(text) == 0 && (bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%")))
}

func IsMarkdown(name string) bool { return generator.IsMarkdown(name) }

// SourceKind is a kind of source file.
type SourceKind string

// The kinds of source files.
const (
	Content       SourceKind = ""
	Template      SourceKind = "template"
	Data          SourceKind = "data" // and translations
	Configuration SourceKind = "configuration"
	Asset         SourceKind = "asset"
	Static        SourceKind = "static"
)

// IsRuleTemplate reports whether the name is that of a template of a rule file, such
// as index.redir.
func IsRuleTemplate(name string) bool { return strings.Contains(path.Base(name), "redir") }

// RuleFields returns the first two fields of a rule, "" for other lines.
func RuleFields(line []byte) (from, to string) {
	fields := strings.Fields(string(line))
	if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
		return "", ""
	}
	return fields[0], fields[1]
}

// apacheFields returns the source and the destination of a rule in .htaccess, "" for
// other lines.
func apacheFields(line []byte) (from, to string) {
	fields := strings.Fields(string(line))
	if n := len(fields); n > 2 {
		switch directive := strings.ToLower(fields[0]); {
		case directive == "rewriterule":
			return fields[1], strings.Trim(fields[2], `"`)
		case strings.HasPrefix(directive, "redirect"):
			return fields[n-2], strings.Trim(fields[n-1], `"`)
		}
	}
	return "", ""
}
