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
func (a *app) rowSources(ctx context.Context, s *site.Site, cfg *config.Config, docroot string) (linkSources, error) {
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
	places := linkSources{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Source != nil {
			places[place{f.Page, f.Offset, f.Code}] = f.Source
		}
	}
	return places, nil
}

// linkSources are the places in the sources of the links that are findings.
type linkSources map[place]*check.Position

// of returns the place of a link, nil if it has none.
func (p linkSources) of(l *check.Link) *check.Position {
	if len(p) == 0 || l.Verdict != check.Error && l.Verdict != check.Warning {
		return nil
	}
	return p[place{l.Page, l.Offset, l.Code}]
}
