package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/site"
)

// Baseline holds the findings that the configuration accepts: the entries of a
// baseline file, or of one in a commit, and the findings of another build. A nil
// Baseline accepts nothing.
type Baseline struct {
	name  string // of all sources, for the report
	list  *baseline.Baseline
	today baseline.Date
	// couldFind reports whether the run could have found what an entry accepts.
	couldFind func(*baseline.Entry) bool
	// committed means that the user cannot edit the file now: it is in a commit.
	committed bool
	// otherBuild holds the fingerprints of the findings of the other build.
	otherBuild map[string]bool
	// places are the accepted findings, for the rows of every link.
	places map[place]bool
}

// place identifies a finding of a run.
type place struct {
	page   string
	offset int64
	code   check.Code
}

// OpenBaseline reads the baseline that the configuration names, nil for none. A
// build to compare with is checked here, before the site itself is loaded, so
// that only one site at a time is in memory.
func OpenBaseline(ctx context.Context, p *project.Project, opt Options) (*Baseline, error) {
	cfg := p.Config
	if cfg.Baseline == "" && cfg.BaselineRef == "" && cfg.BaselineDocroot == "" {
		return nil, nil
	}
	b := &Baseline{list: &baseline.Baseline{}, couldFind: CouldFind(p)}
	var err error
	if b.today, err = opt.Today(); err != nil {
		return nil, err
	}
	switch {
	case cfg.BaselineRef != "":
		b.name, b.committed = BaselineFile(cfg)+" at "+cfg.BaselineRef, true
		var missing bool
		if b.list, missing, err = baselineAt(ctx, cfg.BaselineRef, BaselineFile(cfg)); err != nil {
			return nil, err
		}
		if missing {
			opt.warn(fmt.Sprintf("no baseline %s: all findings are reported", b.name))
		}
	case cfg.Baseline != "":
		b.name = cfg.Baseline
		if b.list, err = ReadBaseline(cfg.Baseline); err != nil {
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
	b.otherBuild, err = otherFindings(ctx, p, opt)
	return b, err
}

// otherFindings checks another build of the site by the same configuration, and
// returns the fingerprints of its findings.
func otherFindings(ctx context.Context, p *project.Project, opt Options) (map[string]bool, error) {
	other, err := p.WithDocroot(ctx, p.Config.BaselineDocroot)
	if err != nil {
		return nil, err
	}
	if err := other.CheckDocroot(); err != nil {
		return nil, err
	}
	opt.notes(other)
	s, err := Load(ctx, other, Options{})
	if err != nil {
		return nil, err
	}
	result, err := check.Run(ctx, Handle(s), CheckOptions(other))
	if err != nil {
		return nil, err
	}
	fingerprints := make(map[string]bool, len(result.Findings))
	for _, id := range check.Fingerprints(result.Findings) {
		fingerprints[id] = true
	}
	return fingerprints, nil
}

// CouldFind returns a function that reports whether a run with the project's
// configuration could have found what an entry accepts.
func CouldFind(p *project.Project) func(*baseline.Entry) bool {
	opt := CheckOptions(p)
	partial := len(opt.From) > 0 || len(opt.Skip) > 0 || opt.Limit > 0
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
	}
	for i, id := range m.IDs {
		f := &r.Findings[i]
		switch e := m.Expired[i]; {
		case b.otherBuild[id]:
			m.Accepted[i] = true
		case e != nil:
			sum.Expired++
			noteExpired(f, e)
		}
		if m.Accepted[i] && b.places != nil && f.Code != check.ScriptFragment {
			b.places[place{f.Page, f.Offset, f.Code}] = true
		}
	}
	r.Summary.Baseline = sum
	r.Accept(m.Accepted)
}

// noteExpired adds to the message of a finding that an entry accepted it once.
func noteExpired(f *check.Finding, e *baseline.Entry) {
	f.Message += "; the baseline accepted it until " + string(e.Expires)
	if e.Reason != "" {
		f.Message += " (" + e.Reason + ")"
	}
}

// links is [check.WriteLinks] without the accepted findings. A fingerprint counts
// the equal findings before it, so that all findings are known before the first
// row is written.
func (b *Baseline) links(ctx context.Context, s *site.Site, opt check.Options, w check.LinkWriter) (*check.Result, error) {
	if b == nil {
		return check.WriteLinks(ctx, Handle(s), opt, check.Query{}, w)
	}
	b.places = map[place]bool{}
	result, err := check.Run(ctx, Handle(s), opt)
	if err != nil {
		return nil, err
	}
	b.Apply(result)
	render := w.Append
	w.Append = func(dst []byte, l *check.Link) []byte {
		if b.places[place{l.Page, l.Offset, l.Code}] {
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
		if !b.places[place{f.Page, f.Offset, f.Code}] {
			result.Findings = append(result.Findings, f)
		}
	}
	return result, nil
}

// baselineAt reads a baseline file as it is in a commit of git. A commit that
// has no such file accepts nothing, and missing is true.
//
// It reads the contents of the blob and nothing else, so that git runs no filter
// or textconv of the repository.
func baselineAt(ctx context.Context, ref, file string) (b *baseline.Baseline, missing bool, err error) {
	name := file + " at " + ref
	fail := func(err error, hint string) (*baseline.Baseline, bool, error) {
		return nil, false, fault.New(fmt.Errorf("read baseline %s: %w", name, err), hint)
	}
	dir, base := filepath.Split(file)
	if strings.HasPrefix(ref, "-") { // git would take it for an option
		return nil, false, fault.Usage(fmt.Sprintf("--baseline-ref: must be a commit, branch or tag, not %q", ref), "")
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fail(errors.New("git is not installed"), "--baseline FILE needs no git")
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return fail(errors.New("no such commit"), "fetch it first: a clone in CI often has one commit only")
	case err != nil:
		return fail(err, "")
	}
	entry, err := git(ctx, dir, "ls-tree", "-z", strings.TrimSpace(string(commit)), "--", "./"+base)
	if err != nil {
		return fail(err, "")
	}
	if len(entry) == 0 {
		return &baseline.Baseline{}, true, nil
	}
	// "100644 blob HASH<tab>NAME<nul>"
	fields := strings.Fields(string(entry))
	if len(fields) < 3 || fields[1] != "blob" || fields[0] == "120000" {
		return fail(errors.New("not a file"), "")
	}
	text, err := git(ctx, dir, "cat-file", "blob", fields[2])
	if err != nil {
		return fail(err, "")
	}
	b, err = parseBaseline(name, bytes.NewReader(text))
	return b, false, err
}

// git runs git in a directory, "" for the working directory, and returns what
// it prints.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	// A git hook runs with variables that name the repository of another
	// directory than dir.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if text, _, _ := strings.Cut(strings.TrimSpace(stderr.text.String()), "\n"); err != nil && text != "" {
		return nil, errors.New("git: " + strings.TrimPrefix(text, "fatal: "))
	}
	return stdout.text.Bytes(), err
}

// bounded accepts a little more than the largest baseline, and then fails.
type bounded struct{ text bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > baseline.MaxBytes+1 {
		return 0, fmt.Errorf("larger than %d MiB", baseline.MaxBytes>>20)
	}
	return b.text.Write(p)
}

// baselineName is the file for users who name none.
const baselineName = "sitelink-baseline.jsonl"

// BaselineFile returns the name of the baseline file: the configured one, else
// the default.
func BaselineFile(cfg *config.Config) string {
	if cfg.Baseline != "" {
		return cfg.Baseline
	}
	return baselineName
}

// ReadBaseline reads a baseline file. A file that cannot be used is a fault of
// the configuration.
func ReadBaseline(name string) (*baseline.Baseline, error) {
	f, err := os.Open(name)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "create one with sitelink baseline write"
		}
		return nil, fault.Usage(fmt.Sprintf("read baseline %s: %v", name, disk.Cause(err)), hint)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fault.Usage(fmt.Sprintf("read baseline %s: is a directory", name), "")
	}
	return parseBaseline(name, f)
}

// parseBaseline is [baseline.Read] with errors for the user.
func parseBaseline(name string, r io.Reader) (*baseline.Baseline, error) {
	b, err := baseline.Read(name, r)
	if err == nil {
		return b, nil
	}
	var all []error
	for _, e := range fault.Flatten(err) {
		var line *baseline.Fault
		if errors.As(e, &line) {
			e = fault.Usage("baseline "+line.Error(), line.Hint)
		}
		all = append(all, e)
	}
	return nil, errors.Join(all...)
}
