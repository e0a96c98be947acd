package main

import (
	"context"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// watchPlaces finds where the links of a watch's findings are written, and
// remembers what was told: a finding that is fixed is named by the place by
// which it was known.
type watchPlaces struct {
	told map[watchedLink][]*check.Position
	// warned: what keeps positions from being found was said once.
	warned bool
}

// watchedLink tells findings apart while they move on their pages.
type watchedLink struct {
	page, raw string
	code      check.Code
}

func linkOf(f *check.Finding) watchedLink { return watchedLink{f.Page, f.Raw, f.Code} }

// places returns the findings with the places of their links in the author's
// sources as they are now. What cannot be placed is named by its page.
func (w *watching) places(ctx context.Context, fs []check.Finding) ([]check.Finding, error) {
	if len(fs) == 0 {
		return fs, nil
	}
	if opt, err := sourceOptions(w.cfg, w.docroot); err != nil || opt.Project == "" {
		return fs, err
	}
	a := w.app
	if w.sources.warned {
		a = a.silent()
	}
	w.sources.warned = true
	placed := &check.Result{Findings: slices.Clone(fs)} // the follower keeps fs
	if err := a.addSources(ctx, w.site, w.cfg, w.docroot, placed); err != nil {
		return nil, err
	}
	return placed.Findings, nil
}

// tell remembers the places of new findings.
func (s *watchPlaces) tell(fs []check.Finding) {
	for i := range fs {
		if fs[i].Source != nil {
			if s.told == nil {
				s.told = map[watchedLink][]*check.Position{}
			}
			key := linkOf(&fs[i])
			s.told[key] = append(s.told[key], fs[i].Source)
		}
	}
}

// forget returns fixed findings with the places that they were told with.
func (s *watchPlaces) forget(fs []check.Finding) []check.Finding {
	if len(s.told) == 0 {
		return fs
	}
	fs = slices.Clone(fs)
	for i := range fs {
		key := linkOf(&fs[i])
		if places := s.told[key]; len(places) > 1 {
			fs[i].Source, s.told[key] = places[0], places[1:]
		} else if len(places) == 1 {
			fs[i].Source = places[0]
			delete(s.told, key)
		}
	}
	return fs
}
