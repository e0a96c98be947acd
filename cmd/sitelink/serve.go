package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/receive"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	backup  string
	verbose bool
}

func serveCommand(c *cli) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve [DIR...]",

		RunE: c.onProject(func(ctx context.Context, p *project.Project, args []string) error {
			if err := p.Config.Withheld("incoming"); err != nil {
				return err
			}
			return runServe(ctx, c, p, args, &f)
		}),
	}
	flags := cmd.Flags()
	addOnlyKeyFlags(cmd, "base-url")
	addFlags(cmd, config.TableKeys("incoming"))
	flags.StringVar(&f.backup, "backup", "", "write a copy of the store to `FILE` and exit; the receiver may run meanwhile")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "also log notices that are refused, or known already")
	addConfigFlag(cmd)
	return cmd
}

// runServe does the work of `sitelink serve`.
func runServe(ctx context.Context, c *cli, p *project.Project, docroots []string, f *serveFlags) error {
	if f.backup != "" {
		if err := receive.Backup(ctx, p, f.backup); err != nil {
			return err
		}
		c.ui.note("the store was copied to " + f.backup)
		return nil
	}
	c.endless.Store(true)
	return receive.Serve(ctx, p, receive.ServeOptions{
		Docroots: docroots, Verbose: f.verbose, Log: c.env.Stderr, Getenv: c.env.Getenv, Env: os.Environ(), Version: versionNumber(), Note: c.ui.note, Warn: c.ui.warning,
	})
}
