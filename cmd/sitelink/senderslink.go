package main

import (
	"context"
	"slices"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/linkmethod"
)

// linkSender makes the sender of LINK and UNLINK, nil if there are neither
// peers nor the wish to ask all others. What it learns of hosts that do not
// speak them goes into the ledger.
func linkSender(ctx context.Context, cfg *config.Config, client *fetch.Client, store ledger.Store) (*linkmethod.Sender, error) {
	ask := slices.Contains(cfg.Outgoing.Protocols, string(ledger.LinkMethod))
	if !ask && len(cfg.Outgoing.LinkPeers) == 0 {
		return nil, nil
	}
	snap, err := store.Load(ctx)
	if err != nil {
		return nil, err
	}
	opt := linkmethod.Options{Ask: ask, Memory: linkmethod.NewMemory(snap.Peers, store.Remember)}
	for _, entry := range cfg.Outgoing.LinkPeers {
		peer, err := linkmethod.ParsePeer(entry)
		if err != nil {
			return nil, err
		}
		opt.Peers = append(opt.Peers, peer)
	}
	return linkmethod.New(client, opt), nil
}
