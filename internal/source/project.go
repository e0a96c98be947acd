package source

import (
	"github.com/sitelink/sitelink/internal/generator"
)

// Generator is the program that made the pages, see [generator.Find].
type Generator = generator.Name

// Those that are treated differently from others.
const (
	None       = generator.None
	Hugo       = generator.Hugo
	Jekyll     = generator.Jekyll
	Eleventy   = generator.Eleventy
	Zola       = generator.Zola
	MkDocs     = generator.MkDocs
	Astro      = generator.Astro
	Docusaurus = generator.Docusaurus
	Plain      = generator.Plain
)

func isMarkdown(name string) bool { return generator.IsMarkdown(name) }
