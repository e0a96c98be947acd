package remote

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
)

// sim is a web of simulated hosts: what it does not list is 404.
type sim struct {
	pages map[string]string // body by URL, or "-> URL" for a permanent and "~> URL" for a temporary redirect, or a status
	mu    sync.Mutex
	log   []string
	wait  string // Retry-After of 429
}

func (s *sim) exchange(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	s.mu.Lock()
	s.log = append(s.log, r.Method+" "+r.URL)
	page, ok := s.pages[r.URL]
	wait := s.wait
	s.mu.Unlock()
	resp := &fetch.Response{Status: 200, URL: r.URL, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(page)}
	var status int
	switch {
	case !ok:
		resp.Status, resp.Body = 404, nil
	case strings.HasPrefix(page, "-> "):
		resp.Status = 301
		resp.Header.Set("Location", page[3:])
	case strings.HasPrefix(page, "~> "):
		resp.Status = 302
		resp.Header.Set("Location", page[3:])
	case page == "silent":
		return nil, &fetch.Error{URL: r.URL, Kind: fetch.Connect}
	default:
		if n, _ := fmt.Sscanf(page, "%3d", &status); n == 1 {
			resp.Status = status
		}
		if status == 429 {
			resp.Header.Set("Retry-After", wait)
		}
	}
	if r.MaxBody > 0 && int64(len(resp.Body)) > r.MaxBody {
		resp.Body, resp.Truncated = resp.Body[:r.MaxBody], true
	}
	return resp, nil
}

// take returns the requests so far, sorted, and forgets them.
func (s *sim) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	slices.Sort(log)
	return slices.Compact(log) // failures are tried twice
}

// quick are options without pauses that ask these hosts.
func (s *sim) quick() Options {
	opt := quick()
	opt.exchange = s.exchange
	return opt
}

// dying are options under which one failure makes a link dead.
func (s *sim) dying() Options {
	opt := s.quick()
	opt.Policy = func(string) Policy { return Policy{Strikes: 1, Interval: 1} }
	return opt
}

func TestProbe(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, c := range []struct {
		name, url string
		pages     map[string]string
		want      string
		asked     string // what is requested beside the link, without GET
	}{
		{"https of a good link", "http://a.example/p", map[string]string{"http://a.example/p": "<title>Page</title>", "https://a.example/p": "<title>Page</title>"},
			"https://a.example/p", "https://a.example/p https://a.example/robots.txt"},
		{"another page by https", "http://a.example/p", map[string]string{"http://a.example/p": "<title>Page</title>", "https://a.example/p": "<title>Welcome to nginx</title>"},
			"", "https://a.example/p https://a.example/robots.txt"},
		{"https leads back", "http://a.example/p", map[string]string{"http://a.example/p": "x", "https://a.example/p": "-> http://a.example/p"},
			"", "http://a.example/p http://a.example/robots.txt https://a.example/p https://a.example/robots.txt"},
		{"a good https link", "https://a.example/p", map[string]string{"https://a.example/p": "x", "https://a.example/p/": "x"}, "", ""},
		{"a moved link", "http://a.example/p", map[string]string{"http://a.example/p": "-> https://a.example/p", "https://a.example/p": "x"}, "", ""},
		{"the usual port", "http://a.example:80/p", map[string]string{"http://a.example:80/p": "<title>Page</title>", "https://a.example/p": "<title>Page</title>"},
			"https://a.example/p", "https://a.example/p https://a.example/robots.txt"},
		{"another port", "http://a.example:8080/p.html", map[string]string{"http://a.example:8080/p.html": "x"}, "", ""},
		{"with slash", "https://b.a.example/p?q=1", map[string]string{"https://b.a.example/p/?q=1": "x"},
			"https://b.a.example/p/?q=1", "https://b.a.example/p/?q=1 https://b.a.example/robots.txt"},
		{"without slash", "https://www.a.example/p/", map[string]string{"https://www.a.example/p": "x"},
			"https://www.a.example/p", "https://www.a.example/p https://www.a.example/robots.txt"},
		{"with www", "https://a.example/p.html", map[string]string{"https://www.a.example/p.html": "x"},
			"https://www.a.example/p.html", "https://www.a.example/p.html https://www.a.example/robots.txt"},
		{"without www", "https://www.a.example/p.html", map[string]string{"https://a.example/p.html": "x"},
			"https://a.example/p.html", "https://a.example/p.html https://a.example/robots.txt"},
		{"moved variant", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "-> https://c.a.example/new", "https://c.a.example/new": "x"},
			"https://c.a.example/new", "https://b.a.example/p/ https://b.a.example/robots.txt https://c.a.example/new https://c.a.example/robots.txt"},
		{"variant leads home", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "-> https://b.a.example/", "https://b.a.example/": "home"},
			"", "https://b.a.example/ https://b.a.example/p/ https://b.a.example/robots.txt"},
		{"variant leads elsewhere", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "~> https://b.a.example/q", "https://b.a.example/q": "x"},
			"", "https://b.a.example/p/ https://b.a.example/q https://b.a.example/robots.txt"},
		{"variant leads to its copy", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "~> https://c.a.example/p", "https://c.a.example/p": "x"},
			"https://b.a.example/p/", "https://b.a.example/p/ https://b.a.example/robots.txt https://c.a.example/p https://c.a.example/robots.txt"},
		{"soft 404", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "<title>Page not found</title>"},
			"", "https://b.a.example/p/ https://b.a.example/robots.txt"},
		{"all of a dead link", "http://a.example/p", map[string]string{}, "",
			"http://a.example/p/ http://a.example/robots.txt http://www.a.example/p http://www.a.example/robots.txt https://a.example/p https://a.example/robots.txt"},
		{"robots.txt refuses", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "x", "https://b.a.example/robots.txt": "User-agent: *\nDisallow: /p/"},
			"", "https://b.a.example/robots.txt"},
		{"robots.txt of a redirect refuses", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "-> https://c.a.example/new", "https://c.a.example/new": "x",
			"https://c.a.example/robots.txt": "User-agent: sitelink\nDisallow: /"}, "", "https://b.a.example/p/ https://b.a.example/robots.txt https://c.a.example/robots.txt"},
		{"robots.txt moved", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "x", "https://b.a.example/robots.txt": "-> https://c.a.example/r",
			"https://c.a.example/r": "User-agent: *\nDisallow: /p"}, "", "https://b.a.example/robots.txt https://c.a.example/r"},
		{"robots.txt fails", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "x", "https://b.a.example/robots.txt": "503"},
			"", "https://b.a.example/robots.txt"},
		{"robots.txt is silent", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "x", "https://b.a.example/robots.txt": "silent"},
			"", "https://b.a.example/robots.txt"},
		{"robots.txt is forbidden", "https://b.a.example/p", map[string]string{"https://b.a.example/p/": "x", "https://b.a.example/robots.txt": "403"},
			"https://b.a.example/p/", "https://b.a.example/p/ https://b.a.example/robots.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sim{pages: c.pages}
			opt, cache := s.dying(), memory(t)
			// Without the option, nothing but the link and its redirects is asked for.
			ask(t, cache, opt, links(c.url))
			plain := s.take()
			opt.Probe = true
			report := ask(t, cache, opt, links(c.url, c.url))
			asked := s.take()
			if got := strings.ReplaceAll(strings.Join(asked, " "), "GET ", ""); got != c.asked {
				t.Errorf("asked %s\nwant  %s", got, c.asked)
			}
			if slices.ContainsFunc(plain, func(u string) bool { return strings.HasSuffix(u, "robots.txt") }) {
				t.Errorf("without --probe: %q", plain)
			}
			r, _ := report.Of(c.url)
			if r.Variant != c.want || (c.asked != "") == r.Probed.IsZero() {
				t.Errorf("variant %q, probed %v, want %q", r.Variant, r.Probed, c.want)
			}
			if ask(t, cache, opt, links(c.url)); len(s.take()) > 0 {
				t.Error("asked again")
			}
		})
	}
}

// What a probe found does not outlive the verdict.
func TestProbeForgets(t *testing.T) {
	r := Judge(Record{URL: "u"}, Answer{Status: 404}, at(0), Policy{Strikes: 1})
	r.Variant, r.Copy, r.Probed, r.Searched = "v", "c", at(0), at(0)
	if still := Judge(r, Answer{Status: 404}, at(30), Policy{}); still.Variant != "v" || still.Copy != "c" {
		t.Errorf("%+v", still)
	}
	if good := Judge(r, Answer{Status: 200}, at(30), Policy{}); good.Variant+good.Copy != "" || !good.Probed.IsZero() || !good.Searched.IsZero() {
		t.Errorf("%+v", good)
	}
}

// A run for new links looks for variants of these only.
func TestProbeOnlyNew(t *testing.T) {
	s := &sim{pages: map[string]string{"https://b.a.example/old/": "x", "https://b.a.example/new/": "x"}}
	opt, cache := s.dying(), memory(t)
	cache.Put(Judge(Record{URL: "https://b.a.example/old"}, Answer{Status: 404}, time.Now().Add(-time.Hour), Policy{Strikes: 1}))
	opt.Probe, opt.OnlyNew = true, true
	report := ask(t, cache, opt, links("https://b.a.example/old", "https://b.a.example/new"))
	if r, _ := report.Of("https://b.a.example/new"); r.Variant != "https://b.a.example/new/" {
		t.Errorf("new: %+v", r)
	}
	if log := s.take(); slices.Contains(log, "GET https://b.a.example/old/") {
		t.Errorf("log %q", log)
	}
}

// A host that asks for a long pause gets it, also from a later run's probes.
func TestProbeRetryAfter(t *testing.T) {
	s := &sim{wait: "3600", pages: map[string]string{"https://b.a.example/robots.txt": "429"}}
	opt, cache := s.dying(), memory(t)
	opt.Probe = true
	opt.Policy = func(string) Policy { return Policy{Strikes: 1, Interval: 1, MaxAge: -1} }
	two := links("https://b.a.example/p", "https://b.a.example/q")
	ask(t, cache, opt, two)
	if log := s.take(); !slices.Equal(log, []string{"GET https://b.a.example/p", "GET https://b.a.example/q", "GET https://b.a.example/robots.txt"}) {
		t.Errorf("log %q", log)
	}
	if r := cache.Get("https://b.a.example/robots.txt"); r.Code != check.Blocked || r.Next.Before(time.Now().Add(50*time.Minute)) {
		t.Errorf("%+v", r)
	}
	ask(t, cache, opt, two)
	if log := s.take(); slices.Contains(log, "GET https://b.a.example/robots.txt") {
		t.Errorf("log %q", log)
	}
	// The variants are looked for once the pause is over.
	delete(s.pages, "https://b.a.example/robots.txt")
	cache.Remove("https://b.a.example/robots.txt")
	opt.Policy = func(string) Policy { return Policy{Strikes: 1, Interval: 1} }
	ask(t, cache, opt, two)
	if log := s.take(); !slices.Equal(log, []string{"GET https://b.a.example/p/", "GET https://b.a.example/q/", "GET https://b.a.example/robots.txt"}) {
		t.Errorf("log %q", log)
	}
}

// Only dead links are searched for in the archive, at the time when they were good.
func TestArchive(t *testing.T) {
	t.Parallel() // it waits most of the time
	const api = "https://archive.example/available"
	query := api + "?timestamp=20261102&url=https%3A%2F%2Fb.a.example%2Fp"
	answer := func(url, status string) string {
		return `{"url":"x","archived_snapshots":{"closest":{"available":true,"url":"` + url + `","timestamp":"20261101000000","status":"` + status + `"}}}`
	}
	const was = "http://web.archive.org/web/20261101000000/https://b.a.example/p"
	for _, c := range []struct {
		name, body, want string
		unsearched       int
	}{
		{"copy", answer(was, "200"), "https" + was[4:], 0},
		{"none", `{"url":"x","archived_snapshots":{}}`, "", 0},
		{"copy of an error", answer(was, "404"), "", 0},
		{"not a URL", answer("javascript:alert(1)", "200"), "", 0},
		{"garbage", "<html>", "", 1},
		{"silence", "silent", "", 1},
		{"failure", "503", "", 1},
		{"another JSON", `[]`, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sim{pages: map[string]string{query: c.body, "https://b.a.example/good": "x"}}
			opt, cache := s.dying(), memory(t)
			cache.Put(Judge(Record{URL: "https://b.a.example/p"}, Answer{Status: 200}, day0, Policy{}))
			opt.Archive = api
			opt.Policy = func(string) Policy { return Policy{Strikes: 1, Interval: 1, MaxAge: time.Nanosecond} }
			report := ask(t, cache, opt, links("https://b.a.example/p", "https://b.a.example/good"))
			r, _ := report.Of("https://b.a.example/p")
			if r.Copy != c.want || report.Unsearched != c.unsearched || r.Searched.IsZero() != (c.unsearched > 0) || r.Code != check.DeadLink {
				t.Errorf("%+v, unsearched %d", r, report.Unsearched)
			}
			if log := s.take(); !slices.Contains(log, "GET "+query) || !slices.Contains(log, "GET https://archive.example/robots.txt") || len(log) != 4 {
				t.Errorf("log %q", log)
			}
		})
	}
}

// A variant that answers is better than a copy, and the archive is asked politely.
func TestArchivePolite(t *testing.T) {
	s := &sim{pages: map[string]string{"https://b.a.example/p/": "x", "https://archive.example/robots.txt": "User-agent: *\nDisallow: /"}}
	opt, cache := s.dying(), memory(t)
	opt.Probe, opt.Archive = true, "https://archive.example/available"
	report := ask(t, cache, opt, links("https://b.a.example/p", "https://b.a.example/q"))
	for _, entry := range s.take() {
		if strings.Contains(entry, "available") {
			t.Errorf("%s, although robots.txt refuses", entry)
		}
	}
	if r, _ := report.Of("https://b.a.example/p"); r.Variant == "" || !r.Searched.IsZero() || report.Unsearched != 1 {
		t.Errorf("%+v, unsearched %d", r, report.Unsearched)
	}
}

// The budget holds for probes too, and what it leaves out is done by a later run.
func TestProbeBudget(t *testing.T) {
	s := &sim{pages: map[string]string{"https://b.a.example/p/": "x"}}
	opt, cache := s.dying(), memory(t)
	opt.Probe, opt.MaxRequests = true, 3 // the link twice, robots.txt
	report := ask(t, cache, opt, links("https://b.a.example/p"))
	if r, _ := report.Of("https://b.a.example/p"); report.Requests != 3 || r.Variant != "" || !r.Probed.IsZero() {
		t.Errorf("%d requests, %+v", report.Requests, r)
	}
	opt.MaxRequests = 0
	report = ask(t, cache, opt, links("https://b.a.example/p"))
	if r, _ := report.Of("https://b.a.example/p"); r.Variant == "" || report.Requests != 2 {
		t.Errorf("%d requests, %+v", report.Requests, r)
	}
}
