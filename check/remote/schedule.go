package remote

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
)

// host is what one run knows of a host, and its queue.
type host struct {
	name   string
	policy Policy
	order  int // of the first job
	queue  queue
	pace   time.Duration
	most   int // requests at a time
	active int
	// started counts the requests so far: the host with the fewest is next.
	started int
	// listed: the host is in one of the lists of the dispatcher, in turns at index at.
	listed bool
	turns  *turns
	at     int
	// ready is the earliest start of the next request, interval the time between two
	// starts, latency the average time of an answer.
	ready             time.Time
	interval, latency time.Duration
	good              int // answers in a row without 429 and 503
	// until is the time before which the host wants no requests at all.
	until time.Time
	// heads: the host answers HEAD correctly. noHeads: it does not.
	heads, noHeads bool
	// dir is the directory of the first link of the run. There a random address is asked
	// for; random has the fingerprints of the answers by origin, and held are the jobs
	// that wait for one.
	dir    string
	random map[string]uint64
	held   []*job

	// With a shared cache: term is that of the lease under which this run has claimed
	// the host, 0 for none; yields: others wait for it; until rest it is left to them.
	term   int
	yields bool
	rest   time.Time
}

// dispatcher schedules the requests. One goroutine owns it; others make one request
// each.
type dispatcher struct {
	opt     Options
	started time.Time // of the whole run
	cache   *Cache
	report  *Report
	budget  context.Context // nil for no limit

	addresses *addresses

	hosts map[string]*host
	order []*host // with jobs, as planned
	// Hosts with a job that may start are in one of fresh (the next job is new)
	// and stale; those that have to wait are in waiting.
	fresh, stale turns
	waiting      timed[*host]
	// delayed are jobs that wait before they are tried again.
	delayed timed[*job]

	// answered: a host has answered in this run. Until then, silent are the jobs
	// that got no answer.
	answered bool
	silent   []silence

	claims *claimer // nil without a shared cache
	seek   *seeker

	// requests is the context of requests, and stop cancels it.
	requests context.Context
	stop     context.CancelFunc

	results     chan result
	tasks       chan task // for goroutines that have nothing to do
	inFlight    int
	busyHosts   int
	left, total int
	begin, told time.Time
}

func newDispatcher(cache *Cache, opt Options) *dispatcher {
	d := &dispatcher{
		addresses: &addresses{},
		opt:       opt, started: time.Now(), cache: cache, hosts: map[string]*host{}, results: make(chan result, opt.Concurrency), tasks: make(chan task),
		report: &Report{cache: cache, unasked: map[string]check.Code{}, Failing: map[string]int{}, Blocked: map[string]int{}, Unwanted: map[string]int{}},
	}
	d.seek = &seeker{d: d, robots: map[string]*robotsFile{}}
	if cache.shared != nil {
		d.claims = &claimer{d: d, s: cache.shared}
	}
	return d
}

func (d *dispatcher) host(name string) *host {
	h := d.hosts[name]
	if h == nil {
		p := d.opt.Policy(name)
		h = &host{name: name, dir: "/", policy: p, order: len(d.hosts), pace: cmp.Or(p.Pace, d.opt.Pace), most: cmp.Or(max(p.PerHost, 0), d.opt.PerHost)}
		d.hosts[name] = h
	}
	return h
}

// run works until no job is left, the budget is spent, or ctx is done. It never leaves
// a request behind.
func (d *dispatcher) run(ctx context.Context) error {
	d.begin = time.Now()
	defer d.claims.release()
	for _, h := range d.order {
		d.list(h, d.begin)
	}
	d.reconnect(ctx)
	defer func() { d.stop() }()
	var spent <-chan struct{}
	if d.budget != nil {
		spent = d.budget.Done()
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if ctx.Err() != nil { // also if an answer came at the same time
			d.drain()
			d.giveUp(check.External)
			return context.Cause(ctx)
		}
		now := time.Now()
		leased, err := d.claims.tend()
		if err != nil {
			d.stop()
			d.drain()
			d.giveUp(check.External)
			return err
		}
		if d.inFlight > 0 && !leased.IsZero() && !leased.After(now) { // others may ask these hosts now
			d.stop()
			d.reconnect(ctx)
		}
		next := d.start(d.requests, now)
		d.claims.send()
		if d.inFlight == 0 && !d.claims.waits() && (next.IsZero() || d.spent()) {
			d.giveUp(check.Budget)
			return nil
		}
		if next.IsZero() {
			next = now.Add(time.Hour)
		}
		if leased.After(now) && leased.Before(next) {
			next = leased
		}
		timer.Reset(time.Until(next))
		select {
		case g := <-d.claims.grants():
			d.claims.grant(g)
		case r := <-d.results:
			d.finish(r)
			for range len(d.results) { // without a timer for each
				d.finish(<-d.results)
			}
		case <-timer.C:
		case <-spent:
			d.stop()
			d.drain()
			d.giveUp(check.Budget)
			return nil
		case <-ctx.Done():
		}
	}
}

// reconnect makes a new context for requests.
func (d *dispatcher) reconnect(ctx context.Context) {
	d.requests, d.stop = context.WithCancel(ctx)
}

// drain waits for the requests in flight. Answers that arrived count.
func (d *dispatcher) drain() {
	for d.inFlight > 0 {
		d.finish(<-d.results)
	}
}

// giveUp leaves all jobs that are left for a later run.
func (d *dispatcher) giveUp(code check.Code) {
	for _, h := range d.hosts {
		d.leave(h, code)
	}
	for _, w := range d.delayed {
		d.leaveOut(w.what, code)
	}
	d.delayed = nil
}

// list puts a host that has a job into the list where it belongs.
func (d *dispatcher) list(h *host, now time.Time) {
	if h.listed || h.yields || h.queue.first == nil || h.active >= h.most {
		return
	}
	h.listed = true
	switch {
	case h.ready.After(now):
		heap.Push(&d.waiting, waitingFor[*host]{h.ready, h})
	case h.queue.first.isNew:
		h.turns = &d.fresh
		heap.Push(h.turns, h)
	default:
		h.turns = &d.stale
		heap.Push(h.turns, h)
	}
}

// start starts all requests that may start now. It returns the time at which it should
// be called again, zero if only an answer can change anything.
func (d *dispatcher) start(ctx context.Context, now time.Time) (next time.Time) {
	for len(d.delayed) > 0 && !d.delayed[0].at.After(now) {
		j := heap.Pop(&d.delayed).(waitingFor[*job]).what
		j.host.queue.push(j)
		d.list(j.host, now)
	}
	for len(d.waiting) > 0 && (!d.waiting[0].at.After(now) || d.waiting[0].what.queue.first == nil) {
		h := heap.Pop(&d.waiting).(waitingFor[*host]).what
		h.listed = false
		d.list(h, now)
	}
	for d.inFlight < d.opt.Concurrency {
		list := &d.fresh
		if len(*list) == 0 {
			list = &d.stale
		}
		if len(*list) == 0 {
			break
		}
		h := heap.Pop(list).(*host)
		h.listed, h.turns = false, nil
		if h.until.After(now) {
			d.leave(h, check.Blocked)
			d.claims.settle(h)
			continue
		}
		if d.spent() {
			d.leave(h, check.Budget)
			d.claims.settle(h)
			continue
		}
		if h.yields {
			continue // settle lists it again
		}
		if !d.claims.mine(h, now) {
			d.claims.claim(h, now)
			continue
		}
		if at := d.addresses.begin(h.name, now); at.After(now) {
			h.ready = at
			d.list(h, now)
			continue
		}
		d.launch(ctx, h.queue.pop(), now)
		d.list(h, now)
	}
	if d.inFlight >= d.opt.Concurrency {
		return time.Time{}
	}
	if len(d.waiting) > 0 {
		next = d.waiting[0].at
	}
	if len(d.delayed) > 0 && (next.IsZero() || d.delayed[0].at.Before(next)) {
		next = d.delayed[0].at
	}
	return next
}

// spent reports whether no further request is allowed.
func (d *dispatcher) spent() bool {
	return d.opt.MaxRequests > 0 && d.report.Requests >= d.opt.MaxRequests
}

// leave gives up the jobs of a host.
func (d *dispatcher) leave(h *host, code check.Code) {
	for j := h.queue.pop(); j != nil; j = h.queue.pop() {
		d.leaveOut(j, code)
		d.left--
	}
	for _, j := range h.held {
		d.leaveOut(j, code)
		d.left--
	}
	h.held = nil
}

// leaveOut leaves a job for a later run.
func (d *dispatcher) leaveOut(j *job, code check.Code) {
	if j.side != nil {
		return
	}
	if j.chain != nil && j.chain.look != nil { // the answer itself is known
		d.record(j, j.chain.look.answer, time.Now())
		return
	}
	d.report.unasked[j.url] = code
	u, _ := weburl.Parse(j.url)
	r := d.known(j)
	switch {
	case code == check.Budget:
		d.report.OverBudget++
	case code == check.Blocked:
		d.report.Waiting++
		if !r.Known() {
			d.report.Blocked[hostName(u)]++
		}
	}
	if r.Known() {
		d.count(hostName(u), &r)
	}
}

// launch makes the next request of a job.
func (d *dispatcher) launch(ctx context.Context, j *job, now time.Time) {
	h := j.host
	if h.active == 0 {
		d.busyHosts++
	}
	h.active++
	h.started++
	h.ready = now.Add(h.spacing())
	d.inFlight++
	d.report.Requests++
	if j.chain == nil {
		record := d.known(j)
		j.chain = newChain(j, &record, &h.policy)
		j.chain.random = d.opt.Random
		if u, err := weburl.Parse(j.url); err == nil {
			j.chain.authority, j.chain.login = u.Authority(), d.opt.Login(u.Authority())
		}
	}
	r := j.chain.request(j, h)
	t := task{ctx: ctx, job: j, request: r}
	select {
	case d.tasks <- t:
	default: // all are busy
		go d.work(t)
	}
}

// task is a request to make.
type task struct {
	ctx     context.Context
	job     *job
	request fetch.Request
}

// work makes a request, and then those that others bring. A goroutine for each request
// would have to grow its stack each time.
func (d *dispatcher) work(t task) {
	for ok := true; ok; t, ok = <-d.tasks {
		begin := time.Now()
		resp, err := d.opt.exchange(t.ctx, t.request)
		d.results <- result{job: t.job, request: t.request, response: resp, err: err, took: time.Since(begin), canceled: err != nil && t.ctx.Err() != nil}
	}
}

// known returns what is known of the URL of a job. Without a shared cache, nothing is
// known of a new one until its own answer.
func (d *dispatcher) known(j *job) Record {
	if j.isNew && d.cache.shared == nil {
		return Record{URL: j.url}
	}
	return d.cache.Get(j.url)
}

// slowest is the longest time between two requests after answers 429 and 503.
const slowest = 30 * time.Second

// finish handles the response to a request.
func (d *dispatcher) finish(r result) {
	now := time.Now()
	j, h := r.job, r.job.host
	d.inFlight--
	if h.active--; h.active == 0 {
		d.busyHosts--
	}
	if r.canceled {
		h.queue.push(j)
		d.list(h, now)
		d.claims.settle(h)
		return
	}
	if busy := (*fetch.BusyError)(nil); errors.As(r.err, &busy) { // nothing was sent
		d.report.Requests--
		heap.Push(&d.delayed, waitingFor[*job]{now.Add(busy.Wait), j})
		d.list(h, now)
		d.claims.settle(h)
		return
	}
	if faultOf(r.err) == noSockets {
		// This machine had no socket for the request: fewer are made at a time from now on. If
		// not even one can be made, the job is left for a later run.
		if d.inFlight > 0 {
			d.opt.Concurrency = min(d.opt.Concurrency, d.inFlight)
			heap.Push(&d.delayed, waitingFor[*job]{now.Add(d.opt.retryDelay), j})
		} else {
			d.leaveOut(j, check.External)
			d.report.Starved++
			d.left--
		}
		d.list(j.host, now)
		d.claims.settle(h)
		return
	}
	if r.response != nil && !d.answered {
		d.answered = true
		d.hear()
	}
	d.adapt(h, &r, now)
	switch step := j.chain.take(&r, h); {
	case step.hold:
		h.held = append(h.held, j)
	case step.again && step.wait > 0:
		heap.Push(&d.delayed, waitingFor[*job]{now.Add(step.wait), j})
	case step.again && step.retry:
		heap.Push(&d.delayed, waitingFor[*job]{now.Add(d.opt.retryDelay), j})
	case step.again:
		// The next address of the chain may be on another host.
		if u, err := weburl.Parse(j.chain.url); err == nil {
			j.host = d.host(hostName(u))
		}
		if j.side != nil {
			d.seek.admit(j, now)
			break
		}
		j.host.queue.pushFirst(j)
		if j.host.turns != nil {
			heap.Fix(j.host.turns, j.host.at)
		}
		d.list(j.host, now)
	default:
		d.judge(j, step.answer, r.response, now)
	}
	held := h.held
	h.held = nil
	for _, x := range held { // until the random address has an answer
		u, _ := weburl.Parse(x.chain.url)
		if random := h.random[originOf(u)]; random != asking {
			d.judge(x, x.chain.compare(random), nil, now)
		} else {
			h.held = append(h.held, x)
		}
	}
	for _, x := range []*host{h, j.host} {
		if x.until.After(now) {
			d.leave(x, check.Blocked)
		}
		d.list(x, now)
		d.claims.settle(x)
	}
}

// silence is a job without an answer, at a time when no host had answered.
type silence struct {
	job    *job
	answer Answer
	at     time.Time
}

// fewHosts is the number of hosts that may all be down at once. If more are silent,
// and no host answers, it is this machine that has no connection.
const fewHosts = 2

// hear judges the jobs without an answer, because now a host has answered.
func (d *dispatcher) hear() {
	for _, s := range d.silent {
		d.record(s.job, s.answer, s.at)
	}
	d.silent = nil
}

// endSilence decides about the jobs without an answer, if no host answered at all.
func (d *dispatcher) endSilence() {
	hosts := map[*host]bool{}
	for _, s := range d.silent {
		hosts[s.job.host] = true
	}
	if len(hosts) <= fewHosts {
		d.hear()
		return
	}
	d.report.Silent = len(d.silent)
}

// judge ends a job. resp is the last response, if there is one.
func (d *dispatcher) judge(j *job, a Answer, resp *fetch.Response, now time.Time) {
	if j.side != nil {
		d.seek.end(j, a, resp, now)
	} else if what := effects[a.Fault]; !d.answered && a.Status == 0 && (what == gone || what == failing) {
		d.silent = append(d.silent, silence{j, a, now})
	} else {
		d.record(j, a, now)
	}
	j.chain = nil
	d.left--
	if d.opt.Progress != nil && (d.left == 0 || now.Sub(d.told) >= tellEvery) {
		d.told = now
		d.opt.Progress(Progress{Done: d.total - d.left, Total: d.total, Hosts: d.busyHosts, Left: d.estimate(now)})
	}
}

// tellEvery is the shortest time between two calls of [Options.Progress]. Each looks at
// all hosts.
const tellEvery = 100 * time.Millisecond

// estimate returns the time to the end: what is left at the speed so far, but at least
// what the pace of the host with the longest queue needs.
func (d *dispatcher) estimate(now time.Time) time.Duration {
	left := time.Duration(float64(now.Sub(d.begin)) / float64(max(d.total-d.left, 1)) * float64(d.left))
	for _, h := range d.hosts {
		left = max(left, time.Duration(h.queue.len)*h.interval)
	}
	return left
}

// record keeps what the answer of a job means.
func (d *dispatcher) record(j *job, a Answer, now time.Time) {
	u, _ := weburl.Parse(j.url)
	name := hostName(u)
	p := d.host(name).policy
	p.NewIsDead = p.NewIsDead || d.opt.OnlyNew
	before := d.known(j)
	// Times count from the beginning of the run; a pause counts from now.
	if a.RetryAfter > maxWait {
		a.RetryAfter += seconds(now).Sub(seconds(d.started))
	}
	after := Judge(before, a, d.started, p)
	if !after.Next.IsZero() && after.Next.After(j.host.until) {
		j.host.until = after.Next
	}
	if a.Status == 304 {
		d.report.Unchanged++
	}
	d.cache.Put(after)
	switch dead := check.DeadLink; {
	case after.Code == dead && before.Code != dead:
		d.report.Died = append(d.report.Died, j.url)
	case before.Code == dead && after.Reason == "":
		d.report.Recovered = append(d.report.Recovered, j.url)
	}
	d.count(name, &after)
}

// spacing returns the time between the starts of two requests to a host.
func (h *host) spacing() time.Duration {
	if h.pace <= 0 {
		return h.interval
	}
	return max(h.interval, min(max(h.pace, h.latency), slowest))
}

// adapt sets the pace of a host by its answer: as slow as its answers are, twice as
// slow after 429 and 503, and back after eight other answers.
func (d *dispatcher) adapt(h *host, r *result, now time.Time) {
	if h.latency == 0 {
		h.latency = r.took
	}
	h.latency += (r.took - h.latency) / 4
	if r.response == nil {
		return
	}
	if s := r.response.Status; s == 429 || s == 503 {
		h.good = 0
		h.interval = min(max(2*h.spacing(), time.Second/2), slowest)
		h.ready = now.Add(h.interval)
	} else if h.good++; h.good >= 8 {
		h.good = 0
		h.interval /= 2
	}
	if pause := pauseOf(r.response, now); now.Add(pause).After(h.ready) {
		h.ready = now.Add(pause)
	}
}

// queue is a list of jobs.
type queue struct {
	first, last *job
	len         int
}

func (q *queue) push(j *job) {
	if q.last == nil {
		q.first = j
	} else {
		q.last.next = j
	}
	q.last = j
	q.len++
}

// pushFirst puts a job before the others.
func (q *queue) pushFirst(j *job) {
	if j.next = q.first; q.last == nil {
		q.last = j
	}
	q.first = j
	q.len++
}

// pop takes the first job. It returns nil if the queue is empty.
func (q *queue) pop() *job {
	j := q.first
	if j == nil {
		return nil
	}
	if q.first, j.next = j.next, nil; q.first == nil {
		q.last = nil
	}
	q.len--
	return j
}

// turns is a heap of hosts. First come hosts with a next job that has begun, because its
// answer is lost if the run is killed before its end. Then come the hosts with the fewest
// requests. So no host falls behind another by more than what is in flight.
type turns []*host

func (t turns) Len() int { return len(t) }
func (t turns) Less(i, j int) bool {
	a, b := t[i], t[j]
	if a.hasBegun() != b.hasBegun() {
		return a.hasBegun()
	}
	return a.started < b.started || a.started == b.started && a.order < b.order
}
func (t turns) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].at, t[j].at = i, j
}
func (t *turns) Push(x any) {
	h := x.(*host)
	h.at = len(*t)
	*t = append(*t, h)
}
func (t *turns) Pop() any {
	n := len(*t) - 1
	h := (*t)[n]
	(*t)[n] = nil
	*t = (*t)[:n]
	return h
}

// hasBegun reports whether the next job of a host has begun.
func (h *host) hasBegun() bool { return h.queue.first != nil && h.queue.first.chain != nil }

// timed is a heap of what has to wait until a time.
type timed[T any] []waitingFor[T]

type waitingFor[T any] struct {
	at   time.Time
	what T
}

func (w timed[T]) Len() int           { return len(w) }
func (w timed[T]) Less(i, j int) bool { return w[i].at.Before(w[j].at) }
func (w timed[T]) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *timed[T]) Push(x any)        { *w = append(*w, x.(waitingFor[T])) }
func (w *timed[T]) Pop() any {
	n := len(*w) - 1
	x := (*w)[n]
	*w = (*w)[:n]
	return x
}
