package main

import (
	"context"
	"sync"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/webmention"
)

// statusWorkers is how many targets are asked at once; the client sees that
// each host is asked gently.
const statusWorkers = 16

// notifyStatus asks how notices went on that were accepted for later, records
// what is known now, and lists all of them.
func (a *app) notifyStatus(ctx context.Context, cfg *config.Config, f *notifyFlags, store ledger.Store, snap *ledger.Snapshot) error {
	sender := webmention.New(outgoing.NewClient(fetchOptions(cfg, snap.Base)))
	result := &deliver.Report{}
	for _, n := range snap.Notices {
		if n.State == ledger.Accepted && n.Location != "" {
			result.Results = append(result.Results, deliver.Result{Notice: n})
		}
	}
	if len(result.Results) == 0 {
		a.ui.note("no target told where to ask how a notice went")
		return nil
	}
	errs := make([]error, len(result.Results))
	turn := make(chan struct{}, statusWorkers)
	var wg sync.WaitGroup
	for i := range result.Results {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if ctx.Err() != nil {
				return
			}
			n := &result.Results[i].Notice
			o := sender.Status(ctx, n.Location)
			n.Message = o.Message
			if o.State == ledger.Done || o.State == ledger.Permanent {
				n.State = o.State
				errs[i] = store.Record(context.WithoutCancel(ctx), n.Key, *n)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	every := *f
	every.verbose = true
	if err := a.reportOutcomes(cfg, &every, snap.Base, result); err != nil {
		return err
	}
	if result.Failed() > 0 {
		return errNotices
	}
	return nil
}
