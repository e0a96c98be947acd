package incoming

import (
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/weburl"
)

// secondLook is the time between the look that no longer finds a verified link and
// the one that confirms it.
const secondLook = 6 * time.Hour

// unverifiedRetries are the times between the looks at a source that never
// answered, together a little more than three days. verifiedRetries are those at
// a source that was verified before; then it gets one look per recheck.
var (
	unverifiedRetries = []time.Duration{time.Hour, 2 * time.Hour, 5 * time.Hour, 12 * time.Hour, 24 * time.Hour, 30 * time.Hour}
	verifiedRetries   = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 3 * 24 * time.Hour, 7 * 24 * time.Hour}
)

// look is what one look at the other end of a mention found, and what else decides
// about the mention.
type look struct {
	verify.Evidence
	// final is the address after redirects, moved is set if they were permanent.
	final string
	moved bool
	// retryAfter is how long the host asked to wait.
	retryAfter time.Duration
	// unasked is set if no request was sent: then the next look need not wait for an hour.
	// err is what the network said, for the log.
	unasked bool
	err     error
	// verdict is that of the rules about the other site. knownAuthor is set if
	// another mention by the same author is approved.
	verdict     Verdict
	knownAuthor bool
	// began is the time when the look began. It may use a page that was fetched
	// before.
	began time.Time
	// at is the time of the look, recheck the time between two looks at a verified
	// mention.
	at      time.Time
	recheck time.Duration
}

// judge changes a mention as a look demands. It depends on nothing else. What a
// person decided stays, except that the link is gone.
func judge(m *Mention, l look) {
	switch {
	case m.State == Refused || m.State == Blocked:
		m.Due = time.Time{}
		return
	case l.verdict == Block:
		m.State, m.Due = Blocked, time.Time{}
		return
	}
	if !l.unasked {
		m.Fetched = l.at
	}
	switch {
	case m.Action == UnlinkR:
		judgeUnlinkR(m, l)
	case m.Action == LinkMod:
		judgeLinkMod(m, l)
	case l.Result == verify.Linked:
		judgeLinked(m, l)
	case l.Result == verify.Unavailable, l.Result == verify.Refused && m.State != Queued:
		retry(m, l)
	default:
		judgeMissing(m, l)
	}
}

// judgeLinked is for a source that links to us.
func judgeLinked(m *Mention, l look) {
	if m.Replacement != "" && samePage(l.final, m.Replacement) {
		finish(m, Gone, 0, "the source moved to "+m.Replacement)
		return
	}
	m.Verified, m.Failures, m.Fault, m.Reason = l.at, 0, 0, ""
	m.Title, m.Excerpt, m.Lang = l.Title, l.Excerpt, l.Lang
	m.Author = Author{l.AuthorName, l.AuthorURL}
	switch {
	case m.State == Approved:
	case l.verdict == Trust, m.State != Held && l.verdict != Hold && l.knownAuthor:
		m.State = Approved
	default:
		m.State = Held
	}
	m.Due = l.at.Add(spread(m, l.recheck))
}

// judgeMissing is for a source without the link, or that is gone.
func judgeMissing(m *Mention, l look) {
	switch {
	case m.State != Held && m.State != Approved:
		finish(m, Rejected, l.Fault, l.Reason)
	case m.Fault != 0: // the look before this one did not find the link either
		finish(m, Gone, l.Fault, l.Reason)
	default:
		m.Failures++
		m.Fault, m.Reason = l.Fault, l.Reason
		m.Due = l.at.Add(secondLook)
	}
}

// judgeUnlinkR is for an UNLINKR: the target must be gone, or redirect to the page
// that was suggested (LK-50). A person decides what follows (LK-46), unless a rule
// trusts the site.
func judgeUnlinkR(m *Mention, l look) {
	redirected := l.final != "" && !samePage(l.final, m.Target)
	reason := ""
	switch {
	case m.State == Approved || l.Result == "": // decided already
		m.Due = time.Time{}
		return
	case l.Result == verify.Unavailable || l.Result == verify.Refused && m.State != Queued:
		retry(m, l)
		return
	case l.Result == verify.Gone:
		reason = l.Reason
		if m.Replacement != "" && siteKey(hostOf(m.Replacement)) != siteKey(hostOf(m.Target)) {
			// A stranger can register the name of a host that is gone.
			m.Replacement = ""
			reason += "; the suggested page is on another site and is ignored"
		}
	case redirected && m.Replacement != "" && samePage(l.final, m.Replacement),
		redirected && m.Replacement == "" && l.moved:
		m.Replacement, reason = l.final, "the target redirects to "+l.final
	default:
		reason = "the target still answers"
		switch {
		case l.Result == verify.Refused:
			reason = l.Reason
		case redirected && m.Replacement != "":
			reason = "the target redirects to another page than the suggested one"
		}
		state := Rejected
		if m.State == Held {
			state = Gone
		}
		finish(m, state, 0, reason)
		return
	}
	m.Due = l.at.Add(spread(m, l.recheck))
	proved(m, l, reason)
}

// judgeLinkMod judges a LINKMOD. A look can only show whether the page exists.
func judgeLinkMod(m *Mention, l look) {
	m.Due = time.Time{}
	switch l.Result {
	case verify.Unavailable:
		retry(m, l)
		return
	case verify.Refused:
		finish(m, Rejected, l.Fault, l.Reason)
		return
	case verify.Gone:
		proved(m, l, l.Reason)
	default:
		reason := "the target was modified"
		if l.final != "" && !samePage(l.final, m.Target) {
			reason += " and redirects to " + l.final
			m.Replacement = l.final
		}
		proved(m, l, reason)
	}
}

// proved is for a call about a link of ours that a look confirmed.
func proved(m *Mention, l look, reason string) {
	m.Verified, m.Failures, m.Fault, m.Reason = l.at, 0, 0, reason
	m.State = Held
	if l.verdict == Trust {
		m.State, m.Due = Approved, l.at.Add(doneInterval)
	}
}

// doneInterval is how often the receiver looks at our own page for a change that was
// approved: once the link is gone, the change was carried out.
const doneInterval = 24 * time.Hour

// finish ends the looks at a mention.
func finish(m *Mention, s State, fault int, reason string) {
	m.State, m.Fault, m.Reason = s, fault, reason
	m.Failures, m.Due, m.Subscribed = m.Failures+1, time.Time{}, false
}

// retry plans another look at a source that did not answer, and gives up a source
// that never did.
func retry(m *Mention, l look) {
	m.Failures++
	if m.State == Queued {
		if m.Failures > len(unverifiedRetries) {
			finish(m, Rejected, l.Fault, l.Reason)
			return
		}
		m.Due = l.at.Add(max(unverifiedRetries[m.Failures-1], l.retryAfter))
		return
	}
	wait := spread(m, l.recheck)
	if m.Failures <= len(verifiedRetries) {
		wait = min(wait, verifiedRetries[m.Failures-1])
	}
	m.Due = l.at.Add(max(wait, min(l.retryAfter, l.recheck)))
}

// spread returns a time within an eighth of d that depends on the mention, so that
// mentions that arrived together are not all due together.
func spread(m *Mention, d time.Duration) time.Duration {
	h := xxhash.Sum64String(m.Source + "\x00" + m.Target)
	return d - d/8 + time.Duration(float64(d/4)*(float64(h>>11)/(1<<53)))
}

// samePage reports whether two URLs name the same page, whatever their fragments.
func samePage(a, b string) bool {
	ca, errA := weburl.Canonical(a)
	cb, errB := weburl.Canonical(b)
	return errA == nil && errB == nil && ca == cb
}
