package main

import (
	"context"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/site"
)

// rowSources are the places in the sources of the findings among the rows of
// --show all: rows are written while pages are read, and a place takes the
// whole page. nil when there is no project.
func (a *app) rowSources(ctx context.Context, s *site.Site, cfg *config.Config, docroot string) (map[place]*check.Position, error) {
	opt, err := sourceOptions(cfg, docroot)
	if err != nil || opt.Project == "" {
		return nil, err
	}
	r, err := check.Run(ctx, handle(s), checkOptions(cfg))
	if err == nil {
		err = a.addSources(ctx, s, cfg, docroot, r)
	}
	if err != nil {
		return nil, err
	}
	places := map[place]*check.Position{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Source != nil {
			places[place{f.Page, f.Offset, f.Code}] = f.Source
		}
	}
	return places, nil
}

// withSources makes render show these places. render is safe for concurrent
// use if it was before.
func withSources(places map[place]*check.Position, render func([]byte, *check.Finding) []byte) func([]byte, *check.Finding) []byte {
	if len(places) == 0 {
		return render
	}
	return func(dst []byte, f *check.Finding) []byte {
		if f.Verdict == check.Error || f.Verdict == check.Warning {
			if p := places[place{f.Page, f.Offset, f.Code}]; p != nil {
				row := *f
				row.Source = p
				f = &row
			}
		}
		return render(dst, f)
	}
}
