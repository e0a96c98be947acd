package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Baseline holds the findings that the configuration accepts: the entries of a
// baseline file, or of one in a commit, and the findings of another build. A nil
// Baseline accepts nothing.
type Baseline struct {
	name  string // of all sources, for the report
	list  *baseline.List
	today baseline.Date
	// couldFind reports whether the run could have found what an entry accepts.
	couldFind func(*baseline.Entry) bool
	// committed means that the user cannot edit the file now: it is in a commit.
	committed bool
	// otherBuild holds the fingerprints of the findings of the other build.
	otherBuild map[string]bool
	// otherLinks are the addresses of other sites that the other build links to.
	otherLinks []string
	// places are the accepted findings, for the rows of every link.
	places map[findingID]bool
}

// findingID identifies a finding of a run.
type findingID struct {
	page   string
	offset int64
	code   check.Code
	about  string // the target of an address or anchor that is gone
}

func idOf(f *check.Finding) findingID {
	p := findingID{page: f.Page, offset: f.Offset, code: f.Code}
	if f.Code == check.AddressGone || f.Code == check.AnchorGone {
		p.about = f.Target + "#" + f.Fragment
	}
	return p
}

// OpenBaseline reads the baseline that the configuration names, nil for none. A
// build to compare with is checked here, before the site itself is loaded, so
// that only one site at a time is in memory.
func OpenBaseline(ctx context.Context, p *project.Project, opt Options) (*Baseline, error) {
	cfg := p.Config
	if cfg.Baseline == "" && cfg.BaselineRef == "" && cfg.BaselineDocroot == "" {
		return nil, nil
	}
	b := &Baseline{list: &baseline.List{}, couldFind: CouldFind(p)}
	var err error
	if b.today, err = opt.Today(); err != nil {
		return nil, err
	}
	switch {
	case cfg.BaselineRef != "":
		b.name, b.committed = BaselineFile(cfg)+" at "+cfg.BaselineRef, true
		var missing bool
		if b.list, missing, err = baselineAt(ctx, p); err != nil {
			return nil, err
		}
		if missing {
			opt.warn(fmt.Sprintf("no baseline %s: all findings are reported", b.name))
		}
	case cfg.Baseline != "":
		b.name = cfg.Baseline
		if b.list, err = ReadBaseline(p.Dir, cfg.Baseline); err != nil {
			return nil, err
		}
	}
	if cfg.BaselineDocroot == "" {
		return b, nil
	}
	if b.name != "" {
		b.name += ", "
	}
	b.name += cfg.BaselineDocroot
	err = b.readOther(ctx, p, opt)
	return b, err
}

// addresses returns the addresses of other sites that the baseline knows: those of
// its entries, and those of the other build.
func (b *Baseline) addresses() (all []string) {
	if b == nil {
		return nil
	}
	for _, e := range b.list.Entries() {
		if weburl.IsWeb(e.Link) {
			all = append(all, e.Link)
		}
	}
	return append(all, b.otherLinks...)
}

// readOther checks another build of the site by the same configuration, and keeps
// the fingerprints of its findings and its links to other sites.
func (b *Baseline) readOther(ctx context.Context, p *project.Project, opt Options) error {
	other, err := Open(ctx, p, Options{Docroot: p.Config.BaselineDocroot})
	if err != nil {
		return err
	}
	for _, n := range other.Project.Notes {
		switch {
		case n.Warning:
			opt.warn(n.Text)
		case opt.Note != nil:
			opt.Note(n.Text)
		}
	}
	result, err := check.Run(ctx, Handle(other.Site), CheckOptions(other.Project))
	if err != nil {
		return err
	}
	b.otherBuild = make(map[string]bool, len(result.Findings))
	for _, id := range check.Fingerprints(result.Findings) {
		b.otherBuild[id] = true
	}
	if opt.External == nil {
		return nil
	}
	targets, err := check.ExternalTargets(ctx, Handle(other.Site), CheckOptions(other.Project))
	for i := range targets {
		b.otherLinks = append(b.otherLinks, targets[i].Target)
	}
	return err
}

// CouldFind returns a function that reports whether a run with the project's
// configuration could have found what an entry accepts.
func CouldFind(p *project.Project) func(*baseline.Entry) bool {
	opt := CheckOptions(p)
	partial := len(opt.From)+len(opt.Skip)+len(opt.Pages) > 0 || opt.Limit > 0
	return func(e *baseline.Entry) bool {
		if partial {
			return false
		}
		switch e.Code {
		case check.MissingFragment, check.MissingMap:
			return !opt.NoFragments
		case check.ScriptFragment:
			return !opt.NoFragments && opt.ScriptFragments != check.ScriptSilent
		case check.Orphan, check.Unreachable:
			return opt.Orphans
		case check.AddressGone, check.AnchorGone:
			return false // the record, or the commit, may be another one
		}
		if e.Code == check.DeadLink || e.Code == check.Doubtful || e.Code == check.Moved || strings.Contains(e.Link, "://") {
			return false // another site is not asked in every run, and may answer otherwise in the next
		}
		return opt.More != nil || !strings.HasPrefix(string(e.Code), "endpoint-")
	}
}

// Apply takes the accepted findings out of a result.
func (b *Baseline) Apply(r *check.Result) {
	if b == nil {
		return
	}
	m := b.list.Match(r.Findings, b.today, b.couldFind)
	sum := &check.BaselineSummary{Name: b.name}
	if !b.committed {
		for _, e := range m.Unneeded {
			sum.Unneeded = append(sum.Unneeded, fmt.Sprintf("%s:%d: %s", b.name, e.Line, &e))
		}
		if len(sum.Unneeded) > 0 {
			r.Summary.Notes = append(r.Summary.Notes, "to remove what the baseline no longer needs: sitelink baseline update")
		}
	}
	for i, id := range m.IDs {
		f := &r.Findings[i]
		switch e := m.Expired[i]; {
		case b.otherBuild[id]:
			m.Accepted[i] = true
		case e != nil:
			sum.Expired++
			f.Message += "; the baseline accepted it until " + string(e.Expires)
			if e.Reason != "" {
				f.Message += " (" + e.Reason + ")"
			}
		}
		if m.Accepted[i] && b.places != nil && f.Code != check.ScriptFragment {
			b.places[idOf(f)] = true
		}
	}
	r.Summary.Baseline = sum
	r.Accept(m.Accepted)
}

// links is [check.WriteLinks] without the accepted findings. A fingerprint counts
// the equal findings before it, so that all findings are known before the first
// row is written.
func (b *Baseline) links(ctx context.Context, s *site.Site, opt check.Options, w check.LinkWriter) (*check.Result, error) {
	if b == nil {
		return check.WriteLinks(ctx, Handle(s), opt, check.Query{}, w)
	}
	b.places = map[findingID]bool{}
	result, err := check.Run(ctx, Handle(s), opt)
	if err != nil {
		return nil, err
	}
	b.Apply(result)
	render := w.Append
	w.Append = func(dst []byte, l *check.Link) []byte {
		if b.places[findingID{l.Page, l.Offset, l.Code, ""}] {
			l.Verdict, l.Code, l.Message = check.Unchecked, check.AcceptedByBaseline, ""
		}
		return render(dst, l)
	}
	rest, err := check.WriteLinks(ctx, Handle(s), opt, check.Query{}, w)
	if err != nil {
		return nil, err
	}
	// The findings of rest are the faults of files.
	result.Findings = rest.Findings[:0]
	for _, f := range rest.Findings {
		if !b.places[idOf(&f)] {
			result.Findings = append(result.Findings, f)
		}
	}
	return result, nil
}

// baselineAt reads a baseline file as it is in a commit of the repository that
// contains the project. A commit that has no such file accepts nothing, and
// missing is true.
func baselineAt(ctx context.Context, p *project.Project) (b *baseline.List, missing bool, err error) {
	ref, file := p.Config.BaselineRef, BaselineFile(p.Config)
	name := file + " at " + ref
	fail := func(err error, hint string) (*baseline.List, bool, error) {
		return nil, false, text.WithHint(fmt.Errorf("read baseline %s: %w", name, err), hint)
	}
	if strings.HasPrefix(ref, "-") { // git would take it for an option
		return nil, false, text.Usage(fmt.Sprintf("--baseline-ref: must be a commit, branch or tag, not %q", ref), "")
	}
	repo, rel, err := baselineRepository(ctx, p, file)
	var outside *git.OutsideError
	switch {
	case errors.Is(err, git.ErrNotInstalled):
		return fail(err, "--baseline FILE needs no git")
	case errors.As(err, &outside):
		return nil, false, text.Usage(fmt.Sprintf("read baseline %s: %v", name, err),
			"git is run only in the repository that contains the project; --baseline FILE needs no git")
	case err != nil:
		return fail(err, "")
	}
	commit, err := repo.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	var failed *git.Error
	switch {
	case errors.As(err, &failed) && failed.ExitCode == 1:
		return fail(errors.New("no such commit"), "fetch it first: a clone in CI often has one commit only")
	case err != nil:
		return fail(err, "")
	}
	entry, err := repo.Run(ctx, "ls-tree", "-z", strings.TrimSpace(string(commit)), "--", rel)
	if err != nil {
		return fail(err, "")
	}
	if len(entry) == 0 {
		return &baseline.List{}, true, nil
	}
	// "100644 blob HASH<tab>NAME<nul>"
	fields := strings.Fields(string(entry))
	if len(fields) < 3 || fields[1] != "blob" || fields[0] == "120000" {
		return fail(errors.New("not a file"), "")
	}
	// The contents of the blob and nothing else: no filter, no textconv.
	text, err := repo.Run(ctx, "cat-file", "blob", fields[2])
	if err != nil {
		return fail(err, "")
	}
	b, err = parseBaseline(name, bytes.NewReader(text))
	return b, false, err
}

// baselineRepository opens the repository that contains the project, and returns
// the path of the baseline file in it.
func baselineRepository(ctx context.Context, p *project.Project, file string) (*git.Repository, string, error) {
	repo, err := git.Open(ctx, p.Root, p.Env())
	if err != nil {
		return nil, "", err
	}
	if err := repo.Alternates(ctx); err != nil {
		return nil, "", err
	}
	rel, err := repo.Path(p.Abs(file))
	return repo, rel, err
}

// BaselineFile returns the name of the baseline file: the configured one, else
// the default.
func BaselineFile(cfg *config.Config) string {
	if cfg.Baseline != "" {
		return cfg.Baseline
	}
	return baseline.FileName
}

// ReadBaseline reads a baseline file. name is relative to dir, or to the working
// directory if dir is "". A file that cannot be used is a fault of the
// configuration.
func ReadBaseline(dir, name string) (*baseline.List, error) {
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(dir, name)
	}
	f, err := system.Open(path)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "create one with sitelink baseline write"
		}
		return nil, text.Usage(fmt.Sprintf("read baseline %s: %v", name, system.Cause(err)), hint)
	}
	defer f.Close()
	return parseBaseline(name, f)
}

// parseBaseline is [baseline.Read] with errors for the user.
func parseBaseline(name string, r io.Reader) (*baseline.List, error) {
	b, err := baseline.Read(name, r)
	if err == nil {
		return b, nil
	}
	var all []error
	for _, e := range text.Flatten(err) {
		var line *baseline.Fault
		if errors.As(e, &line) {
			e = text.Usage("baseline "+line.Error(), line.Hint)
		}
		all = append(all, e)
	}
	return nil, errors.Join(all...)
}
