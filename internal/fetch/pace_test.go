package fetch

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// visit waits for a turn and keeps it for a while. It returns when the turn came,
// measured from begin.
func visit(p *pacer, begin time.Time, host string, hold time.Duration) time.Duration {
	done, err := p.wait(context.Background(), host)
	if err != nil {
		panic(err)
	}
	defer done()
	at := time.Since(begin)
	time.Sleep(hold)
	return at
}

// LK-52: a thousand calls to one host take a thousand seconds.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin := newPacer(time.Second), time.Now()
		for i, want := range []time.Duration{0, time.Second, 2 * time.Second} {
			if got := visit(p, begin, "a", 0); got != want {
				t.Errorf("request %d at %s, want %s", i, got, want)
			}
		}
		if got := visit(p, begin, "b", 0); got != 2*time.Second {
			t.Errorf("another host has to wait until %s", got)
		}
		// One connection at a time: the next one waits for a long one.
		go visit(p, begin, "c", 5*time.Second)
		synctest.Wait()
		if got := visit(p, begin, "c", 0); got != 7*time.Second {
			t.Errorf("the next request at %s", got)
		}
		from := time.Since(begin)
		for range 1000 {
			visit(p, begin, "d", 0)
		}
		if took := time.Since(begin) - from; took != 999*time.Second {
			t.Errorf("1,000 requests to one host took %s", took)
		}
		// The pace is measured from the start of the last request.
		time.Sleep(time.Minute)
		if got := visit(p, begin, "c", 0); got != 1066*time.Second {
			t.Errorf("after a minute at %s", got)
		}
	})
}

func TestPaceCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin := newPacer(time.Hour), time.Now()
		visit(p, begin, "a", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 { // one waits for the time, two for the turn
			go func() {
				if _, err := p.wait(ctx, "a"); err == nil || time.Since(begin) != time.Minute {
					t.Errorf("got %v after %s", err, time.Since(begin))
				}
			}()
		}
		time.Sleep(2 * time.Minute)
		if got := visit(p, begin, "a", 0); got != time.Hour {
			t.Errorf("callers that gave up kept the turn until %s", got)
		}
	})
}

// Hosts are removed when no request has to wait for them.
func TestPaceMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begin := newPacer(time.Second), time.Now()
		for i := range 20 * firstSweep {
			visit(p, begin, fmt.Sprint(i), time.Millisecond)
		}
		if len(p.hosts) > 3*firstSweep {
			t.Errorf("%d hosts are kept", len(p.hosts))
		}
	})
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0":                              0,
		"120":                            2 * time.Minute,
		" 7 ":                            7 * time.Second,
		"0000000000000000000000000003":   3 * time.Second,
		"99999999999999999999999999999":  maxRetryAfter,
		"Fri, 01 May 2026 12:00:30 GMT":  30 * time.Second,
		"Friday, 01-May-26 12:01:00 GMT": time.Minute,
		"Fri May  1 13:00:00 2026":       time.Hour,
		"Fri, 01 May 2026 11:00:00 GMT":  0,
		"Fri, 01 May 9999 11:00:00 GMT":  maxRetryAfter,
	} {
		got, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon)
		if !ok || got != want {
			t.Errorf("%q: got %s, %v, want %s", value, got, ok, want)
		}
	}
	for _, value := range []string{"", " ", "-1", "+1", "1.5", "1s", "soon", "1, 2", "²"} {
		if got, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon); ok || got != 0 {
			t.Errorf("%q: got %s, %v", value, got, ok)
		}
	}
	if _, ok := RetryAfter(nil, noon); ok {
		t.Error("a value without a field")
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"1", "9223372036854775807", "Fri, 01 May 2026 12:00:30 GMT", "-5", "Fri May  1 13:00:00 2026"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon)
		if got < 0 || got > maxRetryAfter || !ok && got != 0 {
			t.Errorf("%q: got %s, %v", value, got, ok)
		}
		later, ok2 := RetryAfter(http.Header{"Retry-After": {value}}, noon.Add(time.Second))
		if ok2 != ok || later > got || got-later > time.Second {
			t.Errorf("%q: got %s, and %s a second later", value, got, later)
		}
	})
}
