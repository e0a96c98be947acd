package site

import "github.com/sitelink/sitelink/internal/scan"

// Inspector looks at an HTML page while its text is in memory. It must keep
// nothing of page.
type Inspector func(kind PageKind, page *scan.Page) Inspected

// Inspected is what an [Inspector] found on a page. What its numbers mean, only
// the inspector knows.
type Inspected struct {
	Flags uint8
	// Marks are places of the page's text, see [Reader.Place].
	Marks []Mark
}

// Mark is a place on a page.
type Mark struct {
	Off  uint32
	What uint8
}

// Inspected returns what [Options.Inspect] found on the page.
func (p *Page) Inspected() Inspected { return p.inspected }

// inspect has the worker's inspector look at a page.
func (w *worker) inspect(p *Page, page *scan.Page) {
	if w.inspector != nil && p.kind.IsHTML() {
		p.inspected = w.inspector(p.kind, page)
	}
}
