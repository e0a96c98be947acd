package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/setup"
)

func doctorCommand(c *cli) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:               "doctor",
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDoctor(cmd.Context(), c, format == "json", func() (*config.Config, error) { return c.configure(cmd, nil) })
		},
	}
	addWordFlag(cmd, &format, "format", "print the output as `FORMAT`: text or json", "text", "json")
	return cmd
}

// newDoctor looks at the project of the working directory. cfg is nil if the
// configuration has the fault wrong.
func newDoctor(ctx context.Context, c *cli, cfg *config.Config, wrong error) (*setup.Doctor, error) {
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	survey, err := setup.Look(ctx, dir, setup.Options{Env: os.Environ(), Untrusted: true, Version: versionNumber()})
	if err != nil {
		return nil, err
	}
	d := &setup.Doctor{Survey: survey, ConfigErr: wrong, Env: os.Environ(), Getenv: c.env.Getenv}
	if wrong == nil {
		d.Project, err = project.Find(ctx, dir, project.Options{Config: cfg, Env: os.Environ(), Markdown: true})
	}
	return d, err
}

// runDoctor examines the project and prints the diagnoses. It returns [errFindings]
// if something is wrong.
func runDoctor(ctx context.Context, c *cli, asJSON bool, configure func() (*config.Config, error)) error {
	cfg, wrong := configure()
	d, err := newDoctor(ctx, c, cfg, wrong)
	if err != nil {
		return err
	}
	all := d.Examine(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	bad := 0
	for i := range all {
		one := &all[i]
		one.Text, one.Command = c.ui.commands(one.Text), c.ui.commands(one.Command)
		if one.State == setup.Wrong {
			bad++
		}
	}
	text := doctorText(all)
	if asJSON {
		var out strings.Builder
		err := report.JSONDocument(&out, struct {
			Schema int               `json:"schema"`
			Wrong  int               `json:"wrong"`
			Checks []setup.Diagnosis `json:"checks"`
		}{1, bad, all})
		if err != nil {
			return err
		}
		text = out.String()
	}
	if err := c.print(text); err != nil {
		return err
	}
	if bad > 0 {
		return errFindings
	}
	return nil
}

// doctorText formats one line for each diagnosis.
func doctorText(all []setup.Diagnosis) string {
	wide := 0
	for _, one := range all {
		wide = max(wide, len(one.Name))
	}
	var b strings.Builder
	for _, one := range all {
		fmt.Fprintf(&b, "%-5s  %-*s  %s", one.State, wide, one.Name, visible(one.Text))
		if one.Command != "" {
			b.WriteString(" -> " + visible(one.Command))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
