//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sitelink/sitelink/incoming"
)

// callers is the number of concurrent callers in the benchmarks.
const callers = 64

// newNotice returns a mention like those of a busy site: 1,000 pages, 50,000 hosts.
func newNotice(n int64) (incoming.Key, *incoming.Mention) {
	source := fmt.Sprintf("https://blog%d.example/posts/2026/11/a-longer-title-of-a-post-%d/", n*2654435761%50000, n)
	target := fmt.Sprintf("https://our.example/articles/another-title-%d/", n*40503%1000)
	return incoming.Key{Action: incoming.Link, Source: source, Target: target},
		&incoming.Mention{Protocol: incoming.Webmention, Source: source, Target: target, State: incoming.Queued, Received: start, Due: start}
}

// load lets the callers do something n times, each at its time if rate is not 0, and
// returns the times that it took, sorted. Each caller has a function of its own.
func load(n int, rate float64, caller func() (func(i int64) error, error)) (took []time.Duration, elapsed time.Duration, err error) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	begin := time.Now()
	for range callers {
		do, failed := caller()
		wg.Go(func() {
			var mine []time.Duration
			for failed == nil {
				i := next.Add(1) - 1
				if i >= int64(n) {
					break
				}
				at := time.Now()
				if rate > 0 {
					at = begin.Add(time.Duration(float64(i) / rate * float64(time.Second)))
					time.Sleep(time.Until(at))
				}
				failed = do(i)
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			took, err = append(took, mine...), errors.Join(err, failed)
		})
	}
	wg.Wait()
	elapsed = time.Since(begin)
	slices.Sort(took)
	return took, elapsed, err
}

func cpuTime() int64 {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return r.Utime.Nano() + r.Stime.Nano()
}

// bare is the loop that the store is compared with: it joins concurrent calls as the
// store does, appends them to a file, and syncs it.
func bare(b *testing.B) func(text string) error {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	type call struct {
		text string
		done chan error
	}
	calls := make(chan call, maxBatch)
	go func() {
		defer f.Close()
		for first := range calls {
			all := []call{first}
			for more := true; more && len(all) < maxBatch; {
				select {
				case c, ok := <-calls:
					if more = ok; ok {
						all = append(all, c)
					}
				default:
					more = false
				}
			}
			var text strings.Builder
			for _, c := range all {
				text.WriteString(c.text)
			}
			_, err := f.WriteString(text.String())
			if err == nil {
				err = f.Sync()
			}
			for _, c := range all {
				c.done <- err
			}
		}
	}()
	b.Cleanup(func() { close(calls) })
	return func(text string) error {
		c := call{text, make(chan error, 1)}
		calls <- c
		return <-c.done
	}
}

func recordOne(s *Store, i int64) error {
	key, m := newNotice(i)
	return s.Record(context.Background(), []incoming.Key{key}, func(all []*incoming.Mention) ([]*incoming.Mention, error) {
		if all[0] != nil {
			return nil, nil
		}
		return []*incoming.Mention{m}, nil
	})
}

// benchmarkRecord measures durable notices per second while verification runs, next
// to two bare loops: one appends as much text with as many syncs, the other inserts as
// many mentions in as many durable transactions. It also measures the slowest hundredth
// of the calls at half the target, next to those of the first loop.
func benchmarkRecord(b *testing.B, target float64, open func(Options) *Store) {
	runtime.GOMAXPROCS(2)
	s := open(Options{Worker: true})
	ctx, cancel := context.WithCancel(context.Background())
	var verified atomic.Int64
	done := make(chan error, 1)
	go func() {
		done <- s.Work(ctx, func(context.Context, incoming.Mention) (func(*incoming.Mention), error) {
			verified.Add(1)
			return func(m *incoming.Mention) { m.State = incoming.Held }, nil
		})
	}()
	n := b.N
	b.ResetTimer()
	cpu := cpuTime()
	_, took, err := load(n, 0, func() (func(int64) error, error) { return func(i int64) error { return recordOne(s, i) }, nil })
	check(b, err)
	b.StopTimer()
	commits := s.commits.Load()
	b.ReportMetric(float64(cpuTime()-cpu)/1e3/float64(n), "cpu-µs/notice")
	rate := float64(n) / took.Seconds()
	b.ReportMetric(rate, "notices/s")
	b.ReportMetric(float64(verified.Load())/took.Seconds(), "verified/s")
	half, _, err := load(n/2, target/2, func() (func(int64) error, error) {
		return func(i int64) error { return recordOne(s, i+int64(n)) }, nil
	})
	check(b, err)
	if len(half) > 0 {
		b.ReportMetric(half[len(half)*99/100].Seconds()*1e3, "p99-ms-at-half-target")
	}
	file := bare(b)
	text := func(i int64) string {
		key, _ := newNotice(i)
		return fmt.Sprintf("%s %s\n", key.Source, key.Target)
	}
	halfBare, _, err := load(n/2, target/2, func() (func(int64) error, error) { return func(i int64) error { return file(text(i)) }, nil })
	check(b, err)
	if len(halfBare) > 0 {
		b.ReportMetric(halfBare[len(halfBare)*99/100].Seconds()*1e3, "bare-p99-ms-at-half-target")
	}
	begin := time.Now()
	for i := range commits {
		if err := file(strings.Repeat(text(i), n/int(commits)+1)); err != nil {
			b.Fatal(err)
		}
	}
	took = time.Since(begin)
	b.ReportMetric(float64(n)/float64(commits), "notices/commit")
	b.ReportMetric(float64(n)/took.Seconds(), "bare/s")
	b.ReportMetric(rate*took.Seconds()/float64(n), "ratio-to-bare")
	b.ReportMetric(0, "ns/op")
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
	reportInserts(b, s, commits, rate)
}

// reportInserts compares a rate with that of a loop that inserts as many mentions in
// as many durable transactions.
func reportInserts(b *testing.B, s *Store, commits int64, rate float64) {
	bare := bareInserts(b, s, b.N, int(commits))
	b.ReportMetric(bare, "bare-inserts/s")
	b.ReportMetric(rate/bare, "ratio-to-inserts")
}

// bareInserts returns how many new mentions one loop inserts per second, without
// callers, jobs and results, in as many transactions.
func bareInserts(b *testing.B, s *Store, n, commits int) float64 {
	size := n/commits + 1
	begin := time.Now()
	for i := 0; i < n; i += size {
		var rows []*row
		for j := i; j < min(i+size, n); j++ {
			key, m := newNotice(int64(j + 10*n))
			rows = append(rows, &row{Mention: *m, id: s.idOf(key), source: key.Source, target: key.Target})
		}
		tx, end, err := s.begin(b.Context(), true)
		check(b, err)
		_, err = s.insert(b.Context(), fast{tx, s.prepared}, rows, doNothing)
		check(b, err)
		check(b, tx.Commit())
		end()
	}
	return float64(n) / time.Since(begin).Seconds()
}

// openFor returns a function that opens a store until the benchmark ends.
func openFor(b *testing.B, address string) func(Options) *Store {
	return func(opt Options) *Store {
		s, err := Open(b.Context(), address, opt)
		check(b, err)
		b.Cleanup(func() { s.Close() })
		return s
	}
}

func BenchmarkRecordSQLite(b *testing.B) {
	benchmarkRecord(b, 5000, openFor(b, filepath.Join(b.TempDir(), "mentions.db")))
}

// BenchmarkMemory fills a file with a million mentions, and measures the memory of
// another process that opens it, looks mentions up, and records notices.
func BenchmarkMemory(b *testing.B) {
	const mentions = 1_000_000
	name := filepath.Join(b.TempDir(), "mentions.db")
	s, err := Open(b.Context(), name, Options{})
	check(b, err)
	check(b, s.prepare(b.Context()))
	for n := int64(0); n < mentions; n += 4096 {
		tx, end, err := s.begin(b.Context(), false)
		check(b, err)
		var rows []*row
		for i := n; i < min(n+4096, mentions); i++ {
			key, m := newNotice(i)
			m.State, m.Due = incoming.States[i%int64(len(incoming.States))], time.Time{}
			m.Title, m.Excerpt = "A title of some length", strings.Repeat("Some words of the page. ", 8)
			rows = append(rows, &row{Mention: *m, id: s.idOf(key), source: key.Source, target: key.Target})
		}
		_, err = s.insert(b.Context(), fast{tx, s.prepared}, rows, doNothing)
		check(b, err)
		check(b, tx.Commit())
		end()
	}
	check(b, s.Close())
	info, err := os.Stat(name)
	check(b, err)
	self, err := os.Executable()
	check(b, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childAddress+"="+name, childLookups+"=20000")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(b, err)
	var peak, took float64
	if _, err := fmt.Sscan(string(out), &peak, &took); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.ReportMetric(peak, "peak-RSS-MB")
	b.ReportMetric(took, "µs/lookup")
	b.ReportMetric(float64(info.Size())/1e6, "file-MB")
	b.ReportMetric(0, "ns/op")
}

// lookups uses a store of a million mentions as a receiver does, and prints the peak
// of the process' memory in MB, and the microseconds of a lookup.
func lookups(address string, count int) error {
	ctx := context.Background()
	s, err := Open(ctx, address, Options{Worker: true})
	if err != nil {
		return err
	}
	defer s.Close()
	begin := time.Now()
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := range count / 8 {
				key, _ := newNotice(int64(i*8+c) * 7919 % 1_000_000)
				if _, e := s.Mention(ctx, s.idOf(key).String()); e != nil {
					err = e
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	for i := range int64(count / 8) {
		if e := recordOne(s, i*997); e != nil {
			err = e
		}
	}
	for range s.List(ctx, incoming.Filter{States: []incoming.State{incoming.Approved}, Limit: 50000}) {
	}
	if _, e := s.Counts(ctx); e != nil {
		err = e
	}
	fmt.Println(peakMB(), took.Seconds()*1e6/float64(count))
	return err
}

// peakMB returns the most resident memory that this process has had.
func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	fmt.Sscan(after, &kib)
	return kib * 1024 / 1e6
}
