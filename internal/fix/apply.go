package fix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/edit"
)

// Proof is how [Plan.Apply] finds out whether edits help.
type Proof struct {
	// Before are the findings that the plan was made for.
	Before *check.Result
	// Again builds the site and checks it. The output is what the generator printed.
	// It is nil if the site cannot be built.
	Again func(ctx context.Context) (r *check.Result, output string, err error)
}

// Result is what became of a plan.
type Result struct {
	// Applied are the edits that stay.
	Applied []Edit
	// Back are the files whose edits were taken back, by the reason.
	Back map[string]string
	// Proved means that the site was built again.
	Proved bool
	// Fixed is the number of findings that are gone.
	Fixed int
	// New are findings which are new although everything that may cause them was taken
	// back.
	New []check.Finding
}

// maxProofs is how often the site is built to find edits that do not help.
const maxProofs = 5

// Apply applies the edits, and proves them: the site is built again, the findings of
// the edits are gone, and there are no new ones. The edits of a file that did not
// help are taken back. If the site cannot be built anymore, all are.
func (p *Plan) Apply(ctx context.Context, env []string, command string, proof Proof) (*Result, error) {
	set, err := p.Set(env)
	if err != nil {
		return nil, err
	}
	res := &Result{Applied: slices.Clone(p.Edits), Back: map[string]string{}}
	if len(res.Applied) == 0 {
		return res, nil
	}
	if err := set.Apply(ctx, command); err != nil {
		return nil, err
	}
	if proof.Again == nil {
		return res, nil
	}
	for n := 1; ; n++ {
		after, output, err := proof.Again(ctx)
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		var suspects map[string]bool
		why := ""
		if err != nil {
			suspects, why = res.named(output), "the build failed"
		} else {
			d := check.Compare(proof.Before.Findings, after.Findings)
			d.New = res.better(d.New)
			res.Proved, res.Fixed, res.New = true, len(d.Fixed), d.New
			if suspects, why = res.suspects(d, after); len(suspects) == 0 {
				return res, nil
			}
		}
		if len(suspects) == 0 || n >= maxProofs {
			for i := range res.Applied {
				suspects[res.Applied[i].File] = true
			}
		}
		if err := res.takeBack(ctx, p.Root, env, suspects, why); err != nil {
			return res, err
		}
		if len(res.Applied) == 0 {
			if err != nil {
				return res, fmt.Errorf("%w, and all edits are taken back", err)
			}
			return res, nil
		}
	}
}

// named returns the files of the edits that the generator named in its output.
func (r *Result) named(output string) map[string]bool {
	files := map[string]bool{}
	for i := range r.Applied {
		name := r.Applied[i].File
		if strings.Contains(output, name) || strings.Contains(output, lastNames(name)) {
			files[name] = true
		}
	}
	return files
}

// lastNames returns the last two names of a path: generators shorten paths.
func lastNames(name string) string {
	parts := strings.Split(name, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// suspects returns the files whose edits did not help, with the reason: a finding of
// an edit is still there, or a new one is on a page that they changed.
func (r *Result) suspects(d check.Difference, after *check.Result) (files map[string]bool, why string) {
	files = map[string]bool{}
	left := map[link]int{}
	for i := range after.Findings {
		f := &after.Findings[i]
		left[link{f.Page, f.Raw, f.Code}]++
	}
	gone := map[link]bool{}
	for i := range d.Fixed {
		gone[link{d.Fixed[i].Page, d.Fixed[i].Raw, d.Fixed[i].Code}] = true
	}
	for i := range r.Applied {
		e := &r.Applied[i]
		for _, l := range e.links {
			if l.code != "" && left[l] > 0 && !gone[l] {
				files[e.File] = true
			}
		}
	}
	if len(files) > 0 {
		return files, "the finding is still there"
	}
	for i := range d.New {
		f := &d.New[i]
		for _, culprit := range []func(e *Edit) bool{
			func(e *Edit) bool { return e.isOn(f.Page) && f.Raw == e.New },
			func(e *Edit) bool { return e.isOn(f.Page) && strings.HasSuffix(f.Raw, e.New) },
			func(e *Edit) bool {
				name, _ := cutTail(e.New)
				return e.isOn(f.Page) && len(name) > 1 && strings.HasPrefix(f.Raw, name)
			},
			func(e *Edit) bool { return e.isOn(f.Page) },
			func(e *Edit) bool { return strings.HasSuffix(f.Raw, e.New) },
		} {
			n := len(files)
			for k := range r.Applied {
				if e := &r.Applied[k]; culprit(e) {
					files[e.File] = true
				}
			}
			if len(files) > n {
				break
			}
		}
		why = fmt.Sprintf("%s has a new finding: %s", f.Page, f.Message)
	}
	return files, why
}

// isOn reports whether a link of a page comes from the place of the edit.
func (e *Edit) isOn(page string) bool {
	return slices.ContainsFunc(e.links, func(l link) bool { return l.page == page })
}

// better removes from the new findings those of links that had another finding
// before: the text of a page may be shown in a list, where its relative links are
// broken before and after.
func (r *Result) better(all []check.Finding) (worse []check.Finding) {
	type shown struct{ page, value string }
	had := map[shown]int{}
	for i := range r.Applied {
		e := &r.Applied[i]
		for _, l := range e.links {
			if l.code != "" {
				had[shown{l.page, e.New}]++
			}
		}
	}
	for i := range all {
		if at := (shown{all[i].Page, all[i].Raw}); had[at] > 0 {
			had[at]--
			continue
		}
		worse = append(worse, all[i])
	}
	return worse
}

// takeBack restores files.
func (r *Result) takeBack(ctx context.Context, root string, env []string, files map[string]bool, why string) error {
	var names []string
	for i := range r.Applied {
		if name := r.Applied[i].File; files[name] && !slices.Contains(names, name) {
			names = append(names, name)
			r.Back[name] = why
		}
	}
	if err := edit.TakeBack(ctx, root, env, names); err != nil && !errors.Is(err, edit.ErrNothing) {
		return err
	}
	r.Applied = slices.DeleteFunc(r.Applied, func(e Edit) bool { return files[e.File] })
	return nil
}
