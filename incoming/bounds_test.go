package incoming

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestRules: the longest pattern decides, and no spelling of a URL avoids it.
func TestRules(t *testing.T) {
	var rules []Rule
	for pattern, v := range map[string]Verdict{
		"Example.ORG": Block, "blog.example.org": Trust, "https://example.org/~good/": Trust, "https://example.org/~good/but/": Hold,
		"xn--bcher-kva.example": Block, "10.1.0.0/16": Block, "10.1.2.3": Trust, "[2001:db8::1]": Block, "2001:db8:1::/48": Hold, "co.uk": Hold,
		"not a pattern/": Block,
	} {
		if p, err := ParsePattern(pattern); err == nil {
			pattern = p
		}
		rules = append(rules, Rule{Pattern: pattern, Verdict: v})
	}
	set := compileRules(rules)
	for url, want := range map[string]Verdict{
		"https://example.org/":                        Block,
		"http://www.EXAMPLE.org:8080/x":               Block,
		"https://example.org./":                       Block,
		"https://blog.example.org/":                   Trust,
		"https://a.blog.example.org/":                 Trust,
		"https://example.org/~good/x":                 Trust,
		"http://example.org/%7egood/x":                Trust,
		"http://example.org/~good/../~bad/":           Block,
		"https://example.org/~good/but/":              Hold,
		"https://www.example.org/~good/":              Block,
		"https://notexample.org/":                     "",
		"https://example.org.evil.example/":           "",
		"https://evil.example/?u=https://example.org": "",
		"https://b\u00fccher.example/":                Block,
		"http://10.1.9.9/":                            Block,
		"http://10.1.2.3/":                            Trust,
		"http://10.2.0.1/":                            "",
		"http://[2001:db8::1]:81/":                    Block,
		"http://[2001:DB8:1:0:0::7]/":                 Hold,
		"https://a.co.uk/":                            Hold,
	} {
		c := testkit.Must(canonical(url))(t)
		if got := set.verdict(c); got != want {
			t.Errorf("%s (%s): %q, want %q", url, c, got, want)
		}
	}
	for addr, want := range map[string]Verdict{"10.1.0.1": Block, "::ffff:10.1.0.1": Block, "10.1.2.3": Trust, "2001:db8:1:2::3": Hold, "192.0.2.1": ""} {
		if got := set.peer(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
	for pattern, want := range map[string]string{
		" Example.org ": "example.org", "*.example.org": "example.org", ".example.org": "example.org", "https://Example.org:443/%7Ex": "https://example.org/~x",
		"192.0.2.7/24": "192.0.2.0/24", "::ffff:192.0.2.0/120": "192.0.2.0/24", "192.0.2.1": "192.0.2.1", "[2001:DB8::1]": "2001:db8::1", "b\u00fccher.example": "xn--bcher-kva.example",
		"": "", "example.org/x": "", "ftp://example.org/": "", "a b": "", "https://": "", "example.org:80": "", "192.0.2.0/33": "", "a..b": "", "a.example..": "",
	} {
		if got, err := ParsePattern(pattern); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", pattern, got, err, want)
		}
	}
}

// TestManyRules: imported block lists have many hosts, and a look-up does not get
// slower with them.
func TestManyRules(t *testing.T) {
	rules := make([]Rule, 20_000)
	for i := range rules {
		rules[i] = Rule{Pattern: fmt.Sprintf("host%d.example", i), Verdict: Block}
	}
	set := compileRules(rules)
	best := time.Hour
	for range 10 {
		begin := time.Now()
		for i := range 1000 {
			if set.verdict(fmt.Sprintf("https://www.host%d.example/x", i*19)) != Block {
				t.Fatal(i)
			}
		}
		best = min(best, time.Since(begin)/1000)
	}
	if best > 100*time.Microsecond {
		t.Errorf("%s a look-up", best)
	}
}

// TestLimiterIsBounded: a limiter with any number of keys needs a bounded memory
// and still limits a key that comes back soon.
func TestLimiterIsBounded(t *testing.T) {
	l := newLimiter(2)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	l.take("x", 2, now)
	for i := range 3 * maxBuckets {
		if _, ok := l.take(fmt.Sprint(i), 1, now.Add(time.Duration(i)*time.Microsecond)); !ok {
			t.Fatal(i)
		}
		if i%1000 == 0 {
			if _, ok := l.take("x", 1, now); ok {
				t.Fatalf("x is not limited after %d other keys", i)
			}
		}
	}
	if n := len(l.young) + len(l.old); n > 2*maxBuckets {
		t.Errorf("%d buckets", n)
	}
	if _, ok := l.take("x", 1, now.Add(time.Minute)); !ok {
		t.Error("x is limited after a minute")
	}
	off := newLimiter(0)
	for range 1000 {
		if _, ok := off.take("x", 100, now); !ok || len(off.young) != 0 {
			t.Fatal("0 limits")
		}
	}
	for host, want := range map[string]string{
		"a.b.example.co.uk": "example.co.uk", "example.org": "example.org", "me.github.io": "me.github.io", "127.0.0.1": "127.0.0.1",
		"127.0.0.1:80": "127.0.0.1", "a.example.org:8080": "example.org", "[::1]": "[::1]", "localhost": "localhost", "": "",
	} {
		if got := siteKey(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

// TestRecentIsBounded: what is remembered of fetched pages has a limit.
func TestRecentIsBounded(t *testing.T) {
	var c recentLooks
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	page := &verify.Response{}
	for i := range 3 * maxRecent {
		c.add(fmt.Sprint(i), page, now)
	}
	if n := len(c.young) + len(c.old); n > 2*maxRecent || len(c.pages) != len(c.order) || c.size > maxPages || len(c.pages) > maxPages/pageCost {
		t.Errorf("%d URLs, %d pages, %d bytes", n, len(c.pages), c.size)
	}
	last := fmt.Sprint(3*maxRecent - 1)
	if p, at, ok := c.get(last, now.Add(time.Minute)); p != page || !at.Equal(now) || !ok {
		t.Error("the last page is forgotten")
	}
	if _, _, ok := c.get(last, now.Add(pause)); ok {
		t.Error("a page is remembered for too long")
	}
	if _, _, ok := c.get(last, now.Add(-time.Minute)); ok {
		t.Error("a page of the future is remembered")
	}
}

// TestOneFetchAtATime: workers that need the same page share one fetch (PB-59).
func TestOneFetchAtATime(t *testing.T) {
	var hits atomic.Int32
	waiting := make(chan struct{})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		<-waiting
		w.Header().Set("Content-Type", "text/html")
	}))
	defer other.Close()
	r := NewReceiver(ReceiverOptions{Client: verify.NewClient(verify.Options{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})})
	var begun, done sync.WaitGroup
	for i := range 8 {
		begun.Add(1)
		done.Go(func() {
			begun.Done()
			m := &Mention{Source: other.URL + "/p", Target: fmt.Sprintf("https://b.example/%d", i), Due: time.Now().Add(-time.Minute)}
			if page, _, _ := r.fetch(t.Context(), m, other.URL+"/p"); page == nil || page.Result != "" {
				t.Errorf("%+v", page)
			}
		})
	}
	begun.Wait()
	close(waiting)
	done.Wait()
	if n := hits.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
	if len(r.recent.running) != 0 || len(r.hosts.open) != 0 {
		t.Error("a fetch did not end")
	}
}

// FuzzReceive: whatever a notice contains, there is an answer, and what is recorded
// has two valid URLs (PB-63).
func FuzzReceive(f *testing.F) {
	f.Add("https://a.example/p", "https://b.example/", "https://a.example/q", byte(1))
	f.Add("http://[::1]:99/%zz", "https://b.example/\x00", "//x", byte(2))
	f.Add("https://\u202e.example/#\xff", "https://B.example:443/#%", "", byte(0))
	gateway := testkit.Must(Gateway("https://b.example/", ManifestOptions{}))(f)
	var sites Sites
	sites.Set(gateway)
	r := NewReceiver(ReceiverOptions{Sites: &sites, RateAddress: 1 << 30, RateSource: 1 << 30})
	f.Fuzz(func(t *testing.T, source, target, replacement string, kind byte) {
		n := Notice{
			Protocol: []Protocol{Pingback, Webmention, LinkMethod}[kind%3], Action: []Action{"", Link, Unlink, UnlinkR, LinkMod}[kind/3%5],
			Source: source, Target: target, Replacement: replacement,
		}
		answers, err := r.Receive(t.Context(), []Notice{n})
		if err != nil || len(answers) != 1 || answers[0].Outcome == "" || answers[0].Reason == "" {
			t.Fatalf("%+v, %v", answers, err)
		}
		if answers[0].Outcome != Accepted {
			return
		}
		for _, url := range []string{source, target} {
			if c, err := canonical(url); err != nil || len(url) > MaxURL || strings.ContainsAny(c, "\r\n\t <>\"") {
				t.Errorf("recorded %q (%q, %v)", url, c, err)
			}
		}
	})
}

// TestHostGate: one slow host does not keep all workers busy.
func TestHostGate(t *testing.T) {
	var g hostGate
	var entered []bool
	for _, host := range []string{"a", "a", "a", "b"} {
		entered = append(entered, g.enter(host))
	}
	if !slices.Equal(entered, []bool{true, true, false, true}) {
		t.Error("wrong number of fetches from one host")
	}
	g.leave("a")
	if !g.enter("a") || g.enter("a") {
		t.Error("a fetch that ended counts")
	}
	g.leave("a")
	g.leave("a")
	g.leave("b")
	if len(g.open) != 0 {
		t.Errorf("%v", g.open)
	}
}

// TestKeys: what identifies a mention (A-PB-5, A-LK-9, LK-44).
func TestKeys(t *testing.T) {
	key := func(p Protocol, a Action, source, target string) Key {
		t.Helper()
		k := testkit.Must(KeyOf(Notice{Protocol: p, Action: a, Source: source, Target: target}))(t)
		return k
	}
	want := Key{Link, "http://a.example/~x", "https://b.example/doc"}
	for _, k := range []Key{
		key(LinkMethod, "", "http://A.example:80/%7Ex", "https://b.example/doc"),
		key(LinkMethod, Unlink, "http://a.example/~x#s", "https://b.example/doc#t"),
		key(Pingback, Link, "HTTP://a.example/./~x", "https://b.example:443/doc"),
	} {
		if k != want {
			t.Errorf("%+v", k)
		}
	}
	if k := key(Pingback, Link, "http://a.example/~x#p1", "https://b.example/doc#foo"); k.Source != want.Source+"#p1" || k.Target != want.Target+"#foo" {
		t.Errorf("%+v", k)
	}
	if k := key(Webmention, Link, "http://a.example/~x", "https://b.example/doc#"); k != want {
		t.Errorf("an empty fragment: %+v", k)
	}
	for _, bad := range []string{"", "x", "//a.example/", "mailto:a@b", "http://", "http://a.example/\n", strings.Repeat("x", 10)} {
		if _, err := KeyOf(Notice{Source: bad, Target: "https://b.example/"}); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// ruleStore is a store that has rules only.
type ruleStore struct {
	Store
	rules []Rule
}

func (s *ruleStore) RulesVersion(context.Context) (string, error) {
	return fmt.Sprint(len(s.rules)), nil
}
func (s *ruleStore) Rules(context.Context) ([]Rule, error) { return s.rules, nil }

// TestRulesWithinASecond: a receiver obeys a rule that another process adds within a
// second, for new notices and for the mentions that are there.
func TestRulesWithinASecond(t *testing.T) {
	if ruleInterval > time.Second {
		t.Errorf("the mentions that are there follow after %v", ruleInterval)
	}
	synctest.Test(t, func(t *testing.T) {
		store, cache := &ruleStore{}, ruleCache{}
		verdict := func() Verdict {
			t.Helper()
			set := testkit.Must(cache.get(t.Context(), store))(t)
			return set.verdict("https://spam.example/")
		}
		if v := verdict(); v != "" {
			t.Errorf("without rules: %q", v)
		}
		store.rules = []Rule{{Pattern: "spam.example", Verdict: Block}}
		time.Sleep(time.Second)
		if v := verdict(); v != Block {
			t.Errorf("a second after the rule was added: %q", v)
		}
	})
}
