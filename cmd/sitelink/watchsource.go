package main

import (
	"context"
	"slices"

	"github.com/sitelink/sitelink/check"
)

// watchSources remembers the places with which findings were printed: a fixed
// finding is printed with the place by which the reader knows it.
type watchSources struct {
	printed map[watchedLink][]*check.Position
	// placed is set when findings were placed once: warnings about the sources are
	// printed only then.
	placed bool
}

// warnOnce returns warn until findings were placed.
func (s *watchSources) warnOnce(warn func(string)) func(string) {
	return func(text string) {
		if !s.placed {
			warn(text)
		}
	}
}

// watchedLink identifies findings while they move on their pages.
type watchedLink struct {
	page, raw string
	code      check.Code
}

func linkOf(f *check.Finding) watchedLink { return watchedLink{f.Page, f.Raw, f.Code} }

// places returns the findings with their places in the author's sources as they
// are now. A finding that cannot be placed is named by its page.
func (w *watcher) places(ctx context.Context, fs []check.Finding) ([]check.Finding, error) {
	if len(fs) == 0 {
		return fs, nil
	}
	r := &check.Result{Findings: slices.Clone(fs)} // the next comparison needs fs
	err := w.audit.PlaceFindings(ctx, r)
	w.sources.placed = true
	return r.Findings, err
}

// remember keeps the places of new findings.
func (s *watchSources) remember(fs []check.Finding) {
	for i := range fs {
		if fs[i].Source != nil {
			if s.printed == nil {
				s.printed = map[watchedLink][]*check.Position{}
			}
			key := linkOf(&fs[i])
			s.printed[key] = append(s.printed[key], fs[i].Source)
		}
	}
}

// forget returns fixed findings with the places with which they were printed.
func (s *watchSources) forget(fs []check.Finding) []check.Finding {
	if len(s.printed) == 0 {
		return fs
	}
	fs = slices.Clone(fs)
	for i := range fs {
		key := linkOf(&fs[i])
		if places := s.printed[key]; len(places) > 1 {
			fs[i].Source, s.printed[key] = places[0], places[1:]
		} else if len(places) == 1 {
			fs[i].Source = places[0]
			delete(s.printed, key)
		}
	}
	return fs
}
