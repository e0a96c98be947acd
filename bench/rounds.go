package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// entry is one row of a comparison and the samples taken for it.
type entry struct {
	label   string
	program program
	samples []sample
	failure string
}

// rounds runs the entries A B C A B C ..., so that whatever else the machine
// does falls on all of them. An entry that fails or exceeds limit is not run
// again.
func rounds(ctx context.Context, entries []*entry, runs int, limit time.Duration, progress io.Writer) error {
	for round := range runs {
		for _, e := range entries {
			if e.failure != "" {
				continue
			}
			s, err := e.program.measure(ctx, limit)
			if err != nil {
				return err
			}
			fmt.Fprintf(progress, "round %d/%d: %-34s %8ss %s\n", round+1, runs, e.label, seconds(s.Wall), s.Failure)
			e.failure = s.Failure
			if s.Failure == "" || s.TimedOut {
				e.samples = append(e.samples, s)
			}
		}
	}
	return nil
}

func (e *entry) ok() bool { return e.failure == "" && len(e.samples) > 0 }

// timedOut reports whether the only figure of an entry is "longer than the
// limit".
func (e *entry) timedOut() bool {
	return len(e.samples) > 0 && e.samples[len(e.samples)-1].TimedOut
}

func (e *entry) minWall() time.Duration    { return slices.Min(pick(e, wallOf)) }
func (e *entry) medianWall() time.Duration { return median(pick(e, wallOf)) }
func (e *entry) medianCPU() time.Duration {
	return median(pick(e, func(s sample) time.Duration { return s.User + s.Sys }))
}
func (e *entry) peakRSS() int64 {
	return slices.Max(pick(e, func(s sample) int64 { return s.PeakRSS }))
}

func wallOf(s sample) time.Duration { return s.Wall }

func pick[T any](e *entry, f func(sample) T) []T {
	list := make([]T, len(e.samples))
	for i, s := range e.samples {
		list[i] = f(s)
	}
	return list
}

// median returns the middle of list, or the mean of the middle two.
func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	mid := len(list) / 2
	if len(list)%2 == 1 {
		return list[mid]
	}
	return (list[mid-1] + list[mid]) / 2
}
