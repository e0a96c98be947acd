// Package commits builds and checks commits: the commits of a push before they
// leave the machine, and the commit that --since compares a site with. It connects
// the git side, package githook, with the configuration and the audit of a site.
//
// [New] reads the configuration of the working tree and returns a [Push] with
// functions that build and check one commit. [Push.Report] prints what
// [githook.Repo.CheckPush] found. [Since] builds a commit in the same way. The package
// does not use the working directory, the arguments or the output of the process.
package commits

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/run/setup"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Options describe a run of the hook. Configure, Today and Getenv are required.
type Options struct {
	// Site is the directory of the site, relative to the root of the repository, and
	// Others are those of other sites, see [githook.Push].
	Site   string
	Others []string
	// Remote is the name of the remote, "" if it has none.
	Remote string
	// ByHand means that a person or a script named the commit. It ignores the list of
	// branches in the configuration.
	ByHand bool
	// Configure loads the configuration of a directory, and adds settings to it.
	Configure func(dir string, more ...config.Setting) (*config.Config, error)
	// Today returns the day that decides which entries of a baseline have
	// expired.
	Today func() (baseline.Date, error)
	// Env is the environment of builds and generators, in the form of os.Environ.
	// Getenv returns a variable of the run.
	Env    []string
	Getenv func(string) string
	// Cache is a directory of the user for what later runs can use again, "" for
	// none.
	Cache string
	// Version identifies the program: a result of another version is not reused.
	Version string
	// Settings are added to the configuration: a record made with others is not reused.
	Settings []config.Setting
	// Note and Line print a note and a line for the user, and Stdin may have an access
	// log. Only [Since] and [Record] need them.
	Note, Line func(text string)
	Stdin      io.Reader
}

// Push is how a push is checked, and how its result is reported.
type Push struct {
	*githook.Push
	// Progress is the setting progress.
	Progress string
	byHand   bool
	// accept says how to accept old findings, usual how to build the site.
	accept, usual string
}

// New returns how to check a push, by the configuration of the working tree. The
// table [hook] of a commit that is not checked out is not used: its build command
// has not been reviewed on this machine.
func New(repo *githook.Repo, opt Options) (*Push, error) {
	push := &githook.Push{Site: filepath.Clean(opt.Site), Others: opt.Others, Remote: opt.Remote, Env: opt.Env}
	dir, err := siteDir(filepath.Join(repo.Top, push.Site))
	if err != nil {
		return nil, err
	}
	cfg, err := opt.Configure(dir, opt.Settings...)
	if err != nil {
		return nil, err
	}
	push.Build, push.OnlyNew, push.Timeout = cfg.Hook.Build, cfg.Hook.Baseline == "remote", cfg.Hook.Timeout
	if !opt.ByHand {
		push.Branches = cfg.Hook.Branches
	}
	usual := ""
	if push.Build == "" {
		if usual, err = setSite(repo, dir, cfg, push); err != nil {
			return nil, err
		}
	}
	key, err := cacheKey(opt, dir, cfg.File)
	if err != nil {
		return nil, err
	}
	push.CacheKey += key
	today, err := opt.Today()
	if err != nil {
		return nil, err
	}
	push.Today = string(today)
	original := dir
	push.Check = func(ctx context.Context, dir, docroot string) (githook.Report, error) {
		return checkCommit(ctx, builtCommit{dir, docroot, original}, push, opt)
	}
	return &Push{push, cfg.Progress, opt.ByHand, setup.AcceptFindings(cfg.Baseline != ""), usual}, nil
}

// siteDir resolves the directory of the site, which not every commit has.
func siteDir(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", text.WithHint(fmt.Errorf("enter %s: %w", dir, system.Cause(err)), "this commit does not contain the site there; name its directory with --dir")
	}
	return real, nil
}

// cacheKey returns what a result depends on besides the tree: the version of
// sitelink, the configuration file, which may be uncommitted, and variables.
func cacheKey(opt Options, dir, file string) (string, error) {
	var key strings.Builder
	key.WriteString(opt.Version)
	if file != "" {
		name := file
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		text, err := system.Read(name, maxSourceBytes)
		if err != nil {
			return "", fmt.Errorf("read config %s: %w", file, system.Cause(err))
		}
		fmt.Fprintf(&key, "\x00%s\x00%s", filepath.Base(file), text)
	}
	for _, k := range config.Keys() {
		if v := opt.Getenv(k.Env()); v != "" && k.Name != "progress" && k.Name != "color" {
			fmt.Fprintf(&key, "\x00%s=%s", k.Env(), v)
		}
	}
	return key.String(), nil
}

// setSite finds out how a commit becomes a site when no command is configured:
// the docroot is committed, or the generator of dir builds it, by the usual command
// that it returns. If both are so, both sites are checked, because either may be
// published. A generator that is not on this machine is not needed as long as the
// committed docroot is as new as its sources.
func setSite(repo *githook.Repo, dir string, cfg *config.Config, push *githook.Push) (usual string, err error) {
	find := func(ctx context.Context) (*project.Project, error) {
		return project.Find(ctx, dir, project.Options{Config: cfg, Env: push.Env, Markdown: true})
	}
	p, err := find(context.Background())
	if err != nil {
		return "", err
	}
	g := p.Generator
	if g == nil || !g.Builds() {
		push.Docroot, err = committedDocroot(push.Site, p.Docroot)
		return "", err
	}
	push.Env = slices.Concat(push.Env, g.Generator.Traits().Env)
	reachesOut := strings.Contains(strings.Join(g.Args, " "), "..")
	if sources, err := filepath.Rel(repo.Top, g.Dir); err == nil && filepath.IsLocal(sources) && !reachesOut && g.Generator.Traits().OwnFiles && cfg.Docroot == "" {
		push.Unread = unread(repo, filepath.ToSlash(sources))
	}
	installed := g.Installed()
	push.CacheKey = fmt.Sprintf("generator %s\x00%v\x00%s\x00", g.Generator, installed, cfg.Docroot)
	push.Configure = func(ctx context.Context, commit string) (build, docroot string, err error) {
		p, err := find(ctx)
		if err != nil {
			return "", "", err
		}
		committed := repo.CommitContains(ctx, commit, p.Abs(p.Docroot))
		if p.Generator != nil && p.Generator.Builds() && (installed || !committed) {
			build = setup.BuildCommand(p.Generator)
			if rel, err := filepath.Rel(dir, p.Generator.Dir); err == nil && rel != "." {
				build = "cd " + (generator.Command{Args: []string{filepath.ToSlash(rel)}}).String() + " && " + build
			}
			if !committed {
				return build, "", nil
			}
		}
		if docroot, err = committedDocroot(push.Site, p.Docroot); err != nil || build != "" || p.Generator == nil || !p.Generator.Builds() {
			return build, docroot, err
		}
		sources, err := filepath.Rel(repo.Top, p.Generator.Dir)
		if err != nil || !filepath.IsLocal(sources) {
			return "", docroot, nil // they are not in this repository
		}
		newer, err := repo.NewerSource(ctx, commit, filepath.ToSlash(sources), filepath.ToSlash(filepath.Join(push.Site, docroot)))
		if err == nil && newer != "" {
			err = text.WithHint(fmt.Errorf("the committed docroot %s is older than its sources, which commit %.7s changed, and %s is not installed here to build them", docroot, newer, p.Generator.Title()),
				"install it, or "+updateCopy(docroot, g.UsualCommand()))
		}
		return "", docroot, err
	}
	return g.UsualCommand(), nil
}

// updateCopy says what to do about a committed docroot that is not what its sources
// say.
func updateCopy(docroot, usual string) string {
	return fmt.Sprintf("commit what %s builds; if your host builds the site, take %s out of git: %s, and add it to .gitignore", usual, docroot, setup.Uncommit(docroot))
}

// committedDocroot refuses a docroot outside the repository.
func committedDocroot(site, docroot string) (string, error) {
	if filepath.IsAbs(docroot) || !filepath.IsLocal(filepath.Join(site, docroot)) {
		return "", text.Usage(fmt.Sprintf("docroot %s is not in the repository", docroot),
			"the hook checks what a commit contains, or what build in [hook] of sitelink.toml builds from it")
	}
	return docroot, nil
}

// builtCommit is where the site of a commit is, and the directory of the site in the
// working tree.
type builtCommit struct{ dir, docroot, original string }

// project finds the project of the commit, by the configuration of the commit.
func (of builtCommit) project(ctx context.Context, push *githook.Push, opt Options) (*project.Project, error) {
	dir, err := siteDir(of.dir)
	if err != nil {
		return nil, err
	}
	cfg, err := opt.Configure(dir, opt.Settings...)
	if err != nil {
		return nil, err
	}
	p, err := project.Find(ctx, dir, project.Options{Config: cfg, Env: opt.Env, Docroot: of.docroot, BuiltElsewhere: filepath.IsAbs(of.docroot), Markdown: push.Build == ""})
	if err != nil {
		return nil, err
	}
	if err := p.CheckDocroot(); err != nil {
		hint := "set build in [hook] of sitelink.toml, or docroot to a directory that is committed"
		if push.Build != "" {
			hint = "the build command wrote no site there, and none to $" + githook.OutVariable
		}
		return nil, text.WithHint(err, hint)
	}
	return p, nil
}

// checkCommit checks the site of a commit, by the configuration of the commit, which
// contains what its authors accept.
func checkCommit(ctx context.Context, of builtCommit, push *githook.Push, opt Options) (checked githook.Report, err error) {
	p, err := of.project(ctx, push, opt)
	if err != nil {
		return checked, err
	}
	if of.docroot == "" {
		checked.Docroot = filepath.ToSlash(filepath.Join(push.Site, p.Docroot))
	}
	run, err := audit.Open(ctx, p, audit.Options{Baseline: true, Today: opt.Today, Sources: true})
	if err != nil {
		return checked, err
	}
	defer run.Close()
	if err := check.Deployable(&check.Summary{Docroot: p.Docroot, ServerPages: run.Site.ServerPages()}); err != nil {
		return checked, text.WithHint(err, "commit what the generator builds, or keep the docroot out of the commit and let the hook build it")
	}
	accepted := run.Baseline
	run.Baseline = nil // accepted findings leave traces too
	result, err := run.Check(ctx)
	if err != nil {
		return checked, err
	}
	for _, k := range result.Summary.NotRead {
		if k.Kind == "git-lfs" {
			opt.Note(text.Count(k.Count, "page") + " not fetched by git-lfs, so the links there are not checked; git lfs pull fetches the files")
		}
	}
	all := slices.Clone(result.Findings)
	accepted.Apply(result)
	checked.ValidToday = accepted != nil
	checked.Findings = failing(p.Config.FailOn, result)
	checked.Traces = traces(all, checked.Findings, p)
	return checked, nil
}

// failing returns the findings that fail the run at this level of fail-on.
func failing(failOn string, r *check.Result) []check.Finding {
	if !audit.Fails(failOn, r) {
		return nil
	}
	return slices.DeleteFunc(r.Findings, func(f check.Finding) bool {
		return failOn != "warning" && f.Verdict != check.Error
	})
}
