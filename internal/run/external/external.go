// Package external checks the links of a project's site to other sites: it opens the
// status cache, asks with package remote, and turns records into verdicts and messages.
// The commands check and external use it.
//
// Nothing is printed: lines for the user go to the functions in [Options].
package external

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/glob"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/notify"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// Options say what a run does. The zero value asks for all links that are due.
type Options struct {
	// OnlyNew is that of [remote.Options].
	OnlyNew bool
	// Probe looks for variants of links, and Archive for copies of dead pages.
	Probe, Archive bool
	// Version is that of sitelink, for the User-Agent.
	Version string
	// Getenv returns a variable that the configuration names.
	Getenv func(string) string
	// Warn and Progress may be nil.
	Warn     func(text string)
	Progress func(remote.Progress)
}

// Checker is an open status cache with what a run learned.
type Checker struct {
	project *project.Project
	opt     Options
	cache   *remote.Cache
	lock    *os.File // of the run, nil for a database
	// networks may be connected to although they are not public.
	networks []netip.Prefix
	// logins are header fields by host, and closed counts links to hosts that answer
	// 401.
	logins map[string]http.Header
	closed map[string]int
	report *remote.Report
	// fine are the URLs with a good answer and no hint, which are most. hints say why a
	// person should look at a URL that works.
	fine  map[string]bool
	hints map[string]string
}

// Open opens the status cache of a project. Call Close when the run has ended, also
// after an error: it keeps what was learned.
func Open(ctx context.Context, p *project.Project, opt Options) (*Checker, error) {
	if opt.Warn == nil {
		opt.Warn = func(string) {}
	}
	networks, err := p.Config.Networks()
	if err != nil {
		return nil, err
	}
	if err := p.Config.Withheld("external.host"); err != nil {
		return nil, err
	}
	logins, err := p.Config.Logins(opt.Getenv)
	if err != nil {
		return nil, err
	}
	lock, err := LockRun(ctx, p, opt.Warn) // first, so that the cache has what another run learned
	if err != nil {
		return nil, err
	}
	cache, err := openCache(ctx, p, opt.Warn)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &Checker{project: p, opt: opt, cache: cache, lock: lock, networks: networks, logins: logins}, nil
}

// Close closes the status cache.
func (c *Checker) Close() error {
	defer c.lock.Close() // nil has no effect
	return c.cache.Close()
}

// Check asks for the links of a site to other sites. It has the type of the field
// External of the options of package audit.
func (c *Checker) Check(ctx context.Context, s *site.Site, opt check.Options, known []string) (*audit.ExternalLinks, error) {
	links, err := c.links(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	ask := c.options()
	if c.opt.OnlyNew {
		ask.Known = known
	}
	if err = c.ask(ctx, links, ask); err != nil {
		return nil, err
	}
	hints, err := c.hintFindings(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	return &audit.ExternalLinks{Answer: c.answer, Summary: c.summary(), Notes: c.notes(), Hints: hints}, nil
}

// CheckList asks for the links of a list, for existence only, and returns what a report
// shows of them (LL-14).
func (c *Checker) CheckList(ctx context.Context, list iter.Seq[*check.Link], opt check.Options) (*check.Result, error) {
	var links []remote.Target
	for l := range list {
		if !c.skips(l.Target) {
			links = append(links, remote.Target{URL: l.Target})
		}
	}
	if err := c.ask(ctx, links, c.options()); err != nil {
		return nil, err
	}
	r, err := check.ExternalList(list, opt, c.answer)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if m := c.hints[l.URL]; m != "" {
			r.Summary.Notes = append(r.Summary.Notes, "look at "+l.URL+": "+m)
		}
	}
	r.Summary.External = c.summary()
	r.Summary.Notes = append(r.Summary.Notes, c.notes()...)
	return r, nil
}

// ask asks for links, and keeps what the report needs. There may be a million, so
// that the record of each is read once.
func (c *Checker) ask(ctx context.Context, links []remote.Target, opt remote.Options) (err error) {
	if c.report, err = remote.Ask(ctx, links, c.cache, opt); err != nil {
		return err
	}
	c.fine, c.hints, c.closed = make(map[string]bool, len(links)), map[string]string{}, map[string]int{}
	for _, l := range links {
		r, code := c.report.Of(l.URL)
		if code != "" || r.Reason != "" {
			if code == "" && r.Status == http.StatusUnauthorized {
				u, _ := weburl.Parse(r.URL)
				last := r.URL
				if n := len(r.Hops); n > 0 {
					last = r.Hops[n-1].To
				}
				if _, at, _ := strings.Cut(last, "://"); strings.HasPrefix(at, u.Authority()+"/") { // not a host to which the link leads
					c.closed[u.Authority()]++
				}
			}
			continue
		}
		if r.Variant != "" {
			r.Hints = append(r.Hints[:len(r.Hints):len(r.Hints)], r.Variant+" answers too; sitelink fix --likely changes the link")
		}
		if len(r.Hints) > 0 {
			c.hints[l.URL] = strings.Join(r.Hints, "; ")
		}
		if r.Code == "" && r.Status == 200 && r.Final+r.Variant == "" && len(r.Missing) == 0 && *c.remote(&r) == (check.Remote{}) {
			c.fine[l.URL] = true
		}
	}
	return nil
}

// linklint reports whether a run asks as Linklint does.
func (c *Checker) linklint() bool { return c.project.Config.Profile == "linklint" }

// links returns the URLs that the site links to, each once, in the order of pages.
func (c *Checker) links(ctx context.Context, s *site.Site, opt check.Options) ([]remote.Target, error) {
	opt.Ignore = nil
	var all []remote.Target
	index := map[string]int{}
	_, err := check.Links(ctx, s, opt, check.Query{External: true}, func(l *check.Link) error {
		if l.Code != check.External || c.skips(l.Target) {
			return nil
		}
		i, ok := index[l.Target]
		if !ok {
			i = len(all)
			index[l.Target] = i
			all = append(all, remote.Target{URL: l.Target})
		}
		if l.Fragment != "" && !opt.NoFragments && !c.linklint() {
			all[i].Fragments = append(all[i].Fragments, l.Fragment)
		}
		return nil
	})
	return all, err
}

// skips reports whether the configuration leaves a URL out.
func (c *Checker) skips(target string) bool {
	patterns := c.project.Config.External.Skip
	if len(patterns) == 0 {
		return false
	}
	u, err := weburl.Parse(target)
	for _, p := range patterns {
		if glob.Match(p, target) {
			return true
		}
		if err == nil && glob.Match(p, u.Host()) {
			return true
		}
	}
	return false
}

// options turns the configuration into the options of package remote.
func (c *Checker) options() remote.Options {
	cfg := c.project.Config
	e := &cfg.External
	contact := cfg.Outgoing.Contact
	if contact == "" && len(c.project.BaseURLs) > 0 {
		contact = c.project.BaseURLs[0]
	}
	opt := remote.Options{
		UserAgent: notify.UserAgent(c.opt.Version, contact), Allow: c.networks, PerHost: e.PerHost,
		Pace: e.Pace, Timeout: cfg.Fetch.Timeout, Budget: e.Budget, MaxRequests: e.MaxRequests,
		OnlyNew: c.opt.OnlyNew, Probe: c.opt.Probe, Random: !c.linklint(), Policy: c.policy, Progress: c.opt.Progress,
		Login: func(authority string) http.Header { return c.logins[authority] },
	}
	if c.opt.Archive {
		opt.Archive = e.ArchiveAPI
	}
	if opt.Pace == 0 {
		opt.Pace = -1
	}
	if cfg.Fetch.Proxy {
		opt.Proxy = http.ProxyFromEnvironment
	}
	return opt
}

// policy returns the policy for a host.
func (c *Checker) policy(host string) remote.Policy {
	e := &c.project.Config.External
	p := remote.Policy{Interval: e.StrikeInterval, Strikes: e.Strikes, MaxAge: e.MaxAge}
	if p.Interval == 0 {
		p.Interval = 1 // every failure counts
	}
	if p.MaxAge == 0 && (c.project.Config.Place("external.max-age") != "" || c.linklint()) {
		p.MaxAge = -1
	}
	for _, h := range e.Hosts {
		if glob.Match(h.Host, host) || strings.HasPrefix(h.Host+":", host+":") { // it may have a port
			p.Pace, p.Accept, p.Missing, p.Blocked = h.Pace, numbers(h.Accept), numbers(h.Missing), numbers(h.Blocked)
			break
		}
	}
	return p
}

// numbers returns statuses as numbers. The configuration has only such texts.
func numbers(statuses []string) (all []int) {
	for _, status := range statuses {
		if n, err := strconv.Atoi(status); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// answer returns what is known of a link.
func (c *Checker) answer(l *check.Link) check.ExternalAnswer {
	switch {
	case c.skips(l.Target):
		return check.ExternalAnswer{Verdict: check.Unchecked, Code: check.External}
	case c.fine[l.Target]:
		return check.ExternalAnswer{Verdict: check.OK, Status: 200, Remote: &check.Remote{}}
	}
	r, code := c.report.Of(l.Target)
	if code != "" {
		return check.ExternalAnswer{Verdict: check.Unchecked, Code: code}
	}
	a := check.ExternalAnswer{Verdict: r.Verdict, Code: r.Code, Status: r.Status, Final: r.Final, Suggestion: Suggestion(&r), Remote: c.remote(&r)}
	if a.Suggestion != "" && l.Fragment != "" && !strings.Contains(a.Suggestion, "#") {
		a.Suggestion += "#" + l.Fragment
	}
	switch r.Code {
	case check.DeadLink, check.Doubtful:
		a.Message = failure(&r)
	case check.Moved:
		a.Message = l.Target + " moved permanently to " + r.Final
	case "":
		if l.Fragment != "" && r.Lacks(l.Fragment) {
			a.Verdict, a.Code = check.Warning, check.MissingFragment
			a.Message = fmt.Sprintf("%s has no element with id %q", l.Target, l.Fragment)
			a.Suggestion = ""
		}
	}
	return a
}
