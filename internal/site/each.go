package site

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each runs n numbered tasks through workers that each have a reader, the low numbers
// first. jobs limits the workers; 0 stands for as many as there are processors. start is
// called once for each worker, from one goroutine, and returns what handles a task. The
// first error ends all workers, and so does the end of ctx.
func (s *Site) Each(ctx context.Context, jobs, n int, start func(r *Reader) func(i int) error) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(jobs, (n+batch-1)/batch) {
		r := s.NewReader()
		handle := start(r)
		workers.Go(func() {
			defer r.Close()
			for ctx.Err() == nil {
				first := int(next.Add(batch)) - batch
				if first >= n {
					return
				}
				for i := first; i < min(first+batch, n) && ctx.Err() == nil; i++ {
					if err := handle(i); err != nil {
						cancel(err)
						return
					}
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
