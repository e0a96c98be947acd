package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/system"
)

// Push says how the commits of a push are checked. Check is required.
type Push struct {
	// Site is the directory of the site, relative to the root of the working
	// tree; "" or "." for the root itself.
	Site string
	// Build is a shell command that builds the site. It runs in Site; "" when
	// the docroot is committed.
	Build string
	// Docroot is the committed docroot, relative to Site. If there is a build
	// command, the committed docroot is checked beside what that builds: it may be
	// an old copy, or the one that is published.
	Docroot string
	// Others are directories of other sites in the repository, slash paths relative
	// to the root of the working tree. What changes in them does not matter for this
	// site, unless one of the two contains the other.
	Others []string
	// Configure, if not nil, returns Build and Docroot for a commit. It is called
	// only for a tree that is not remembered, so it may take long. Then CacheKey
	// must include everything that its answer depends on, apart from the tree.
	Configure func(ctx context.Context, commit string) (build, docroot string, err error)
	// Unread, if not nil, returns files and directories of a tree, slash paths relative to
	// its root, that neither the build nor Check reads, so that trees which differ
	// there have the same result. Some may be missing.
	Unread func(ctx context.Context, tree string) ([]string, error)
	// Building, if not nil, is called when a commit is about to be built, with how long
	// the build and the check took last time, 0 if that is not known. It returns a
	// function that is called at the end.
	Building func(commit, command string, last time.Duration) (done func())
	// Check checks one site: site is its directory, and docroot the absolute
	// path of the docroot, or "" for the one that the site's configuration names.
	// It returns an error if it could not check.
	Check func(ctx context.Context, site, docroot string) (Report, error)
	// Branches are patterns of [path.Match] for the remote branches to check;
	// none means all.
	Branches []string
	// Remote is the name of the remote, "" or a URL if it has none.
	Remote string
	// OnlyNew ignores findings that the remote's commit has too, see [Trace].
	OnlyNew bool
	// Timeout bounds the check of the whole push; 0 means no limit.
	Timeout time.Duration
	// CacheKey is everything that results depend on, apart from the tree: the
	// version of the program, its configuration, environment variables.
	CacheKey string
	// Today is the date that decides which entries of a baseline have expired.
	// Reports that are ValidToday are remembered for this day.
	Today string
	// Env is the environment of the build command, in the form of os.Environ.
	Env []string
}

// Report is what [Push.Check] found in one site.
type Report struct {
	// Docroot is a slash path to print before the names of pages.
	Docroot string
	// Findings are the findings that fail the check, in the order of
	// [check.Result]. None means that the site passed.
	Findings []check.Finding
	// Traces are those of everything that was found, in the order of
	// [check.Result]: also of what does not fail the check, or is accepted. nil
	// means that Findings are all.
	Traces []Trace
	// ValidToday means that the result may be different tomorrow.
	ValidToday bool
	// OldCopy is the committed docroot, a slash path relative to the root of the
	// working tree, if it has findings that the site built from the same commit does
	// not have. Their pages begin with that path.
	OldCopy string
}

// addCopy adds the findings of a committed docroot that the site built from the same
// commit does not have.
func (r *Report) addCopy(committed Report) {
	for _, r := range []*Report{r, &committed} {
		if r.Traces == nil {
			r.Traces = tracesOf(r.Findings)
		}
	}
	failing := slices.DeleteFunc(slices.Clone(committed.Traces), func(t Trace) bool { return !t.Fails })
	for i, isNew := range newFindings(committed.Traces, r.Traces) {
		if isNew {
			f := committed.Findings[i]
			f.Page, f.Source, r.OldCopy = path.Join(committed.Docroot, f.Page), nil, committed.Docroot
			r.Findings, r.Traces = append(r.Findings, f), append(r.Traces, failing[i])
		}
	}
	r.ValidToday = r.ValidToday || committed.ValidToday
}

// Origin says which files a result is about.
type Origin uint8

const (
	// FromCache: the tree passed before and was not checked again.
	FromCache Origin = iota
	// FromWorkTree: the working tree, which is exactly what is pushed.
	FromWorkTree
	// FromCheckout: a temporary working tree of the commit.
	FromCheckout
	// FromRemote: the remote has the tree, so the push makes nothing worse.
	FromRemote
)

// TreeResult is the result for one tree of a push.
type TreeResult struct {
	Report
	// Site is that of the Push.
	Site string
	// Refs are the remote refs that the tree is pushed to, in the order of the
	// push.
	Refs   []string
	Commit string
	Origin Origin
	// OldFindings counts the findings that the remote's commit has too. They are
	// not in Findings.
	OldFindings int
	// NoBase is set if [Push.OnlyNew] had no commit to compare with, or one that
	// cannot be checked, and Unfetched if the commit of the remote was never
	// fetched. Then all findings are in Findings.
	NoBase, Unfetched bool
}

// TimeoutError means that a push was not checked within its time.
type TimeoutError struct{ Timeout time.Duration }

// limit returns a context that ends with the time for a push.
func (p *Push) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, p.Timeout, &TimeoutError{Timeout: p.Timeout})
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the push was not checked within %v", e.Timeout)
}

// BuildError means that the site's build command failed.
type BuildError struct {
	Command string
	// Cause is how it ended, for example "exit status 1".
	Cause error
	// Output holds the last lines that it wrote to standard error, at most 20.
	Output []string
}

func (e *BuildError) Error() string {
	text := fmt.Sprintf("build with %q: %v", e.Command, e.Cause)
	if len(e.Output) > 0 {
		text += ": " + e.Output[len(e.Output)-1]
	}
	return text
}

func (e *BuildError) Unwrap() error { return e.Cause }

// OutVariable is the environment variable that names an empty directory to the
// build command. If the command writes the site there, that directory is
// checked, and no file that an earlier build left can hide a missing one. Plugins of
// sitelink in the generator leave the check to sitelink then.
const OutVariable = system.OutVariable

// foundDir is the directory of [memory] in sitelink's directory.
const foundDir = "findings"

// CheckPush checks each distinct tree that refs push to a branch once. Each ref
// without a Tree costs a run of git; [OpenPush] looks up all of them in one.
// warnings are messages for the user. The errors are a
// [*BuildError], [*TimeoutError], [*SubmoduleError], [*DiskFullError],
// [*GitError], the errors of Push.Check and the cause of ctx.
//
// Even when ctx ends, nothing is left on the disk but what is remembered of trees. Two processes may check a repository at the same time; two calls in
// one process must not.
func (r *Repo) CheckPush(ctx context.Context, refs []Ref, p Push) (results []TreeResult, warnings []string, err error) {
	ctx, cancel := p.limit(ctx)
	defer cancel()
	if err := r.RemoveStaleTrees(ctx); err != nil {
		warnings = append(warnings, "remove the temporary trees of a killed run: "+err.Error())
	}
	c := pushCheck{repo: r, push: &p, known: memory{r.dataPath(foundDir)}, ids: map[string]string{}}
	defer func() { warnings = append(warnings, c.warnings...) }()
	type job struct{ tree, before string }
	var done []job // of results
	for _, ref := range refs {
		if !ref.matches(p.Branches) {
			continue
		}
		if ref.Tree == "" {
			if ref.Tree, err = r.resolve(ctx, ref.Commit+"^{tree}"); err == nil && ref.Tree == "" {
				err = fmt.Errorf("check %s: the repository has no commit %q", ref.Remote, ref.Commit)
			}
			if err != nil {
				return nil, warnings, err
			}
		}
		next := job{tree: ref.Tree}
		if p.OnlyNew {
			next.before = ref.Before
		}
		if at := slices.Index(done, next); at >= 0 {
			results[at].Refs = append(results[at].Refs, ref.Remote)
			continue
		}
		result, err := c.tree(ctx, ref)
		if err != nil {
			return nil, warnings, err
		}
		result.Site, result.Refs, result.Commit = p.Site, []string{ref.Remote}, ref.Commit
		done, results = append(done, next), append(results, result)
	}
	return results, warnings, nil
}

// UnknownCommitError means that a name names no commit of the repository.
type UnknownCommitError struct{ Name string }

func (e *UnknownCommitError) Error() string {
	return fmt.Sprintf("the repository has no commit %q", e.Name)
}

// CommitID returns the id of a commit by any of its names, such as v1.2 or HEAD~3.
// The errors are an [*UnknownCommitError] and those of git.
func (r *Repo) CommitID(ctx context.Context, name string) (string, error) {
	id, err := r.resolve(ctx, name+"^{commit}")
	if err == nil && id == "" {
		err = &UnknownCommitError{name}
	}
	return id, err
}

// CheckCommit builds one commit in a temporary working tree and calls p.Check with
// its site, whether the tree is remembered or not. commit is any name of a commit,
// such as v1.2 or HEAD~3. The result is not remembered. The errors are an
// [*UnknownCommitError] and those of [Repo.CheckPush].
func (r *Repo) CheckCommit(ctx context.Context, commit string, p Push) (Report, error) {
	id, err := r.CommitID(ctx, commit)
	if err != nil {
		return Report{}, err
	}
	ctx, cancel := p.limit(ctx)
	defer cancel()
	_ = r.RemoveStaleTrees(ctx) // the next push tries again, and says so
	c := pushCheck{repo: r, push: &p, known: memory{r.dataPath(foundDir)}}
	result, err := c.commit(ctx, id, "")
	return result.Report, err
}

// pushCheck checks the trees of one push.
type pushCheck struct {
	repo     *Repo
	push     *Push
	known    memory
	ids      map[string]string // what read returned, by tree
	warnings []string
}

func (c *pushCheck) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

// key identifies the result of a tree.
func (c *pushCheck) key(tree string) string {
	return hashOf(tree, c.push.Site, c.push.Build, c.push.Docroot, c.push.CacheKey)
}

// tree checks the tree of a ref.
func (c *pushCheck) tree(ctx context.Context, ref Ref) (result TreeResult, err error) {
	p := c.push
	whole, err := c.repo.treeWithout(ctx, ref.Tree, c.others())
	if err != nil {
		return result, err
	}
	if known := c.remembered(c.key(whole)); known != nil && known.passed() {
		return TreeResult{Origin: FromCache}, nil
	}
	tree := whole
	if p.Unread != nil {
		if tree, err = c.read(ctx, ref.Tree); err != nil {
			return result, err
		}
	}
	key := c.key(tree)
	known := c.remembered(key)
	if known != nil && known.passed() {
		c.add(c.key(whole), known) // the next time, one run of git is enough
		return TreeResult{Origin: FromCache}, nil
	}
	base, baseTree := "", ""
	if p.OnlyNew {
		if base, err = c.base(ctx, ref); err == nil && base != "" {
			baseTree, err = c.repo.resolve(ctx, base+"^{tree}")
		}
		if err == nil && baseTree != "" {
			baseTree, err = c.read(ctx, baseTree)
		}
		if err != nil {
			return result, err
		}
		if baseTree == tree {
			return TreeResult{Origin: FromRemote}, nil
		}
	}
	if known != nil && known.Report != nil {
		result = TreeResult{Origin: FromCache, Report: *known.Report}
		if result.Findings, err = check.UnmarshalFindings(known.Findings); err != nil {
			return result, fmt.Errorf("read %s: %w", filepath.Join(c.known.dir, key), err)
		}
		result.Traces = known.Traces
	} else {
		if result, err = c.commit(ctx, ref.Commit, ref.Tree); err != nil {
			return result, err
		}
		if known = c.remember(key, &result); known.passed() && tree != whole {
			c.add(c.key(whole), known)
		}
	}
	result.NoBase = p.OnlyNew && base == ""
	result.Unfetched = result.NoBase && ref.Before != ""
	if len(result.Findings) == 0 || base == "" {
		return result, nil
	}
	before, ok, err := c.before(ctx, base, baseTree)
	if err != nil || !ok {
		result.NoBase = true
		return result, err
	}
	fresh := newFindings(result.Traces, before)
	all := result.Findings
	result.Findings = nil
	for i, isNew := range fresh {
		if isNew {
			result.Findings = append(result.Findings, all[i])
		}
	}
	result.OldFindings = len(all) - len(result.Findings)
	return result, nil
}

// read returns an id for what the site of a tree is built from: the tree's own, or a hash
// of what is left without what is known not to be read.
func (c *pushCheck) read(ctx context.Context, tree string) (string, error) {
	if id := c.ids[tree]; id != "" {
		return id, nil
	}
	without := c.others()
	if c.push.Unread != nil {
		unread, err := c.push.Unread(ctx, tree)
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err == nil: // else every file counts
			without = append(without, unread...)
		}
	}
	id, err := c.repo.treeWithout(ctx, tree, without)
	c.ids[tree] = id
	return id, err
}

// others are the directories of other sites. Sites that contain each other share their files.
func (c *pushCheck) others() []string {
	site := filepath.ToSlash(filepath.Clean(c.push.Site))
	return slices.DeleteFunc(slices.Clone(c.push.Others), func(dir string) bool {
		return dir == "." || site == "." || dir == site || strings.HasPrefix(dir, site+"/") || strings.HasPrefix(site, dir+"/")
	})
}

// before returns what was found in the commit that the remote has: from memory, or
// by building it. ok is false if it cannot be checked: its build fails, or it has
// no site. The push may be what repairs that.
func (c *pushCheck) before(ctx context.Context, commit, tree string) (traces []Trace, ok bool, err error) {
	key := c.key(tree)
	if known := c.remembered(key); known != nil {
		return known.Traces, true, nil
	}
	result, err := c.commit(ctx, commit, "")
	if err == nil {
		c.remember(key, &result)
		return result.Traces, true, nil
	}
	err = fmt.Errorf("check the remote's commit %.12s: %w", commit, err)
	if full := (*DiskFullError)(nil); ctx.Err() != nil || errors.As(err, &full) {
		return nil, false, err
	}
	c.warn("%v", err)
	return nil, false, nil
}

// remembered returns what is remembered about a tree, nil for nothing that holds today.
func (c *pushCheck) remembered(key string) *remembered {
	known, err := c.known.get(key)
	if err != nil {
		c.warn("the remembered findings in %s cannot be used, so the commit is checked again: %v", filepath.Join(c.known.dir, key), err)
	}
	if known != nil && known.Day != "" && known.Day != c.push.Today {
		return nil
	}
	return known
}

// remember keeps a result for later pushes, and returns what it keeps. It completes the
// traces.
func (c *pushCheck) remember(key string, result *TreeResult) *remembered {
	if result.Traces == nil {
		result.Traces = tracesOf(result.Findings)
	}
	known := &remembered{Traces: result.Traces}
	if len(result.Findings) <= maxFindings {
		if text, err := check.MarshalFindings(result.Findings); err == nil {
			known.Findings, known.Report = text, &Report{Docroot: result.Docroot, OldCopy: result.OldCopy}
		}
	}
	if result.ValidToday {
		known.Day = c.push.Today
	}
	c.add(key, known)
	return known
}

func (c *pushCheck) add(key string, known *remembered) {
	if err := c.known.add(key, known); err != nil {
		c.warn("the result is not remembered: %v", err)
	}
}

// commit builds and checks one commit: in the working tree if that is exactly
// the commit's tree, or else in a temporary one. tree is "" for a commit that is
// never checked in the working tree.
func (c *pushCheck) commit(ctx context.Context, commit, tree string) (result TreeResult, err error) {
	defer func() {
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx) // a [*TimeoutError] says more than the end of ctx
		}
	}()
	p := c.push
	command, committed := p.Build, p.Docroot
	if p.Configure != nil {
		if command, committed, err = p.Configure(ctx, commit); err != nil {
			return result, err
		}
	}
	if command != "" && p.Building != nil {
		done := p.Building(commit, command, c.known.took(p.Site))
		defer done()
		began := time.Now()
		defer func() {
			if err == nil {
				c.known.setTook(p.Site, time.Since(began))
			}
		}()
	}
	exact := ""
	if command == "" || committed != "" {
		exact = filepath.Join(p.Site, committed)
	}
	inPlace := false
	if tree != "" {
		if inPlace, err = c.repo.workTreeIs(ctx, tree, exact); err != nil {
			return result, err
		}
	}
	top := c.repo.Top
	result.Origin = FromWorkTree
	if !inPlace {
		result.Origin = FromCheckout
		dir, remove, err := c.repo.checkout(ctx, commit, p.Site)
		defer func() { _ = remove() }() // the next run tries again
		if err != nil {
			return result, err
		}
		top = dir
	}
	site, docroot := filepath.Join(top, p.Site), ""
	if command != "" {
		out := c.repo.dataPath(filepath.Join(treesDir, strconv.Itoa(os.Getpid())+"-out"))
		defer func() { _ = os.RemoveAll(out) }() // the next run tries again
		if docroot, err = build(ctx, p.Env, command, site, out); err != nil {
			return result, err
		}
	}
	result.Report, err = p.Check(ctx, site, docroot)
	if err == nil && docroot != "" && committed != "" {
		var copied Report
		if copied, err = p.Check(ctx, site, ""); err == nil {
			result.addCopy(copied)
		}
	}
	return result, err
}

// build runs a command of the shell in the directory site. It returns out if the
// command wrote something there, and "" if not.
func build(ctx context.Context, env []string, command, site, out string) (docroot string, err error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", fmt.Errorf("make %s: %w", out, system.Cause(err))
	}
	env = append(slices.DeleteFunc(git.WithoutLocal(env), func(v string) bool {
		return strings.HasPrefix(v, OutVariable+"=")
	}), OutVariable+"="+filepath.ToSlash(out))
	err = system.Command{Args: []string{"sh", "-c", command}, Name: command, Dir: site, Env: env}.Run(ctx)
	var failed *system.CommandError
	if errors.As(err, &failed) {
		return "", &BuildError{failed.Command, failed.Cause, failed.Output}
	}
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", out, system.Cause(err))
	}
	if len(entries) == 0 {
		return "", nil
	}
	return out, nil
}

// base returns the commit to compare with: the one that the remote ref points
// to, or for a new branch the last commit of its history that the remote has. It
// returns "" if no such commit exists or it was never fetched.
func (c *pushCheck) base(ctx context.Context, ref Ref) (string, error) {
	if ref.Before != "" {
		return c.repo.resolve(ctx, ref.Before+"^{commit}")
	}
	out, err := c.repo.git.run(ctx, "rev-list", "--boundary", "--topo-order", ref.Commit, "--not", "--remotes="+c.push.Remote)
	if err != nil {
		return "", err
	}
	return boundary(string(out), ref.Commit), nil
}

// boundary returns the first commit in the output of rev-list --boundary that
// the remote has: its line starts with a dash. An empty list means that the
// remote has the pushed commit itself.
func boundary(list, pushed string) string {
	if list == "" {
		return pushed
	}
	for line := range strings.Lines(list) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
			return id
		}
	}
	return ""
}
