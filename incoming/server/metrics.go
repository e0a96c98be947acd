package server

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// countsAge is how long /metrics and /healthz reuse the counts of the store.
// They may be public, and counting a large store takes time.
const countsAge = 5 * time.Second

// healthTimeout is the time that the store has to answer /healthz.
const healthTimeout = 3 * time.Second

// verificationBuckets are the upper limits of the histogram, in seconds.
var verificationBuckets = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// metrics are the counters that /metrics shows. All labels come from fixed sets, so
// strangers cannot make them grow.
type metrics struct {
	mu       sync.Mutex
	samples  map[string]uint64 // by name with labels, as in requests_total{endpoint="page",status="200"}
	seconds  float64           // of verifications
	logged   time.Time         // when a failure of the store was logged
	unlogged uint64            // failures since

	counts    map[incoming.State]int64
	countsErr error
	counted   time.Time
}

func (m *metrics) count(sample string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples[sample]++
}

func (m *metrics) request(endpoint string, status int) {
	m.count(fmt.Sprintf("requests_total{endpoint=%q,status=\"%d\"}", endpoint, status))
}

// failurePause is the time between two lines of the log about a failing store. It fails
// for each notice, and the log must not fill a disk that is full already.
const failurePause = 10 * time.Second

// storeFailed counts a failure of the store, and logs the first one of some seconds.
func (s *Server) storeFailed(text string, err error) {
	m := &s.metrics
	now := s.opt.Now()
	m.mu.Lock()
	m.samples["store_errors_total"]++
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
	m.samples[fmt.Sprintf("verifications_total{state=%q}", state)]++
	m.samples["verification_seconds_count"]++
	m.seconds += took.Seconds()
	for _, limit := range verificationBuckets {
		if took.Seconds() <= limit {
			m.samples[bucket(limit)]++
		}
	}
}

func bucket(limit float64) string {
	return fmt.Sprintf("verification_seconds_bucket{le=\"%g\"}", limit)
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
	family := func(name, kind, help string) {
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
	}
	sample := func(name string, value any) { fmt.Fprintf(out, "%s %v\n", name, value) }
	counter := func(name, help string, always ...string) {
		family("sitelink_"+name, "counter", help)
		for _, n := range always {
			m.samples[n] += 0 // shown before it happens
		}
		for _, key := range slices.Sorted(maps.Keys(m.samples)) {
			if strings.HasPrefix(key, name) {
				sample("sitelink_"+key, m.samples[key])
			}
		}
	}
	counter("requests_total", "Requests by endpoint and status.")
	counter("notices_total", "Notices by protocol and outcome.")
	counter("store_errors_total", "Requests that failed because of the store.", "store_errors_total")

	family("sitelink_verification_seconds", "histogram", "Duration of verifications.")
	for _, limit := range verificationBuckets {
		sample("sitelink_"+bucket(limit), m.samples[bucket(limit)])
	}
	total := m.samples["verification_seconds_count"]
	sample(`sitelink_verification_seconds_bucket{le="+Inf"}`, total)
	sample("sitelink_verification_seconds_sum", m.seconds)
	sample("sitelink_verification_seconds_count", total)
	var states []string
	for _, state := range incoming.States {
		states = append(states, fmt.Sprintf("verifications_total{state=%q}", state))
	}
	counter("verifications_total", "Verifications by the state afterwards.", states...)

	up := 1
	if countsErr != nil {
		up = 0
	}
	family("sitelink_store_up", "gauge", "1 if the store answers.")
	sample("sitelink_store_up", up)
	if counts != nil {
		family("sitelink_mentions", "gauge", "Mentions by state; queued ones wait to be verified.")
		for _, state := range incoming.States {
			sample(fmt.Sprintf("sitelink_mentions{state=%q}", state), counts[state])
		}
	}

	// What shows a leak, under the names that the client library of Prometheus gives to it.
	family("go_goroutines", "gauge", "Goroutines of the process.")
	sample("go_goroutines", runtime.NumGoroutine())
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if runtimemetrics.Read(live); live[0].Value.Kind() == runtimemetrics.KindUint64 {
		family("go_gc_heap_live_bytes", "gauge", "Heap in use after the last garbage collection.")
		sample("go_gc_heap_live_bytes", live[0].Value.Uint64())
	}
}
