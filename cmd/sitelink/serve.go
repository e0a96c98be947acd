package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
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
	listen, store, config, backup string
	allow                         []string
	rateAddress, rateSource       int
	recheck                       time.Duration
	pages, verbose                bool
}

func serveCommand(c *cli) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use: "serve [DIR...]", Short: "receive pingbacks, webmentions and LINK calls",
		Long: serveLong + "\n" + serveExitCodes, Example: serveExample,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := configureServe(c, cmd, &f)
			if err != nil {
				return err
			}
			return runServe(cmd.Context(), c, cfg, args, &f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addOnlyKeyFlags(cmd, "base-url")
	flags.StringVar(&f.listen, "listen", "", "listen on `ADDR`, such as 127.0.0.1:8035 (default: listen in [incoming])")
	flags.StringVar(&f.store, "store", "", "keep mentions in `STORE`: a file or postgres://... (default: store in [incoming])")
	flags.StringArrayVar(&f.allow, "allow-address", nil, "fetch pages from the network `CIDR` although it is not public, at any port; repeatable")
	flags.IntVar(&f.rateAddress, "rate-address", 0, "accept at most `N` notices per minute from one address; 0 means no limit (default: rate-address in [incoming])")
	flags.IntVar(&f.rateSource, "rate-source", 0, "accept at most `N` notices per minute about one other host; 0 means no limit (default: rate-source in [incoming])")
	flags.DurationVar(&f.recheck, "recheck", 0, "look at each source again after `TIME` (default: recheck in [incoming])")
	flags.BoolVar(&f.pages, "pages", false, "also serve the files of the docroots")
	flags.StringVar(&f.backup, "backup", "", "write a copy of the store to `FILE` and exit; the receiver may run meanwhile")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "also log notices that are refused, or known already")
	flags.StringVar(&f.config, "config", "", "read `FILE` instead of searching for sitelink.toml")
	return cmd
}

// configureServe finds out what the user wants; flags come before the table
// [incoming].
func configureServe(c *cli, cmd *cobra.Command, f *serveFlags) (*config.Config, error) {
	cfg, err := c.configure(cmd, nil, f.config)
	if err != nil {
		return nil, err
	}
	if err := cfg.Withheld("incoming"); err != nil {
		return nil, err
	}
	in := &cfg.Incoming
	if f.store != "" {
		if err := nameStore(cfg, f.store); err != nil {
			return nil, err
		}
	}
	if f.listen != "" {
		if in.Listen, err = config.ParseListen(f.listen); err != nil {
			return nil, fault.Usage("--listen: "+err.Error(), "")
		}
	}
	for _, n := range []struct {
		name  string
		value int
		field *int
	}{{"rate-address", f.rateAddress, &in.RateAddress}, {"rate-source", f.rateSource, &in.RateSource}} {
		if !cmd.Flags().Changed(n.name) {
			continue
		}
		if n.value < 0 {
			return nil, fault.Usage(fmt.Sprintf("--%s: must not be negative, but is %d", n.name, n.value), "")
		}
		*n.field = n.value
	}
	if cmd.Flags().Changed("recheck") {
		if f.recheck < time.Minute {
			return nil, fault.Usage(fmt.Sprintf("--recheck: must be at least 1m, but is %v", f.recheck), "")
		}
		in.Recheck = f.recheck
	}
	in.Pages = in.Pages || f.pages
	for _, text := range f.allow {
		network, err := config.ParseNetwork(text)
		if err != nil {
			return nil, fault.Usage("--allow-address: "+err.Error(), "")
		}
		in.AllowAddress = append([]netip.Prefix{network}, in.AllowAddress...)
	}
	return cfg, nil
}

// runServe does the work of `sitelink serve`.
func runServe(ctx context.Context, c *cli, cfg *config.Config, docroots []string, f *serveFlags) error {
	p, err := c.findRoot(ctx, cfg)
	if err != nil {
		return err
	}
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
