package generator

// Traits are what other packages ask about a generator. The zero value is that of a site
// without one.
type Traits struct {
	// Port is where the generator serves the site to its author by default; 0 for none.
	Port int
	// OwnFiles: the generator reads its own directories and configuration alone, unless a
	// template or the configuration names other files. README.md and the like at the root are
	// not among them.
	OwnFiles bool
	// OwnContent: pages are made of files in the row's directories of content alone, or in the
	// one that the configuration names, and InDirectories: of none at the root of the project.
	// Content may include other files.
	OwnContent, InDirectories bool
	// Env are variables for a build that must neither write into the sources nor hide what
	// they lack.
	Env []string
	// Leaves: a build writes every page again, and removes none of those of earlier builds.
	// Sphinx does not write again what has not changed, such as _modules.
	Leaves bool
	// Templates is the language of its templates, in which inject writes; "" if it writes
	// into none, and then NoTemplates says why.
	Templates   Templates
	NoTemplates string
	// HeadKey is the key of the configuration with the elements of the head, and HeadItem
	// how a link is written there, with its relation and its address; "" for none.
	HeadKey, HeadItem string
	// Drafts says which files of content make no page; NoDrafts why that is nil.
	Drafts   *Drafts
	NoDrafts string
	// Printed is the page with all others, nil for none.
	Printed *Printed
	// ResolvesMarkdown: a link to the file of a page becomes the address of the page. With
	// ContentRoot, the path of the file begins with that, below the first directory of content.
	// WantsFiles: authors should write such links rather than addresses.
	ResolvesMarkdown bool
	ContentRoot      string
	WantsFiles       bool
	// AliasKey is the key of front matter with addresses that the generator makes redirects
	// from, if the configuration names AliasPlugin.
	AliasKey, AliasPlugin string
	// AllPages are flags of a build that also makes pages of what is not published.
	AllPages []string
	// Modules: content, layouts and static files are mounted from modules, which
	// [Project.Hugo] reads, and its commands name another docroot than the configuration.
	Modules bool
	// SectionFile is the name of the content file that a section needs for a page of its own.
	SectionFile string
	// Refs: functions in content name other content files, and stop a build that finds none.
	Refs bool
	// SourceTags and Imports: a build stops at a tag of Liquid, or an import, that names a
	// file that moved.
	SourceTags, Imports bool
	// VersionVariable is the variable that chooses the version of the program on
	// hosts that have it. Version is one that is known to work.
	VersionVariable, Version string
	// Caches are files and directories of the project that builds write beside the docroot.
	Caches []string
	// ReadsAll: every file of the project is input, except below node_modules.
	ReadsAll bool
	// Versions: content has the layout of Docusaurus, with versions and translations.
	Versions bool
}

// Templates is a language of templates.
type Templates string

// The languages of templates that inject writes. Those of one generator can have several:
// Nunjucks stands for Liquid, too.
const (
	GoTemplates     Templates = "go"
	Liquid          Templates = "liquid"
	Nunjucks        Templates = "nunjucks"
	Tera            Templates = "tera"
	Jinja           Templates = "jinja"
	AstroComponents Templates = "astro"
)

// Drafts says which files of content make no page.
type Drafts struct {
	// Values are values of front matter, as "draft: true".
	Values []string
	// Dir is a directory of drafts, "" for none.
	Dir string
	// Dates and Expiry are keys with a date before, and from, which there is no page; the
	// first that is set counts. With DatedDir, dates count below it only, also those in
	// names.
	Dates, Expiry []string
	DatedDir      string
	// ListFile names the files that make pages, "" if all do.
	ListFile string
}

// Printed is a page that shows all others, in the order of [Drafts.ListFile].
type Printed struct {
	Page string
	// Between is the text between two of them. Addresses on the page are relative to the
	// top, and what has a fragment on another page is the fragment alone.
	Between string
}

// Traits returns those of a generator.
func (n Name) Traits() Traits { return rowOf(n).Traits }
