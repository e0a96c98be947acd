package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/sitelink/sitelink/incoming"
)

const (
	queue = "sitelink"
	// maxAttempts is the most that River can count. A job is never discarded,
	// because the mentions with its claim would be forgotten.
	maxAttempts = 32767
	// jobTimeout limits a job. takeover is how long after its start another process
	// takes it over: its process has ended, or has lost the database.
	jobTimeout = 15 * time.Second
	takeover   = 20 * time.Second
	// maxBegun is how often a job is begun without an end before its mentions are
	// postponed: looking at one of them may end the process.
	maxBegun = 5
	// slotWait limits how long a job waits for others to end, so that its last
	// mention has enough time left.
	slotWait = 3 * time.Second
	// manyWaiting is how many changes have to wait for the disk before a job gives way
	// to them, giveWayPause how long it waits before it asks again, and giveWayTries
	// how often: with 32 jobs, at least 320 looks per second begin.
	manyWaiting  = 16
	giveWayPause = 5 * time.Millisecond
	giveWayTries = 20
	// stopTimeout limits how long Work waits for the running jobs when it ends.
	stopTimeout = 5 * time.Second
	// expireEvery is the time between two looks for mentions to delete.
	expireEvery = time.Hour
	// maxDue limits how many mentions the schedule queues at a time, and maxWaiting
	// how many jobs may wait before it does.
	maxDue, maxWaiting = 512, 128
)

// backoffs are the times after which verify is called again when it has failed.
var backoffs = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// verifyArgs are the arguments of a job: the mentions to verify. A mention with
// another claim was verified already, or was given to another job.
type verifyArgs struct {
	Claim int64    `json:"claim"`
	IDs   []string `json:"ids"`
}

// Kind names the jobs in the database.
func (verifyArgs) Kind() string { return "sitelink_verify" }

// retries repeats a job that could not read or write the database.
type retries struct{}

func (retries) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(time.Duration(min(len(job.Errors)+1, 30)) * time.Second)
}

// Work implements [incoming.Store]. The store must have been opened with
// [Options.Worker], and Work is called once. ctx of verify ends after 15 seconds.
//
// While verify runs, another call may change the mention. The change applies to the
// mention as it is then, with Due zero: set Due to the time of the next look. If
// verify fails, it is called again after a minute at first, later after up to 6 hours.
func (s *Store) Work(ctx context.Context, verify func(context.Context, incoming.Mention) (func(*incoming.Mention), error)) error {
	switch {
	case !s.opt.Worker:
		return s.fail("verify", errors.New("the store was opened without Options.Worker"))
	case !s.working.CompareAndSwap(false, true):
		return s.fail("verify", errors.New("this process does so already"))
	}
	w := &worker{s, verify, make(chan struct{}, s.opt.Parallel)}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(w.work))
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	client, err := s.startJobs(running, workers)
	for err != nil { // the server may be restarting
		s.opt.Log.Warn(s.fail("verify", err).Error())
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(s.tick):
		}
		client, err = s.startJobs(running, workers)
	}
	s.schedule(ctx)
	soft, stop := context.WithTimeout(running, stopTimeout)
	defer stop()
	if client.Stop(soft) != nil {
		hard, stop := context.WithTimeout(running, stopTimeout)
		defer stop()
		err = client.StopAndCancel(hard)
	}
	return s.fail("stop verifying", err)
}

// startJobs starts the workers.
func (s *Store) startJobs(ctx context.Context, workers *river.Workers) (*river.Client[*sql.Tx], error) {
	client, err := river.NewClient(s.driver, s.jobsConfig(workers))
	if err != nil {
		return nil, err
	}
	return client, client.Start(ctx)
}

func (s *Store) jobsConfig(workers *river.Workers) *river.Config {
	config := &river.Config{
		Queues:  map[string]river.QueueConfig{queue: {MaxWorkers: s.opt.Parallel}},
		Workers: workers, Logger: s.opt.Log, RetryPolicy: retries{},
		JobTimeout: jobTimeout, RescueStuckJobsAfter: takeover,
		FetchCooldown: min(50*time.Millisecond, s.tick/5), FetchPollInterval: s.tick / 5, PollOnly: true,
	}
	if !s.postgres {
		// At midnight, River would rebuild indexes that only its tables in PostgreSQL have,
		// and log an error for each.
		config.ReindexerSchedule = river.NeverSchedule()
	}
	return config
}

// driver is River's driver, except that a job that has ended is deleted at once.
// River would keep it as completed, with a statement of its own for each job in one
// long transaction, and delete thousands of them later in another: those who wait
// for an answer would wait for that as well.
type driver struct {
	riverdriver.Driver[*sql.Tx]
	store *Store
}

func (d driver) GetExecutor() riverdriver.Executor {
	return executor{d.Driver.GetExecutor(), d.store}
}

type executor struct {
	riverdriver.Executor
	store *Store
}

// JobSetStateIfRunningMany writes how jobs have ended. It returns no rows of completed
// jobs: River passes them to subscribers, and there are none.
func (e executor) JobSetStateIfRunningMany(ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams) ([]*rivertype.JobRow, error) {
	var completed []int64
	rest := *p
	rest.ID, rest.Attempt, rest.ErrData, rest.FinalizedAt, rest.MetadataDoMerge, rest.MetadataUpdates, rest.ScheduledAt, rest.State = nil, nil, nil, nil, nil, nil, nil, nil
	for i, state := range p.State {
		if state == rivertype.JobStateCompleted {
			completed = append(completed, p.ID[i])
			continue
		}
		rest.ID, rest.Attempt, rest.ErrData, rest.FinalizedAt = append(rest.ID, p.ID[i]), append(rest.Attempt, p.Attempt[i]), append(rest.ErrData, p.ErrData[i]), append(rest.FinalizedAt, p.FinalizedAt[i])
		rest.MetadataDoMerge, rest.MetadataUpdates = append(rest.MetadataDoMerge, p.MetadataDoMerge[i]), append(rest.MetadataUpdates, p.MetadataUpdates[i])
		rest.ScheduledAt, rest.State = append(rest.ScheduledAt, p.ScheduledAt[i]), append(rest.State, state)
	}
	for some := range chunks(completed) {
		args := make([]any, len(some))
		for i, n := range some {
			args[i] = n
		}
		if _, err := e.store.exec(ctx, e.store.writer, "DELETE FROM river_job WHERE id IN ("+marks(len(some))+") AND state = 'running'", args...); err != nil {
			return nil, err
		}
	}
	if len(rest.ID) == 0 {
		return nil, nil
	}
	return e.Executor.JobSetStateIfRunningMany(ctx, &rest)
}

// worker verifies the mentions of jobs.
type worker struct {
	*Store
	verify func(context.Context, incoming.Mention) (func(*incoming.Mention), error)
	slots  chan struct{} // one for each mention that is verified at the same time
}

// work verifies the mentions of a job that still have its claim. Each result is
// written when it is there, so that another process that takes the job over
// repeats only those without one.
func (w *worker) work(ctx context.Context, job *river.Job[verifyArgs]) error {
	var ids []id
	for _, text := range job.Args.IDs {
		if i, ok := parseID(text); ok {
			ids = append(ids, i)
		}
	}
	found, err := w.load(ctx, w.readers, ids, "")
	if err != nil {
		return w.fail("read", err)
	}
	full := time.NewTimer(slotWait)
	defer full.Stop()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for _, i := range ids {
		r := found[i]
		if r == nil || r.claim != job.Args.Claim {
			continue
		}
		if job.Attempt > maxBegun {
			failed = append(failed, w.finish(ctx, r, nil, errors.New("the process ended each time")))
			continue
		}
		w.giveWay(ctx)
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			failed = append(failed, ctx.Err())
			continue
		case <-full.C:
			wg.Wait()
			return river.JobSnooze(time.Second)
		}
		wg.Go(func() {
			defer func() { <-w.slots }()
			if err := w.look(ctx, r); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

// giveWay lets those go first who wait for an answer, if there are many: a look takes
// more of the processor than an answer. It does not wait for long, so that looks go on
// whatever the load.
func (w *worker) giveWay(ctx context.Context) {
	for range giveWayTries {
		if w.waiting.Load() < manyWaiting {
			return
		}
		select {
		case <-time.After(giveWayPause):
		case <-ctx.Done():
			return
		}
	}
}

// look verifies one mention and writes the result. An error means that there is no
// result yet.
func (w *worker) look(ctx context.Context, r *row) error {
	change, failed := w.call(ctx, r.Mention)
	if failed != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err() // this process ends
	}
	return w.finish(ctx, r, change, failed)
}

// finish writes the result of a look: the change, or the time of the next try.
func (w *worker) finish(ctx context.Context, r *row, change func(*incoming.Mention), failed error) error {
	if failed != nil {
		w.opt.Log.Warn("verification failed", "mention", r.ID, "error", failed)
	}
	// A result is written even if the time of the job is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	return w.do(ctx, []id{r.id}, false, func(b *batch) error {
		now := b.get(r.id)
		if now == nil || now.looks != r.looks {
			return nil // another process was faster
		}
		if failed != nil {
			now.Due = b.now.Add(backoffs[min(now.tries, len(backoffs)-1)])
			now.tries++
		} else {
			now.Due = time.Time{}
			change(&now.Mention)
			now.ID = r.ID
			now.looks++
			now.tries = 0
		}
		b.put(now)
		return nil
	})
}

// call calls verify. A panic counts as a failure.
func (w *worker) call(ctx context.Context, m incoming.Mention) (change func(*incoming.Mention), err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	change, err = w.verify(ctx, m)
	if err == nil && change == nil {
		change = func(*incoming.Mention) {}
	}
	return change, err
}

// schedule queues mentions when they are due, until ctx ends. All processes do it:
// a row that one of them has locked is skipped by the others.
func (s *Store) schedule(ctx context.Context) {
	ticker := time.NewTicker(s.tick)
	defer ticker.Stop()
	var expired time.Time
	for {
		err := s.queueDue(ctx)
		if now := s.opt.Now(); err == nil && s.opt.Retain > 0 && now.Sub(expired) >= expireEvery {
			_, err = s.Expire(ctx, now.Add(-s.opt.Retain))
			expired = now
		}
		if err == nil && s.postgres {
			_, err = s.exec(ctx, s.writer, `UPDATE river_job SET state = 'available'
				WHERE state = 'running' AND queue = ? AND attempted_at < now() - make_interval(secs => ?)`, queue, takeover.Seconds())
		}
		if err != nil && ctx.Err() == nil {
			s.opt.Log.Warn(s.fail("schedule", err).Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// queueDue adds jobs for mentions that are due.
func (s *Store) queueDue(ctx context.Context) error {
	var some int
	now := micros(s.opt.Now())
	err := s.queryRow(ctx, s.readers, `SELECT count(*) FROM (SELECT 1 FROM sitelink_mention WHERE claim = 0 AND due > 0 AND due <= ? LIMIT 1) AS due
		WHERE (SELECT count(*) FROM (SELECT 1 FROM river_job WHERE state = 'available' AND queue = ? LIMIT ?) AS waiting) < ?`,
		now, queue, maxWaiting, maxWaiting).Scan(&some)
	if err != nil || some == 0 {
		return err
	}
	tx, end, err := s.begin(ctx, false)
	if err != nil {
		return err
	}
	defer end()
	suffix := ""
	if s.postgres {
		suffix = " FOR UPDATE SKIP LOCKED"
	}
	due, err := collect(s.query(ctx, tx, "SELECT "+columns+" FROM sitelink_mention WHERE claim = 0 AND due > 0 AND due <= ? ORDER BY due LIMIT ?"+suffix, now, maxDue))
	if err != nil || len(due) == 0 {
		return err
	}
	slices.SortStableFunc(due, func(a, b *row) int { return min(b.tries, 1) - min(a.tries, 1) }) // those that are alone in a job first
	jobs := claim(due, 2)
	for _, j := range jobs {
		args := j.Args.(verifyArgs)
		values := []any{args.Claim}
		for _, text := range args.IDs {
			i, _ := parseID(text)
			values = append(values, i[:])
		}
		if _, err := s.exec(ctx, tx, "UPDATE sitelink_mention SET claim = ? WHERE id IN ("+marks(len(args.IDs))+")", values...); err != nil {
			return err
		}
	}
	if _, err := s.jobs.InsertManyFastTx(ctx, tx, jobs); err != nil {
		return err
	}
	return tx.Commit()
}
