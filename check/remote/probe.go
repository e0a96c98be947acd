package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
)

// ArchiveAPI is the availability API of the Internet Archive, for [Options.Archive].
const ArchiveAPI = "https://archive.org/wayback/available"

// side is what makes a job differ that no link names: a variant, an archived copy, or
// a robots.txt. All but the last are asked for only if the robots.txt of the host allows
// it.
type side struct {
	isRobots bool
	// done gets the answer, with the last response if there is one. It may add jobs.
	done func(a Answer, resp *fetch.Response, now time.Time)
}

// robotsFile is the robots.txt of one origin, and the jobs that wait for it.
type robotsFile struct {
	known   bool
	paused  bool // the host asked to wait
	rules   robots
	waiting []*job
}

// seeker looks for what could replace links. Its jobs go through the queues of the
// dispatcher like those of links.
type seeker struct {
	d      *dispatcher
	robots map[string]*robotsFile // by origin
}

// suggest looks for what could replace links: variants first, then copies of dead
// pages. In a run for new links, it looks only at those that it asked for.
func (s *seeker) suggest(ctx context.Context, links []Target) error {
	for _, what := range []struct {
		wanted bool
		look   func(r *Record, p Policy, now time.Time)
	}{{s.d.opt.Probe, s.probe}, {s.d.opt.Archive != "", s.search}} {
		if !what.wanted || s.d.spent() || s.d.budget != nil && s.d.budget.Err() != nil || s.d.report.Silent > 0 {
			continue
		}
		seen := map[string]bool{}
		for _, l := range links {
			key, err := Key(l.URL)
			if err != nil || seen[key] {
				continue
			}
			seen[key] = true
			r := s.d.cache.Get(key)
			if !r.Known() || s.d.opt.OnlyNew && r.Asked.Before(seconds(s.d.started)) {
				continue
			}
			if u, err := weburl.Parse(key); err == nil {
				what.look(&r, s.d.opt.Policy(hostName(u)), s.d.started)
			}
		}
		if err := s.d.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isOld reports whether something that was looked for should be looked for again.
func isOld(when, now time.Time, p Policy) bool {
	age := cmp.Or(p.MaxAge, defaultMaxAge)
	return when.IsZero() || when.After(now) || !when.Add(age-slack(age)).After(now)
}

// probe asks for the variants of a link, one after the other, until one answers. If none
// does, but a host could not be asked now, a later run looks again.
func (s *seeker) probe(r *Record, p Policy, now time.Time) {
	all := variants(r)
	if len(all) == 0 || !isOld(r.Probed, now, p) {
		return
	}
	key, refused := r.URL, false
	var next func(now time.Time)
	next = func(now time.Time) {
		if len(all) == 0 && refused {
			return
		}
		if len(all) == 0 {
			s.found(key, func(r *Record, now time.Time) { r.Variant, r.Probed = "", now })
			return
		}
		variant := all[0]
		all = all[1:]
		s.aside(variant, 0, now, func(a Answer, _ *fetch.Response, now time.Time) {
			to := replaces(key, variant, &a, s.d.cache.Get(key).Title)
			if to == "" {
				refused = refused || p.reason(&a) == RateLimited
				next(now)
				return
			}
			s.found(key, func(r *Record, now time.Time) { r.Variant, r.Probed = to, now })
		})
	}
	next(now)
}

// found changes a record, unless something else is known of its URL by now.
func (s *seeker) found(key string, change func(r *Record, now time.Time)) {
	r := s.d.cache.Get(key)
	if r.Known() {
		change(&r, seconds(s.d.started))
		s.d.cache.Put(r)
	}
}

// variants returns the addresses that may have what a link means. A link that works is
// asked for by https, if it is not, and a dead one also with or without its final slash
// and www: http://example.org/a is also https://example.org/a, http://example.org/a/ and
// http://www.example.org/a.
func variants(r *Record) (all []string) {
	u, err := weburl.Parse(r.URL)
	isDead := r.Code == check.DeadLink
	if err != nil || !isDead && (r.Reason != "" || r.Code == check.Moved) {
		return nil
	}
	path, query := u.Path(), ""
	if u.HasQuery() {
		query = "?" + u.Query()
	}
	host := u.Host()
	if u.Port() != "" {
		host += ":" + u.Port()
	}
	if u.Scheme() == "http" && u.Port() == "" {
		all = append(all, "https://"+host+path+query)
	}
	if !isDead {
		return all
	}
	start := u.Scheme() + "://"
	if cut, ok := strings.CutSuffix(path, "/"); ok && cut != "" {
		all = append(all, start+host+cut+query)
	} else if name := path[strings.LastIndexByte(path, '/')+1:]; name != "" && !strings.Contains(name, ".") {
		all = append(all, start+host+path+"/"+query)
	}
	if bare, ok := strings.CutPrefix(host, "www."); ok {
		all = append(all, start+bare+path+query)
	} else if domain, err := publicsuffix.EffectiveTLDPlusOne(u.Host()); err == nil && domain == u.Host() && !isAddress(domain) {
		all = append(all, start+"www."+host+path+query)
	}
	return all
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// replaces returns the address that can replace a link because a variant of it gave an
// answer, "" if none can. title is that of the page when the link was good.
func replaces(link, variant string, a *Answer, title string) string {
	var p Policy
	if p.reason(a) != "" || !a.Read || len(a.Hints) > 0 || differs(title, a.Title) {
		return ""
	}
	for _, h := range a.Hops {
		if h.To == link {
			return ""
		}
	}
	if final, all := a.moved(link); all {
		return final
	}
	if n := len(a.Hops); n > 0 {
		from, errFrom := weburl.Parse(variant)
		to, errTo := weburl.Parse(a.Hops[n-1].To)
		if errFrom != nil || errTo != nil || strings.TrimSuffix(from.Path(), "/") != strings.TrimSuffix(to.Path(), "/") {
			return "" // a page about something else, for all we know
		}
	}
	return variant
}

// search asks the archive for its closest copy of a dead page: the one from the time
// when the link was good.
func (s *seeker) search(r *Record, p Policy, now time.Time) {
	if r.Code != check.DeadLink || r.Variant != "" || !isOld(r.Searched, now, p) {
		return
	}
	query := url.Values{"url": {r.URL}}
	if when := cmpTime(r.Good, r.Since); !when.IsZero() {
		query.Set("timestamp", when.Format("20060102"))
	}
	join := "?"
	if strings.Contains(s.d.opt.Archive, "?") {
		join = "&"
	}
	key := r.URL
	s.aside(s.d.opt.Archive+join+query.Encode(), 0, now, func(a Answer, resp *fetch.Response, now time.Time) {
		if resp == nil || a.Fault != "" || resp.Status != http.StatusOK {
			s.d.report.Unsearched++
			return
		}
		at, ok := closest(resp.Body)
		if !ok {
			s.d.report.Unsearched++
			return
		}
		s.found(key, func(r *Record, now time.Time) { r.Copy, r.Searched = at, now })
	})
}

// closest reads the answer of the archive. It returns false if that is not one.
func closest(body []byte) (at string, ok bool) {
	var answer struct {
		Snapshots *struct {
			Closest struct {
				Available   bool
				URL, Status string
			}
		} `json:"archived_snapshots"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Snapshots == nil {
		return "", false
	}
	c := &answer.Snapshots.Closest
	u, err := weburl.Parse(c.URL)
	if !c.Available || c.Status != "200" || err != nil || u.HasCredentials() || len(c.URL) > maxHop || u.Scheme() != "http" && u.Scheme() != "https" {
		return "", true
	}
	if u.Host() == "web.archive.org" && u.Port() == "" {
		return "https" + strings.TrimPrefix(u.String(), u.Scheme()), true
	}
	return u.String(), true
}

// aside adds a job that no link names. maxBody is 0 for the usual one.
func (s *seeker) aside(address string, maxBody int64, now time.Time, done func(Answer, *fetch.Response, time.Time)) {
	j := &job{url: address, side: &side{isRobots: maxBody > 0, done: done}}
	j.chain = newChain(j, &Record{URL: address}, &Policy{})
	j.chain.get, j.chain.maxBody, j.chain.isSide = true, maxBody, true
	s.d.total++
	s.d.left++
	s.admit(j, now)
}

// admit puts a job into the queue of its host when the robots.txt there allows it.
// Until it is known, the job waits; without permission, the job ends.
func (s *seeker) admit(j *job, now time.Time) {
	u, err := weburl.Parse(j.chain.url)
	if err != nil {
		s.d.judge(j, Answer{Fault: BadRedirect}, nil, now)
		return
	}
	j.host = s.d.host(hostName(u))
	if !j.side.isRobots {
		f := s.robotsOf(originOf(u), now)
		switch {
		case !f.known:
			f.waiting = append(f.waiting, j)
			return
		case !f.rules.allows(target(u)):
			fault := Forbidden
			if f.paused {
				fault = RateLimited
			}
			s.d.judge(j, Answer{Fault: fault, Hops: j.chain.hops}, nil, now)
			return
		}
	}
	j.host.queue.pushFirst(j)
	s.d.list(j.host, now)
}

// originOf returns the scheme, host and port of a URL.
func originOf(u weburl.URL) string {
	origin := u.Scheme() + "://" + u.Host()
	if u.Port() != "" {
		origin += ":" + u.Port()
	}
	return origin
}

// target returns the path and query of a URL.
func target(u weburl.URL) string {
	if u.HasQuery() {
		return u.Path() + "?" + u.Query()
	}
	return u.Path()
}

// robotsOf returns the robots.txt of an origin, which it asks for if it is new. A host
// that asked to wait, in this run or an earlier one, is left alone.
func (s *seeker) robotsOf(origin string, now time.Time) *robotsFile {
	f := s.robots[origin]
	if f != nil {
		return f
	}
	f = &robotsFile{}
	s.robots[origin] = f
	address := origin + "/robots.txt"
	if r := s.d.cache.Get(address); r.Next.After(now) && r.Next.Sub(now) <= maxNext {
		f.known, f.rules.refuses, f.paused = true, true, true
		return f
	}
	s.aside(address, maxRobots, now, func(a Answer, resp *fetch.Response, now time.Time) {
		f.known = true
		switch {
		case resp == nil || a.Status == 0 || a.Status >= 500 || a.Status == http.StatusTooManyRequests:
			f.rules.refuses, f.paused = true, a.RetryAfter > maxWait
		case a.Status >= 200 && a.Status < 300 && a.Fault == "":
			f.rules = parseRobots(string(resp.Body), resp.Truncated)
		}
		waiting := f.waiting
		f.waiting = nil
		for _, j := range waiting {
			s.admit(j, now)
		}
	})
	return f
}

// end ends a job that no link names. If its host asked for a long pause, that is
// remembered for later runs in a record of the host's robots.txt.
func (s *seeker) end(j *job, a Answer, resp *fetch.Response, now time.Time) {
	if u, err := weburl.Parse(j.chain.url); err == nil && a.RetryAfter > maxWait && (a.Status == 429 || a.Status == 503) {
		r := Judge(s.d.cache.Get(originOf(u)+"/robots.txt"), Answer{Status: a.Status, RetryAfter: a.RetryAfter}, now, Policy{})
		s.d.cache.Put(r)
		j.host.until = r.Next
	}
	j.side.done(a, resp, now)
}
