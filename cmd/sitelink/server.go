package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/crawl"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// asksServers reports whether a command takes the address of a running site as DIR.
func asksServers(cmd *cobra.Command) bool {
	return slices.Contains([]string{"check", "external", "links", "explain", "write", "update"}, cmd.Name())
}

// notForServers says why a command cannot work with the address of a running site.
func notForServers(cmd *cobra.Command, address string) error {
	why, hint := "takes one address or files, not both", "sitelink check "+address
	switch cmd.Name() {
	case "watch":
		why, hint = "waits for files to change", "watch the docroot that the server sends, or run sitelink check "+address+" after a change"
	case "fix", "mv":
		why, hint = "edits sources and builds them again", "name the built site: sitelink "+cmd.Name()+" public"
	default:
		if !asksServers(cmd) {
			why, hint = "reads the files of a built site", "name the directory that the server sends; sitelink check "+address+" checks the server itself"
		}
	}
	return text.Usage(fmt.Sprintf("%s is a running site, and sitelink %s %s", address, cmd.Name(), why), hint)
}

// setServer sets the address of a running site in a configuration: the directory of the page that
// is named, and that page.
func setServer(cfg *config.Config, address string) error {
	u, err := weburl.Parse(address)
	switch {
	case err != nil:
		return text.Usage(fmt.Sprintf("%q is not an address: %v", address, err), "sitelink check http://localhost:8080/")
	case u.HasCredentials():
		return text.Usage("the address has a user name or password", "sitelink asks for pages that everybody can read")
	}
	dir := u.Path()
	if last := path.Base(dir); !strings.HasSuffix(dir, "/") && strings.Contains(last, ".") {
		dir = strings.TrimSuffix(dir, last)
	}
	dir = strings.TrimSuffix(dir, "/") + "/"
	cfg.Server, cfg.Start = u.Scheme()+"://"+u.Authority()+dir, "/"
	if len(u.Path()) > len(dir) {
		cfg.Start += u.Path()[len(dir):]
	}
	if u.HasQuery() {
		cfg.Start += "?" + u.Query()
	}
	return nil
}

// askFor lets a crawl also ask for a link of a page. It may find no page that leads there.
func askFor(cfg *config.Config, page, link string) {
	at, err := weburl.Parse(cfg.Server)
	for _, name := range []string{page, link} {
		if err == nil {
			at, err = at.Resolve(name)
		}
	}
	if key, ok := strings.CutPrefix(at.WithoutFragment(), strings.TrimSuffix(cfg.Server, "/")); ok && err == nil {
		cfg.Asked = append(cfg.Asked, key)
	}
}

// usualPace is the time between two requests to the host of the user's own site.
const usualPace = 50 * time.Millisecond

// typedHost returns the addresses of a host that the user typed, which need not be public, and
// the time between two requests: -1, for none, if it is this machine.
func typedHost(ctx context.Context, host string) (allow []netip.Prefix, pace time.Duration, err error) {
	allow, err = fetch.Named(ctx, host)
	pace = -1
	if slices.ContainsFunc(allow, func(a netip.Prefix) bool { return !a.Addr().IsLoopback() }) {
		pace = usualPace
	}
	if err != nil {
		err = text.WithHint(err, "is the name of the host right?")
	}
	return allow, pace, err
}

// crawl returns how the server of a project is asked.
func (c *cli) crawl(progress *progress) func(ctx context.Context, p *project.Project, opt site.Options) (*host.Crawled, error) {
	return func(ctx context.Context, p *project.Project, opt site.Options) (*host.Crawled, error) {
		u, err := weburl.Parse(p.Server)
		if err != nil {
			return nil, err
		}
		allow, pace, err := typedHost(ctx, strings.Trim(u.Host(), "[]"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Server, err)
		}
		o := crawl.Options{Pace: max(pace, 0), Site: opt, MaxPages: p.Config.Limit}
		if p.Config.Docroot != "" || p.Generator != nil {
			o.Docroot = p.Abs(p.Docroot)
		}
		o.Client = fetch.New(fetch.Options{UserAgent: notify.UserAgent(versionNumber(), p.Server), Allow: allow, Pooled: true})
		if o.Follows, o.Seeds, err = check.Follows(p.Config.From, p.Config.Skip); err != nil {
			return nil, err
		}
		o.Seeds = append(o.Seeds, p.Config.Asked...)
		o.Progress = func(done, known int) {
			progress.draw(func() string { return fmt.Sprintf("asking %s: %s of %s", p.Server, thousands(done), thousands(known)) })
		}
		texts, err := os.CreateTemp("", "sitelink-") // one file: a file system spends long on thousands that it deletes
		if err != nil {
			return nil, fmt.Errorf("keep the pages of %s: %w", p.Server, system.Cause(err))
		}
		unlinked := os.Remove(texts.Name()) == nil // nothing stays when the process is killed; not so on Windows
		c.atEnd = append(c.atEnd, func() {
			texts.Close()
			if !unlinked {
				os.Remove(texts.Name())
			}
		})
		return crawl.Run(ctx, p.Config.Start, texts, o)
	}
}
