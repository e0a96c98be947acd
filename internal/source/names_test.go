package source

import "github.com/sitelink/sitelink/internal/generator"

const (
	Hugo       = generator.Hugo
	Jekyll     = generator.Jekyll
	Eleventy   = generator.Eleventy
	Zola       = generator.Zola
	MkDocs     = generator.MkDocs
	Astro      = generator.Astro
	Docusaurus = generator.Docusaurus
)
