package receive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
	"github.com/sitelink/sitelink/site"
)

// calls tells pages of other sites that link to us when one of our pages moves,
// disappears or changes: UNLINKR and LINKMOD, to hosts that opted in.
type calls struct {
	file   string // of the book
	caller Caller
	store  incoming.Store
	sites  *incoming.Sites
	log    *slog.Logger
	warn   func(string)

	// takes reports whether a call to a URL would be sent, and most how many first
	// attempts are made without asking; 0 means no limit.
	takes func(url string) bool
	most  int
	// held is the number of calls that wait because they are more than most.
	held int

	book *Book
	// seen are the sites of the last deploy.
	seen []*incoming.Manifest
	// failing is set while the store fails, which is reported once.
	failing bool
}

// callsEnding is the end of the name of the file that holds the calls to send. The
// file is beside the store, or in the project's state directory if the store is a
// database elsewhere.
const callsEnding = ".calls.json"

// newCalls returns nil if no host opted in, which is the default (LK-61).
func newCalls(ctx context.Context, p *project.Project, opt *ServeOptions, r *parts) (*calls, error) {
	p.Config.Callable = p.Config.Incoming.AllowAddress // whose pages are fetched may be called
	sender, err := notify.LinkSender(ctx, p.Config, opt.Version, r.sources.all[0].base)
	if err != nil || sender == nil {
		return nil, err
	}
	c := &calls{
		caller: sender, takes: sender.MayCall, most: p.Config.Outgoing.MaxNotices, file: callsFile(p), store: r.store, sites: r.sites, log: r.log, warn: opt.Warn,
	}
	if !notify.IsFile(StoreName(p)) {
		if err := system.CheckState(p.Root, p.Root); err != nil {
			return nil, err
		}
		if err := system.MakeState(filepath.Dir(c.file)); err != nil {
			return nil, err
		}
	}
	c.book, err = ReadBook(c.file)
	return c, err
}

// callsFile returns the name of the book.
func callsFile(p *project.Project) string {
	if name := StoreName(p); notify.IsFile(name) {
		return p.Abs(name) + callsEnding
	}
	return filepath.Join(p.Root, system.StateName, "mentions.db"+callsEnding)
}

// PlannedCalls returns the calls that a receiver which uses this store would make
// after a deploy of s: the list before the first one is sent. There are none if no
// host opted in, or if there is no store here.
func PlannedCalls(ctx context.Context, p *project.Project, s *site.Site, version string) (planned []send.LinkCall, err error) {
	sender, err := notify.LinkSender(ctx, p.Config, version, s.BaseURL())
	if err != nil || sender == nil || s.BaseURL() == "" || !HasStore(p) {
		return nil, err
	}
	book, err := ReadBook(callsFile(p))
	if err != nil {
		return nil, err
	}
	m, err := incoming.ReadManifest(ctx, s, incoming.ManifestOptions{Closed: p.Config.Incoming.Closed})
	if err != nil {
		return nil, err
	}
	sites := &incoming.Sites{}
	sites.Set(m)
	store, err := OpenStore(ctx, p, StoreOptions{MustExist: true, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	planned, err = book.Plan(ctx, store, sites)
	planned = slices.DeleteFunc(planned, func(c send.LinkCall) bool { return !sender.MayCall(c.Receiver()) })
	return planned, errors.Join(err, store.Close())
}

const (
	// deployInterval is how often the sites are compared with those of the last
	// deploy, which costs nothing while they are the same.
	deployInterval = time.Second
	// sendInterval is how often calls that failed are looked at.
	sendInterval = time.Minute
)

// run follows the deploys and sends the calls, until ctx is done.
func (c *calls) run(ctx context.Context) error {
	var sent time.Time
	for {
		if deployed := c.deployed(ctx); deployed || time.Since(sent) >= sendInterval {
			c.send(ctx)
			sent = time.Now()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(deployInterval):
		}
	}
}

// deployed reports whether the sites changed, and adds the calls that follow to the
// book.
func (c *calls) deployed(ctx context.Context) bool {
	now := c.sites.All()
	if slices.Equal(now, c.seen) {
		return false
	}
	var before *incoming.Sites // at the start, the book knows more
	if c.seen != nil {
		before = &incoming.Sites{}
		before.Set(c.seen...)
	}
	queued := len(c.book.Queue)
	if err := c.book.Deploy(ctx, c.store, before, c.sites); err != nil {
		if ctx.Err() == nil && !c.failing {
			c.failing = true
			c.warn(fmt.Sprintf("the pages that link to changed pages could not be found, and are looked for again: %v", err))
		}
		return false
	}
	c.seen, c.failing = now, false
	if n := len(c.book.Queue) - queued; n > 0 {
		c.log.Info("pages of other sites link to pages that moved or changed", "calls", n)
	}
	c.write()
	return true
}

// send sends what is due.
func (c *calls) send(ctx context.Context) {
	if len(c.book.Queue) == 0 || c.tooMany() {
		return
	}
	sent, _ := c.book.Send(ctx, c.caller, time.Now()) // the error is that ctx is done
	for _, s := range sent {
		level := slog.LevelInfo
		if s.State == ledger.Permanent {
			level = slog.LevelWarn
		}
		c.log.Log(ctx, level, "call", "method", s.Call.Method, "source", s.Call.Source, "target", s.Call.Target,
			"replacement", s.Call.Replacement, "outcome", s.State, "message", cmp.Or(s.Message, "done"))
		if s.State == ledger.Skipped {
			c.warn(fmt.Sprintf("%s was not sent for %s: %s; if you trust that host, name its network with --allow-address", s.Call.Method, s.Call.Receiver(), s.Message))
		}
	}
	if len(sent) > 0 {
		c.write()
	}
}

// tooMany reports whether a deploy caused more calls than are sent without asking
// (LK-52), and says so once.
func (c *calls) tooMany() bool {
	waiting := 0
	for _, e := range c.book.Queue {
		if e.Attempts == 0 && c.takes(e.Call.Receiver()) {
			waiting++
		}
	}
	if c.most == 0 || waiting <= c.most {
		c.held = 0
		return false
	}
	if waiting != c.held {
		c.held = waiting
		c.warn(fmt.Sprintf("%d calls about moved, deleted or changed pages are due, more than max-notices, %d: none is sent. "+
			"sitelink notify --dry-run lists them; to send them, set max-notices in [outgoing] to %d and start sitelink serve again", waiting, c.most, waiting))
	}
	return true
}

func (c *calls) write() {
	if err := c.book.Write(c.file); err != nil {
		c.warn(err.Error())
	}
}
