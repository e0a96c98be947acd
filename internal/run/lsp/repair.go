package lsp

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/fix"
	"github.com/sitelink/sitelink/internal/system"
)

// repairs proposes what `sitelink fix` would change. At places that the last build
// shows, it uses the plan for the whole site. In the links of a text, it uses the
// same rules for this text alone.
type repairs struct {
	audit  audit.Audit // of the last build; its fields do not change
	result *check.Result
	snap   *Snapshot
	opt    fix.Options

	mu    sync.Mutex // guards what follows
	texts *fix.Texts
	plan  map[string][]repair // by source file; nil until a client asks
}

// repair replaces bytes of a source file.
type repair struct {
	start, end int
	text       string
	title      string
	likely     bool
	// written are the bytes that are replaced. hash is that of the only text that an
	// edit of front matter is for.
	written, hash string
}

// prepare returns the repairs for a site that was read.
func (s *server) prepare(ctx context.Context, a *audit.Audit, r *check.Result, snap *Snapshot) *repairs {
	p := &repairs{audit: *a, result: r, snap: snap, opt: fix.Options{Likely: true, Tidy: true, Env: s.opt.Env}}
	s.mu.Lock()
	trusted := s.build
	s.mu.Unlock()
	if s.opt.Replacements != nil && trusted { // the project may name a database
		all, err := s.opt.Replacements(ctx, a.Project)
		if err != nil {
			s.log("pages of other sites that have moved: " + err.Error())
		}
		p.opt.Replacements = all
	}
	return p
}

// name returns the name of a source file in a plan.
func (p *repairs) name(file string) string {
	if filepath.IsAbs(filepath.FromSlash(file)) {
		return file
	}
	return path.Join(p.audit.Project.FromRoot(p.snap.Dir), file)
}

// ofText returns the repairs of the links of a text.
func (p *repairs) ofText(ctx context.Context, f *File) ([]repair, error) {
	all, starts, err := p.snap.Repairs(ctx, f)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.texts == nil {
		p.texts = fix.NewTexts(&p.audit, p.result, p.snap.Content(), p.audit.Project.FromRoot(p.snap.Dir), p.opt)
	}
	texts := p.texts
	p.mu.Unlock()
	plan, err := texts.Plan(ctx, &fix.Text{File: p.name(f.Name), Bytes: f.Text, Repairs: all, Starts: starts})
	if err != nil {
		return nil, err
	}
	var found []repair
	for i := range plan.Edits {
		found = append(found, newRepair(&plan.Edits[i], f.Text))
	}
	return found, nil
}

// newRepair returns the repair that an edit of a text makes.
func newRepair(e *fix.Edit, text []byte) repair {
	start, end, with := e.Replaces()
	r := repair{start: start, end: end, text: with, title: "Change to " + e.New, likely: e.Likely, written: string(text[start:end])}
	if e.Rule == fix.KeepAddress {
		r.title = "Add " + e.New
	}
	return r
}

// ofBuild returns the repairs of a file by the plan for the site, with offsets in the
// text as it was when the site was read.
func (p *repairs) ofBuild(ctx context.Context, file string) ([]repair, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plan == nil {
		made, err := fix.Make(ctx, &p.audit, p.result, p.opt)
		if err != nil {
			return nil, err
		}
		p.plan = map[string][]repair{}
		for i := range made.Edits {
			p.add(&made.Edits[i])
		}
	}
	return p.plan[file], nil
}

// add adds an edit of the plan, unless its file has changed since the plan was made.
func (p *repairs) add(e *fix.Edit) {
	file, ok := p.snap.File(filepath.Join(p.audit.Project.Root, filepath.FromSlash(e.File)))
	if !ok {
		return
	}
	raw, err := system.Read(p.snap.Path(file), 64<<20)
	if err != nil || destination.Hash(raw) != e.Hash() {
		return
	}
	r := newRepair(e, raw)
	text := bytes.TrimPrefix(raw, []byte("\ufeff")) // as editors show it
	r.start, r.end = r.start-(len(raw)-len(text)), r.end-(len(raw)-len(text))
	if e.Rule == fix.KeepAddress {
		r.hash = destination.Hash(text)
	}
	p.plan[file] = append(p.plan[file], r)
}

// repairs returns what can be repaired in the text of a view, sorted by offset.
func (v *view) repairs(ctx context.Context, f *File) ([]repair, error) {
	if v.fix == nil {
		return nil, nil
	}
	all, err := v.fix.ofText(ctx, f)
	if err != nil {
		return nil, err
	}
	done := map[int]bool{}
	for i := range f.Links {
		// Only the plan for the site knows which pages of other sites have moved.
		if l := &f.Links[i]; l.Target.Judged && l.Target.Code != check.External {
			done[l.Start] = true
		}
	}
	for i := range all {
		done[all[i].start] = true
	}
	built, err := v.fix.ofBuild(ctx, v.file)
	if err != nil {
		return nil, err
	}
	for _, r := range built {
		start, end, ok := v.placeOf(&finding{start: r.start, end: r.end, written: r.written}, f)
		if r.hash != "" {
			start, end, ok = r.start, r.end, r.hash == destination.Hash(f.Text)
		}
		if ok && !done[start] {
			r.start, r.end = start, end
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b repair) int { return a.start - b.start })
	return all, nil
}
