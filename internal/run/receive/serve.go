package receive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/site"
)

// ServeOptions configure [Serve].
type ServeOptions struct {
	// Docroots are the sites, as a user in the project's directory wrote them. Each
	// has the base URL at the same place; a single one has all of them.
	Docroots []string
	// Version is the version of sitelink.
	Version string
	// Verbose also logs notices that were not recorded.
	Verbose bool
	// Log takes the log, Note and Warn lines for the user.
	Log        io.Writer
	Note, Warn func(text string)
	// Getenv returns the variables that systemd sets.
	Getenv func(string) string
	// Env is the environment of the generator's programs.
	Env []string
}

// Serve runs the receiver until ctx is done.
func Serve(ctx context.Context, p *project.Project, opt ServeOptions) error {
	sources, err := sourcesOf(ctx, p, &opt)
	if err != nil {
		return err
	}
	// Watched before they are read: a deploy meanwhile is a change.
	if err := sources.watch(); err != nil {
		return err
	}
	defer sources.close()
	sites := &incoming.Sites{}
	if err := sources.load(ctx, sites); err != nil {
		return err
	}
	listeners, err := listen(ctx, p.Config.Incoming.Listen, opt.Getenv)
	if err != nil {
		return err
	}
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	var operations net.Listener
	if address := p.Config.Incoming.Operations; address != "" {
		if operations, err = listenAt(ctx, address, "operations in [incoming]"); err != nil {
			return err
		}
		defer operations.Close()
	}
	level := slog.LevelInfo
	if opt.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(opt.Log, &slog.HandlerOptions{Level: level}))
	store, err := OpenStore(ctx, p, StoreOptions{Serve: true, Log: log})
	if err != nil {
		return err
	}
	err = serve(ctx, p, &opt, &parts{sources: sources, sites: sites, store: store, log: log, listeners: listeners, operations: operations})
	return errors.Join(err, store.Close())
}

// parts are the parts of a running receiver.
type parts struct {
	sources   *sources
	sites     *incoming.Sites
	store     incoming.Store
	log       *slog.Logger
	listeners []net.Listener
	// operations is the listener of /healthz and /metrics, nil if they have none of
	// their own.
	operations net.Listener
}

// serve joins the parts and runs them.
func serve(ctx context.Context, p *project.Project, opt *ServeOptions, r *parts) error {
	in := &p.Config.Incoming
	people, err := people(p, opt, r)
	if err != nil {
		return err
	}
	if err := people.readRules(ctx); err != nil {
		return err
	}
	var s *server.Server // uses the receiver, which reports to it
	receiver := incoming.NewReceiver(incoming.ReceiverOptions{
		Store: r.store, Sites: r.sites, Client: verify.NewClient(verify.Options{AllowAddresses: in.AllowAddress}),
		RateAddress: in.RateAddress, RateSource: in.RateSource, Recheck: in.Recheck, LinkMod: true, LinkOnly: in.LinkOnly, Log: r.log,
		Observe: func(state incoming.State, took time.Duration) { s.ObserveVerification(state, took) },
	})
	calls, err := newCalls(ctx, p, opt, r)
	if err != nil {
		return err
	}
	var pages http.Handler
	if in.Pages {
		handler, err := server.NewPages(r.sources.docroots())
		if err != nil {
			return err
		}
		pages = handler
	}
	s = server.New(server.Options{
		Receiver: receiver, Mentions: r.store, Pages: pages, Moderation: people.page, Live: export.Live(r.store), BaseURLs: r.sources.bases(),
		Proxies: in.TrustedProxies, ProxyHeader: server.ProxyHeader(in.ProxyHeader), HideOperations: r.operations != nil, Log: r.log,
		Limits: server.Limits{StopTimeout: 500 * time.Millisecond}, // a signal ends the process within a second
	})
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := []func(context.Context) error{
		receiver.Run, people.run, func(ctx context.Context) error { return r.sources.follow(ctx, r.sites, opt.Warn) },
	}
	if l := r.operations; l != nil {
		work = append(work, func(ctx context.Context) error { return s.ServeOperations(ctx, l) })
		opt.Note(fmt.Sprintf("/healthz and /metrics are at http://%s", l.Addr()))
	}
	for _, l := range r.listeners {
		work = append(work, func(ctx context.Context) error { return s.Serve(ctx, l) })
		opt.Note(fmt.Sprintf("receiving at http://%s for %s", l.Addr(), r.sources.describe()))
	}
	if calls != nil {
		work = append(work, calls.run)
	}
	if err := server.Notify(opt.Getenv, "READY=1"); err != nil {
		opt.Warn(err.Error())
	}
	ended := make(chan error, len(work))
	for _, f := range work {
		go func() {
			err := f(ctx)
			stop(cmp.Or(err, context.Canceled))
			ended <- err
		}()
	}
	var failed []error
	for range work {
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// listen returns the sockets of systemd, or else listens at the address.
func listen(ctx context.Context, address string, getenv func(string) string) ([]net.Listener, error) {
	sockets, err := server.Sockets(getenv)
	if err != nil || len(sockets) > 0 {
		return sockets, err
	}
	l, err := listenAt(ctx, address, "--listen 127.0.0.1:8036")
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// listenAt listens at an address; instead is where to choose another one.
func listenAt(ctx context.Context, address, instead string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, text.WithHint(fmt.Errorf("listen on %s: %w", address, system.Cause(err)), "choose another address: "+instead)
	}
	return l, nil
}

// sources are the sites of a receiver, each from a docroot or only an address.
type sources struct {
	closed   []string
	all      []source
	watchers []*project.Watcher
}

// source is one site.
type source struct {
	base    string
	project *project.Project // nil for a site without docroot
}

// sourcesOf finds the project of each docroot.
func sourcesOf(ctx context.Context, p *project.Project, opt *ServeOptions) (*sources, error) {
	s := &sources{closed: p.Config.Incoming.Closed}
	docroots, err := docrootsOf(p, opt)
	if err != nil {
		return nil, err
	}
	bases := p.Config.BaseURLs
	if len(docroots) > 1 && len(bases) != len(docroots) {
		return nil, text.Usage(fmt.Sprintf("%d docroots have %d base URLs", len(docroots), len(bases)), "give one --base-url for each docroot, in the same order")
	}
	for i, docroot := range docroots {
		cfg := *p.Config
		if len(docroots) > 1 {
			cfg.BaseURLs = bases[i : i+1]
		}
		own, err := project.Find(ctx, p.Dir, project.Options{Config: &cfg, Env: opt.Env, Docroot: docroot})
		if err != nil {
			return nil, err
		}
		if err := own.CheckDocroot(); err != nil {
			return nil, text.WithHint(err, deployFirst)
		}
		if len(own.BaseURLs) == 0 {
			return nil, text.Usage("the address of "+docroot+" is not known", "give it: --base-url https://example.org/")
		}
		s.all = append(s.all, source{own.BaseURLs[0], own})
	}
	if len(docroots) > 0 {
		return s, nil
	}
	if len(bases) == 0 {
		bases = p.BaseURLs
	}
	if len(bases) == 0 {
		return nil, text.Usage("there is no site to receive for", "name its docroot and address: sitelink serve public --base-url https://example.org/")
	}
	for _, base := range bases {
		s.all = append(s.all, source{base: base})
	}
	return s, nil
}

// docrootsOf returns the docroots that the command or else the configuration names, as a
// user in the project's directory would write them.
func docrootsOf(p *project.Project, opt *ServeOptions) (docroots []string, err error) {
	if len(opt.Docroots) > 0 {
		return opt.Docroots, nil
	}
	for _, name := range p.Config.Incoming.Docroots {
		name = filepath.FromSlash(name)
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Root, name)
		}
		// A configuration that was found may come with a hostile checkout.
		if path, where := system.Outside(p.Root, name); p.Config.Found && where != "" {
			return nil, text.Usage(fmt.Sprintf("docroots in [incoming]: %s is %s", path, where), "name it as an argument, or in a file given with --config")
		}
		docroots = append(docroots, p.Show(name))
	}
	if len(docroots) == 0 && p.Config.Docroot != "" {
		docroots = []string{p.Config.Docroot}
	}
	return docroots, nil
}

func (s *sources) bases() (bases []string) {
	for _, one := range s.all {
		bases = append(bases, one.base)
	}
	return bases
}

// docroots returns the docroots with their addresses.
func (s *sources) docroots() (all []server.Docroot) {
	for _, one := range s.all {
		if one.project != nil {
			all = append(all, server.Docroot{BaseURL: one.base, Dir: one.project.Abs(one.project.Docroot)})
		}
	}
	return all
}

// describe names the sites for the user.
func (s *sources) describe() string {
	first := s.all[0].base
	if n := len(s.all) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", first, n)
	}
	return first
}

// load reads all sites.
func (s *sources) load(ctx context.Context, sites *incoming.Sites) error {
	var all []*incoming.Manifest
	for _, one := range s.all {
		m, err := one.load(ctx, incoming.ManifestOptions{Closed: s.closed})
		if err != nil {
			return err
		}
		all = append(all, m)
	}
	sites.Set(all...)
	return nil
}

const deployFirst = "serve answers for the pages of the deployed site: deploy it first, or name its directory: sitelink serve DIR"

// load reads one site.
func (s *source) load(ctx context.Context, opt incoming.ManifestOptions) (*incoming.Manifest, error) {
	if s.project == nil {
		return incoming.Gateway(s.base, opt)
	}
	loaded, err := audit.Open(ctx, s.project, audit.Options{})
	if errors.Is(err, site.ErrNoPages) {
		err = text.WithHint(err, deployFirst)
	}
	if err != nil {
		return nil, err
	}
	return incoming.ReadManifest(ctx, audit.Handle(loaded.Site), opt)
}

// settled is how long a docroot must be unchanged after a deploy before it is read.
const settled = 2 * time.Second

// watch begins to record the changes of the docroots.
func (s *sources) watch() error {
	for _, d := range s.docroots() {
		w, err := project.Watch(d.Dir, project.WatchOptions{Quiet: settled})
		if err != nil {
			s.close()
			return err
		}
		s.watchers = append(s.watchers, w)
	}
	return nil
}

func (s *sources) close() {
	for _, w := range s.watchers {
		w.Close()
	}
}

// follow reads the sites again when their docroots change. What it cannot read, as
// in the middle of a deploy, stays as it was.
func (s *sources) follow(ctx context.Context, sites *incoming.Sites, warn func(string)) error {
	changed := make(chan struct{}, 1)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for _, w := range s.watchers {
		waiting.Go(func() {
			for {
				if _, err := w.Next(ctx); err != nil {
					return
				}
				select {
				case changed <- struct{}{}:
				default: // a change is waiting already
				}
			}
		})
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			if err := s.load(ctx, sites); err != nil && ctx.Err() == nil {
				warn(fmt.Sprintf("the sites changed and cannot be read: %v; the pages known before still count", err))
			}
		}
	}
}
