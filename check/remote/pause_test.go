package remote

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
)

// A long Retry-After blocks the host, in later runs too; a short one is waited for.
func TestAskRetryAfter(t *testing.T) {
	w := newWeb(t, site)
	c := memory(t)
	opt := quick()
	opt.PerHost = 1
	opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
	report := ask(t, c, opt, links(w.URL+"/later", w.URL+"/plain"))
	if log := w.take(); !slices.Equal(log, []string{"GET /later"}) {
		t.Errorf("log %q", log)
	}
	if r, _ := report.Of(w.URL + "/later"); brief(r) != "unchecked blocked" || r.Next.Sub(r.Asked) != time.Hour {
		t.Errorf("%+v", r)
	}
	if _, code := report.Of(w.URL + "/plain"); code != check.Blocked {
		t.Errorf("code %q", code)
	}
	ask(t, c, opt, links(w.URL+"/later", w.URL+"/plain", w.URL+"/page"))
	report = ask(t, c, opt, links(w.URL+"/page")) // which does not know the link that was answered so
	if log := w.take(); len(log) > 0 {
		t.Errorf("log of later runs %q", log)
	}
	if _, code := report.Of(w.URL + "/page"); code != check.Blocked || report.Blocked["127.0.0.1"] != 1 {
		t.Errorf("code %q, blocked %v", code, report.Blocked)
	}
}

// A run does not wait for the pace of a host that it will not ask again.
func TestAskRetryLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := quick()
		opt.Pace = 20 * time.Second
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Status: 429, Header: http.Header{"Retry-After": {"31"}}}, nil
		}
		c, begin := memory(t), time.Now()
		if report := ask(t, c, opt, manyLinks(3, 1)); report.Requests != 1 || time.Since(begin) != 0 {
			t.Errorf("%d requests in %v", report.Requests, time.Since(begin))
		}
	})
}

// A daily job asks every day for what is due every day, although its runs take hours and
// begin a few minutes earlier or later: a 404 is dead in the second run.
func TestAskDaily(t *testing.T) {
	t.Parallel() // it waits most of the time
	synctest.Test(t, func(t *testing.T) {
		const n = 4
		c := memory(t)
		opt := quick()
		opt.Pace, opt.PerHost = time.Hour, 1
		opt.exchange = func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
			status := 200
			if hostOf(r.URL) > 0 {
				status = 404
			}
			return &fetch.Response{Status: status}, nil
		}
		day := 24 * time.Hour
		begin := time.Now()
		for run, late := range []time.Duration{0, -5 * time.Minute, time.Minute, 0} {
			opt.Policy = func(string) Policy { return Policy{Interval: day, MaxAge: day} }
			if run == 1 {
				opt.Policy = nil // doubtful links are due after a day by default too
			}
			time.Sleep(time.Until(begin.Add(time.Duration(run)*day + late)))
			report := ask(t, c, opt, manyLinks(2*n, 2))
			want := []int{3 * n, 2 * n, 3 * n, 3 * n}[run] // a 404 is asked for twice
			if report.Requests != want || len(report.Died) != []int{0, n, 0, 0}[run] {
				t.Errorf("run %d: %d requests, want %d; died %q", run, report.Requests, want, report.Died)
			}
		}
		// A pause counts from the answer.
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			time.Sleep(20 * time.Second)
			return &fetch.Response{Status: 429, Header: http.Header{"Retry-After": {"60"}}}, nil
		}
		begin = seconds(time.Now())
		ask(t, c, opt, []Target{{URL: "https://host9.example/"}})
		if r := c.Get("https://host9.example/"); !r.Asked.Equal(begin) || !r.Next.Equal(begin.Add(80*time.Second)) {
			t.Errorf("after a pause: %+v", r)
		}
	})
}

// A short Retry-After is waited for, up to three times, and a 429 without one is tried
// again.
func TestAskRetrySoon(t *testing.T) {
	for _, c := range []struct {
		status          int
		retryAfter      string
		bad, asked      int // answers until the good one, and requests
		least, verdicts string
	}{
		{503, "20", 1, 2, "20s", "ok"},
		{429, "30", 3, 4, "1m30s", "ok"},
		{503, "30", 9, 5, "1m30s", "warning doubtful*"},
		{429, "", 1, 2, "500ms", "ok"},
		{429, "", 9, 2, "500ms", "unchecked blocked"},
	} {
		synctest.Test(t, func(t *testing.T) {
			opt, asked := quick(), 0
			opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
				if asked++; asked <= c.bad {
					return &fetch.Response{Status: c.status, Header: http.Header{"Retry-After": {c.retryAfter}}}, nil
				}
				return &fetch.Response{Status: 200}, nil
			}
			begin := time.Now()
			report := ask(t, memory(t), opt, links("https://busy.example/"))
			least, _ := time.ParseDuration(c.least)
			if r, _ := report.Of("https://busy.example/"); brief(r) != c.verdicts || asked != c.asked || time.Since(begin) < least {
				t.Errorf("%d %q: %s after %v and %d requests", c.status, c.retryAfter, brief(r), time.Since(begin), asked)
			}
		})
	}
}

// A redirect to a host that asked for a pause, in an earlier run, is not followed.
func TestAskRedirectToPause(t *testing.T) {
	c, opt := memory(t), quick()
	c.Put(Judge(Record{URL: "https://b.example/"}, Answer{Status: 429, RetryAfter: time.Hour}, time.Now(), Policy{}))
	var asked []string
	opt.exchange = func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
		asked = append(asked, r.URL)
		return &fetch.Response{Status: 302, Header: http.Header{"Location": {"https://b.example/page"}}}, nil
	}
	report := ask(t, c, opt, links("https://a.example/"))
	if r, code := report.Of("https://a.example/"); r.Known() || code != check.Blocked || !slices.Equal(asked, []string{"https://a.example/"}) {
		t.Errorf("%+v, %q, asked %q", r, code, asked)
	}
}

// LL-106: requests to one host keep their distance, and its limits.
func TestAskPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var starts []time.Time
		active, most := 0, 0
		opt := quick()
		opt.Pace = 50 * time.Millisecond
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			mu.Lock()
			starts = append(starts, time.Now())
			active++
			most = max(most, active)
			mu.Unlock()
			time.Sleep(30 * time.Millisecond)
			mu.Lock()
			active--
			mu.Unlock()
			return &fetch.Response{Status: 200}, nil
		}
		ask(t, memory(t), opt, manyLinks(12, 1))
		for i := range starts[1:] {
			if between := starts[i+1].Sub(starts[i]); between != 50*time.Millisecond {
				t.Errorf("%v between two requests", between)
			}
		}
		opt.Pace, most = -1, 0
		ask(t, memory(t), opt, manyLinks(12, 1))
		if most != 4 {
			t.Errorf("%d requests at once", most)
		}
	})
}

// TestPause: what a host says about the time of the next request.
func TestPause(t *testing.T) {
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status       int
		field, value string
		want         time.Duration
	}{
		{429, "Retry-After", "7", 7 * time.Second},
		{503, "Retry-After", "Mon, 02 Nov 2026 09:00:20 GMT", 20 * time.Second},
		{200, "Retry-After", "7", 0},
		{429, "Retry-After", "31", 0}, // the business of Judge
		{200, "Ratelimit", "limit=10, remaining=0, reset=5", 5 * time.Second},
		{200, "Ratelimit", `"default";r=0;t=9`, 9 * time.Second},
		{200, "Ratelimit", `"default";r=3;t=9`, 0},
		{200, "Ratelimit", `"default";r=0;t=99999999999999999999`, 0},
		{200, "Ratelimit", `"default";r=0;t=600`, 30 * time.Second},
		{200, "Ratelimit", `"default";r=0;t=-1`, 0},
	} {
		h := http.Header{}
		h.Set(c.field, c.value)
		if got := pauseOf(&fetch.Response{Status: c.status, Header: h}, now); got != c.want {
			t.Errorf("%d %s: %s: %v, want %v", c.status, c.field, c.value, got, c.want)
		}
	}
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-"} {
		h := http.Header{}
		h.Set(prefix+"Remaining", "0")
		h.Set(prefix+"Reset", "4")
		if got := pauseOf(&fetch.Response{Status: 200, Header: h}, now); got != 4*time.Second {
			t.Errorf("%s: %v", prefix, got)
		}
	}
}
