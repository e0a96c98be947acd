package announce

import (
	"context"
	"sync"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/deliver"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/webmention"
)

// statusWorkers is how many targets are asked at once; the client limits the
// requests to each host.
const statusWorkers = 16

// Status asks the targets that accepted a notice for later what became of it,
// records their answers in the store, and returns all of these notices.
func Status(ctx context.Context, client *outgoing.Client, store ledger.Store, snap *ledger.Snapshot) (*deliver.Report, error) {
	sender := webmention.New(client)
	result := &deliver.Report{}
	for _, n := range snap.Notices {
		if n.State == ledger.Accepted && n.Location != "" {
			result.Results = append(result.Results, deliver.Result{Notice: n})
		}
	}
	errs := make([]error, len(result.Results))
	slots := make(chan struct{}, statusWorkers)
	var wg sync.WaitGroup
	for i := range result.Results {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
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
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, nil
}
