package check

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	isite "github.com/sitelink/sitelink/internal/site"
)

// batch pages are taken by a worker at a time.
const batch = 32

func jobs(opt Options, pages int) int {
	n := opt.Jobs
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(1, min(n, (pages+batch-1)/batch))
}

// eachPage runs the pages of a site through workers. start is called once for
// each worker, from one goroutine, and returns what handles a page.
func eachPage(ctx context.Context, s *isite.Site, workers int, start func(worker int) func(isite.PageID) error) error {
	return eachTask(ctx, s.Pages(), workers, func(w int) (func(int) error, func(), error) {
		handle := start(w)
		return func(i int) error { return handle(isite.PageID(i)) }, func() {}, nil
	})
}

// eachTask runs n numbered tasks through workers, the low numbers first.
// start is called once for each worker, from one goroutine; it returns what
// handles a task and what is called when the worker ends. The first error
// ends all, and so does the end of ctx.
func eachTask(ctx context.Context, n, workers int, start func(worker int) (func(int) error, func(), error)) error {
	type worker struct {
		handle func(int) error
		end    func()
	}
	crew := make([]worker, 0, workers)
	for w := range workers {
		handle, end, err := start(w)
		if err != nil {
			for _, c := range crew {
				c.end()
			}
			return err
		}
		crew = append(crew, worker{handle, end})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, c := range crew {
		wg.Go(func() {
			defer c.end()
			for ctx.Err() == nil {
				first := int(next.Add(batch)) - batch
				if first >= n {
					return
				}
				for i := first; i < min(first+batch, n) && ctx.Err() == nil; i++ {
					if err := c.handle(i); err != nil {
						cancel(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
