package deliver

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// job is a notice on its way through a run.
type job struct {
	notice ledger.Notice
	runs   int // attempts in this run
}

// queue is what is to be done for one host, or for one source page. One worker
// at a time has it.
type queue struct {
	name   string
	jobs   []*job
	ready  time.Time
	taken  bool // a worker has it
	queued bool // in the heap
	looks  int  // of a source: how often it was fetched
	since  time.Time
	silent int // of a host: notices in a row without an answer
}

// scheduler hands out the work. One goroutine, that of run, owns all of it;
// workers get a job and send back a result.
type scheduler struct {
	*delivery
	report *Report

	hosts, sources map[string]*queue
	hostTurns      turns
	sourceTurns    turns
	lookedAt       map[string]look // sources that were live for all that asked
	held           int             // jobs in queues and with workers
	claimedAll     bool

	results  chan result
	looks    chan lookResult
	busy     int // workers with a job
	looking  int // workers with a source
	progress Progress
}

type lookResult struct {
	source *queue
	look   look
}

// lookers is how many source pages are fetched at once: the site's own host is
// asked gently as well.
const lookers = 4

// maxSilent is after how many notices without an answer a host is left alone.
const maxSilent = 3

func newScheduler(d *delivery) *scheduler {
	return &scheduler{
		delivery: d, report: &Report{}, hosts: map[string]*queue{}, sources: map[string]*queue{}, lookedAt: map[string]look{},
		results: make(chan result), looks: make(chan lookResult),
	}
}

func (s *scheduler) run(ctx context.Context) (*Report, error) {
	// What a failing store leaves behind is not begun.
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
	for range lookers {
		go func() {
			for q := range sources {
				s.looks <- lookResult{q, s.lookAt(ctx, q.name)}
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
			s.dispatch(jobs, sources)
		}
		if s.busy == 0 && s.looking == 0 && (ctx.Err() != nil || s.held == 0) {
			break
		}
		stopped := ctx.Done()
		if ctx.Err() != nil {
			stopped = nil // known; what is in flight comes in
		}
		timer.Reset(s.untilNext())
		select {
		case r := <-s.results:
			s.busy--
			fail(s.took(r))
		case l := <-s.looks:
			s.looking--
			fail(s.looked(ctx, l))
		case <-timer.C:
		case <-stopped:
		}
		s.tell()
	}
	s.report.Left = s.held
	if err := ctx.Err(); err != nil {
		s.report.Stopped = err.Error()
	}
	s.report.sort()
	return s.report, failure
}

// refill claims more when less than half of the window is in hand.
func (s *scheduler) refill(ctx context.Context) error {
	if s.claimedAll || s.held > s.opt.Window/2 {
		return nil
	}
	want := s.opt.Window - s.held
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
	s.tell()
	return nil
}

// add takes a notice in hand: to the queue of its source, or if that is known
// to be live, of its host.
func (s *scheduler) add(n ledger.Notice) {
	s.held++
	s.progress.Claimed++
	j := &job{notice: n}
	if s.opt.Sources == nil {
		s.toHost(j)
		return
	}
	if l, ok := s.lookedAt[n.Source]; ok && l.ready(&n) == nil {
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
	s.sourceTurns.enqueue(q)
}

func (s *scheduler) toHost(j *job) {
	name := hostOf(j.notice.Target)
	q := s.hosts[name]
	if q == nil {
		q = &queue{name: name}
		s.hosts[name] = q
	}
	q.jobs = append(q.jobs, j)
	s.hostTurns.enqueue(q)
}

// dispatch gives work to idle workers.
func (s *scheduler) dispatch(jobs chan<- *job, sources chan<- *queue) {
	now := time.Now()
	for s.busy < s.opt.Hosts && s.hostTurns.due(now) {
		q := s.hostTurns.take()
		j := q.jobs[0]
		q.jobs = q.jobs[1:]
		s.busy++
		jobs <- j
	}
	for s.looking < lookers && s.sourceTurns.due(now) {
		q := s.sourceTurns.take()
		s.looking++
		sources <- q
	}
}

// untilNext is how long nothing becomes due by itself.
func (s *scheduler) untilNext() time.Duration {
	next := time.Hour
	now := time.Now()
	if len(s.hostTurns) > 0 && s.busy < s.opt.Hosts {
		next = min(next, s.hostTurns[0].ready.Sub(now))
	}
	if len(s.sourceTurns) > 0 && s.looking < lookers {
		next = min(next, s.sourceTurns[0].ready.Sub(now))
	}
	return max(next, 0)
}

// took takes the result of a job.
func (s *scheduler) took(r result) error {
	q := s.hosts[hostOf(r.job.notice.Target)]
	now := time.Now()
	q.taken, q.ready = false, now.Add(r.pause)
	if r.err != nil || r.untried {
		return r.err // it stays in hand, and counts as left
	}
	if r.noAnswer {
		q.silent++
	} else {
		q.silent = 0
	}
	for _, n := range r.more {
		s.held++
		s.progress.Claimed++
		q.jobs = append(q.jobs, &job{notice: n})
	}
	n := r.done.Notice
	again := n.State == ledger.Retry && r.job.runs < 2 && r.named && n.Next.Sub(now) <= s.opt.Patience
	if again {
		// The target said when: this run can wait for it.
		r.job.runs++
		r.job.notice = n
		q.ready = n.Next
		q.jobs = append([]*job{r.job}, q.jobs...)
	} else {
		s.finished(r.done)
	}
	var err error
	switch {
	case r.pause > s.opt.Patience:
		err = s.postponeAll(q, now, r.pause, q.name+" asks to wait")
	case q.silent >= maxSilent:
		err = s.postponeAll(q, now, schedule[1], fmt.Sprintf("%s did not answer %d times in a row", q.name, q.silent))
	}
	if len(q.jobs) > 0 {
		s.hostTurns.enqueue(q)
	} else if !q.ready.After(now) {
		delete(s.hosts, q.name)
	}
	return err
}

// postponeAll leaves what waits for a host to a later run.
func (s *scheduler) postponeAll(q *queue, now time.Time, wait time.Duration, why string) error {
	jobs := q.jobs
	q.jobs = nil
	for i, j := range jobs {
		done, err := s.leave(j.notice, now.Add(wait), why)
		if err != nil {
			q.jobs = jobs[i:]
			return err
		}
		s.finished(done)
	}
	return nil
}

// looked takes what was found of a source page.
func (s *scheduler) looked(ctx context.Context, l lookResult) error {
	q := l.source
	q.taken = false
	q.looks++
	now := time.Now()
	late := s.opt.Live.Deadline < 0 || now.Sub(q.since) >= s.opt.Live.Deadline
	if ctx.Err() != nil {
		late = false // the run ends, and the page had no chance
	}
	waiting := q.jobs[:0:0]
	for i, j := range q.jobs {
		err := l.look.ready(&j.notice)
		switch {
		case err == nil:
			s.toHost(j)
		case late:
			done, err := s.postpone(j.notice, now, err.Error())
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
		q.ready = now.Add(nextLook(q.looks - 1))
		if s.opt.Live.Deadline > 0 {
			if end := q.since.Add(s.opt.Live.Deadline); q.ready.After(end) {
				q.ready = end
			}
		}
		s.sourceTurns.enqueue(q)
		return nil
	}
	delete(s.sources, q.name)
	s.progress.Waiting--
	if l.look.err == nil {
		s.lookedAt[q.name] = l.look
	}
	return nil
}

func (s *scheduler) finished(d Delivered) {
	s.held--
	s.progress.Finished++
	if d.Failed() {
		s.progress.Failed++
	}
	s.report.Notices = append(s.report.Notices, d)
}

func (s *scheduler) tell() {
	if s.opt.Progress != nil {
		s.opt.Progress(s.progress)
	}
}

// turns is a heap of queues by the time when they are ready, then by name.
type turns []*queue

func (t turns) due(now time.Time) bool { return len(t) > 0 && !t[0].ready.After(now) }

// enqueue puts a queue in, unless a worker has it or it is there already: a
// queue in the heap keeps its time.
func (t *turns) enqueue(q *queue) {
	if !q.taken && !q.queued {
		q.queued = true
		heap.Push(t, q)
	}
}

func (t *turns) take() *queue {
	q := heap.Pop(t).(*queue)
	q.queued, q.taken = false, true
	return q
}

func (t turns) Len() int { return len(t) }
func (t turns) Less(i, j int) bool {
	if !t[i].ready.Equal(t[j].ready) {
		return t[i].ready.Before(t[j].ready)
	}
	return t[i].name < t[j].name
}
func (t turns) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(x any)   { *t = append(*t, x.(*queue)) }
func (t *turns) Pop() any {
	old := *t
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return q
}
