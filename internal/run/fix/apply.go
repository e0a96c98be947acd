package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/text"
)

// Proof is how [Plan.Apply] finds out whether edits help.
type Proof struct {
	// Site is what the plan was made for, and Before are its findings.
	Site   *audit.Audit
	Before *check.Result
	// Again builds the site and checks it. The output is what the generator printed.
	// It is nil if the site cannot be built.
	Again func(ctx context.Context) (a *audit.Audit, r *check.Result, output string, err error)
}

// Result is what became of a plan.
type Result struct {
	// Applied are the edits that stay.
	Applied []Edit
	// Back are the files with edits that were taken back, with the reasons.
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

// Apply applies the edits, builds the site again, and proves them: the findings of the
// edits are gone, each page with links from the edited places shows the new target
// instead of the old one, and there are no new findings. It takes back the edits of a
// file that did not help. If the site can no longer be built, it takes all back.
func (p *Plan) Apply(ctx context.Context, env []string, command string, proof Proof) (*Result, error) {
	set, err := p.Set(env)
	if err != nil {
		return nil, err
	}
	res := &Result{Applied: slices.Clone(p.Edits), Back: map[string]string{}}
	if len(res.Applied) == 0 {
		return res, nil
	}
	var before *shown
	if proof.Again != nil {
		if before, err = res.show(ctx, proof.Site); err != nil {
			return nil, err
		}
	}
	if err := set.Apply(ctx, command); err != nil {
		return nil, err
	}
	if proof.Again == nil {
		return res, nil
	}
	for n := 1; ; n++ {
		a, after, output, err := proof.Again(ctx)
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		var suspects map[string]string // the reason by file
		why := "changes of other files did not help"
		if err != nil {
			why = "the build failed"
			suspects = res.named(output, why)
		} else {
			d := check.Compare(proof.Before.Findings, after.Findings)
			other := len(d.New) // of links that had a finding before are not gone
			d.New = res.better(d)
			res.Proved, res.Fixed, res.New = true, len(d.Fixed)-(other-len(d.New)), d.New
			if suspects = res.suspects(d, after); len(suspects) == 0 {
				suspects, err = res.unmoved(ctx, before, a)
			}
			if err != nil || len(suspects) == 0 {
				return res, err
			}
		}
		if len(suspects) == 0 || n >= maxProofs {
			for i := range res.Applied {
				if name := res.Applied[i].File; suspects[name] == "" {
					suspects[name] = why
				}
			}
		}
		var names []string
		for i := range res.Applied {
			if name := res.Applied[i].File; suspects[name] != "" && !slices.Contains(names, name) {
				names = append(names, name)
				res.Back[name] = suspects[name]
			}
		}
		if err := destination.TakeBack(ctx, p.Root, env, names); err != nil && !errors.Is(err, destination.ErrNothing) {
			return res, err
		}
		res.Applied = slices.DeleteFunc(res.Applied, func(e Edit) bool { return suspects[e.File] != "" })
		if len(res.Applied) == 0 {
			if err != nil {
				return res, fmt.Errorf("%w, and all edits are taken back", err)
			}
			return res, nil
		}
	}
}

// named returns the files of the edits that the generator named in its output, with
// the reason to take them back.
func (r *Result) named(output, why string) map[string]string {
	files := map[string]string{}
	for i := range r.Applied {
		name := r.Applied[i].File
		parts := strings.Split(name, "/")
		if last := strings.Join(parts[max(0, len(parts)-2):], "/"); strings.Contains(output, last) { // generators shorten paths
			files[name] = why
		}
	}
	return files
}

// suspects returns the files with edits that did not help, and the reasons: an address
// still has its finding, or a new finding is on a page that the edits changed.
func (r *Result) suspects(d check.Difference, after *check.Result) (files map[string]string) {
	files = map[string]string{}
	left := map[fault]bool{}
	for i := range after.Findings {
		f := &after.Findings[i]
		left[fault{f.Page, f.Raw, f.Code}] = true
	}
	for i := range r.Applied {
		e := &r.Applied[i]
		if e.Rule == KeepAddress && slices.ContainsFunc(e.links, func(l builtLink) bool { return left[l.fault] }) {
			files[e.File] = "the finding is still there"
		}
	}
	for i := range d.New {
		f := &d.New[i]
		for _, culprit := range []func(e *Edit) bool{
			func(e *Edit) bool { return e.isOn(f.Page) && f.Raw == e.New },
			func(e *Edit) bool { return e.isOn(f.Page) && strings.HasSuffix(f.Raw, e.New) },
			func(e *Edit) bool {
				name, _ := destination.CutTail(e.New)
				return e.isOn(f.Page) && len(name) > 1 && strings.HasPrefix(f.Raw, name)
			},
			func(e *Edit) bool { return e.isOn(f.Page) },
			func(e *Edit) bool { return strings.HasSuffix(f.Raw, e.New) },
		} {
			found := false
			for k := range r.Applied {
				if e := &r.Applied[k]; culprit(e) {
					files[e.File] = cmp.Or(files[e.File], fmt.Sprintf("%s has a new finding: %s", f.Page, f.Message))
					found = true
				}
			}
			if found {
				break
			}
		}
	}
	return files
}

// shown are how many links the pages of the edits have: by page and value, and by page and
// what answers.
type shown struct {
	values, answers map[[2]string]int
	at              map[linkPlace]string // what answers each
}

// answerOf returns the file that answers a link, or else its target, with the fragment.
func answerOf(a *audit.Audit, l *check.Link) string {
	return cmp.Or(l.AnsweringFile(audit.Handle(a.Site)), l.Target) + "#" + l.Fragment
}

// show reads the links of the pages of the edits.
func (r *Result) show(ctx context.Context, a *audit.Audit) (*shown, error) {
	s := &shown{map[[2]string]int{}, map[[2]string]int{}, map[linkPlace]string{}}
	pages := map[string]bool{}
	for i := range r.Applied {
		for _, l := range r.Applied[i].links {
			pages[l.page] = true
		}
	}
	opt := audit.CheckOptions(a.Project)
	opt.From, opt.Skip, opt.Limit, opt.Orphans, opt.More = nil, nil, 0, false, nil
	_, err := check.Links(ctx, audit.Handle(a.Site), opt, check.Query{}, func(l *check.Link) error {
		if pages[l.Page] {
			to := answerOf(a, l)
			s.values[[2]string{l.Page, l.Raw}]++
			s.answers[[2]string{l.Page, to}]++
			s.at[linkPlace{page: l.Page, offset: l.Offset}] = to
		}
		return nil
	})
	return s, err
}

// unmoved returns the files of edits after which a page has as many links to the old target
// as before, or not one more to the new, with the reasons.
func (r *Result) unmoved(ctx context.Context, before *shown, a *audit.Audit) (files map[string]string, err error) {
	now, err := r.show(ctx, a)
	if err != nil {
		return nil, err
	}
	files = map[string]string{}
	values, answers := map[[2]string]int{}, map[[2]string]int{} // what the edits change
	known := map[linkPlace]string{}                             // what should answer each
	opt := audit.CheckOptions(a.Project)
	links := func(visit func(e *Edit, l *builtLink)) {
		for i := range r.Applied {
			for k := range r.Applied[i].links {
				if e := &r.Applied[i]; e.Rule != KeepAddress && e.links[k].page != "" {
					visit(e, &e.links[k])
				}
			}
		}
	}
	links(func(e *Edit, l *builtLink) {
		at := linkPlace{page: l.page, offset: l.offset}
		if err != nil {
			return
		}
		known[at] = ""
		values[[2]string{l.page, l.raw}]--
		answers[[2]string{l.page, before.at[at]}]--
		if l.value == "" {
			return
		}
		x, wrong := check.Explain(ctx, audit.Handle(a.Site), opt, l.page, l.value)
		if errors.Is(wrong, check.ErrNotFound) {
			files[e.File] = "there is no " + l.page + " any more"
			return
		}
		if err = wrong; err == nil {
			known[at] = answerOf(a, &x.Link)
			values[[2]string{l.page, l.value}]++
			answers[[2]string{l.page, known[at]}]++
		}
	})
	links(func(e *Edit, l *builtLink) {
		at := linkPlace{page: l.page, offset: l.offset}
		value, old, to := [2]string{l.page, l.raw}, [2]string{l.page, before.at[at]}, [2]string{l.page, known[at]}
		switch {
		case now.values[value] > before.values[value]+values[value] || known[at] != "" && now.answers[old] > before.answers[old]+answers[old]:
			files[e.File] = cmp.Or(files[e.File], fmt.Sprintf("%s still has %s", l.page, l.raw))
		case known[at] != "" && now.answers[to] < before.answers[to]+answers[to]:
			files[e.File] = cmp.Or(files[e.File], fmt.Sprintf("%s does not lead to what %s means", l.page, l.value))
		}
	})
	return files, err
}

// isOn reports whether a link of a page comes from the place of the edit.
func (e *Edit) isOn(page string) bool {
	return slices.ContainsFunc(e.links, func(l builtLink) bool { return l.page == page })
}

// better returns the new findings without those of links that had another finding
// before. The text of a page may be shown in a list, where its relative links are
// broken before and after, and a template may put something before the value.
func (r *Result) better(d check.Difference) (worse []check.Finding) {
	type shown struct{ page, value string }
	had := map[shown]int{}
	for i := range r.Applied {
		e := &r.Applied[i]
		for _, l := range e.links {
			if l.code == "" {
				continue
			}
			value := e.New
			if before, ok := strings.CutSuffix(l.raw, e.Old); ok {
				value = before + e.New
			}
			had[shown{l.page, value}]++
		}
	}
	fixed := map[string][]*check.Finding{}
	for i := range d.Fixed {
		fixed[d.Fixed[i].Page] = append(fixed[d.Fixed[i].Page], &d.Fixed[i])
	}
	for i := range d.New {
		f := &d.New[i]
		if at := (shown{f.Page, f.Raw}); had[at] > 0 {
			had[at]--
			continue
		}
		on := fixed[f.Page]
		k := slices.IndexFunc(on, func(old *check.Finding) bool { return old.Verdict == f.Verdict && r.became(old.Raw, f.Raw) })
		if k >= 0 {
			fixed[f.Page] = slices.Delete(on, k, k+1)
			continue
		}
		worse = append(worse, *f)
	}
	return worse
}

// became reports whether an edit made one value of the other, on pages that put the same
// before it.
func (r *Result) became(from, to string) bool {
	return slices.ContainsFunc(r.Applied, func(e Edit) bool {
		before, ok := strings.CutSuffix(from, e.Old)
		return ok && before+e.New == to
	})
}

// Undo restores the files that were changed last.
func Undo(ctx context.Context, root string, env []string) (*destination.Undone, error) {
	u, err := destination.Undo(ctx, root, env)
	if errors.Is(err, destination.ErrNothing) {
		err = text.WithHint(errors.New("nothing to undo"), "sitelink fix --write and sitelink mv --write keep what undo needs")
	}
	return u, err
}
