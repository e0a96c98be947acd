package main

import (
	"slices"

	"github.com/sitelink/sitelink/internal/site"
)

// fastRender is what a watch says once beside hugo server.
const fastRender = "hugo server renders only what changed and what was visited lately; " +
	"hugo server --disableFastRender keeps lists, menus and other pages up to date"

// hintServer says once that pages may be older than they look.
func (w *watching) hintServer(s *site.Site) {
	if s.ServerPages() > 0 && !slices.Contains(w.told, fastRender) {
		w.told = append(w.told, fastRender)
		w.ui.note(fastRender)
	}
}
