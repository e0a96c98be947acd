// Package notify prepares what the commands notify and deploy do: it
// compares a project's site with the ledger, opens the ledger, chooses the
// senders that the configuration names, and writes tombstones. The sending itself
// is in package outgoing/deliver.
package notify

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// Comparison is a site compared with a ledger.
type Comparison struct {
	Site    *site.Site
	Entries *outgoing.Entries
	Plan    *outgoing.Plan
}

// Compare loads the project's site and compares it with a ledger.
func Compare(ctx context.Context, p *project.Project, snap *ledger.Snapshot, load audit.Options) (*Comparison, error) {
	load.Sums, load.BaseURL = true, snap.Base
	run, err := audit.Open(ctx, p, load)
	if err != nil {
		return nil, err
	}
	stage := func(name string) {
		if load.Stage != nil {
			load.Stage(name)
		}
	}
	c := &Comparison{Site: run.Site}
	cache := openEntryCache(p)
	o := p.Config.Outgoing
	what := outgoing.Options{
		Pages: o.Pages, Exclude: o.Exclude, Allow: o.Allow, Deny: o.Deny, Content: o.Content, Rel: o.Rel,
		Updates: outgoing.Updates(o.Updates),
	}
	if slices.Contains(o.Protocols, string(ledger.WebSub)) {
		what.Hubs = send.Hubs
	}
	c.Entries, err = outgoing.Read(ctx, audit.Handle(c.Site), snap, what, cache.Cache)
	if errors.Is(err, outgoing.ErrNoBase) {
		err = text.Usage("notices need the address of the site, which is not known", "name it with --base-url https://example.org/")
	}
	if err != nil {
		return nil, err
	}
	cache.keep()
	stage("entries")
	c.Plan = outgoing.Diff(c.Entries, snap)
	stage("diff")
	return c, nil
}

// CompareForSending is [Compare] for a run that sends: the ledger must belong to
// the site, or the error is a [*ledger.OtherSiteError]. With baseline the plan sends
// nothing, records all current links, makes the ledger that of the site, and withdraws
// the notices that are still open.
func CompareForSending(ctx context.Context, p *project.Project, snap *ledger.Snapshot, baseline bool, load audit.Options) (*Comparison, error) {
	compared := *snap
	compared.New = snap.New || baseline
	c, err := Compare(ctx, p, &compared, load)
	if err != nil {
		return nil, err
	}
	c.Plan.Change.Baseline = baseline
	if err := c.Plan.Change.Accept(snap.Base, c.Plan.Base); err != nil {
		return nil, text.WithHint(err, "is this a preview, or another site? Then do not send, or name another ledger. "+
			"Has the site moved? Then record it at its new address, which the sites learn that were notified: sitelink notify --record --send")
	}
	if baseline {
		// The open notices of the ledger are no longer to be sent.
		for _, n := range snap.Notices {
			if n.Open() {
				n.State, n.Next, n.Message = ledger.Skipped, time.Time{}, "left out by --record"
				c.Plan.Change.Notices = append(c.Plan.Change.Notices, n)
			}
		}
	}
	return c, nil
}

// DueBesides counts the notices of earlier runs that are due now and not part of
// the plan.
func DueBesides(snap *ledger.Snapshot, plan *outgoing.Plan, now time.Time) int {
	planned := map[ledger.Key]bool{}
	if plan != nil {
		for _, n := range plan.Change.Notices {
			planned[n.Key] = true
		}
	}
	due := 0
	for i := range snap.Notices {
		if n := &snap.Notices[i]; n.Open() && !n.Next.After(now) && !planned[n.Key] {
			due++
		}
	}
	return due
}

// Waiting returns in one phrase which open notices are due after now, and when the
// next one is; "" for none. It leaves out those of the results of this run.
func Waiting(snap *ledger.Snapshot, now time.Time, results []deliver.Outcome) string {
	waits, first := 0, ledger.Notice{}
	for _, n := range snap.Notices {
		if !n.Open() || !n.Next.After(now) || slices.ContainsFunc(results, func(r deliver.Outcome) bool { return r.Key == n.Key }) {
			continue
		}
		if waits++; waits == 1 || n.Next.Before(first.Next) {
			first = n
		}
	}
	if waits == 0 {
		return ""
	}
	why := first.Target
	if first.Message != "" {
		why += ": " + first.Message
	}
	return fmt.Sprintf("%s of earlier runs waiting, the next one until %s (%s); sitelink ledger show lists what waits",
		text.Count(waits, "notice"), first.Next.UTC().Format(time.RFC3339), why)
}

// DueReport lists the notices that are due, unchanged, and the failed ones that are
// retried.
func DueReport(snap *ledger.Snapshot, retried []ledger.Notice, now time.Time) *deliver.Report {
	r := &deliver.Report{}
	for _, n := range retried {
		r.Results = append(r.Results, deliver.Outcome{Notice: n})
	}
	for _, n := range snap.Notices {
		if n.Open() && !n.Next.After(now) {
			r.Results = append(r.Results, deliver.Outcome{Notice: n})
		}
	}
	return r
}

// Preview works out how targets would see pages of the site, by requests that
// change nothing: the page at an address, or all pages that link to it.
func Preview(ctx context.Context, p *project.Project, entries *outgoing.Entries, address string, d Delivery) ([]*send.Preview, error) {
	wanted, err := explained(entries, address)
	if err != nil {
		return nil, err
	}
	opt, err := DeliverOptions(ctx, p.Config, d)
	if err != nil {
		return nil, err
	}
	options, err := FetchOptions(p.Config, d.Version, d.Base)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.Abs(p.Docroot))
	if err != nil {
		return nil, fmt.Errorf("open docroot %s: %w", p.Docroot, system.Cause(err))
	}
	defer root.Close()
	previewer := send.Previewer{Client: outgoing.NewClient(options), Senders: opt.Senders}
	var reports []*send.Preview
	for _, e := range wanted {
		built, err := root.ReadFile(e.Page)
		if err != nil {
			return nil, fmt.Errorf("read page: %w", err)
		}
		r, err := previewer.Preview(ctx, e.URL, e.Targets, built)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// explained returns the entries that notify --explain URL is about: the page of
// that address, or all pages that link to it, with that target alone.
func explained(entries *outgoing.Entries, raw string) ([]outgoing.Entry, error) {
	base, err := weburl.Parse(entries.Base)
	if err != nil {
		return nil, err // never: the site was loaded with it
	}
	u, err := base.Resolve(raw)
	if err != nil {
		return nil, text.Usage("--explain: "+err.Error(), "")
	}
	page := strings.TrimSuffix(u.WithoutFragment(), "/")
	var found []outgoing.Entry
	for _, e := range entries.List {
		if strings.TrimSuffix(e.URL, "/") == page {
			return []outgoing.Entry{e}, nil
		}
		if at := slices.IndexFunc(e.Targets, func(target string) bool { return target == raw || target == u.String() }); at >= 0 {
			e.Targets = e.Targets[at : at+1]
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, text.WithHint(fmt.Errorf("%s is neither a page with links to other sites nor the target of one", raw),
			"sitelink notify lists what the site's pages link to; sitelink help notifications says which links count")
	}
	return found, nil
}

// entryCache holds what the pages linked to in the last run, in a file of the
// project that can be deleted at any time.
type entryCache struct {
	*outgoing.Cache
	file string
	was  []byte
}

// openEntryCache reads the cache of the project; a file that cannot be read is an
// empty cache.
func openEntryCache(p *project.Project) *entryCache {
	c := &entryCache{file: filepath.Join(p.Root, system.StateName, "cache", "entries"), Cache: &outgoing.Cache{}}
	var err error
	if c.was, err = system.Read(c.file, 1<<30); err == nil {
		if read, err := outgoing.ReadCache(bufio.NewReader(bytes.NewReader(c.was))); err == nil {
			c.Cache = read
		}
	}
	return c
}

// keep writes the cache if it changed. A failure only makes the next run slower.
func (c *entryCache) keep() {
	var now bytes.Buffer
	if c.Write(&now) != nil || bytes.Equal(now.Bytes(), c.was) {
		return
	}
	if system.MakeState(filepath.Dir(filepath.Dir(c.file))) != nil {
		return
	}
	_ = system.WriteFile(c.file, now.Bytes(), 0)
}
