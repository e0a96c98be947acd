package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/build"
	"github.com/sitelink/sitelink/internal/run/commits"
	"github.com/sitelink/sitelink/internal/run/external"
	"github.com/sitelink/sitelink/internal/run/fix"
	"github.com/sitelink/sitelink/internal/run/receive"
	"github.com/sitelink/sitelink/internal/text"
)

// fixFlags are the flags of sitelink fix.
type fixFlags struct {
	write, likely, tidy, interactive, check, undo, verbose bool
	only                                                   []string
}

func fixCommand(c *cli) *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:  "fix [DIR]",
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(); err != nil {
				return err
			}
			cfg, err := c.configure(cmd, args)
			if err != nil {
				return err
			}
			named := len(args) > 0 || cmd.Flags().Changed("docroot")
			return runFix(cmd.Context(), c, cfg, f, named)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.write, "write", false, "change the files, and prove it with a build")
	flags.BoolVar(&f.likely, "likely", false, "include changes that are probably right")
	flags.BoolVar(&f.tidy, "tidy", false, "include links that work: by a redirect of the host, or under another address of the site")
	flags.BoolVar(&f.interactive, "interactive", false, "ask about each change, and make those that you accept")
	flags.StringSliceVar(&f.only, "only", nil, "apply `RULE`s or codes of findings only; repeatable, or separated by commas")
	flags.BoolVar(&f.check, "check", false, "list the changes, one per line, and exit with 1 if there are any")
	flags.BoolVar(&f.undo, "undo", false, "restore the files that the last fix or mv changed")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "list every link that stays as it is, with the reason, and show the output of the generator")
	addKeyFlags(cmd, "fail-on", "format", "group-by", "all", "show", "output", "color", "verbose", "gone", "log", "anchors")
	flags.Lookup("since").Usage = "find renamed headings, moved pages and addresses that are gone in comparison with WHAT: a commit, the directory of an older build, or a record that deploy wrote"
	addConfigFlag(cmd)
	return cmd
}

// validate refuses flags that contradict each other, and unknown rules.
func (f *fixFlags) validate() error {
	for _, other := range []struct {
		flag string
		set  bool
	}{{"--write", f.write}, {"--interactive", f.interactive}, {"--undo", f.undo}} {
		if f.check && other.set {
			return text.Usage("--check changes nothing, "+other.flag+" does", "remove one of them")
		}
	}
	for _, name := range f.only {
		if !slices.Contains(fix.Rules, check.RepairRule(name)) && !slices.Contains(report.Codes(), name) {
			var rules []string
			for _, r := range fix.Rules {
				rules = append(rules, string(r))
			}
			return text.Usage(fmt.Sprintf("--only: no rule or code is named %q", name), "the rules are "+strings.Join(rules, ", "))
		}
	}
	return nil
}

// fixer does the work of `sitelink fix`.
type fixer struct {
	c     *cli
	flags fixFlags
	cfg   *config.Config
	built *build.Build // nil if the user named a docroot, or nothing builds the site
	since *audit.Since // what the site answered before; nil if nothing says so
	first *check.Result
	text  report.TextOptions // how the user names files
}

// line says what an edit changes.
func (x *fixer) line(e *fix.Edit) string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", visible(x.text.Source(e.File)), e.Line, e.Column, e.Rule, visible(e.Change()))
}

func runFix(ctx context.Context, c *cli, cfg *config.Config, f fixFlags, named bool) error {
	if f.undo {
		p, err := c.findRoot(ctx, cfg)
		if err != nil {
			return err
		}
		u, err := fix.Undo(ctx, p.Root, os.Environ())
		if err != nil {
			return err
		}
		for _, name := range u.Files {
			opt := textOptions(p)
			fmt.Fprintln(c.env.Stdout, visible(opt.Source(name)))
		}
		c.ui.note(fmt.Sprintf("restored %s that %q had changed", text.Count(len(u.Files), "file"), u.Command))
		return u.Err()
	}
	x := &fixer{c: c, flags: f, cfg: cfg}
	p, err := x.project(ctx, named)
	if err != nil {
		return err
	}
	x.text = textOptions(p)
	if x.built != nil {
		defer x.built.Close()
	}
	if record, err := commits.Record(ctx, p, c.commitOptions()); err != nil {
		return err
	} else if record != nil {
		x.since = &audit.Since{Record: record}
	}
	a, first, err := x.check(ctx, p)
	if err != nil {
		return err
	}
	x.first = first
	opt := fix.Options{Likely: f.likely, Tidy: f.tidy, Only: f.only, Env: os.Environ()}
	if opt.Replacements, err = x.c.replacements(ctx, p); err != nil {
		return err
	}
	plan, err := fix.Make(ctx, a, x.first, opt)
	if err != nil {
		return err
	}
	for _, name := range plan.Stale(p.Abs(p.Docroot)) {
		if a.HasSources() {
			plan.Without(name, "the file changed after "+p.Docroot+" was built: build the site again")
		}
	}
	left := len(plan.Edits)
	switch {
	case f.interactive:
		if left, err = x.choose(ctx, plan); err != nil {
			return err
		}
		fallthrough
	case f.write:
		return x.apply(ctx, plan, a, left)
	case f.check:
		for i := range plan.Edits {
			e := &plan.Edits[i]
			fmt.Fprintln(c.env.Stdout, x.line(e))
		}
	default:
		set, err := plan.Set(os.Environ())
		if err != nil {
			return err
		}
		if err := set.Diff(c.env.Stdout); err != nil {
			return err
		}
	}
	x.summary(plan)
	x.announce(plan)
	if left > 0 {
		return errFindings
	}
	return nil
}

// project returns the project with the docroot to read, which is built if the user
// names none and a generator is known.
func (x *fixer) project(ctx context.Context, named bool) (*project.Project, error) {
	p, err := x.c.findRoot(ctx, x.cfg)
	if err != nil {
		return nil, err
	}
	if p.Generator != nil && p.Generator.Builds() {
		if named { // the project of the docroot, which may be elsewhere
			x.built, err = lockedBuild(ctx, x.c, p, false, nil)
		} else {
			x.built, err = openBuild(ctx, x.c, x.cfg, false, nil)
		}
		if err != nil {
			return nil, err
		}
		if !named {
			if p, _, err = x.build(ctx); err != nil {
				x.built.Close()
				return nil, err
			}
		}
	}
	if err := p.CheckDocroot(); err != nil {
		if x.built != nil {
			x.built.Close()
		}
		return nil, err
	}
	x.c.printNotes(p)
	return p, nil
}

// check loads and checks the site, and compares it with what it answered before.
func (x *fixer) check(ctx context.Context, p *project.Project) (*audit.Audit, *check.Result, error) {
	return x.c.check(ctx, p, func(opt *audit.Options) { opt.Baseline, opt.Since = true, x.since })
}

// replacements returns the pages of other sites that have another address now: those
// that the receiver proved, and those of the status cache.
func (c *cli) replacements(ctx context.Context, p *project.Project) (all []fix.Replacement, err error) {
	changes, err := receive.Changes(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		r := fix.Replacement{Rule: fix.Reported, Page: change.Page, Old: change.Old, New: change.New, Likely: !change.Decided}
		if r.New == "" {
			if change.Action == incoming.LinkMod {
				continue // the page has changed, and its address stays
			}
			r.Why = "its site reported that the page is gone"
		}
		all = append(all, r)
	}
	records, err := external.Records(ctx, p, c.ui.warning)
	for i := range records {
		r := &records[i]
		if to := external.Suggestion(r); to != "" {
			rule := fix.Remote
			if to == r.Copy {
				rule = fix.Archived
			}
			all = append(all, fix.Replacement{Rule: rule, Old: r.URL, New: to, Likely: true})
		}
	}
	return all, err
}

// again builds the site again and checks it.
func (x *fixer) again(ctx context.Context) (*audit.Audit, *check.Result, string, error) {
	p, output, err := x.build(ctx)
	if err != nil {
		return nil, nil, output, err
	}
	a, r, err := x.check(ctx, p)
	return a, r, output, err
}

// build builds the site. It shows what the generator prints if the build fails:
// sitelink check --build is the command that shows its warnings.
func (x *fixer) build(ctx context.Context) (p *project.Project, output string, err error) {
	var buffer bytes.Buffer
	to := io.Writer(&buffer)
	if x.flags.verbose {
		to = io.MultiWriter(to, x.c.env.Stderr)
	}
	p, err = x.built.Run(ctx, to)
	if err != nil && !x.flags.verbose && ctx.Err() == nil {
		x.c.env.Stderr.Write(buffer.Bytes())
	}
	return p, buffer.String(), err
}

// reload checks the docroot again, where the pages themselves were changed.
func (x *fixer) reload(p *project.Project) func(ctx context.Context) (*audit.Audit, *check.Result, string, error) {
	return func(ctx context.Context) (*audit.Audit, *check.Result, string, error) {
		p, err := p.WithDocroot(ctx, p.Docroot) // it may have a new rule file
		if err != nil {
			return nil, nil, "", err
		}
		a, r, err := x.check(ctx, p)
		return a, r, "", err
	}
}

// choose asks about each edit and keeps the accepted ones. It returns how many there
// were.
func (x *fixer) choose(ctx context.Context, plan *fix.Plan) (all int, err error) {
	ask := newAsker(x.c)
	var kept []fix.Edit
	for i := range plan.Edits {
		e := &plan.Edits[i]
		ok, err := ask(ctx, x.line(e))
		if errors.Is(err, errNoAnswer) {
			return 0, text.WithHint(errNoAnswer, "nothing was written; sitelink fix --write makes all changes without asking")
		}
		if err != nil {
			return 0, err
		}
		if ok {
			kept = append(kept, *e)
		}
	}
	all, plan.Edits = len(plan.Edits), kept
	return all, nil
}

// apply changes the files. wanted is the number of edits before the user chose.
func (x *fixer) apply(ctx context.Context, plan *fix.Plan, a *audit.Audit, wanted int) error {
	proof := fix.Proof{Site: a, Before: x.first}
	switch {
	case x.built != nil:
		proof.Again = x.again
	case !a.HasSources():
		proof.Again = x.reload(a.Project)
	}
	command := "sitelink fix --write"
	if x.flags.interactive {
		command = "sitelink fix --interactive"
	}
	r, err := plan.Apply(ctx, os.Environ(), command, proof)
	if r == nil {
		return err
	}
	for i := range r.Applied {
		fmt.Fprintln(x.c.env.Stdout, x.line(&r.Applied[i]))
	}
	// These files have their old text again: one line says so for each reason.
	names := map[string][]string{} // by reason
	var reasons []string
	for _, name := range slices.Sorted(maps.Keys(r.Back)) {
		why := r.Back[name]
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], x.text.Source(name))
	}
	for _, why := range reasons {
		all := names[why]
		if len(all) == 1 {
			x.c.ui.warning(fmt.Sprintf("%s: its changes are taken back: %s", all[0], why))
			continue
		}
		shown := len(all)
		if !x.flags.verbose {
			shown = min(shown, shownSkips)
		}
		x.c.ui.warning(fmt.Sprintf("the changes of %s are taken back: %s", text.Count(len(all), "file"), why))
		x.c.ui.line("  " + strings.Join(firstNames(all, shown), ", "))
	}
	for i, f := range r.New {
		if i == shownSkips {
			x.c.ui.warning(fmt.Sprintf("and %s", text.Count(len(r.New)-i, "more new finding")))
			break
		}
		x.c.ui.warning(fmt.Sprintf("%s has a new finding, which no change explains: %s", f.Page, f.Message))
	}
	if err != nil {
		if ctx.Err() != nil && len(r.Applied) > 0 {
			x.c.ui.note("interrupted before the proof; to restore the files: sitelink fix --undo")
		}
		return err
	}
	x.summary(plan)
	switch {
	case len(r.Applied) == 0:
	case r.Proved:
		older := ""
		if p := a.Project; x.built != nil && p.Generator != nil { // the proof was a build elsewhere
			if _, err := os.Stat(p.Generator.Docroot); err == nil {
				older = fmt.Sprintf("; %s is older: build it with %s", visible(p.Show(p.Generator.Docroot)), p.BuildCommand(p.Generator.Docroot))
			}
		}
		x.c.ui.note(fmt.Sprintf("%s in %s; %s gone, %s new%s", text.Count(len(r.Applied), "change"), text.Count(files(r.Applied), "file"), text.Count(r.Fixed, "finding"), text.Thousands(len(r.New)), older))
	default:
		x.c.ui.note(fmt.Sprintf("%s in %s; build the site and run sitelink check to prove them", text.Count(len(r.Applied), "change"), text.Count(files(r.Applied), "file")))
	}
	if len(r.Applied) < wanted || len(r.New) > 0 {
		return errFindings
	}
	return nil
}

// files returns how many files edits are in.
func files(edits []fix.Edit) int {
	names := map[string]bool{}
	for i := range edits {
		names[edits[i].File] = true
	}
	return len(names)
}

// shownSkips is how many reasons are listed without --verbose, and how many new
// findings.
const shownSkips = 10

// summary says what stays as it is, and why: one line for each reason, with the first
// place.
func (x *fixer) summary(plan *fix.Plan) {
	if x.flags.verbose {
		for i := range plan.Skips {
			x.c.ui.note(x.skipLine(&plan.Skips[i]))
		}
	} else {
		x.reasons(plan.Reasons())
	}
	if plan.Tidy > 0 {
		x.c.ui.note(fmt.Sprintf("%s with --tidy, for addresses that work by a redirect or under another name of the site", text.Count(plan.Tidy, "more link")))
	}
	if plan.Likely > 0 {
		x.c.ui.note(fmt.Sprintf("%s with --likely", text.Count(plan.Likely, "more change")))
	}
	if len(plan.Edits) == 0 {
		x.c.ui.note("nothing to fix")
	}
}

// reasons lists why links stay as they are, without each of them.
func (x *fixer) reasons(groups []fix.SkipGroup) {
	hidden := false
	for i := range groups {
		g := &groups[i]
		if i == shownSkips && len(groups) > shownSkips+1 {
			links := 0
			for k := range groups[i:] {
				links += groups[i+k].Links
			}
			x.c.ui.note(fmt.Sprintf("%s stay as they are for %s", text.Count(links, "more link"), text.Count(len(groups)-i, "other reason")))
			hidden = true
			break
		}
		if g.Links == 1 {
			x.c.ui.note(x.skipLine(&g.Skip))
			continue
		}
		what := "link"
		if g.Rule == fix.KeepAddress {
			what = "address"
		}
		x.c.ui.note(fmt.Sprintf("%s stay as they are: %s [%s], first %s:%d:%d: %s", text.Count(g.Links, what), g.Reason, g.Name(), x.text.Source(g.File), g.Line, g.Column, g.Value))
		hidden = true
	}
	if hidden {
		x.c.ui.note("--verbose lists all links that stay as they are")
	}
}

// skipLine says where a link is that stays as it is, and why.
func (x *fixer) skipLine(s *fix.Skip) string {
	return fmt.Sprintf("%s:%d:%d: %s stays as it is: %s [%s]", x.text.Source(s.File), s.Line, s.Column, s.Value, s.Why, s.Name())
}

// announce says how many changes there are, by rule, and how to make them.
func (x *fixer) announce(plan *fix.Plan) {
	if len(plan.Edits) == 0 {
		return
	}
	number := map[check.RepairRule]int{}
	for i := range plan.Edits {
		number[plan.Edits[i].Rule]++
	}
	var rules []string
	for _, rule := range slices.SortedFunc(maps.Keys(number), func(a, b check.RepairRule) int {
		return cmp.Or(cmp.Compare(number[b], number[a]), cmp.Compare(a, b))
	}) {
		rules = append(rules, text.Thousands(number[rule])+" "+string(rule))
	}
	them := "them"
	if len(plan.Edits) == 1 {
		them = "it"
	}
	x.c.ui.note(fmt.Sprintf("%s in %s (%s); --write makes %s", text.Count(len(plan.Edits), "change"), text.Count(files(plan.Edits), "file"), strings.Join(rules, ", "), them))
}
