package send

import (
	"context"
	"slices"
	"sync"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// previewWorkers is how many targets are examined in parallel. The client spaces
// the requests to each host.
const previewWorkers = 8

// Preview is the preview of the notices of one page.
type Preview struct {
	Source string
	// Live reports whether the page answered with a success. If it did not,
	// Built reports whether the page as it was built was examined instead.
	Live, Built bool
	// Problems has the problems of the page as a whole, each once.
	Problems []Problem
	// Rows has the targets in the order in which they were given.
	Rows []PreviewRow
}

// PreviewRow is the preview of one notice.
type PreviewRow struct {
	Target string
	// Protocol is the first protocol that the target supports,
	// [ledger.AnyProtocol] if it supports none. Endpoint is where the notice
	// would be sent, and Via says where the endpoint was found.
	Protocol ledger.Protocol
	Endpoint string
	Via      string
	// Problems has the problems of the link that matter to the protocol.
	Problems []Problem
	// Err is set if the endpoint could not be discovered.
	Err error
}

// Failing reports whether a target would refuse the page or could not be asked.
func (r *Preview) Failing() bool {
	return len(r.Problems) > 0 || slices.ContainsFunc(r.Rows, func(row PreviewRow) bool { return len(row.Problems) > 0 || row.Err != nil })
}

// Previewer previews the notices of pages.
type Previewer struct {
	// Client fetches source and target pages.
	Client outgoing.Doer
	// Senders find the endpoints of targets. The first that finds one is used.
	Senders []outgoing.Sender
}

// Preview previews the notices of the page source to its targets. built is the page
// as it was built, which is examined if the page is not live; it may be nil. The
// error is that of ctx.
func (v Previewer) Preview(ctx context.Context, source string, targets []string, built []byte) (*Preview, error) {
	p := &preview{Previewer: v, report: &Preview{Source: source, Rows: make([]PreviewRow, len(targets))}}
	if p.source(ctx, built); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if p.targets(ctx, targets); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return p.report, nil
}

// preview is one call of Preview.
type preview struct {
	Previewer
	report *Preview
	page   *outgoing.Response // nil if there is nothing to examine
}

// source fetches the page, and falls back to the built one.
func (p *preview) source(ctx context.Context, built []byte) {
	r := p.report
	page, err := get(ctx, p.Client, r.Source)
	switch {
	case err != nil:
		r.Problems = append(r.Problems, Problem{Code: NotLive, Offset: -1,
			Message: "the page did not answer: " + err.Error(), Cure: "publish the page, then send again"})
	case page.Success():
		r.Live, p.page = true, page
	default:
		r.Problems = CheckSource(r.Source, page, "")
	}
	if !r.Live && built != nil {
		r.Built, p.page = true, &outgoing.Response{URL: r.Source, Status: 200, Body: built}
	}
}

// targets examines all targets and separates the problems of the page from those
// of the links.
func (p *preview) targets(ctx context.Context, targets []string) {
	r := p.report
	var workers sync.WaitGroup
	slots := make(chan struct{}, previewWorkers)
	found := make([][]Problem, len(targets))
	for i, target := range targets {
		workers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r.Rows[i] = p.discover(ctx, target)
			if r.Rows[i].Endpoint != "" && p.page != nil {
				found[i] = ProblemsFor(r.Rows[i].Protocol, CheckSource(r.Source, p.page, target))
			}
		})
	}
	workers.Wait()
	for i := range found {
		for _, problem := range found[i] {
			switch {
			case !problem.Code.ofPage():
				r.Rows[i].Problems = append(r.Rows[i].Problems, problem)
			case !slices.Contains(r.Problems, problem):
				r.Problems = append(r.Problems, problem)
			}
		}
	}
}

// discover finds the endpoint of one target.
func (p *preview) discover(ctx context.Context, url string) PreviewRow {
	row := PreviewRow{Target: url}
	t := outgoing.NewTarget(p.Client, url)
	for _, s := range p.Senders {
		e, err := s.Discover(ctx, t)
		switch {
		case err != nil:
			row.Err = err
			return row
		case e.URL != "":
			return PreviewRow{Target: url, Protocol: s.Protocol(), Endpoint: e.URL, Via: e.Via}
		case row.Via == "":
			row.Via = e.Via // says why there is no endpoint
		}
	}
	return row
}
