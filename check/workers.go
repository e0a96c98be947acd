package check

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	isite "github.com/sitelink/sitelink/internal/site"
)

// readersWith runs n tasks through workers that each have a reader of the docroot, which
// must be there. start is called once for each worker and returns what handles a task.
func readersWith(ctx context.Context, s *isite.Site, opt Options, n int, start func(r *isite.Reader) func(i int) error) error {
	return s.Each(ctx, opt.Jobs, n, func(r *isite.Reader) func(int) error {
		handle := start(r)
		return func(i int) error {
			if err := r.Open(); err != nil {
				return err
			}
			return handle(i)
		}
	})
}

// readers is readersWith for workers that need only the reader.
func readers(ctx context.Context, s *isite.Site, opt Options, n int, task func(r *isite.Reader, i int) error) error {
	return readersWith(ctx, s, opt, n, func(r *isite.Reader) func(int) error {
		return func(i int) error { return task(r, i) }
	})
}

// sequence emits what workers make for numbered tasks, in any order, in the
// order of the numbers. The window bounds how far a worker may run ahead, and so
// the memory.
type sequence[E any] struct {
	mu    sync.Mutex
	moved *sync.Cond // next or err has changed
	emit  func([]E) error
	next  int
	ready map[int][]E
	free  [][]E // buffers for reuse
	much  int   // elements that take a MiB
	err   error
}

// window is the number of tasks that may be ahead of the next one.
const window = 64

// maxFree is the capacity above which a buffer is not kept for reuse.
const maxFree = 1 << 20

func newSequence[E any](emit func([]E) error) *sequence[E] {
	q := &sequence[E]{emit: emit, ready: map[int][]E{}, much: 1 << 20 / int(reflect.TypeFor[E]().Size())}
	q.moved = sync.NewCond(&q.mu)
	return q
}

// buffer waits until number i is near its turn and returns an empty buffer.
func (q *sequence[E]) buffer(ctx context.Context, i int) ([]E, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && i >= q.next+window && ctx.Err() == nil {
		q.moved.Wait()
	}
	if err := cmp.Or(q.err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		return b[:0], nil
	}
	return nil, nil
}

// spill emits a part of what is made for number i, if that is much and as soon as it is
// its turn: one page may have a million links.
func (q *sequence[E]) spill(ctx context.Context, i int, b []E) ([]E, error) {
	if len(b) < q.much {
		return b, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && i != q.next && ctx.Err() == nil {
		q.moved.Wait()
	}
	if err := cmp.Or(q.err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	q.err = q.emit(b)
	return b[:0], q.err
}

// wake lets waiting workers see that the work was cancelled.
func (q *sequence[E]) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.moved.Broadcast()
}

// put takes what was made for number i, and emits all that is due.
func (q *sequence[E]) put(i int, b []E) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready[i] = b
	for q.err == nil {
		b, ok := q.ready[q.next]
		if !ok {
			break
		}
		if len(b) > 0 {
			q.err = q.emit(b)
		}
		delete(q.ready, q.next)
		if cap(b) <= maxFree {
			q.free = append(q.free, b)
		}
		q.next++
	}
	q.moved.Broadcast()
	return q.err
}
