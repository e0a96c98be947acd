package main

import (
	"context"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/site"
)

// maxSections is how many sections a report shows: more names cannot be told
// apart in a picture.
const maxSections = 16

// addExtras works out what a report shows beside the findings, if one of them
// does: the files without way to them, and the sections with their links.
func (all destinations) addExtras(ctx context.Context, s *site.Site, cfg *config.Config, r *check.Result) error {
	var extras *report.Extras
	for i := range all {
		if !all[i].format.Extras {
			continue
		}
		if extras == nil {
			var err error
			if extras, err = newExtras(ctx, s, cfg, r); err != nil {
				return err
			}
		}
		all[i].opt.Extras = *extras
	}
	return nil
}

func newExtras(ctx context.Context, s *site.Site, cfg *config.Config, r *check.Result) (*report.Extras, error) {
	files, err := check.Orphans(ctx, handle(s), cfg.From)
	if err != nil {
		return nil, err
	}
	// Not nil: an empty list says that there is none.
	extras := &report.Extras{Orphans: []string{}, Unreachable: []string{}}
	for _, f := range files {
		switch {
		case f.Alias != "": // stands for an old address, and is meant to be alone
		case f.Linked:
			extras.Unreachable = append(extras.Unreachable, f.Path)
		default:
			extras.Orphans = append(extras.Orphans, f.Path)
		}
	}
	extras.Sections, extras.Edges = check.Sections(handle(s), r.Findings, maxSections)
	return extras, nil
}
