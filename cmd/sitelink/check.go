package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/commits"
	"github.com/sitelink/sitelink/internal/run/external"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/send"
	"github.com/sitelink/sitelink/templates"
)

// checkCommand returns `sitelink check`.
func checkCommand(c *cli) *cobra.Command {
	var b buildFlags
	cmd := &cobra.Command{
		Use: "check [DIR | PAGE... | URL] [@FILE]... [-- GENERATOR-ARGS]",
		Args: func(cmd *cobra.Command, args []string) error {
			own, forGenerator := cutAtDash(cmd, args)
			own = slices.DeleteFunc(slices.Clone(own), func(arg string) bool { return strings.HasPrefix(arg, "@") })
			if b.build && b.filesFrom != "" {
				own = append(own, b.filesFrom)
			}
			if b.strict && !b.build {
				forGenerator = append(forGenerator, "--strict")
			}
			return refuseBuildArgs("check", b.build, own, forGenerator)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, forGenerator := cutAtDash(cmd, args)
			args, pages := cutPages(args)
			if b.filesFrom != "" {
				err := eachEntry(b.filesFrom, c.env.Stdin, func(_ int, _, name string) error {
					pages = append(pages, name)
					return nil
				})
				if err != nil {
					return err
				}
				if len(pages) == 0 {
					c.ui.note("the list of --files-from is empty, so there is nothing to check")
					return nil
				}
			}
			cfg, err := c.configure(cmd, args)
			switch {
			case err != nil:
				return err
			case len(pages) > 0 && len(cfg.From) > 0:
				return text.Usage("--from and named pages exclude each other", "write --from before each linkset, or name only pages")
			case !b.build:
				cfg.Pages = pages
				return runCheck(cmd.Context(), c, cfg, nil)
			case cmd.Flags().Changed("docroot"):
				return errBuildDocroot
			}
			return runBuild(cmd.Context(), c, cfg, b.strict, forGenerator)
		},
	}
	cmd.Flags().BoolVar(&b.build, "build", false, "run the site's generator into a new directory, and check what it writes")
	cmd.Flags().BoolVar(&b.strict, "strict", false, "with --build: fail if the generator prints warnings, such as two pages with the same address")
	addFilesFrom(cmd, &b.filesFrom, "names of files and directories")
	cmd.Flags().Lookup("files-from").Hidden = true // for scripts; the help has it
	addKeyFlags(cmd)
	addConfigFlag(cmd)
	return cmd
}

// buildFlags are the flags of check about the generator and about what it checks.
type buildFlags struct {
	build, strict bool
	filesFrom     string
}

// cutAtDash returns the arguments before and after --.
func cutAtDash(cmd *cobra.Command, args []string) (before, after []string) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}

// configure loads the configuration with the flags of cmd.
func (c *cli) configure(cmd *cobra.Command, args []string) (*config.Config, error) {
	file, _ := cmd.Flags().GetString("config") // not every command has it
	build, _ := cmd.Flags().GetBool("build")
	c.markdown = !build && slices.Contains([]string{"check", "external", "watch", "fix", "mv", "links", "explain", "write", "update", "run"}, cmd.Name())
	if cmd.Flags().Changed("config") && file == "" {
		return nil, text.Usage("--config: the value is empty", "")
	}
	args, files, err := splitArguments(args)
	if err != nil {
		return nil, err
	}
	settings := files.join(keySettings(cmd))
	for _, arg := range args {
		switch {
		case arg == "-":
			return nil, text.Usage("only sitelink check reads standard input, which is Markdown", "name the directory of the built site, or some of its pages")
		case weburl.IsWeb(arg) && (len(args) > 1 || !asksServers(cmd)):
			return nil, notForServers(cmd, arg)
		}
	}
	isServer := len(args) == 1 && weburl.IsWeb(args[0])
	if len(args) == 1 && !isServer {
		if slices.ContainsFunc(settings, func(s config.Setting) bool { return s.Key == "docroot" }) {
			return nil, text.Usage("the docroot is named twice, as DIR and by --docroot", "keep one of them")
		}
		settings = append(settings, config.Setting{Key: "docroot", Values: args})
	}
	cfg, err := c.loadConfig(config.Input{File: file, Flags: settings, Places: files.places, Keys: tableKeys(cmd)})
	if err == nil && isServer {
		err = setServer(cfg, args[0])
	}
	return cfg, err
}

// loadConfig completes the input and loads the configuration. It prints nothing.
func (c *cli) loadConfig(input config.Input) (*config.Config, error) {
	input.File = cmp.Or(input.File, c.env.Getenv("SITELINK_CONFIG"))
	input.Getenv = c.env.Getenv
	input.Generators, input.Profiles, input.Codes, input.HostKeys = project.Generators(), profileNames(), report.Codes(), hostKeys()
	input.Selector = func(text string) error { return outgoing.Options{Content: text}.Check() }
	input.Peer = func(text string) error { _, err := send.ParseLinkPeer(text); return err }
	input.Linkset = func(text string) error { _, err := check.ParseLinkset(text); return err }
	input.Endpoint = templates.Endpoint
	cfg, err := config.Load(input)
	if err != nil {
		var invalid *config.Error
		if !errors.As(err, &invalid) { // a file that cannot be read is wrong configuration too
			err = text.Usage(err.Error(), "")
		}
		return nil, err
	}
	// Some reports cannot be combined.
	toOutput := false
	for _, f := range cfg.Formats {
		toOutput = toOutput || f.File == ""
		if format, _ := report.ByName(f.Name); cfg.Show == "all" && !format.Lists {
			return cfg, text.Usage(fmt.Sprintf("the format %s lists findings only, not all links", f.Name),
				"--show all works with text and jsonl")
		}
	}
	if !toOutput && cfg.Output != "" && cfg.Output != "-" {
		return cfg, text.Usage(fmt.Sprintf("no report goes to %s: every format has its own file", cfg.Output),
			"use --output -, or give one format no file")
	}
	return cfg, nil
}

// cutPages returns the arguments that are pages, unless one directory is the docroot.
// "public" alone is one, "public/a.html", "public/**" and "a b" are pages.
func cutPages(args []string) (rest, pages []string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "@") {
			rest = append(rest, arg)
		} else {
			pages = append(pages, arg)
		}
	}
	if slices.ContainsFunc(pages, weburl.IsWeb) {
		return args, nil
	}
	if len(pages) == 1 && pages[0] != "-" {
		info, err := os.Stat(pages[0])
		if err == nil && info.IsDir() || err != nil && !strings.ContainsAny(pages[0], "*?[{") {
			return append(rest, pages[0]), nil
		}
	}
	return rest, pages
}

// runCheck finds the project and checks its site.
func runCheck(ctx context.Context, c *cli, cfg *config.Config, ext *externalFlags) error {
	p, err := c.find(ctx, cfg)
	if err != nil {
		return err
	}
	return checkProject(ctx, c, p, ext)
}

// checkProject does the work of `sitelink check`. It returns [errFindings] when
// there are findings that fail the run. ext reports whether it asks other sites.
func checkProject(ctx context.Context, c *cli, p *project.Project, ext *externalFlags) (err error) {
	cfg := p.Config
	if err := audit.WaitForBuild(ctx, p, c.ui.note); err != nil {
		return err
	}
	timer := newTimer(c.ui)
	progress := newProgress(c.ui, cfg.Progress, time.Now)
	defer progress.done()
	opt := c.auditOptions(progress)
	opt.Baseline, opt.Sources, opt.Hints, opt.Stage = true, true, true, timer.stage
	opt.MaxFindings = maxListed
	if opt.Since, err = commits.Since(ctx, p, c.commitOptions()); err != nil {
		return err
	}
	checker, err := ext.open(ctx, c, p, progress)
	if err != nil {
		return err
	}
	if checker != nil {
		defer func() { err = closeExternal(c, checker, err) }()
		opt.External = checker.Check
	}
	run, err := audit.Open(ctx, p, opt)
	if err != nil {
		return err
	}
	defer run.Close()
	if err := traceWalk(ctx, c, run); err != nil {
		return err
	}
	// Opened after the site is loaded: a new file inside the docroot is not one of
	// the site's files.
	reports, err := openReports(c, p)
	if err != nil {
		return err
	}
	defer reports.discard()

	var result *check.Result
	if cfg.Show == "all" {
		progress.done()
		result, err = showAll(ctx, c, run, reports)
	} else {
		result, err = run.Check(ctx)
		progress.done()
		if err == nil {
			err = reports.addExtras(ctx, run)
		}
		if err == nil {
			err = reports.write(result)
		}
		if err == nil {
			err = reports.writeUnlisted(ctx, run, result)
		}
	}
	if err != nil {
		return err
	}
	defer timer.stage("report")
	return reports.end(c, cfg, result)
}

// maxListed is the largest number of findings about links that are kept: a finding
// takes about a kilobyte of memory. Only JSON Lines goes on after them.
const maxListed = 50_000

// textOptions returns how text names files: as a user in the directory would write them.
func textOptions(p *project.Project) report.TextOptions {
	opt := report.TextOptions{Prefix: cmp.Or(p.Server, p.Docroot), Here: p.FromRoot(p.Dir), All: p.Config.All}
	if rel, err := filepath.Rel(p.Abs(p.Docroot), p.Dir); p.Server == "" && err == nil && rel != "." && filepath.IsLocal(rel) {
		opt.Within = filepath.ToSlash(rel)
	}
	return opt
}

// reportOptions returns what every report of a run may need to know.
func reportOptions(c *cli, p *project.Project) (report.Options, error) {
	opt := report.Options{
		TextOptions:  textOptions(p),
		Base:         cmp.Or(p.Server, p.FromRoot(p.Docroot)),
		GroupBy:      report.GroupNamed(p.Config.GroupBy),
		WarningsFail: p.Config.FailOn == "warning",
		Version:      versionNumber(),
	}
	var err error
	if slices.ContainsFunc(p.Config.Formats, func(f config.Format) bool { return f.Name == "html" }) {
		if err = setHeader(c, p, &opt); err != nil {
			return opt, err
		}
	}
	if opt.GroupBy == report.GroupOwner {
		opt.Owners, err = ownersOf(c, p.Root)
	}
	return opt, err
}

// maxOwnerFaults is how many wrong lines of CODEOWNERS are reported.
const maxOwnerFaults = 5

// ownersOf reads the CODEOWNERS file of the project.
func ownersOf(c *cli, root string) (func(path string) string, error) {
	o, err := project.LoadOwners(os.DirFS(root))
	if err != nil {
		return nil, text.WithHint(err, "--group-by owner needs it")
	}
	if o == nil {
		c.ui.warning("no CODEOWNERS file: " + root + " has none of " + strings.Join(project.OwnerFiles, ", "))
		return nil, nil
	}
	for i, fault := range o.Faults {
		if i == maxOwnerFaults {
			c.ui.warning(fmt.Sprintf("%s: %d more lines are skipped", o.Name, len(o.Faults)-i))
			break
		}
		c.ui.warning(fmt.Sprintf("%s:%d: skipped: %s", o.Name, fault.Line, fault.Msg))
	}
	return func(path string) string { return strings.Join(o.Of(path), ", ") }, nil
}

func externalCommand(c *cli) *cobra.Command {
	var ext externalFlags
	var filesFrom string
	cmd := &cobra.Command{
		Use: "external [DIR | @@FILE...]",
		Args: func(cmd *cobra.Command, args []string) error {
			rest, lists := cutLists(args)
			if (len(lists) > 0 || filesFrom != "") && len(rest) > 0 {
				return text.Usage("a list of addresses takes the place of DIR", "run sitelink external once for the list, and once for "+rest[0])
			}
			return oneDirectory(cmd, rest)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, lists := cutLists(args)
			if filesFrom != "" {
				lists = append(lists, filesFrom)
			}
			cfg, err := c.configure(cmd, args)
			if err != nil {
				return err
			}
			if len(lists) > 0 {
				return checkLists(cmd.Context(), c, cfg, &ext, lists)
			}
			return runCheck(cmd.Context(), c, cfg, &ext)
		},
	}
	ext.add(cmd)
	addFilesFrom(cmd, &filesFrom, "addresses")
	addKeyFlags(cmd, "orphans", "since", "gone", "anchors", "log")
	addConfigFlag(cmd)
	cmd.AddCommand(statusCommand(c))
	return cmd
}

// statusCommand returns `sitelink external status`, which asks no other site.
func statusCommand(c *cli) *cobra.Command {
	words := []string{"reset", "retry", "prune"}
	cmd := &cobra.Command{
		Use:       "status [reset | retry | prune [DIR]]",
		ValidArgs: words,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && !slices.Contains(words, args[0]):
				return text.Usage(fmt.Sprintf("unknown word %q after status", args[0]), cmp.Or(config.DidYouMean(args[0], words), "it can be "+config.OneOf(words)))
			case len(args) > 2, len(args) == 2 && args[0] != "prune":
				return text.Usage(fmt.Sprintf("%q is one argument too many", args[len(args)-1]), "only prune takes a directory")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd, args[min(1, len(args)):])
			if err != nil {
				return err
			}
			return runStatus(cmd.Context(), c, cfg, append(args, "")[0])
		},
	}
	addFlags(cmd, config.TableKeys("external", "status-cache"))
	addSiteKeyFlags(cmd)
	addConfigFlag(cmd)
	return cmd
}

// runStatus does the work of `sitelink external status`.
func runStatus(ctx context.Context, c *cli, cfg *config.Config, what string) error {
	if what == "prune" {
		run, err := c.load(ctx, cfg)
		if err != nil {
			return err
		}
		defer run.Close()
		n, err := external.Prune(ctx, run.Project, audit.Handle(run.Site), audit.CheckOptions(run.Project), c.ui.warning)
		c.ui.note("removed from the status cache: " + count(n, "URL"))
		return err
	}
	p, err := c.findRoot(ctx, cfg)
	if err != nil {
		return err
	}
	if what == "retry" {
		n, err := external.Edit(ctx, p, c.ui.warning, func(r *remote.Record) bool { return r.Retry(time.Now()) })
		if err == nil {
			c.ui.note(fmt.Sprintf("the next sitelink external asks for %s whose last answer was not good", count(n, "URL")))
		}
		return err
	}
	records, err := external.Records(ctx, p, c.ui.warning)
	if err != nil {
		return err
	}
	var lines []byte
	for i := range records {
		if state := external.State(&records[i]); state != "" && (what == "" || !records[i].Changed.IsZero()) {
			lines = fmt.Appendf(lines, "%s: %s\n", visible(records[i].URL), visible(state))
		}
	}
	// A reset forgets nothing that could not be printed.
	if err = c.print(string(lines)); err == nil && what == "reset" {
		_, err = external.Edit(ctx, p, c.ui.warning, (*remote.Record).Reset)
	}
	if err == nil && what == "" {
		c.ui.note(fmt.Sprintf("the status cache knows %s; this lists what is not good or has changed", count(len(records), "URL")))
	}
	return err
}

// checkLists asks for the addresses of lists, without a site (LL-14).
func checkLists(ctx context.Context, c *cli, cfg *config.Config, ext *externalFlags, names []string) (err error) {
	p, err := c.findRoot(ctx, cfg)
	if err != nil {
		return err
	}
	var lines []listLine
	for _, name := range names {
		if lines, err = readList(lines, name, c.env.Stdin); err != nil {
			return err
		}
	}
	p.Docroot = "" // the places of findings are in the lists
	progress := newProgress(c.ui, cfg.Progress, time.Now)
	defer progress.done()
	checker, err := ext.open(ctx, c, p, progress)
	if err != nil {
		return err
	}
	defer func() { err = closeExternal(c, checker, err) }()
	reports, err := openReports(c, p)
	if err != nil {
		return err
	}
	defer reports.discard()
	result, err := checker.CheckList(ctx, linksOf(lines), audit.CheckOptions(p))
	progress.done()
	if err != nil {
		return err
	}
	if err := reports.write(result); err != nil {
		return err
	}
	return reports.end(c, cfg, result)
}

// externalFlags are the flags about links to other sites.
type externalFlags struct {
	onlyNew, probe, archive bool
}

// add adds the flags.
func (f *externalFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.onlyNew, "only-new", false, "ask only for links that neither the baseline nor the status cache knows; a 404 or 410 is an error at once")
	flags.BoolVar(&f.probe, "probe", false, "ask for dead and http links with https, and for dead ones with or without slash or www; robots.txt is respected")
	flags.BoolVar(&f.archive, "archive", false, "ask the Internet Archive for copies of dead pages (archive-api in [external])")
	addFlags(cmd, config.TableKeys("external"))
	addFlags(cmd, config.TableKeys("fetch"))
}

// open opens the status cache; it returns nil for a run that asks no other site.
func (f *externalFlags) open(ctx context.Context, c *cli, p *project.Project, progress *progress) (*external.Checker, error) {
	if f == nil {
		return nil, nil
	}
	debug.SetGCPercent(30) // a million URLs stay in memory, and a request allocates little
	return external.Open(ctx, p, external.Options{
		OnlyNew: f.onlyNew, Probe: f.probe, Archive: f.archive, Version: versionNumber(), Getenv: c.env.Getenv, Warn: c.ui.warning, Progress: progress.sites,
	})
}

// closeExternal closes the status cache of a run that ended with err, also when it was
// interrupted: the cache keeps what was learned. It returns the error of the run.
func closeExternal(c *cli, checker *external.Checker, err error) error {
	closeErr := checker.Close()
	switch {
	case closeErr == nil:
		return err
	case err == nil || errors.Is(err, errFindings):
		return closeErr
	}
	c.ui.warning(closeErr.Error())
	return err
}
