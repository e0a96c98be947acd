package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/process"
)

// Push says how the commits of a push are checked. Check is required.
type Push struct {
	// Site is the directory of the site, relative to the root of the working
	// tree; "" or "." for the root itself.
	Site string
	// Build is a shell command that builds the site. It runs in Site; "" when
	// the docroot is committed.
	Build string
	// Docroot is the committed docroot, relative to Site. It is not used when
	// there is a build command.
	Docroot string
	// Configure, if not nil, returns Build and Docroot for a commit. It is called
	// only for a tree that is not remembered, so it may take longer than that
	// lookup. Then CacheKey must include whatever its answer depends on, apart
	// from the tree.
	Configure func(ctx context.Context, commit string) (build, docroot string, err error)
	// Check checks one site: site is its directory, and docroot the absolute
	// path of the docroot, or "" for the one that the site's configuration names.
	// It returns an error if it could not check.
	Check func(ctx context.Context, site, docroot string) (Report, error)
	// Branches are patterns of [path.Match] for the remote branches to check;
	// none means all.
	Branches []string
	// Remote is the name of the remote, "" or a URL if it has none.
	Remote string
	// OnlyNew ignores findings that the remote's commit has too.
	OnlyNew bool
	// Timeout bounds the check of the whole push; 0 means no limit.
	Timeout time.Duration
	// CacheKey is everything that results depend on, apart from the tree: the
	// version of the program, its configuration, environment variables.
	CacheKey string
	// Today is the date by which the entries of a baseline expire. Reports that
	// are ValidToday are remembered for this day.
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
	// ValidToday means that the result may be different tomorrow.
	ValidToday bool
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
)

// TreeResult is the result for one tree of a push.
type TreeResult struct {
	Report
	// Refs are the remote refs that the tree is pushed to, in the order of the
	// push.
	Refs   []string
	Commit string
	Origin Origin
	// OldFindings counts the findings that the remote's commit has too. They are
	// not in Findings.
	OldFindings int
}

// TimeoutError means that a push was not checked within its time.
type TimeoutError struct{ Timeout time.Duration }

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the push was not checked within %v", e.Timeout)
}

// BuildError means that the site's build command failed.
type BuildError struct {
	Command string
	// Cause is how it ended, for example "exit status 1".
	Cause error
	// Output holds the last lines that it wrote to standard error, at most 8.
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
// checked, and no file that an earlier build left can hide a missing one.
const OutVariable = "SITELINK_OUT"

// passedFile is the file of [passedTrees] in sitelink's directory.
const passedFile = "passed"

// CheckPush checks each distinct tree that refs push to a branch once. Each ref
// without a Tree costs a run of git; [OpenPush] looks up all of them in one.
// warnings are messages for the user. The errors are a
// [*BuildError], [*TimeoutError], [*SubmoduleError], [*DiskFullError],
// [*GitError], the errors of Push.Check and the cause of ctx.
//
// Even when ctx ends, nothing is left on the disk but the list of trees that
// passed. Two processes may check a repository at the same time; two calls in
// one process must not.
func (r *Repo) CheckPush(ctx context.Context, refs []Ref, p Push) (results []TreeResult, warnings []string, err error) {
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, &TimeoutError{p.Timeout})
		defer cancel()
	}
	if err := r.RemoveStaleTrees(ctx); err != nil {
		warnings = append(warnings, "remove the temporary trees of a killed run: "+err.Error())
	}
	c := pushCheck{r, &p, passedTrees{r.dataPath(passedFile)}}
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
		result, warning, err := c.tree(ctx, ref)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		if err != nil {
			return nil, warnings, err
		}
		result.Refs, result.Commit = []string{ref.Remote}, ref.Commit
		done, results = append(done, next), append(results, result)
	}
	return results, warnings, nil
}

// pushCheck checks the trees of one push.
type pushCheck struct {
	repo   *Repo
	push   *Push
	passed passedTrees
}

// tree checks the tree of a ref. It warns if the result cannot be remembered.
func (c *pushCheck) tree(ctx context.Context, ref Ref) (result TreeResult, warning string, err error) {
	p := c.push
	key := passedKey(ref.Tree, p.Site, p.Build, p.Docroot, p.CacheKey)
	if c.passed.has(key, p.Today) {
		return TreeResult{Origin: FromCache}, "", nil
	}
	base, baseKey := "", ""
	if p.OnlyNew {
		if base, err = c.base(ctx, ref); err != nil {
			return result, "", err
		}
		if base == "" {
			warning = fmt.Sprintf("%s has no commit here to compare with, so every finding counts as new", ref.Remote)
		}
	}
	if base != "" {
		baseTree, err := c.repo.resolve(ctx, base+"^{tree}")
		if err != nil {
			return result, "", err
		}
		baseKey = passedKey(key, baseTree)
		if c.passed.has(baseKey, p.Today) {
			return TreeResult{Origin: FromCache}, "", nil
		}
	}
	if result, err = c.commit(ctx, ref.Commit, ref.Tree); err != nil {
		return result, "", err
	}
	if len(result.Findings) > 0 && base != "" {
		before, err := c.commit(ctx, base, "")
		if err != nil {
			return result, "", fmt.Errorf("check the remote's commit %.12s: %w", base, err)
		}
		result.Findings, result.OldFindings = newFindings(result.Findings, before.Findings)
		result.ValidToday = result.ValidToday || before.ValidToday
	}
	if len(result.Findings) > 0 {
		return result, warning, nil
	}
	warning = ""
	if result.OldFindings > 0 {
		key = baseKey
	}
	day := ""
	if result.ValidToday {
		day = p.Today
	}
	if err := c.passed.add(key, day); err != nil {
		warning = "the result is not remembered: " + err.Error()
	}
	return result, warning, nil
}

// commit builds and checks one commit: in the working tree if that is exactly
// the commit's tree, or else in a temporary one. tree is "" for a commit that is
// never checked in the working tree.
func (c *pushCheck) commit(ctx context.Context, commit, tree string) (result TreeResult, err error) {
	p := c.push
	command, committed := p.Build, p.Docroot
	if p.Configure != nil {
		if command, committed, err = p.Configure(ctx, commit); err != nil {
			return result, err
		}
	}
	exact := ""
	if command == "" {
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
	if result.Report, err = p.Check(ctx, site, docroot); ctx.Err() != nil && err != nil {
		err = context.Cause(ctx) // a [*TimeoutError] says more than the end of ctx
	}
	return result, err
}

// build runs a command of the shell in the directory site. It returns out if the
// command wrote something there, and "" if not.
func build(ctx context.Context, env []string, command, site, out string) (docroot string, err error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", fmt.Errorf("make %s: %w", out, disk.Cause(err))
	}
	env = append(slices.DeleteFunc(git.WithoutLocal(env), func(v string) bool {
		return strings.HasPrefix(v, OutVariable+"=")
	}), OutVariable+"="+filepath.ToSlash(out))
	err = process.Command{Args: []string{"sh", "-c", command}, Name: command, Dir: site, Env: env}.Run(ctx)
	var failed *process.Error
	if errors.As(err, &failed) {
		return "", &BuildError{failed.Command, failed.Cause, failed.Output}
	}
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", out, disk.Cause(err))
	}
	if len(entries) == 0 {
		return "", nil
	}
	return out, nil
}

// base returns the commit to compare with: the one that the remote ref points
// to, or for a new branch the last commit of its history that the remote has. It
// returns "" if there is none, or if it was never fetched.
func (c *pushCheck) base(ctx context.Context, ref Ref) (string, error) {
	if ref.Before != "" {
		return c.repo.resolve(ctx, ref.Before+"^{commit}")
	}
	out, err := c.repo.git.run(ctx, "rev-list", "--boundary", "--topo-order", ref.Commit, "--not", "--remotes="+c.push.Remote)
	var failed *GitError
	if errors.As(err, &failed) {
		return "", nil
	}
	return boundary(string(out), ref.Commit), err
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

// newFindings returns the findings of now whose fingerprint is not among those
// of before, in order, and counts the others.
func newFindings(now, before []check.Finding) (fresh []check.Finding, old int) {
	known := map[string]bool{}
	for _, id := range check.Fingerprints(before) {
		known[id] = true
	}
	for i, id := range check.Fingerprints(now) {
		if known[id] {
			old++
		} else {
			fresh = append(fresh, now[i])
		}
	}
	return fresh, old
}
