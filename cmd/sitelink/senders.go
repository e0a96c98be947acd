package main

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/linkmethod"
	"github.com/sitelink/sitelink/outgoing/pingback"
	"github.com/sitelink/sitelink/outgoing/webmention"
	"github.com/sitelink/sitelink/outgoing/websub"
)

// fetchOptions are those of the configuration. base stands in for a contact
// that is not named.
func fetchOptions(cfg *config.Config, base string) outgoing.ClientOptions {
	contact := cfg.Outgoing.Contact
	if contact == "" {
		contact = base
	}
	agent := "sitelink/" + versionNumber()
	if contact != "" {
		agent += " (+" + contact + ")"
	}
	opt := outgoing.ClientOptions{UserAgent: agent, AllowAddresses: cfg.Fetch.AllowAddress, Pace: cfg.Outgoing.Pace, Timeout: cfg.Fetch.Timeout}
	if opt.Pace == 0 {
		opt.Pace = -1
	}
	if cfg.Fetch.Proxy {
		opt.Proxy = http.ProxyFromEnvironment
	}
	return opt
}

// ownPace is the least time between two requests to the site itself.
const ownPace = 20 * time.Millisecond

// deliverOptions wires the senders that the configuration names.
func (a *app) deliverOptions(ctx context.Context, cfg *config.Config, f *notifyFlags, store ledger.Store, base string) (deliver.Options, error) {
	options := fetchOptions(cfg, base)
	client := outgoing.NewClient(options)
	own := options
	own.Pace = min(ownPace, cfg.Outgoing.Pace)
	if own.Pace == 0 {
		own.Pace = -1
	}
	opt := deliver.Options{
		Targets: client, Sources: outgoing.NewClient(own),
		Live: deliver.LiveOptions{Deadline: cfg.Outgoing.Live, BypassCache: f.bust},
	}
	if opt.Live.Deadline == 0 {
		opt.Live.Deadline = -1
	}
	if cfg.Outgoing.Pace == 0 {
		opt.Hosts = 256
	}
	for _, protocol := range cfg.Outgoing.Protocols {
		switch ledger.Protocol(protocol) {
		case ledger.Webmention:
			opt.Senders = append(opt.Senders, webmention.New(client))
		case ledger.Pingback:
			spacing := pingback.Options{}
			if cfg.Outgoing.Pace == 0 {
				spacing.Spacing = -1
			}
			opt.Senders = append(opt.Senders, pingback.New(client, spacing))
		case ledger.WebSub:
			opt.Named = append(opt.Named, websub.New(client))
		}
	}
	// Peers are called without being asked, and others asked only on demand: a
	// fresh configuration does neither.
	if ask := slices.Contains(cfg.Outgoing.Protocols, string(ledger.LinkMethod)); ask || len(cfg.Outgoing.LinkPeers) > 0 {
		sender, err := linkSender(ctx, cfg, client, store, ask)
		if err != nil {
			return opt, err
		}
		opt.Additional = append(opt.Additional, sender)
	}
	return opt, nil
}

// linkSender makes the sender of LINK and UNLINK. ask makes it ask hosts that
// are no peers. What it learns of hosts is kept in the store, if there is one.
func linkSender(ctx context.Context, cfg *config.Config, client *outgoing.Client, store ledger.Store, ask bool) (outgoing.Sender, error) {
	opt := linkmethod.Options{Probe: ask}
	for _, entry := range cfg.Outgoing.LinkPeers {
		peer, err := linkmethod.ParsePeer(entry)
		if err != nil {
			return nil, &usageError{"link-peers in [outgoing]: " + err.Error(), ""}
		}
		opt.Peers = append(opt.Peers, peer)
	}
	if store == nil {
		return linkmethod.New(client, opt), nil
	}
	snap, err := store.Load(ctx)
	if err != nil {
		return nil, err
	}
	opt.Unsupported = linkmethod.NewUnsupportedHosts(snap.Unsupported, store.RecordUnsupported)
	return linkmethod.New(client, opt), nil
}
