package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/report"
	"github.com/sitelink/sitelink/internal/run/live"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/text"
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	format, after string
	all           bool
}

func verifyCommand(c *cli) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use: "verify [URL [DIR]]",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return text.Usage(fmt.Sprintf("verify takes an address and a directory, got %d arguments", len(args)), "sitelink verify https://example.org/ DIR")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if u, err := url.Parse(args[0]); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
					return text.Usage(fmt.Sprintf("%q is not the address of a site", args[0]), "sitelink verify https://example.org/ DIR")
				}
				if err := cmd.Flags().Set("base-url", args[0]); err != nil {
					return err
				}
				args = args[1:]
			}
			cfg, err := c.configure(cmd, args)
			if err != nil {
				return err
			}
			run, err := c.load(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			differ, err := c.verify(cmd.Context(), run.Project, run.Site.Host, f)
			if err == nil && len(differ) > 0 {
				return errFindings
			}
			return err
		},
	}
	addWordFlag(cmd, &f.format, "format", "print the differences as `FORMAT`: text or json", "text", "json")
	cmd.Flags().StringVar(&f.after, "after", "", "ask only for addresses after `ADDRESS`, where an earlier run ended")
	cmd.Flags().BoolVar(&f.all, "all", false, "list all differences, not the first of each group")
	addConfigFlag(cmd)
	addSiteKeyFlags(cmd)
	return cmd
}

// verify asks the host of a site for all its addresses, and prints and returns what differs from
// the predictions.
func (c *cli) verify(ctx context.Context, p *project.Project, h *host.Host, f verifyFlags) ([]live.Group, error) {
	if !h.Published() || h.Rooted() {
		return nil, text.Usage("verify needs one address at which the docroot is published", "sitelink verify https://example.org/")
	}
	base := strings.TrimSuffix(h.BaseURL(), "/") + "/"
	client, err := verifyClient(ctx, base, p.Config.Named("base-url"))
	if err != nil {
		return nil, err
	}
	if err := sameHost(ctx, client, base); err != nil {
		return nil, err
	}
	progress := newProgress(c.ui, p.Config.Progress, time.Now)
	seen, failed := live.Verify(ctx, h, live.Options{Client: client, After: f.after, Progress: func(done, total int) {
		progress.draw(func() string { return fmt.Sprintf("asking for addresses: %s of %s", thousands(done), thousands(total)) })
	}})
	progress.done()
	if len(seen) == 0 {
		return nil, failed
	}
	groups, err := live.Explain(context.WithoutCancel(ctx), h, seen)
	if err != nil {
		return nil, err
	}
	if failed != nil {
		failed = text.WithHint(failed, "go on with sitelink verify --after "+seen[len(seen)-1].Address)
	}
	return groups, cmp.Or(c.print(verified(base, len(seen), groups, f)), failed)
}

// verifyClient returns a client for one host. An address that the user typed need not be public;
// that of a configuration which came with the project must.
func verifyClient(ctx context.Context, base string, typed bool) (*fetch.Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	opt := fetch.Options{UserAgent: notify.UserAgent(versionNumber(), base), Pace: usualPace, DefaultPorts: !typed}
	if !typed {
		return fetch.New(opt), nil
	}
	if opt.Allow, opt.Pace, err = typedHost(ctx, u.Hostname()); err != nil {
		return nil, fmt.Errorf("%s: %w", base, err)
	}
	return fetch.New(opt), nil
}

// sameHost asks for the address of the site. If it leads to another host or scheme, that is the
// address to verify.
func sameHost(ctx context.Context, client *fetch.Client, base string) error {
	resp, err := client.Do(ctx, fetch.Request{URL: base, NoRedirect: true})
	if resp == nil {
		return text.WithHint(err, "is "+base+" the address of the site?")
	}
	from, err1 := url.Parse(base)
	to, err2 := from.Parse(resp.Header.Get("Location"))
	if err := errors.Join(err1, err2); err == nil && (to.Host != from.Host || to.Scheme != from.Scheme) {
		return text.WithHint(fmt.Errorf("%s redirects to %s", base, visible(to.String())), "verify that: sitelink verify "+to.Scheme+"://"+to.Host+from.Path)
	}
	return nil
}

// verified returns the report of a verification.
func verified(base string, asked int, groups []live.Group, f verifyFlags) string {
	n := 0
	for _, g := range groups {
		n += len(g.Differences)
	}
	var b strings.Builder
	if f.format == "json" {
		_ = report.JSONDocument(&b, struct { // texts and numbers, into memory
			Schema int          `json:"schema"`
			URL    string       `json:"url"`
			Asked  int          `json:"asked"`
			Differ int          `json:"differ"`
			Groups []live.Group `json:"groups"`
		}{1, base, asked, n, append([]live.Group{}, groups...)})
		return b.String()
	}
	for _, g := range groups {
		b.WriteString(g.Text + "\n")
		if g.Key != "" {
			b.WriteString("    in sitelink.toml: " + g.Key + "\n")
		}
		shown := g.Differences
		if !f.all {
			shown = shown[:min(len(shown), maxVerified)]
		}
		for _, d := range shown {
			b.WriteString("    " + d.String() + "\n")
		}
		if rest := len(g.Differences) - len(shown); rest > 0 {
			fmt.Fprintf(&b, "    and %s more; --all lists them\n", thousands(rest))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "verified %s of %s: ", text.Count(asked, "address"), visible(base))
	if n == 0 {
		b.WriteString("all as predicted\n")
	} else {
		fmt.Fprintf(&b, "%s answered otherwise\n", thousands(n))
	}
	return b.String()
}

// maxVerified is the number of differences that a group lists.
const maxVerified = 5
