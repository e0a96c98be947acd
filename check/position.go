package check

// Position is a place in a source file.
type Position struct {
	// File is a slash path relative to the project root, or absolute for a file
	// outside of it, such as one of a Hugo module.
	File         string
	Line, Column int
	// Kind says what kind of file it is.
	Kind SourceKind
	// Module names the theme or module that File belongs to; empty for the
	// project itself.
	Module string
}

// SourceKind is a kind of source file.
type SourceKind string

// The kinds of source files.
const (
	// InContent is a file that pages are written in, or one of which nothing
	// more is known.
	InContent SourceKind = ""
	// InTemplate is a template, layout or partial: one repair there mends all
	// pages that it writes.
	InTemplate SourceKind = "template"
	// InData is a data file, or one of translations.
	InData SourceKind = "data"
	// InConfiguration is a configuration file of the generator: menus lie there.
	InConfiguration SourceKind = "configuration"
	// InAsset is a style sheet or script that the generator processes.
	InAsset SourceKind = "asset"
	// InStatic is a file that is published as it is.
	InStatic SourceKind = "static"
)

// Related is a place that helps to mend a finding.
type Related struct {
	Position
	// Text says what stands there, in a few words: heading "Set up".
	Text string
}
