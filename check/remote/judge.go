package remote

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
)

// Policy says when failures count and when a URL is asked for again. The zero value
// of a field selects the default named beside it.
type Policy struct {
	// Interval is the shortest time between two failures that count: 24 h. An eighth of
	// it and of MaxAge may be missing, at most 3 h, because a daily job begins a little
	// earlier on some days.
	Interval time.Duration
	// Strikes is the number of failures after which a link counts as dead, if its host
	// may only be down: 3.
	Strikes int
	// MaxAge is the time after which a link is judged again: 7 days if it is ok, moved,
	// blocked or dead, and Interval if it is doubtful. A negative value means at once.
	MaxAge time.Duration
	// NewIsDead makes a 404 or 410 of a URL that was never asked for before dead at
	// once: its author has just written it.
	NewIsDead bool
	// Accept, Missing and Blocked are statuses that count as a good answer, as 404 and as
	// 403.
	Accept, Missing, Blocked []int
	// Pace and PerHost replace those of [Options].
	Pace    time.Duration
	PerHost int
}

const (
	defaultInterval = 24 * time.Hour
	defaultStrikes  = 3
	defaultMaxAge   = 7 * 24 * time.Hour
)

func (p *Policy) interval() time.Duration { return cmp.Or(p.Interval, defaultInterval) }
func (p *Policy) strikes() int            { return cmp.Or(p.Strikes, defaultStrikes) }

// effect is what an answer does to a record.
type effect uint8

const (
	good     effect = iota // the link works
	gone                   // dead after two failures
	failing                // dead after Policy.Strikes failures
	doubtful               // never dead, and never fine
	blocked                // the host does not answer us; says nothing about visitors
)

// goneStrikes is the number of failures after which a link counts as dead, if its host
// says that there is nothing.
const goneStrikes = 2

// effects is the whole judgement: what each reason does to a record.
var effects = map[Reason]effect{
	"":               good,
	NotFound:         gone,
	Gone:             gone,
	NoSuchHost:       gone,
	DNS:              failing,
	ServerError:      failing,
	Timeout:          failing,
	Refused:          failing,
	Reset:            failing,
	TLS:              failing,
	TLSExpired:       failing,
	TLSName:          failing,
	TLSAuthority:     failing,
	TLSChain:         doubtful,
	Garbage:          failing,
	RedirectLoop:     failing,
	BadRedirect:      failing,
	RefusedRequest:   doubtful,
	UnexpectedStatus: doubtful,
	SoftMissing:      doubtful,
	Parked:           doubtful,
	LoginRequired:    blocked,
	Forbidden:        blocked,
	RateLimited:      blocked,
	Legal:            blocked,
	BotWall:          blocked,
	ClientCert:       blocked,
	PrivateAddress:   blocked,
	OtherScheme:      blocked,
}

// reasons are the reasons of statuses. Other statuses from 200 to 299 and 304 are
// good, others from 500 are server errors.
var reasons = map[int]Reason{
	400: RefusedRequest,
	401: LoginRequired,
	402: RefusedRequest,
	403: Forbidden,
	404: NotFound,
	405: RefusedRequest,
	406: RefusedRequest,
	407: LoginRequired,
	408: Timeout,
	410: Gone,
	429: RateLimited,
	451: Legal,
	999: BotWall, // LinkedIn's answer to programs
}

// maxWait is the longest Retry-After that is waited for within a run.
const maxWait = 30 * time.Second

// reason returns why an answer is not good, "" if it is.
func (p *Policy) reason(a *Answer) Reason {
	switch r, listed := reasons[a.Status]; {
	case a.Fault != "":
		return a.Fault
	case slices.Contains(p.Accept, a.Status):
		return ""
	case slices.Contains(p.Missing, a.Status):
		return NotFound
	case slices.Contains(p.Blocked, a.Status):
		return Forbidden
	case a.RetryAfter > maxWait && a.Status == 503:
		return RateLimited
	case listed:
		return r
	case a.Status >= 200 && a.Status < 300, a.Status == 304:
		return ""
	case a.Status >= 500 && a.Status < 600:
		return ServerError
	}
	return UnexpectedStatus
}

// Judge returns the record after an answer in a run that began at the time now. It
// depends on nothing else.
//
// A failure changes neither what is known of the content nor, within the interval
// of the policy, the number of strikes. A good answer removes all strikes. A blocked
// one leaves them: it says nothing about the page.
func Judge(r Record, a Answer, now time.Time, p Policy) Record {
	now = seconds(now)
	known := r.Known()
	r.Reason, r.Status, r.Asked, r.Next = p.reason(&a), a.Status, now, time.Time{}
	if r.Status == 304 {
		r.Status = 200
	}
	if r.Reason == RateLimited && a.RetryAfter > maxWait {
		r.Next = now.Add(a.RetryAfter)
	}
	was := r.Code
	final, moved := a.moved(r.URL)
	r.Hops = recorded(a.Hops)
	what := effects[r.Reason]
	if what != good {
		r.Final = ""
	}
	switch what {
	case good:
		r.Verdict, r.Code, r.Final = check.OK, "", final
		if moved {
			r.Verdict, r.Code = check.Warning, check.Moved
		}
		r.Strikes, r.Since, r.Struck, r.Good = 0, time.Time{}, time.Time{}, now
		r.content(&a, now)
	case blocked:
		r.Verdict, r.Code = check.Unchecked, check.Blocked
	case doubtful:
		r.Verdict, r.Code = check.Warning, check.Doubtful
		r.Since = cmpTime(r.Since, now)
		if a.Read {
			r.Hints = a.Hints
		}
	default:
		limit := p.strikes()
		if what == gone {
			limit = min(goneStrikes, limit)
		}
		r.strike(what, now, p.interval())
		r.Verdict, r.Code = check.Warning, check.Doubtful
		atOnce := p.NewIsDead && !known && (r.Reason == NotFound || r.Reason == Gone)
		if r.Strikes >= limit || was == check.DeadLink || atOnce {
			r.Verdict, r.Code = check.Error, check.DeadLink
		}
	}
	if r.Code != was {
		r.Variant, r.Copy, r.Probed, r.Searched = "", "", time.Time{}, time.Time{}
	}
	return r
}

// maxHop is the longest address of a redirect that the record keeps.
const maxHop = 2 << 10

// recorded returns the redirects that the record keeps.
func recorded(hops []Hop) []Hop {
	for i, h := range hops {
		if len(h.To) > maxHop {
			return hops[:i]
		}
	}
	return hops
}

// cmpTime returns t, or other if t is not set.
func cmpTime(t, other time.Time) time.Time {
	if t.IsZero() {
		return other
	}
	return t
}

// slack is how much earlier than after a time a run may count as after it: jobs that run
// every day do not begin at the same second.
func slack(d time.Duration) time.Duration { return min(d/8, 3*time.Hour) }

// strike counts a failure. Since two failures are enough for a host that says
// that there is nothing, failures of another kind do not count towards them.
func (r *Record) strike(what effect, now time.Time, interval time.Duration) {
	r.Since = cmpTime(r.Since, now)
	if r.Since.After(now) { // the clock was wrong
		r.Since = now
	}
	if r.Struck.After(now) {
		r.Struck = now
	}
	if r.Strikes > 0 && now.Sub(r.Struck) < interval-slack(interval) {
		return
	}
	if what == gone && !r.WasGone {
		r.Strikes = 0
	}
	r.WasGone = what == gone
	r.Strikes++
	r.Struck = now
}

// content remembers the content of a good answer, and when it changed.
func (r *Record) content(a *Answer, now time.Time) {
	answered := ""
	if n := len(a.Hops); n > 0 {
		answered, _, _ = strings.Cut(a.Hops[n-1].To, "#")
	}
	same := a.Status == 304 || r.sameContent(a)
	if !same && (r.conditional() || r.Hash != "") {
		r.Changed = now
	}
	if a.Status != 304 {
		if !same {
			r.Present, r.Missing = nil, nil
		}
		r.ETag, r.LastModified, r.Hash = a.ETag, a.LastModified, ""
		if !r.conditional() {
			r.Hash = a.Hash
		}
	}
	r.Answered = answered
	if a.Looked {
		r.Present, r.Missing = a.Present, a.Missing
	}
	if a.Read {
		r.Hints = a.Hints
		r.Title = cmp.Or(r.Title, a.Title)
		if differs(r.Title, a.Title) {
			r.Hints = append(slices.Clone(r.Hints), drift(r.Title, a.Title))
		}
	}
}

// sameContent compares the content of an answer with that of the record by the
// first means that both have: ETag, Last-Modified, hash.
func (r *Record) sameContent(a *Answer) bool {
	switch {
	case r.ETag != "" && a.ETag != "":
		return r.ETag == a.ETag
	case r.LastModified != "" && a.LastModified != "":
		return r.LastModified == a.LastModified
	case r.Hash != "" && a.Hash != "":
		return r.Hash == a.Hash
	}
	return !r.conditional() && r.Hash == ""
}

// Due returns the time from which the URL may be asked for again. A time in the
// future of now that a wrong clock left does not count.
func (r *Record) Due(now time.Time, p Policy) time.Time {
	age := p.MaxAge
	switch {
	case age < 0:
		age = 0
	case age == 0 && r.Code == check.Doubtful:
		age = p.interval()
	case age == 0:
		age = defaultMaxAge
	}
	due := r.Asked.Add(age - slack(age))
	if r.Asked.After(now) {
		due = now
	}
	if r.Next.After(due) && r.Next.Sub(now) <= maxNext || r.Next.Equal(r.Asked) && !r.Next.After(now) {
		due = r.Next
	}
	return due
}

// maxNext is the longest time that a host can delay the next request.
const maxNext = 30 * 24 * time.Hour
