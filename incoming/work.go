package incoming

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/weburl"
)

// ruleInterval is how often the rules are checked for changes.
const ruleInterval = time.Second

// Run verifies mentions when they are due, and applies changes of the rules to the
// mentions that were received before. It returns when ctx is done, or when the
// store fails.
func (r *Receiver) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var followed sync.WaitGroup
	followed.Go(func() { r.followRules(ctx) })
	err := r.opt.Store.Work(ctx, r.verify)
	stop(err)
	followed.Wait()
	return err
}

// verify looks at the other end of a mention, and returns what follows from it.
func (r *Receiver) verify(ctx context.Context, m Mention) (change func(*Mention), err error) {
	now := r.opt.Now()
	defer func() {
		// One mention must never stop the others.
		if failure := recover(); failure != nil {
			r.opt.Log.Error("verification failed", "mention", m.ID, "source", m.Source, "panic", fmt.Sprint(failure))
			change, err = r.apply(look{
				Evidence: verify.Evidence{Result: verify.Unavailable, Reason: "the page could not be checked"}, began: now, at: r.opt.Now(), recheck: r.opt.Recheck,
			}), nil
		}
	}()
	if wait, ok := r.ready(&m); !ok {
		return postpone(now.Add(wait)), nil
	}
	l := look{began: now, at: now, recheck: r.opt.Recheck}
	rules, err := r.rules.get(ctx, r.opt.Store)
	if err != nil {
		return nil, err
	}
	remote, err := weburl.Canonical(m.Remote())
	if err != nil { // never: it was canonical when it was received
		return postpone(time.Time{}), nil
	}
	l.verdict = rules.verdict(remote)
	switch {
	case m.State == Refused || m.State == Blocked || l.verdict == Block:
		return r.apply(l), nil
	case m.Action.Ours() && !r.opt.Sites.Links(m.Source, m.Target):
		return func(m *Mention) { finish(m, Gone, 0, "our page no longer links to the target") }, nil
	case m.Action.Ours() && m.State == Approved: // decided, and not carried out yet
		return postpone(now.Add(doneInterval)), nil
	}
	page, at, wait := r.fetch(ctx, &m, remote)
	if page == nil {
		return postpone(now.Add(wait)), nil
	}
	if page.Result == verify.Canceled {
		return nil, context.Cause(ctx)
	}
	l.at, l.final, l.moved, l.retryAfter, l.unasked, l.err = at, page.URL, page.Moved, page.RetryAfter, !page.Asked, page.Err
	if m.Action.Ours() {
		l.Evidence = verify.Evidence{Result: page.Result, Fault: page.Fault, Reason: page.Reason}
		if l.Result == "" {
			l.Result = verify.Linked // there is a page
		}
	} else {
		l.Evidence = page.Find(m.Target)
	}
	if l.Result == verify.Linked && !m.Action.Ours() {
		l.verdict = rules.redirected(remote, page.URL, l.verdict)
		m.Author = Author{l.AuthorName, l.AuthorURL}
		if hostOf(page.URL) != hostOf(m.Source) {
			// Anyone can make a short link or use an open redirect of the host.
		} else if l.knownAuthor, err = r.knowsAuthor(ctx, &m); err != nil {
			return nil, err
		}
	}
	return r.apply(l), nil
}

// apply returns the change that a look demands.
func (r *Receiver) apply(l look) func(*Mention) {
	took := r.opt.Now().Sub(l.began)
	reported := false // the store may apply the change again
	return func(m *Mention) {
		before := m.State
		judge(m, l)
		if reported {
			return
		}
		reported = true
		if r.opt.Observe != nil {
			r.opt.Observe(m.State, took)
		}
		said := []any{"mention", m.ID, "source", m.Source, "target", m.Target, "result", string(l.Result), "before", before, "state", m.State}
		if m.Reason != "" {
			said = append(said, "fault", m.Fault, "reason", m.Reason)
		}
		if l.err != nil {
			said = append(said, "error", l.err)
		}
		if !m.Due.IsZero() {
			said = append(said, "due", m.Due)
		}
		r.opt.Log.Info("verified", said...)
	}
}

// postpone returns a change that only sets the time of the next look.
func postpone(at time.Time) func(*Mention) { return func(m *Mention) { m.Due = at } }

// ready reports whether a mention can be looked at now, or how long to wait. The
// source of a mention of a site that is no longer served is not fetched.
func (r *Receiver) ready(m *Mention) (wait time.Duration, ok bool) {
	if !r.opt.Sites.Lookup(m.Local()).Served {
		return spread(m, r.opt.Recheck), false
	}
	return 0, true
}

// fetch returns the page at the other end of a mention and the time when it was
// fetched. If it must not be fetched now, page is nil. A page is fetched at most
// once an hour, whatever the number of mentions that it is the source of (PB-59):
// the others use what was fetched. A page that was fetched before a mention was due
// may be out of date, and only proves that there is a link.
func (r *Receiver) fetch(ctx context.Context, m *Mention, remote string) (page *verify.Response, at time.Time, wait time.Duration) {
	now := r.opt.Now()
	for {
		if page, at, ok := r.recent.get(remote, now); ok {
			upToDate := !m.Due.IsZero() && !m.Due.After(at)
			if page != nil && (upToDate || !m.Action.Ours() && page.Find(m.Target).Result == verify.Linked) {
				return page, at, 0
			}
			return nil, at, at.Add(pause).Sub(now)
		}
		running := r.recent.begin(remote)
		if running == nil {
			break
		}
		select { // another worker fetches the page
		case <-running:
		case <-ctx.Done():
			return &verify.Response{Result: verify.Canceled}, now, 0
		}
	}
	defer r.recent.end(remote)
	host := hostOf(remote)
	if !r.hosts.enter(host) {
		return nil, now, 5*time.Second + spread(m, 20*time.Second)
	}
	defer r.hosts.leave(host)
	page = r.opt.Client.Fetch(ctx, remoteURL(m), m.Peer)
	if page.Result != verify.Canceled && page.Asked {
		r.recent.add(remote, page, now)
	}
	return page, now, 0
}

// remoteURL returns the URL to fetch, as the other site sent it.
func remoteURL(m *Mention) string { return withoutFragment(m.Remote()) }

// hostGate limits the fetches from one host at the same time, so that a slow host
// does not keep all workers busy.
type hostGate struct {
	mu   sync.Mutex
	open map[string]int
}

// maxPerHost is the number of fetches from one host at the same time.
const maxPerHost = 2

func (g *hostGate) enter(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[host] >= maxPerHost {
		return false
	}
	if g.open == nil {
		g.open = make(map[string]int)
	}
	g.open[host]++
	return true
}

func (g *hostGate) leave(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[host]--; g.open[host] == 0 {
		delete(g.open, host)
	}
}

// recentLooks remembers for an hour which pages were fetched, and the last ones
// themselves, in bounded memory.
type recentLooks struct {
	mu         sync.Mutex
	young, old map[uint64]time.Time // by hash of the canonical URL
	rotation   time.Time
	pages      map[uint64]*verify.Response
	order      []uint64 // of pages, the oldest first
	size       int
	running    map[string]chan struct{} // closed at the end of a fetch
}

const (
	// maxRecent limits the URLs in each half, maxPages the bytes of pages.
	maxRecent = 1 << 16
	maxPages  = 16 << 20
	// pageCost is what a page costs apart from its text.
	pageCost = 4 << 10
)

// begin marks a page as being fetched. If it is already, it returns a channel that
// is closed when that ends.
func (c *recentLooks) begin(url string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if running, ok := c.running[url]; ok {
		return running
	}
	if c.running == nil {
		c.running = make(map[string]chan struct{})
	}
	c.running[url] = make(chan struct{})
	return nil
}

// end is the end of what began with begin.
func (c *recentLooks) end(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.running[url])
	delete(c.running, url)
}

// get returns when a page was fetched, if that was less than an hour ago, and the
// page if it is still there.
func (c *recentLooks) get(url string, now time.Time) (page *verify.Response, at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := xxhash.Sum64String(url)
	at, ok = c.young[key]
	if !ok {
		at, ok = c.old[key]
	}
	if age := now.Sub(at); !ok || age < 0 || age >= pause {
		return nil, at, false
	}
	return c.pages[key], at, true
}

// add remembers a page that was fetched.
func (c *recentLooks) add(url string, page *verify.Response, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.rotation) {
		c.rotation = now // the clock was set back
	}
	if c.young == nil || now.Sub(c.rotation) >= pause || len(c.young) >= maxRecent {
		c.old, c.young, c.rotation = c.young, make(map[uint64]time.Time), now
	}
	if c.pages == nil {
		c.pages = make(map[uint64]*verify.Response)
	}
	key := xxhash.Sum64String(url)
	c.young[key] = now
	if old, ok := c.pages[key]; ok {
		c.size += page.Size() - old.Size()
		c.pages[key] = page
	} else {
		c.pages[key], c.order, c.size = page, append(c.order, key), c.size+page.Size()+pageCost
	}
	for c.size > maxPages && len(c.order) > 1 {
		c.size -= c.pages[c.order[0]].Size() + pageCost
		delete(c.pages, c.order[0])
		c.order = c.order[1:]
	}
}

// followRules applies the rules to the mentions that exist, at the start and when
// the rules change.
func (r *Receiver) followRules(ctx context.Context) {
	version, failed := "", false
	for {
		v, err := r.opt.Store.RulesVersion(ctx)
		if err == nil && (v != version || version == "") {
			if _, err = ApplyRules(ctx, r.opt.Store, r.opt.Now()); err == nil {
				version = v
			}
		}
		if err != nil && !failed && ctx.Err() == nil { // once, not every second
			r.opt.Log.Error("the rules of moderation cannot be applied, and are tried again", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-time.After(ruleInterval):
		}
	}
}

// ApplyRules applies the rules of a store to its mentions and returns how many
// changed. Mentions of a blocked site become Blocked. Mentions of a site that is no
// longer blocked are verified again. Mentions of a trusted site become Approved.
// [Receiver.Run] does this when the rules change; call ApplyRules where no receiver
// runs.
func ApplyRules(ctx context.Context, store Store, now time.Time) (changed int, err error) {
	rules, err := store.Rules(ctx)
	if err != nil {
		return 0, err
	}
	set := compileRules(rules)
	for m, err := range store.List(ctx, Filter{States: []State{Queued, Held, Approved, Blocked}}) {
		if err != nil {
			return changed, err
		}
		if !ruled(&m, set, now) {
			continue
		}
		var hit bool
		_, err := store.Update(ctx, m.ID, func(m *Mention) error {
			hit = ruled(m, set, now) // it may be called again
			return nil
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return changed, err
		}
		if err == nil && hit {
			changed++
		}
	}
	return changed, nil
}

// ruled applies the rules to a mention, and reports whether that changed it.
func ruled(m *Mention, rules *ruleSet, now time.Time) bool {
	remote, err := weburl.Canonical(m.Remote())
	if err != nil {
		return false
	}
	switch verdict := rules.verdict(remote); {
	case verdict == Block && m.State != Blocked:
		m.State, m.Due = Blocked, time.Time{}
	case verdict != Block && m.State == Blocked:
		requeue(m, now)
	case verdict == Trust && m.State == Held:
		m.State = Approved
		if m.Action.Ours() {
			m.Due = now.Add(doneInterval)
		}
	default:
		return false
	}
	return true
}
