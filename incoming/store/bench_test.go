package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// benchmarkRecord measures durable notices per second from 64 callers while verification
// runs, the slowest hundredth of the calls, and the rate of a loop that inserts as many
// mentions in as many durable transactions.
func benchmarkRecord(b *testing.B, open func(testing.TB, Options) *Store) {
	s := open(b, Options{Worker: true})
	ctx, cancel := context.WithCancel(context.Background())
	var verified, next atomic.Int64
	done := make(chan error, 1)
	go func() {
		done <- s.Work(ctx, func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
			verified.Add(1)
			return func(m *incoming.Mention) { m.State = incoming.Held }, nil
		})
	}()
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var callers sync.WaitGroup
	b.ResetTimer()
	begin := time.Now()
	for range 64 {
		callers.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				key, m := notice(int(n), fmt.Sprintf("https://our.example/articles/%d/", n%1000))
				at := time.Now()
				err := s.Record(ctx, []incoming.Key{key}, func([]*incoming.Mention) ([]*incoming.Mention, error) { return []*incoming.Mention{m}, nil })
				mu.Lock()
				took, failed = append(took, time.Since(at)), errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	b.StopTimer()
	elapsed, commits := time.Since(begin), int(s.commits.Load())
	cancel()
	testkit.Check(b, errors.Join(failed, <-done))
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "notices/s")
	b.ReportMetric(float64(b.N)/float64(commits), "notices/commit")
	b.ReportMetric(float64(verified.Load())/elapsed.Seconds(), "verified/s")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")

	var rows []*row
	for n := range b.N {
		key, m := notice(b.N+n+1, "https://our.example/")
		rows = append(rows, &row{Mention: *m, id: s.idOf(key), source: key.Source, target: key.Target})
	}
	begin = time.Now()
	for some := range slices.Chunk(rows, b.N/commits+1) {
		tx, end, err := s.begin(b.Context(), true)
		testkit.Check(b, err)
		_, err = s.insert(b.Context(), tx, some, "NOTHING")
		testkit.Check(b, errors.Join(err, tx.Commit()))
		end()
	}
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "bare-inserts/s")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkRecordSQLite(b *testing.B) {
	benchmarkRecord(b, fileOpener(filepath.Join(b.TempDir(), "mentions.db")))
}
