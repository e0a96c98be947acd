package server

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// countsAge is the time for which /metrics and /healthz use the counts of the
// store again: they may be public, and counting a large store takes time.
const countsAge = 5 * time.Second

// healthTimeout is the time that the store has to answer /healthz.
const healthTimeout = 3 * time.Second

// verificationBuckets are the upper limits of the histogram, in seconds.
var verificationBuckets = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// metrics are the counters that /metrics shows. All labels come from fixed sets, so
// strangers cannot make them grow.
type metrics struct {
	mu            sync.Mutex
	requests      map[[2]string]uint64 // endpoint, status
	notices       map[[2]string]uint64 // protocol, outcome
	storeErrors   uint64
	logged        time.Time         // when a failure of the store was logged
	unlogged      uint64            // failures since
	verifications map[string]uint64 // by state
	buckets       []uint64          // cumulative
	seconds       float64

	counts    map[incoming.State]int64
	countsErr error
	counted   time.Time
}

func (m *metrics) init() {
	m.requests = map[[2]string]uint64{}
	m.notices = map[[2]string]uint64{}
	m.verifications = map[string]uint64{}
	m.buckets = make([]uint64, len(verificationBuckets))
}

func (m *metrics) request(endpoint string, status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[[2]string{endpoint, fmt.Sprint(status)}]++
}

func (m *metrics) notice(p incoming.Protocol, o incoming.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notices[[2]string{string(p), string(o)}]++
}

// failurePause is the time between two lines of the log about a failing store. It fails
// for each notice, and the log must not fill a disk that is full already.
const failurePause = 10 * time.Second

// storeFailed counts a failure of the store, and logs the first one of some seconds.
func (s *Server) storeFailed(text string, err error) {
	m := &s.metrics
	now := s.opt.Now()
	m.mu.Lock()
	m.storeErrors++
	m.unlogged++
	age, n := now.Sub(m.logged), m.unlogged
	quiet := age >= 0 && age < failurePause
	if !quiet {
		m.logged, m.unlogged = now, 0
	}
	m.mu.Unlock()
	if !quiet {
		s.log.Error(text, "error", err, "failures", n)
	}
}

// ObserveVerification counts one verification for /metrics: the state of the
// mention afterwards, and the time that it took.
func (s *Server) ObserveVerification(state incoming.State, took time.Duration) {
	m := &s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verifications[string(state)]++
	m.seconds += took.Seconds()
	for i, limit := range verificationBuckets {
		if took.Seconds() <= limit {
			m.buckets[i]++
		}
	}
}

// isOperation reports whether a request is for /healthz or /metrics.
func (s *Server) isOperation(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/metrics"
}

func (s *Server) serveOperation(w http.ResponseWriter, r *http.Request) {
	const allow = "GET, HEAD, OPTIONS"
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.Method == http.MethodOptions:
		s.options(w, allow)
	case !s.allowed(w, r, allow):
	case r.URL.Path == "/healthz":
		if _, err := s.storeCounts(r.Context()); err != nil {
			s.plain(w, "healthz", http.StatusServiceUnavailable, "The store does not answer.")
			return
		}
		s.plain(w, "healthz", http.StatusOK, "ok")
	default:
		counts, err := s.storeCounts(r.Context())
		s.metrics.request("metrics", http.StatusOK)
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		out := bufio.NewWriter(w)
		s.metrics.write(out, counts, err)
		_ = out.Flush()
	}
}

// storeCounts returns the number of mentions by state, which may be some seconds
// old. Without a store, there is no error and there are no counts.
func (s *Server) storeCounts(ctx context.Context) (map[incoming.State]int64, error) {
	if s.opt.Mentions == nil {
		return nil, nil
	}
	m := &s.metrics
	now := s.opt.Now()
	m.mu.Lock()
	counts, err, age := m.counts, m.countsErr, now.Sub(m.counted)
	if age >= 0 && age < countsAge {
		m.mu.Unlock()
		return counts, err
	}
	m.counted = now // others use the old counts meanwhile
	m.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	counts, err = s.opt.Mentions.Counts(ctx)
	m.mu.Lock()
	m.counts, m.countsErr = counts, err
	m.mu.Unlock()
	if err != nil {
		s.storeFailed("mentions were not counted", err)
	}
	return counts, err
}

// write writes the text format of Prometheus, sorted.
func (m *metrics) write(out *bufio.Writer, counts map[incoming.State]int64, countsErr error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family(out, "sitelink_requests_total", "counter", "Requests by endpoint and status.")
	pairs(out, "sitelink_requests_total", [2]string{"endpoint", "status"}, m.requests)
	family(out, "sitelink_notices_total", "counter", "Notices by protocol and outcome.")
	pairs(out, "sitelink_notices_total", [2]string{"protocol", "outcome"}, m.notices)
	family(out, "sitelink_store_errors_total", "counter", "Requests that failed because of the store.")
	fmt.Fprintf(out, "sitelink_store_errors_total %d\n", m.storeErrors)

	family(out, "sitelink_verification_seconds", "histogram", "Duration of verifications.")
	total := uint64(0)
	for _, n := range m.verifications {
		total += n
	}
	for i, limit := range verificationBuckets {
		fmt.Fprintf(out, "sitelink_verification_seconds_bucket{le=\"%g\"} %d\n", limit, m.buckets[i])
	}
	fmt.Fprintf(out, "sitelink_verification_seconds_bucket{le=\"+Inf\"} %d\n", total)
	fmt.Fprintf(out, "sitelink_verification_seconds_sum %g\nsitelink_verification_seconds_count %d\n", m.seconds, total)
	family(out, "sitelink_verifications_total", "counter", "Verifications by the state afterwards.")
	for _, state := range incoming.States {
		fmt.Fprintf(out, "sitelink_verifications_total{state=%q} %d\n", state, m.verifications[string(state)])
	}

	up := 1
	if countsErr != nil {
		up = 0
	}
	family(out, "sitelink_store_up", "gauge", "1 if the store answers.")
	fmt.Fprintf(out, "sitelink_store_up %d\n", up)
	if counts != nil {
		family(out, "sitelink_mentions", "gauge", "Mentions by state; queued ones wait to be verified.")
		for _, state := range incoming.States {
			fmt.Fprintf(out, "sitelink_mentions{state=%q} %d\n", state, counts[state])
		}
	}
	writeProcess(out)
}

// writeProcess writes what shows a leak, under the names that the client library of
// Prometheus gives to it.
func writeProcess(out *bufio.Writer) {
	family(out, "go_goroutines", "gauge", "Goroutines of the process.")
	fmt.Fprintf(out, "go_goroutines %d\n", runtime.NumGoroutine())
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if runtimemetrics.Read(live); live[0].Value.Kind() == runtimemetrics.KindUint64 {
		family(out, "go_gc_heap_live_bytes", "gauge", "Heap in use after the last garbage collection.")
		fmt.Fprintf(out, "go_gc_heap_live_bytes %d\n", live[0].Value.Uint64())
	}
}

func family(out *bufio.Writer, name, kind, help string) {
	fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func pairs(out *bufio.Writer, name string, labels [2]string, values map[[2]string]uint64) {
	var keys [][2]string
	for key := range values {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	for _, key := range keys {
		fmt.Fprintf(out, "%s{%s=%q,%s=%q} %d\n", name, labels[0], key[0], labels[1], key[1], values[key])
	}
}
