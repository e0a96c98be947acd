package deliver

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// sourcePage is the result of fetching a source page.
type sourcePage struct {
	status    int
	moved     bool // it redirects
	truncated bool
	links     map[uint64]bool // hashes of the URLs it links to
	err       error
}

var linkSeed = maphash.MakeSeed() // of the hashes in sourcePage

// fetchSource fetches a source page.
func (d *delivery) fetchSource(ctx context.Context, source string) sourcePage {
	p, _ := d.getSource(ctx, source)
	return p
}

// getSource fetches a source page, and returns its response too.
func (d *delivery) getSource(ctx context.Context, source string) (sourcePage, *outgoing.Response) {
	r := outgoing.Request{URL: source, MaxBody: d.opt.Live.MaxBody}
	resp, err := d.opt.Sources.Do(ctx, r)
	if err != nil {
		return sourcePage{err: err}, nil
	}
	p := sourcePage{status: resp.Status, truncated: resp.Truncated, moved: resp.URL != r.URL}
	if resp.Success() {
		p.links = linksOf(resp.URL, resp.Body)
	}
	return p, resp
}

// recheck plans failed notices again if their page no longer has the problems that
// made them fail.
func (d *delivery) recheck(ctx context.Context, base string) error {
	if d.opt.Sources == nil {
		return nil
	}
	bySource := map[string][]ledger.Notice{}
	for _, n := range d.opt.Recheck {
		bySource[n.Source] = append(bySource[n.Source], n)
	}
	var mu sync.Mutex
	var again []ledger.Notice
	var all sync.WaitGroup
	slots := make(chan struct{}, sourceWorkers)
	for source, notices := range bySource {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			page, resp := d.getSource(ctx, source)
			for _, n := range notices {
				if page.ready(&n) == nil && problemsOf(&n, resp) != n.Problems {
					mu.Lock()
					again = append(again, n.Again())
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if len(again) == 0 || ctx.Err() != nil {
		return nil
	}
	return d.store.Plan(ctx, base, ledger.Change{Notices: again})
}

// problemsOf returns the codes of the problems that a notice has with its page.
func problemsOf(n *ledger.Notice, page *outgoing.Response) string {
	if n.Event != ledger.Added && n.Event != ledger.Updated {
		return "" // the link is to be gone, and it is
	}
	return send.ProblemCodes(send.ProblemsFor(n.Protocol, send.CheckSource(n.Source, page, n.Target)))
}

// linksOf returns the hashes of the URLs that a page links to: of each value as it
// is written and as it is resolved. Which links count was decided when the notice
// was planned, so any attribute with a URL is enough here.
func linksOf(page string, body []byte) map[uint64]bool {
	links := map[uint64]bool{}
	base, err := weburl.Parse(page)
	add := func(value string) {
		value = strings.TrimSpace(value)
		links[maphash.String(linkSeed, value)] = true
		if err == nil {
			if u, err := base.Resolve(value); err == nil {
				links[maphash.String(linkSeed, u.String())] = true
			}
		}
	}
	for tag := range scanhtml.Tags(body) {
		for _, a := range tag.Attr {
			switch a.Key {
			case "href", "src", "cite", "data", "poster":
				add(a.Val)
			}
		}
	}
	return links
}

// linksTo reports whether the page links to target.
func (p sourcePage) linksTo(target string) bool {
	if p.links[maphash.String(linkSeed, target)] {
		return true
	}
	u, err := weburl.Parse(target)
	return err == nil && p.links[maphash.String(linkSeed, u.String())]
}

// refused reports whether the guard refuses the address of the page. Waiting does not help then.
func (p sourcePage) refused() bool {
	return p.err != nil && outgoing.RequestFailed(p.err).State == ledger.Skipped
}

// ready returns nil if visitors see the page as the notice says it is, and
// otherwise why they do not.
func (p sourcePage) ready(n *ledger.Notice) error {
	gone := n.Event == ledger.Removed || n.Event == ledger.Deleted || n.Event == ledger.Moved
	switch {
	case p.err != nil:
		return fmt.Errorf("the source page cannot be fetched: %w", p.err)
	case gone && (p.status == 404 || p.status == 410 || p.moved && n.Event == ledger.Moved):
		return nil
	case p.status < 200 || p.status >= 300:
		return fmt.Errorf("the source page answered %d", p.status)
	case n.Protocol == ledger.WebSub: // the source is a feed and the target its hub
		return nil
	case gone && p.linksTo(n.Target):
		return errors.New("the source page still links to the target")
	case gone || p.linksTo(n.Target):
		return nil
	case p.truncated:
		return errors.New("the source page is too long, and the part that was read does not link to the target")
	}
	return errors.New("the source page does not link to the target")
}
