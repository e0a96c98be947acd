package main

import (
	"context"

	"github.com/sitelink/sitelink/internal/config"
)

// injectRecord is where inject notes down what it wrote into a project.
const injectRecord = ownDirectory + "/inject.json"

// wantsInject tells whether the link elements are to be put into the templates.
// Somebody is asked only where there is something to put in.
func (r *initRun) wantsInject(ctx context.Context, configure func() (*config.Config, error)) (bool, error) {
	cfg, err := configure()
	switch {
	case r.flags.inject && err != nil:
		return false, err
	case r.flags.inject && cfg.Templates.Pingback == "" && cfg.Templates.Webmention == "":
		return false, errNoEndpoints
	case err != nil: // the check will say so; nothing here hangs on it
		return false, nil
	}
	r.cfg = cfg
	if r.flags.inject || r.gen == nil || cfg.Templates.Pingback == "" && cfg.Templates.Webmention == "" {
		return r.flags.inject, nil
	}
	return r.ask(ctx, "Put the link elements of [templates] into the templates?")
}

// injectStep does what `sitelink inject` does. What somebody injected before is
// not init's to take out.
func (r *initRun) injectStep() error {
	ours := !r.project.Has(injectRecord)
	if ours && !r.flags.dryRun {
		if err := r.record.SetInject(true); err != nil {
			return err
		}
	}
	err := r.app.inject(r.cfg, r.dir, injectFlags{dryRun: r.flags.dryRun})
	if ours && !r.project.Has(injectRecord) && !r.flags.dryRun { // nothing was written
		if undoErr := r.record.SetInject(false); err == nil {
			err = undoErr
		}
	}
	return err
}
