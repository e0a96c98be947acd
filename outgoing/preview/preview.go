// Package preview looks at a page of the site as the targets of its links will,
// before anybody is told: the page's address and its targets enter; for each
// target, by which protocol it would be told, where, and what is wrong with the
// page in its eyes leave. It makes GET requests only.
package preview

import (
	"context"
	"slices"
	"sync"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/precheck"
)

// workers is how many targets are looked at side by side. The client sees to the
// pace of each host.
const workers = 8

// Report is what was found about one page.
type Report struct {
	Source string
	// Live tells whether the page answered with success. If not, Built tells
	// whether the page as it was built was looked at in its stead.
	Live, Built bool
	// Page are the problems of the page as a whole, each once.
	Page []precheck.Problem
	// Rows are in the order of the targets.
	Rows []Row
}

// Row is what was found about one target.
type Row struct {
	Target string
	// Protocol is the first one that the target speaks, [ledger.AnyProtocol] if
	// it speaks none. Endpoint and Via say where it was found.
	Protocol ledger.Protocol
	Endpoint string
	Via      string
	// Problems are those of the link that matter to the protocol.
	Problems []precheck.Problem
	// Err is why the target could not be asked.
	Err error
}

// Failing tells whether the page has a problem that would make some target
// refuse it, or whether a target could not be asked.
func (r *Report) Failing() bool {
	return len(r.Page) > 0 || slices.ContainsFunc(r.Rows, func(row Row) bool { return len(row.Problems) > 0 || row.Err != nil })
}

// Page looks at source and at its targets, of which senders find the endpoints,
// in order of preference. built is the page as it was built, to be looked at
// while it is not live; nil if there is none. An error is that of ctx.
func Page(ctx context.Context, client fetch.Doer, senders []outgoing.Sender, source string, targets []string, built []byte) (*Report, error) {
	r := &Report{Source: source, Rows: make([]Row, len(targets))}
	page, err := precheck.Get(ctx, client, source)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.Live = err == nil && page.Status >= 200 && page.Status < 300
	if err != nil {
		r.Page = append(r.Page, precheck.Problem{Code: precheck.NotLive, Offset: -1,
			Message: "the page does not answer: " + err.Error(), Cure: "publish the page, then send again"})
	} else if !r.Live {
		r.Page = precheck.Source(page, "")
	}
	if !r.Live && built != nil {
		r.Built = true
		page = precheck.Page{URL: source, Status: 200, Body: built}
	}

	var wait sync.WaitGroup
	slots := make(chan struct{}, workers)
	found := make([][]precheck.Problem, len(targets))
	for i, target := range targets {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			row := ask(ctx, client, senders, target)
			if row.Endpoint != "" && (r.Live || r.Built) {
				found[i] = precheck.For(row.Protocol, precheck.Source(page, target))
			}
			r.Rows[i] = row
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range found {
		for _, p := range found[i] {
			switch {
			case !p.Code.OfPage():
				r.Rows[i].Problems = append(r.Rows[i].Problems, p)
			case !slices.Contains(r.Page, p):
				r.Page = append(r.Page, p)
			}
		}
	}
	return r, nil
}

// ask finds the endpoint of one target.
func ask(ctx context.Context, client fetch.Doer, senders []outgoing.Sender, url string) Row {
	row := Row{Target: url}
	t := &target{client: client, url: url}
	for _, s := range senders {
		e, err := s.Discover(ctx, t)
		switch {
		case err != nil:
			row.Err = err
			return row
		case e.URL != "":
			return Row{Target: url, Protocol: s.Protocol(), Endpoint: e.URL, Via: e.Via}
		case row.Via == "":
			row.Via = e.Via // why there is none
		}
	}
	return row
}

// target is fetched once for all senders, which ask one after the other.
type target struct {
	client fetch.Doer
	url    string
	page   *outgoing.TargetPage
	err    error
}

func (t *target) URL() string { return t.url }

func (t *target) Page(ctx context.Context) (*outgoing.TargetPage, error) {
	if t.page == nil && t.err == nil {
		resp, err := t.client.Do(ctx, fetch.Request{URL: t.url})
		if err != nil {
			t.err = err
		} else {
			t.page = &outgoing.TargetPage{URL: resp.URL, Status: resp.Status, Header: resp.Header, Body: resp.Body}
		}
	}
	return t.page, t.err
}
