package external

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
)

var day = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// record returns the record of a URL that failed.
func record(url string, reason remote.Reason, status, strikes int) remote.Record {
	r := remote.Record{URL: url, Verdict: check.Warning, Code: check.Doubtful, Reason: reason, Status: status, Strikes: strikes, Asked: day}
	if strikes > 0 {
		r.Since, r.Struck = day, day
	}
	return r
}

func checker(e config.External) *Checker {
	return &Checker{project: &project.Project{BaseURLs: []string{"https://me.example/"}, Config: &config.Config{External: e}}}
}

func TestSkips(t *testing.T) {
	c := checker(config.External{Skip: []string{"*.example.org", "https://a.example/private/**"}})
	for target, want := range map[string]bool{
		"https://www.example.org/x":     true,
		"https://example.org/":          false,
		"https://a.example/private/x/y": true,
		"https://a.example/public":      false,
		"https://a.example:8443/":       false,
		"not a URL":                     false,
	} {
		if got := c.skips(target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
	if checker(config.External{}).skips("https://a.example/") {
		t.Error("without patterns")
	}
}

func TestPolicy(t *testing.T) {
	e := config.External{Strikes: 3, StrikeInterval: 24 * time.Hour, Hosts: []config.ExternalHost{
		{Host: "*.slow.example", Pace: 5 * time.Second,
			Accept: []string{"403", "429"}, Missing: []string{"400"}, Blocked: []string{"410"}},
		{Host: "**", Accept: []string{"503"}},
	}}
	want := remote.Policy{Interval: 24 * time.Hour, Strikes: 3, Pace: 5 * time.Second,
		Accept: []int{403, 429}, Missing: []int{400}, Blocked: []int{410}}
	if got := checker(e).policy("www.slow.example"); !reflect.DeepEqual(got, want) {
		t.Errorf("a host of its own: %+v", got)
	}
	if got := checker(e).policy("other.example"); got.Strikes != 3 || got.Interval != 24*time.Hour || got.MaxAge != 0 || !slices.Equal(got.Accept, []int{503}) || got.Pace != 0 {
		t.Errorf("another host: %+v", got)
	}
	cfg, err := config.Load(config.Input{Flags: []config.Setting{
		{Key: "external.max-age", Values: []string{"0s"}}, {Key: "external.strike-interval", Values: []string{"0s"}}}})
	testkit.Check(t, err)
	c := checker(cfg.External)
	c.project.Config = cfg
	if got := c.policy("x.example"); got.Interval != 1 || got.MaxAge >= 0 {
		t.Errorf("no interval, any age: %+v", got)
	}
}

func TestOptions(t *testing.T) {
	c := checker(config.External{PerHost: 2, Budget: time.Minute, MaxRequests: 9})
	opt := c.options()
	if opt.Pace >= 0 || opt.PerHost != 2 || opt.Budget != time.Minute || opt.MaxRequests != 9 || opt.Proxy != nil {
		t.Errorf("%+v", opt)
	}
	for _, contact := range []string{"https://me.example/", "mailto:out@me.example"} {
		if strings.HasPrefix(contact, "mailto:") {
			c.project.Config.Outgoing.Contact = contact
		}
		if got := c.options().UserAgent; !strings.HasSuffix(got, "(+"+contact+")") {
			t.Errorf("User-Agent %q, want the contact %s", got, contact)
		}
	}
	c.project.Config.Fetch.Proxy = true
	if c.options().Proxy == nil {
		t.Error("no proxy")
	}
}

func TestFailure(t *testing.T) {
	dead := func(r remote.Record) remote.Record { r.Verdict, r.Code = check.Error, check.DeadLink; return r }
	for _, c := range []struct {
		record remote.Record
		want   string
	}{
		{record("https://a.example/", remote.NotFound, 404, 1), "https://a.example/: the host answers 404 (Not Found); it failed first on 2026-11-02, and later runs decide whether it is dead"},
		{dead(record("https://a.example/", remote.NotFound, 404, 1)), "https://a.example/: the host answers 404 (Not Found)"},
		{dead(record("https://a.example/", remote.Timeout, 0, 3)), "https://a.example/: the host did not answer in time; it failed in 3 runs since 2026-11-02"},
		{record("https://a.example/", remote.UnexpectedStatus, 299, 0), "https://a.example/: the host answers 299"},
		{remote.Record{URL: "https://a.example/x", Code: check.Doubtful, Reason: remote.SoftMissing, Status: 200, Hints: []string{"a redirect leads to the home page", "more"}},
			"https://a.example/x: the page seems to be missing although the host answers 200: a redirect leads to the home page"},
		{record("https://a.example/", remote.TLSName, 0, 1), "https://a.example/: the TLS certificate is for another host; it failed first on 2026-11-02, and later runs decide whether it is dead"},
	} {
		if got := failure(&c.record); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	// Each reason without a status has words of its own.
	for _, reason := range []remote.Reason{remote.NoSuchHost, remote.DNS, remote.Timeout, remote.Refused, remote.Reset, remote.TLS, remote.TLSExpired,
		remote.TLSName, remote.TLSAuthority, remote.TLSChain, remote.SoftMissing, remote.Parked, remote.Garbage, remote.RedirectLoop, remote.BadRedirect} {
		if sayings[reason] == "" {
			t.Errorf("no words for %s", reason)
		}
	}
}

func TestNotes(t *testing.T) {
	c := checker(config.External{})
	many := []string{"a", "b", "c", "d", "e", "f", "g"}
	c.report = &remote.Report{Links: 1200, Requests: 1, Fresh: 3, Unchanged: 2, Silent: 4, Died: many, Recovered: many[:1],
		Failing: map[string]int{"x.example": 2, "y.example": 1500, "w.example": 2}, Blocked: map[string]int{"v.example": 1}, Unwanted: map[string]int{"10.0.0.1": 2}}
	want := []string{
		"other sites: 1,200 URLs, 1 request sent; the status cache answered for 3 URLs; not changed and not transferred: 2",
		"no host answered, so nothing counts against 4 URLs: check the connection of this machine",
		"dead since the last run: a, b, c, d, e and 2 more",
		"recovered since the last run: a",
		"hosts that fail most: y.example (1,500), w.example (2), x.example (2)",
		"hosts that block sitelink: v.example (1)",
		"not asked for, because an address is not public or not http; --allow-address NETWORK allows private ones: 10.0.0.1 (2)",
	}
	if got := c.notes(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A redirect about which there is a hint suggests nothing: it may lead to a home page.
func TestSuggestion(t *testing.T) {
	const to = "https://a.example/new"
	for _, c := range []struct {
		name   string
		record remote.Record
		want   string
	}{
		{"moved", remote.Record{Code: check.Moved, Final: to}, to},
		{"moved to a home page", remote.Record{Code: check.Moved, Final: to, Hints: []string{"home"}}, ""},
		{"dead", remote.Record{Code: check.DeadLink}, ""},
		{"dead, with a variant", remote.Record{Code: check.DeadLink, Variant: to, Copy: "copy"}, to},
		{"dead, with a copy", remote.Record{Code: check.DeadLink, Copy: to}, to},
		{"good, with https", remote.Record{Variant: to}, to},
		{"doubtful", remote.Record{Code: check.Doubtful, Final: "final"}, ""},
		{"blocked", remote.Record{Code: check.Blocked}, ""},
	} {
		if got := Suggestion(&c.record); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// With --profile linklint, every run asks for every URL, unless max-age is set.
func TestPolicyLinklint(t *testing.T) {
	c := checker(config.External{})
	c.project.Config.Profile = "linklint"
	if p := c.policy("x.example"); p.MaxAge >= 0 {
		t.Errorf("%+v", p)
	}
	c.project.Config.External.MaxAge = time.Hour
	if p := c.policy("x.example"); p.MaxAge != time.Hour {
		t.Errorf("%+v", p)
	}
}
