package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/receive"
)

const serveLong = `serve receives pingbacks, webmentions and the calls of the LINK draft for static sites, verifies them,
and keeps them until the next build. Put it behind your web server, and let your pages advertise it
(sitelink inject).

Each DIR is the docroot of a site, with its --base-url in the same order; serve answers for its pages
and reads it again when a deploy changes it. Without DIR, serve answers for every page below the base
URLs.

It connects only to pages that notices name, and to public addresses at ports 80 and 443 unless
--allow-address says otherwise. Nothing is shown before you approve it: sitelink mentions.
docs/guide/mentions.md has more.
`

const serveExitCodes = `Exit codes:
  0    stopped by a signal, with all answered notices on disk
  2    wrong usage or configuration
  3    the work could not be done
`

const serveExample = `  # one site
  sitelink serve public --base-url https://example.org/

  # two sites, listening on all interfaces
  sitelink serve a/ b/ --base-url https://a.example/ --base-url https://b.example/ --listen :8035

  # back up the store while the receiver runs
  sitelink serve --backup mentions-backup.db`

// serveFlags are the flags of serve.
type serveFlags struct {
	backup  string
	verbose bool
}

func serveCommand(c *cli) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve [DIR...]", Short: "receive pingbacks, webmentions and LINK calls",
		Long: serveLong + "\n" + serveExitCodes, Example: serveExample,
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
