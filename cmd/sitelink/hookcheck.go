package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
)

// silent is the command without its notes: a hook has 15 lines.
func (c *cli) silent() *cli {
	quiet := *c
	quiet.env.Stderr = io.Discard
	quiet.ui = newUI(quiet.env)
	return &quiet
}

// commitChecker is `sitelink check` for [githook.Push]: by the configuration of the
// commit, which says what its authors accept.
func commitChecker(c *cli, cmd *cobra.Command, p *githook.Push) func(ctx context.Context, dir, docroot string) (githook.Report, error) {
	return func(ctx context.Context, dir, docroot string) (checked githook.Report, err error) {
		quiet := c.silent()
		err = inDirectory(dir, func() error {
			cfg, err := quiet.configure(cmd, nil, "")
			if err != nil {
				return err
			}
			opt := project.Options{Config: cfg, Env: os.Environ(), Docroot: docroot, BuiltElsewhere: filepath.IsAbs(docroot)}
			here, err := workingDir()
			if err != nil {
				return err
			}
			site, err := project.Find(ctx, here, opt)
			if err != nil {
				return err
			}
			if docroot == "" {
				checked.Docroot = filepath.ToSlash(filepath.Join(p.Site, site.Docroot))
			}
			if err := site.CheckDocroot(); err != nil {
				hint := "set build in [hook] of sitelink.toml, or docroot to a directory that is committed"
				if p.Build != "" {
					hint = "the build command wrote neither there nor to $" + githook.OutVariable
				}
				return fault.New(err, hint)
			}
			run, err := quiet.open(ctx, site, audit.Options{Baseline: true, Sources: true, Today: c.today})
			if err != nil {
				return err
			}
			if err := check.Deployable(&check.Summary{Docroot: run.Site.Root(), ServerPages: run.Site.ServerPages()}); err != nil {
				return fault.New(err, "commit what the generator builds, or keep the docroot out of the commit and let the hook build it")
			}
			result, err := run.Check(ctx)
			if err != nil {
				return err
			}
			checked.ValidToday = run.Baseline != nil
			checked.Findings = failing(cfg, result)
			return nil
		})
		return checked, err
	}
}

// failing returns the findings that fail a run.
func failing(cfg *config.Config, r *check.Result) []check.Finding {
	if !audit.Fails(cfg.FailOn, r) {
		return nil
	}
	return slices.DeleteFunc(r.Findings, func(f check.Finding) bool {
		return cfg.FailOn != "warning" && f.Verdict != check.Error
	})
}

// maxPushFindings is how many findings a blocked push shows.
const maxPushFindings = 10

// reportPush says what was found: a line for a push that passes, at most 15
// for one that does not.
func reportPush(c *cli, all []githook.TreeResult) error {
	bad := slices.DeleteFunc(slices.Clone(all), func(v githook.TreeResult) bool { return len(v.Findings) == 0 })
	if len(bad) == 0 {
		if len(all) > 0 {
			c.ui.line(passed(all))
		}
		return nil
	}
	const mostTrees = 3
	left, hidden := maxPushFindings-(min(len(bad), mostTrees)-1), 0
	suggest := pushLines(bad) <= left
	for i, v := range bad {
		if i >= mostTrees {
			hidden += len(v.Findings)
			continue
		}
		c.ui.line(headline(v))
		var text []byte
		shown := min(left, len(v.Findings))
		for j := range v.Findings[:shown] {
			text = appendPushed(text, &v.Findings[j], v.Docroot, suggest)
		}
		left, hidden = left-shown, hidden+len(v.Findings)-shown
		// Not to standard output, which is that of git push --porcelain.
		if _, err := c.env.Stderr.Write(text); err != nil {
			break // the push is blocked, whether somebody reads why or not
		}
	}
	if hidden > 0 {
		c.ui.line("and " + count(hidden, "more finding") + "; sitelink check shows all of a build")
	}
	c.ui.line("hint: " + bypass)
	return errFindings
}

// pushLines counts the lines of all findings with what was probably meant.
func pushLines(bad []githook.TreeResult) (n int) {
	for _, v := range bad {
		n += len(v.Findings)
		for i := range v.Findings {
			if v.Findings[i].Suggestion != "" {
				n++
			}
		}
	}
	return n
}

// appendPushed appends the line of a finding and, where there is room, the one
// that says what was probably meant.
func appendPushed(text []byte, f *check.Finding, docroot string, suggest bool) []byte {
	first := true
	for line := range strings.Lines(string(report.AppendText(nil, f, report.TextOptions{Prefix: docroot}))) {
		if first || suggest && strings.HasPrefix(line, "    did you mean ") {
			text = append(text, line...)
		}
		first = false
	}
	return text
}

// headline names a tree that does not pass.
func headline(v githook.TreeResult) string {
	what := "finding"
	if v.OldFindings > 0 {
		what = "new finding"
	}
	text := count(len(v.Findings), what) + " in what is pushed to " + refNames(v.Refs)
	if v.OldFindings > 0 {
		text += ", beside " + count(v.OldFindings, "old one")
	}
	return text
}

// passed is the line for a push that passes.
func passed(all []githook.TreeResult) string {
	var refs []string
	old, remembered := 0, true
	for _, v := range all {
		refs, old, remembered = append(refs, v.Refs...), old+v.OldFindings, remembered && v.Origin == githook.FromCache
	}
	text := refNames(refs) + ": "
	switch {
	case remembered:
		return text + "passed before"
	case old > 0:
		return text + "no new finding, " + count(old, "old one")
	}
	return text + "links are fine"
}

// refNames lists refs as a user knows them, the first few of many.
func refNames(refs []string) string {
	const most = 3
	var names []string
	for _, r := range refs[:min(len(refs), most)] {
		names = append(names, strings.TrimPrefix(r, "refs/heads/"))
	}
	text := strings.Join(names, ", ")
	if len(refs) > most {
		text += " and " + count(len(refs)-most, "other")
	}
	return text
}
