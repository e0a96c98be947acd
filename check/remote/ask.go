package remote

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Options configure [Ask]. The zero value of a field selects the default named
// beside it.
type Options struct {
	// UserAgent should contain an address at which you can be reached.
	UserAgent string
	// Allow lists networks that may be connected to although they are not public.
	Allow []netip.Prefix
	// Proxy is that of [http.Transport].
	Proxy func(*http.Request) (*url.URL, error)
	// PerHost limits the requests to one host at a time (4), and Concurrency those to
	// all hosts (64).
	PerHost, Concurrency int
	// Pace is the shortest time between the starts of two requests to one host (1 s).
	// If the host answers more slowly, its answers set the pace. A negative value
	// means no minimum.
	Pace time.Duration
	// Timeout limits a request (30 s).
	Timeout time.Duration
	// Budget limits the time, and MaxRequests the number of requests; 0 means no limit.
	Budget      time.Duration
	MaxRequests int
	// OnlyNew asks only for URLs that neither the cache nor Known has: a baseline, or
	// another build.
	OnlyNew bool
	Known   []string
	// Probe asks for variants of dead links, and of links that are not https:
	// [Record.Variant]. Archive, if not empty, is the address of an availability API such
	// as [ArchiveAPI], which is asked for copies of dead pages: [Record.Copy]. Both
	// respect the robots.txt of hosts.
	Probe   bool
	Archive string
	// Random asks each host once for an address that cannot exist, if a new page of it is
	// good. A page that is the same is [SoftMissing].
	Random bool
	// Policy returns the policy for a host; nil means that all have the zero Policy.
	Policy func(host string) Policy
	// Login returns header fields for the authority of a link, such as example.org:8443,
	// or nil. They are sent to it alone, over https or to this machine, and not after a
	// redirect that leads elsewhere. They are kept nowhere.
	Login func(authority string) http.Header
	// Progress is called after an answer, by one goroutine: at most ten times a second,
	// and after the last.
	Progress func(Progress)

	// exchange replaces the network in tests.
	exchange func(ctx context.Context, r fetch.Request) (*fetch.Response, error)
	// retryDelay is the time after which a failure is tried again: 1 s.
	retryDelay time.Duration
}

// Progress says how far the work is.
type Progress struct {
	// Done and Total are numbers of URLs, Hosts the number of hosts with requests in
	// flight.
	Done, Total, Hosts int
	// Left estimates the time to the end.
	Left time.Duration
}

// Target is a URL to ask for.
type Target struct {
	// URL is absolute, http or https. A fragment is ignored.
	URL string
	// Fragments are those that links ask for.
	Fragments []string
}

// Report says what [Ask] did.
type Report struct {
	// Links is the number of distinct URLs, and Requests the number of requests.
	// Fresh counts the URLs with a record that was recent enough, and Unchanged the
	// answers without a body because nothing had changed.
	Links, Requests, Fresh, Unchanged int
	// OverBudget is the number of URLs that were left for a later run because the budget
	// was spent. Waiting is the number left because their host wants no requests before
	// a later time.
	OverBudget, Waiting int
	// Silent is the number of URLs without an answer if Ask tried three hosts or
	// more and none answered. This machine then seems to be offline, so the
	// records stay as they were. Otherwise Silent is 0.
	Silent int
	// Known is the number of URLs that were not asked for because [Options.Known] has
	// them.
	Known int
	// Unsearched is the number of dead URLs about which the archive gave no answer.
	Unsearched int
	// Starved is the number of URLs that were not asked for because this machine could
	// not open a connection.
	Starved int
	// Died are the URLs of links that are dead now and were not before, and
	// Recovered the reverse. They are sorted.
	Died, Recovered []string
	// Failing and Blocked count URLs by host: URLs that fail, and URLs of hosts that
	// refuse to answer us. Unwanted counts URLs that sitelink refuses to ask for,
	// because they are not public or have another scheme, or redirect to such an
	// address.
	Failing, Blocked, Unwanted map[string]int

	cache   *Cache
	unasked map[string]check.Code
}

// Key returns a URL as a browser requests it, without its fragment, which identifies its
// record: hosts may tell /p from /p; and + from %20. The error says why it cannot be asked
// for.
func Key(raw string) (string, error) {
	u, err := parse(raw)
	if err != nil {
		return "", err
	}
	return u.WithoutFragment(), nil
}

// parse parses a URL that can be asked for.
func parse(raw string) (weburl.URL, error) {
	u, err := weburl.Parse(raw)
	switch {
	case err != nil:
		return u, err
	case u.Scheme() != "http" && u.Scheme() != "https":
		return u, errors.New("the scheme of the URL is neither http nor https")
	case u.HasCredentials():
		return u, errors.New("the URL has a user name or a password")
	}
	return u, nil
}

// Of returns the record of a URL. If this run left it out, and nothing is known of it,
// code says why: [check.Budget], [check.Blocked] or, for a URL that was not among the
// links or cannot be asked for, [check.External].
func (r *Report) Of(raw string) (record Record, code check.Code) {
	key, err := Key(raw)
	if err != nil {
		return Record{URL: raw}, check.External
	}
	record = r.cache.Get(key)
	if record.Known() {
		return record, ""
	}
	return record, cmp.Or(r.unasked[key], check.External)
}

// Ask requests each URL that has no record in the cache, or one that is too old, and
// keeps what it learns in the cache. It requests only these URLs and the targets of their
// redirects, unless opt.Probe or opt.Archive asks for more. The error is that of the
// context, or says that a shared cache cannot be reached. Even then, the report is
// complete, and the cache has what was learned so far.
func Ask(ctx context.Context, links []Target, cache *Cache, opt Options) (*Report, error) {
	opt.PerHost = cmp.Or(max(opt.PerHost, 0), 4)
	opt.Concurrency = cmp.Or(max(opt.Concurrency, 0), 64)
	opt.Pace = cmp.Or(opt.Pace, time.Second)
	opt.Timeout = cmp.Or(opt.Timeout, 30*time.Second)
	opt.retryDelay = cmp.Or(opt.retryDelay, time.Second)
	if opt.Policy == nil {
		opt.Policy = func(string) Policy { return Policy{} }
	}
	if opt.Login == nil {
		opt.Login = func(string) http.Header { return nil }
	}
	shared := &addresses{spacing: max(opt.Pace, 0) / shareOf}
	if opt.exchange == nil {
		client := fetch.New(fetch.Options{
			UserAgent: opt.UserAgent, Allow: opt.Allow, Proxy: opt.Proxy, Total: opt.Timeout,
			MaxBody: smallBody, MaxHeader: maxHeader, Pooled: true, Connect: shared.connect,
		})
		defer client.CloseIdleConnections() // what follows may need their descriptors
		opt.exchange = client.Do
	}
	d := newDispatcher(cache, opt)
	d.addresses = shared
	defer close(d.tasks)
	if err := cache.prefetch(ctx, links); err != nil {
		return d.report, err
	}
	d.plan(links)
	if opt.Budget > 0 {
		var cancel context.CancelFunc
		d.budget, cancel = context.WithTimeout(context.Background(), opt.Budget)
		defer cancel()
	}
	err := d.run(ctx)
	d.endSilence()
	if err == nil {
		err = d.seek.suggest(ctx, links)
	}
	slices.Sort(d.report.Died)
	slices.Sort(d.report.Recovered)
	return d.report, err
}

// job is a URL to ask for. There may be a million.
type job struct {
	url  string // see Key
	host *host
	// fragments are sorted.
	fragments []string
	isNew     bool
	due       int64 // since when it is due without a maximum age, for the order
	chain     *chain
	side      *side // nil for a link
	next      *job  // in the queue of the host
}

// plan makes the jobs and puts them into the queues of their hosts, the most urgent
// first: new URLs, then those that have been due for the longest time. Doubtful ones are
// due earlier than others.
func (d *dispatcher) plan(links []Target) {
	now := d.started
	accepted := map[string]bool{}
	for _, raw := range d.opt.Known {
		if key, err := Key(raw); err == nil {
			accepted[key] = true
		}
	}
	// A pause is for all URLs of a host, also those that this run does not ask for.
	d.cache.pauses(now, func(url string, until time.Time) {
		if u, err := weburl.Parse(url); err == nil {
			if h := d.host(hostName(u)); until.After(h.until) {
				h.until = until
			}
		}
	})
	var due []*job
	byURL := make(map[string]*job, len(links)) // nil for a URL that is left out
	for _, l := range links {
		u, err := parse(l.URL)
		if err != nil {
			continue
		}
		key := u.WithoutFragment()
		j, again := byURL[key]
		if j != nil {
			j.fragments = append(j.fragments, l.Fragments...)
			continue
		}
		name, record := hostName(u), d.cache.Get(key)
		key = record.URL // in the memory of the cache
		left := true
		switch {
		case record.Known():
			if left = !d.wants(&record, l.Fragments, u); left && !again {
				d.report.Fresh++
				d.count(name, &record)
			} else if again && !left { // for this fragment
				d.report.Fresh--
			}
		case d.opt.OnlyNew && accepted[key]:
			if !again {
				d.report.Known++
			}
			d.report.unasked[key] = check.External
		default:
			left = false
		}
		if left {
			byURL[key] = nil
			continue
		}
		j = &job{url: key, host: d.host(name), fragments: slices.Clone(l.Fragments), isNew: !record.Known()}
		byURL[key] = j
		if j.host.dir == "/" {
			j.host.dir = u.Path()[:strings.LastIndexByte(u.Path(), '/')+1]
		}
		if record.Known() {
			j.due = dueSince(&record, d.opt.Policy(name), now)
		}
		due = append(due, j)
	}
	d.report.Links = len(byURL)
	for _, j := range due {
		slices.Sort(j.fragments)
		j.fragments = slices.Compact(j.fragments)
	}
	slices.SortStableFunc(due, func(a, b *job) int {
		if a.isNew != b.isNew {
			return cmp.Compare(b2i(b.isNew), b2i(a.isNew))
		}
		return cmp.Compare(a.due, b.due)
	})
	for _, j := range due {
		if j.host.queue.first == nil {
			d.order = append(d.order, j.host)
		}
		j.host.queue.push(j)
	}
	d.left, d.total = len(due), len(due)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// dueSince returns since when a URL is due without a maximum age.
func dueSince(r *Record, p Policy, now time.Time) int64 {
	return r.Due(now, Policy{Interval: p.Interval}).Unix()
}

// wants reports whether a URL that is known should be asked for.
func (d *dispatcher) wants(r *Record, fragments []string, u weburl.URL) bool {
	now := d.started
	if d.opt.OnlyNew {
		return false
	}
	if (r.Reason == LoginRequired || r.Reason == Forbidden) && d.opt.Login(u.Authority()) != nil {
		return true // the login may be new
	}
	return !r.Due(now, d.opt.Policy(hostName(u))).After(now) || r.Reason == "" && !r.knows(fragments)
}

// count counts a record that is not fine for the hosts of the report.
func (d *dispatcher) count(host string, r *Record) {
	switch r.Code {
	case check.DeadLink, check.Doubtful:
		if r.Reason != SoftMissing && r.Reason != Parked { // the host answers
			d.report.Failing[host]++
		}
	case check.Blocked:
		if r.Reason == PrivateAddress || r.Reason == OtherScheme {
			d.report.Unwanted[host]++
		} else {
			d.report.Blocked[host]++
		}
	}
}

// Flush removes the records of all URLs that are not among the links (LL-104).
func (c *Cache) Flush(links []Target) (removed int) {
	keep := make(map[string]bool, len(links))
	for _, l := range links {
		if key, err := Key(l.URL); err == nil {
			keep[key] = true
		}
	}
	for _, key := range c.URLs() {
		if !keep[key] {
			c.Remove(key)
			removed++
		}
	}
	return removed
}

// Reset forgets that the content changed (LL-103), and the title with its hint, of a page
// that answers well. It reports whether there was anything to forget.
func (r *Record) Reset() bool {
	if r.Reason != "" || r.Changed.IsZero() && r.Title == "" {
		return false
	}
	r.Changed, r.Title = time.Time{}, ""
	r.Hints = slices.DeleteFunc(r.Hints, isDrift)
	return true
}

// Retry makes a URL due if its last answer was not good (LL-104), unless its host asked
// to wait. It reports whether it did.
func (r *Record) Retry(now time.Time) bool {
	if r.Reason == "" || r.Next.After(now) {
		return false
	}
	r.Next = r.Asked
	return true
}

// Top returns the hosts with the highest counts, at most n, the highest first.
func Top(counts map[string]int, n int) []string {
	hosts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	return hosts[:min(n, len(hosts))]
}

// hostName identifies the host of a URL for pacing.
func hostName(u weburl.URL) string { return strings.TrimSuffix(u.Host(), ".") }
