package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/move"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// maxTries is how often a project is built to find the places.
const maxTries = 40

// outcome is what the pages of a build show.
type outcome struct {
	pages int
	// missing are the pages that should have the elements and do not, and late those
	// that have them too late.
	missing, late []string
	// twice is the number of pages that have them twice, wrong of those on which they are
	// in another wrong way.
	twice, wrong int
}

// good reports whether nothing is left to improve. before is the outcome without the
// elements.
func (o *outcome) good(before *outcome) bool {
	return o.harmless(before) && len(o.missing) == 0
}

// harmless reports whether nothing is worse than before.
func (o *outcome) harmless(before *outcome) bool {
	return o.pages == before.pages && o.twice <= before.twice && o.wrong <= before.wrong && len(o.late) <= len(before.late)
}

// search finds the places. try builds the project with the changes, and says what the
// pages show.
type search struct {
	*templateSet
	try    func(ctx context.Context, p *Plan) (*outcome, error)
	before *outcome // without the elements
	best   *Plan    // nil if nothing helps
	after  *outcome // of best
	tries  int
	// failed is why the last build failed, or a file cannot be changed.
	failed error
}

// Find plans the injection: a copy of the project is built with the elements at one
// place after the other, until each page that should have them has them once. What is
// there already stays if it is right.
func Find(ctx context.Context, p *project.Project) (*Plan, error) {
	set, err := open(p)
	if err != nil {
		return nil, err
	}
	if err := set.refused(); err != nil {
		return nil, err
	}
	if set.language() == generator.GoTemplates {
		set.readHugo(p.Generator)
	}
	c, err := move.OpenCopy(ctx, p)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return set.find(ctx, tryIn(c.Project.Generator.Dir, c.Build))
}

func (s *templateSet) find(ctx context.Context, try func(ctx context.Context, p *Plan) (*outcome, error)) (*Plan, error) {
	x := &search{templateSet: s, try: try}
	if there := s.refresh(); !there.Missing {
		o, err := try(ctx, there)
		if err == nil && o.good(&outcome{pages: o.pages}) {
			return there, nil
		}
	}
	bare, err := s.plan(nil)
	if err != nil {
		return nil, err
	}
	if x.before, err = try(ctx, bare); err != nil {
		return nil, err
	}
	if x.before.good(&outcome{pages: x.before.pages}) {
		return bare, nil
	}
	data := []string{"."}
	if s.language() == generator.GoTemplates { // the function page works where the dot is something else; since 0.111
		data = append(data, "page")
	}
	for _, d := range data {
		if done, err := x.all(ctx, s.candidates(d)); done || err != nil {
			return x.best, err
		}
	}
	if x.best == nil {
		// No place works.
		if x.failed != nil {
			return nil, text.WithHint(fmt.Errorf("no place in the templates works: %w", x.failed), nextBuilt)
		}
		if x.before.wrong+x.before.twice > 0 || len(x.before.missing) == 0 {
			return nil, text.WithHint(errors.New("pages have an element for an endpoint of their own that is wrong, and a page must name only one"),
				"sitelink check lists them: remove the element from the template, or the key from [templates] in sitelink.toml")
		}
		var heads []string
		for _, e := range x.lines(".") {
			if !slices.Contains(heads, e[0].path) {
				heads = append(heads, e[0].path)
			}
		}
		err := fmt.Errorf("no place in the templates gives the pages the elements, such as %s", x.before.missing[0])
		if len(heads) > 0 {
			err = fmt.Errorf("%w; a <head> is in %s", err, strings.Join(heads, ", "))
		}
		hint := nextBuilt
		if x.language() != generator.GoTemplates {
			hint = "paste this into the <head> of your template, right after the charset declaration: " + x.paste() + ", or " + hint
		}
		return nil, text.WithHint(err, hint)
	}
	if n := len(x.after.missing); n > 0 {
		x.best.Notes = append(x.best.Notes, fmt.Sprintf("%s still without the elements, such as %s: add this to the head of their templates: %s",
			text.Count(n, "page"), x.after.missing[0], s.paste()))
	}
	if n := len(x.after.late); n > 0 {
		x.best.Notes = append(x.best.Notes, fmt.Sprintf("the elements end after the first 5,000 bytes of %s, such as %s: no other place works; %s",
			text.Count(n, "page"), x.after.late[0], nextBuilt))
	}
	return x.best, nil
}

// all tries the candidates. A place that gives more pages the elements and does no harm
// is kept, and the next ones are added to it. done means that nothing is left to improve.
func (x *search) all(ctx context.Context, candidates [][]edit) (done bool, err error) {
	var kept []edit
	now := x.before
	for _, c := range candidates {
		if x.tries++; x.tries > maxTries {
			return false, nil
		}
		edits := slices.Concat(kept, c)
		p, err := x.plan(edits)
		var o *outcome
		if err == nil {
			o, err = x.try(ctx, p)
		}
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			x.failed = err
			continue
		case o.pages != x.before.pages || o.twice > x.before.twice || o.wrong > x.before.wrong || len(o.missing) >= len(now.missing):
			continue
		}
		if x.best == nil || len(o.missing) < len(x.after.missing) || len(o.missing) == len(x.after.missing) && len(o.late) < len(x.after.late) {
			x.best, x.after = p, o
		}
		if o.good(x.before) {
			return true, nil
		}
		if o.harmless(x.before) {
			kept, now = edits, o
		}
	}
	return false, nil
}

// paste returns the text that a person can put into the head of a template.
func (s *templateSet) paste() string {
	if s.language() == generator.GoTemplates {
		return callOf(".")
	}
	return s.endpoints.HTML(false)
}

// tryIn returns a function that makes changes in a copy, builds it, looks at the pages
// and takes the changes back. dir is the generator's project in the copy.
func tryIn(dir string, build func(context.Context) (*audit.Audit, error)) func(ctx context.Context, p *Plan) (*outcome, error) {
	return func(ctx context.Context, plan *Plan) (o *outcome, err error) {
		set := func(text func(Change) []byte) (err error) {
			for _, change := range plan.Changes {
				name := filepath.Join(dir, filepath.FromSlash(change.Path))
				if after := text(change); after == nil {
					err = errors.Join(err, os.RemoveAll(name))
					for up := filepath.Dir(name); up != dir && os.Remove(up) == nil; {
						up = filepath.Dir(up)
					}
				} else {
					err = errors.Join(err, system.WriteFile(name, after, change.mode))
				}
			}
			return err
		}
		defer func() { err = errors.Join(err, set(func(c Change) []byte { return c.Before })) }()
		if err := set(func(c Change) []byte { return c.After }); err != nil {
			return nil, err
		}
		built, err := build(ctx)
		var failed *move.BuildError
		switch {
		case errors.As(err, &failed):
			return nil, fmt.Errorf("%w: %s", err, strings.Join(failed.Output, "; "))
		case errors.Is(err, site.ErrNoPages):
			return nil, text.WithHint(errors.New("the build of the site has no pages"), "add content, or repair the build first")
		case err != nil:
			return nil, err
		}
		o = &outcome{pages: built.Site.Pages()}
		for _, f := range audit.EndpointFindings(built.Project, built.Site) {
			switch f.Code {
			case check.EndpointMissing:
				// No template writes a page that the generator only copies.
				if !copied(built.Project.Abs(built.Project.Docroot), dir, f.Page) && !slices.Contains(o.missing, f.Page) {
					o.missing = append(o.missing, f.Page)
				}
			case check.EndpointLate:
				if !slices.Contains(o.late, f.Page) {
					o.late = append(o.late, f.Page)
				}
			case check.EndpointTwice:
				o.twice++
			case check.EndpointBody, check.EndpointUnwanted, check.EndpointAddress, check.EndpointRelative, check.EndpointForm:
				o.wrong++
			}
		}
		return o, nil
	}
}

// copied reports whether a page of the docroot is a file of the project.
func copied(docroot, dir, page string) bool {
	built, err := system.Read(filepath.Join(docroot, filepath.FromSlash(page)), maxTemplate)
	if err != nil {
		return false
	}
	for _, from := range []string{"static", "public", "docs", "content", "src", ""} {
		if text, err := system.Read(filepath.Join(dir, from, filepath.FromSlash(page)), maxTemplate); err == nil && bytes.Equal(text, built) {
			return true
		}
	}
	return false
}
