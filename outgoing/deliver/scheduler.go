package deliver

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// job is a notice that a run has claimed.
type job struct {
	notice ledger.Notice
	runs   int // attempts in this run
}

// queue has the jobs of one host or of one source page. One worker at a time has
// it.
type queue struct {
	name    string
	jobs    []*job
	ready   time.Time // when the next job may start
	taken   bool      // a worker has it
	queued  bool      // it is in the heap
	fetches int       // of a source: how often it was fetched
	since   time.Time // of a source: when it was first waited for
	silent  int       // of a host: notices in a row without a response
}

// scheduler distributes the work. It belongs to the goroutine of run; workers get
// a job and send back a result.
type scheduler struct {
	*delivery
	report *Report

	hosts, sources map[string]*queue
	readyHosts     queueHeap
	readySources   queueHeap
	livePages      map[string]sourcePage // sources that were ready for all their notices
	pending        int                   // jobs in queues and with workers
	claimedAll     bool

	results  chan jobResult
	fetched  chan sourceResult
	busy     int // workers with a job
	fetching int // workers with a source
	progress Progress
}

type sourceResult struct {
	source *queue
	page   sourcePage
}

// sourceWorkers is how many source pages are fetched in parallel. The site's own
// host should not be overloaded either.
const sourceWorkers = 4

// maxSilent is the number of notices in a row without a response after which the
// rest for a host is left to a later run.
const maxSilent = 3

func newScheduler(d *delivery) *scheduler {
	return &scheduler{
		delivery: d, report: &Report{}, hosts: map[string]*queue{}, sources: map[string]*queue{}, livePages: map[string]sourcePage{},
		results: make(chan jobResult), fetched: make(chan sourceResult),
	}
}

func (s *scheduler) run(ctx context.Context) (*Report, error) {
	// When the store fails, no further notices are begun.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var failure error
	fail := func(err error) {
		if failure == nil && err != nil {
			failure = err
			stop(err)
		}
	}
	jobs, sources := make(chan *job), make(chan *queue)
	for range s.opt.Hosts {
		go func() {
			for j := range jobs {
				s.results <- s.work(ctx, j)
			}
		}()
	}
	for range sourceWorkers {
		go func() {
			for q := range sources {
				s.fetched <- sourceResult{q, s.fetchSource(ctx, q.name)}
			}
		}()
	}
	defer close(jobs)
	defer close(sources)

	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if ctx.Err() == nil {
			fail(s.refill(ctx))
		}
		if ctx.Err() == nil {
			// Idle workers get jobs.
			now := time.Now()
			for s.busy < s.opt.Hosts && s.readyHosts.due(now) {
				q := s.readyHosts.pop()
				j := q.jobs[0]
				q.jobs = q.jobs[1:]
				s.busy++
				jobs <- j
			}
			for s.fetching < sourceWorkers && s.readySources.due(now) {
				q := s.readySources.pop()
				s.fetching++
				sources <- q
			}
		}
		if s.busy == 0 && s.fetching == 0 && (ctx.Err() != nil || s.pending == 0) {
			break
		}
		stopped := ctx.Done()
		if ctx.Err() != nil {
			stopped = nil // wait for the notices in flight
		}
		// The timer ends when a queue becomes ready.
		next := time.Hour
		now := time.Now()
		if len(s.readyHosts) > 0 && s.busy < s.opt.Hosts {
			next = min(next, s.readyHosts[0].ready.Sub(now))
		}
		if len(s.readySources) > 0 && s.fetching < sourceWorkers {
			next = min(next, s.readySources[0].ready.Sub(now))
		}
		timer.Reset(max(next, 0))
		select {
		case r := <-s.results:
			s.busy--
			fail(s.handleResult(r))
		case r := <-s.fetched:
			s.fetching--
			fail(s.handleSource(ctx, r))
		case <-timer.C:
		case <-stopped:
		}
		s.reportProgress()
	}
	s.report.NotTried = s.pending
	if err := ctx.Err(); err != nil {
		s.report.Stopped = err.Error()
	}
	s.report.sort()
	return s.report, failure
}

// refill claims more notices when less than half of the window is pending.
func (s *scheduler) refill(ctx context.Context) error {
	if s.claimedAll || s.pending > s.opt.Window/2 {
		return nil
	}
	want := s.opt.Window - s.pending
	notices, err := s.store.Claim(ctx, time.Now(), want)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	s.claimedAll = len(notices) < want
	for _, n := range notices {
		s.add(n)
	}
	s.reportProgress()
	return nil
}

// add puts a notice into the queue of its source, or into that of its host if the
// source is known to be live.
func (s *scheduler) add(n ledger.Notice) {
	s.pending++
	s.progress.Claimed++
	j := &job{notice: n}
	if s.opt.Sources == nil {
		s.toHost(j)
		return
	}
	if p, ok := s.livePages[n.Source]; ok && p.ready(&n) == nil {
		s.toHost(j)
		return
	}
	q := s.sources[n.Source]
	if q == nil {
		q = &queue{name: n.Source, since: time.Now()}
		s.sources[n.Source] = q
		s.progress.Waiting++
	}
	q.jobs = append(q.jobs, j)
	s.readySources.push(q)
}

func (s *scheduler) toHost(j *job) {
	name := hostOf(j.notice.Target)
	q := s.hosts[name]
	if q == nil {
		q = &queue{name: name}
		s.hosts[name] = q
	}
	q.jobs = append(q.jobs, j)
	s.readyHosts.push(q)
}

// handleResult handles the result of a job.
func (s *scheduler) handleResult(r jobResult) error {
	q := s.hosts[hostOf(r.job.notice.Target)]
	now := time.Now()
	q.taken, q.ready = false, now.Add(r.pause)
	if r.err != nil || r.notTried {
		return r.err // the job stays pending and counts as not tried
	}
	if r.noResponse {
		q.silent++
	} else {
		q.silent = 0
	}
	for _, n := range r.additional {
		s.pending++
		s.progress.Claimed++
		q.jobs = append(q.jobs, &job{notice: n})
	}
	n := r.done.Notice
	again := n.State == ledger.Retry && r.job.runs < 2 && r.namedTime && n.Next.Sub(now) <= s.opt.MaxWait
	if again {
		// The target named a time that this run can wait for.
		r.job.runs++
		r.job.notice = n
		q.ready = n.Next
		q.jobs = append([]*job{r.job}, q.jobs...)
	} else {
		s.finished(r.done)
	}
	var err error
	switch {
	case r.pause > s.opt.MaxWait:
		err = s.postponeAll(q, now, r.pause, q.name+" asked to wait")
	case q.silent >= maxSilent:
		err = s.postponeAll(q, now, retryDelays[1], fmt.Sprintf("%s did not answer %d times in a row", q.name, q.silent))
	}
	if len(q.jobs) > 0 {
		s.readyHosts.push(q)
	} else if !q.ready.After(now) {
		delete(s.hosts, q.name)
	}
	return err
}

// postponeAll leaves the jobs of a host to a later run.
func (s *scheduler) postponeAll(q *queue, now time.Time, wait time.Duration, why string) error {
	jobs := q.jobs
	q.jobs = nil
	for i, j := range jobs {
		done, err := s.postpone(j.notice, now.Add(wait), why)
		if err != nil {
			q.jobs = jobs[i:]
			return err
		}
		s.finished(done)
	}
	return nil
}

// handleSource handles the result of fetching a source page.
func (s *scheduler) handleSource(ctx context.Context, r sourceResult) error {
	q := r.source
	q.taken = false
	q.fetches++
	now := time.Now()
	late := s.opt.Live.Deadline < 0 || now.Sub(q.since) >= s.opt.Live.Deadline || r.page.refused()
	if ctx.Err() != nil {
		late = false // the run ends before the deadline of the page
	}
	waiting := q.jobs[:0:0]
	for i, j := range q.jobs {
		err := r.page.ready(&j.notice)
		switch {
		case err == nil:
			s.toHost(j)
		case late:
			done, err := s.sourceNotLive(j.notice, now, err)
			if err != nil {
				q.jobs = append(waiting, q.jobs[i:]...)
				return err
			}
			s.finished(done)
		default:
			waiting = append(waiting, j)
		}
	}
	q.jobs = waiting
	if len(waiting) > 0 {
		s.progress.WaitingFor = fmt.Sprintf("%s: %v", q.name, r.page.ready(&waiting[0].notice))
		q.ready = now.Add(min(time.Second<<min(q.fetches-1, 5), 30*time.Second))
		if s.opt.Live.Deadline > 0 {
			if end := q.since.Add(s.opt.Live.Deadline); q.ready.After(end) {
				q.ready = end
			}
		}
		s.readySources.push(q)
		return nil
	}
	delete(s.sources, q.name)
	s.progress.Waiting--
	if r.page.err == nil {
		s.livePages[q.name] = r.page
	}
	return nil
}

func (s *scheduler) finished(d Outcome) {
	s.pending--
	s.progress.Finished++
	if d.Failed() {
		s.progress.Failed++
	}
	s.report.Results = append(s.report.Results, d)
}

func (s *scheduler) reportProgress() {
	if s.opt.Progress != nil {
		s.opt.Progress(s.progress)
	}
}

// queueHeap is a heap of queues, ordered by the time when they are ready, then by
// name. The exported methods are those of [heap.Interface].
type queueHeap []*queue

func (t queueHeap) due(now time.Time) bool { return len(t) > 0 && !t[0].ready.After(now) }

// push adds a queue, unless a worker has it or it is in the heap already. The
// ready time of a queue in the heap does not change.
func (t *queueHeap) push(q *queue) {
	if !q.taken && !q.queued {
		q.queued = true
		heap.Push(t, q)
	}
}

func (t *queueHeap) pop() *queue {
	q := heap.Pop(t).(*queue)
	q.queued, q.taken = false, true
	return q
}

func (t queueHeap) Len() int { return len(t) }
func (t queueHeap) Less(i, j int) bool {
	if !t[i].ready.Equal(t[j].ready) {
		return t[i].ready.Before(t[j].ready)
	}
	return t[i].name < t[j].name
}
func (t queueHeap) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *queueHeap) Push(x any)   { *t = append(*t, x.(*queue)) }
func (t *queueHeap) Pop() any {
	old := *t
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return q
}
