package incoming

import (
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming/verify"
)

// TestJudge: every step of the life of a mention that a look can take (LK-48 to
// LK-50, PB-43, PB-44, PB-49, PB-57).
func TestJudge(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const recheck = 30 * 24 * time.Hour
	later := func(d time.Duration) time.Time { return now.Add(d) }
	never := time.Time{}
	rechecked := "rechecked" // Due about a recheck later
	linked := verify.Evidence{Result: verify.Linked, Title: "T", Excerpt: "E", Lang: "de", AuthorName: "A", AuthorURL: "https://a.example/"}
	missing := verify.Evidence{Result: verify.NotLinked, Fault: 17, Reason: "no link"}
	picture := verify.Evidence{Result: verify.NotHTML, Fault: 17, Reason: "a picture"}
	gone := verify.Evidence{Result: verify.Gone, Fault: 16, Reason: "the page answered 410"}
	down := verify.Evidence{Result: verify.Unavailable, Fault: 50, Reason: "down"}
	refused := verify.Evidence{Result: verify.Refused, Fault: 16, Reason: "refused"}

	type want struct {
		state State
		due   any // a time, or rechecked
		fault int
	}
	for _, c := range []struct {
		name string
		m    Mention
		l    look
		want want
	}{
		// A source that was never verified.
		{"new: first from its host", Mention{State: Queued}, look{Evidence: linked}, want{Held, rechecked, 0}},
		{"new: known author", Mention{State: Queued}, look{Evidence: linked, knownAuthor: true}, want{Approved, rechecked, 0}},
		{"new: known author, rule holds", Mention{State: Queued}, look{Evidence: linked, knownAuthor: true, verdict: Hold}, want{Held, rechecked, 0}},
		{"new: trusted", Mention{State: Queued}, look{Evidence: linked, verdict: Trust}, want{Approved, rechecked, 0}},
		{"new: blocked meanwhile", Mention{State: Queued}, look{Evidence: linked, verdict: Block}, want{Blocked, never, 0}},
		{"new: no link", Mention{State: Queued}, look{Evidence: missing}, want{Rejected, never, 17}},
		{"new: not HTML", Mention{State: Queued}, look{Evidence: picture}, want{Rejected, never, 17}},
		{"new: gone", Mention{State: Queued}, look{Evidence: gone}, want{Rejected, never, 16}},
		{"new: private address", Mention{State: Queued}, look{Evidence: refused}, want{Rejected, never, 16}},
		{"new: down", Mention{State: Queued}, look{Evidence: down}, want{Queued, later(time.Hour), 0}},
		{"new: down, Retry-After", Mention{State: Queued}, look{Evidence: down, retryAfter: 9 * time.Hour}, want{Queued, later(9 * time.Hour), 0}},
		{"new: down for the last time", Mention{State: Queued, Failures: 6}, look{Evidence: down}, want{Rejected, never, 50}},

		// A source that was verified.
		{"held: still there", Mention{State: Held, Fault: 17, Failures: 1}, look{Evidence: linked}, want{Held, rechecked, 0}},
		{"held: known author meanwhile", Mention{State: Held}, look{Evidence: linked, knownAuthor: true}, want{Held, rechecked, 0}},
		{"held: trusted meanwhile", Mention{State: Held}, look{Evidence: linked, verdict: Trust}, want{Approved, rechecked, 0}},
		{"held: no link", Mention{State: Held}, look{Evidence: missing}, want{Held, later(6 * time.Hour), 17}},
		{"held: no link again", Mention{State: Held, Fault: 17, Failures: 1}, look{Evidence: missing}, want{Gone, never, 17}},
		{"approved: still there", Mention{State: Approved}, look{Evidence: linked}, want{Approved, rechecked, 0}},
		{"approved: rule holds meanwhile", Mention{State: Approved}, look{Evidence: linked, verdict: Hold}, want{Approved, rechecked, 0}},
		{"approved: blocked meanwhile", Mention{State: Approved}, look{Evidence: linked, verdict: Block}, want{Blocked, never, 0}},
		{"approved: no link", Mention{State: Approved}, look{Evidence: missing}, want{Approved, later(6 * time.Hour), 17}},
		{"approved: 410", Mention{State: Approved}, look{Evidence: gone}, want{Approved, later(6 * time.Hour), 16}},
		{"approved: 410 again", Mention{State: Approved, Fault: 17, Failures: 1}, look{Evidence: gone}, want{Gone, never, 16}},
		{"approved: back at the second look", Mention{State: Approved, Fault: 16, Failures: 1}, look{Evidence: linked}, want{Approved, rechecked, 0}},
		{"approved: down", Mention{State: Approved}, look{Evidence: down}, want{Approved, later(time.Hour), 0}},
		{"approved: down at the second look", Mention{State: Approved, Fault: 17, Failures: 1}, look{Evidence: down}, want{Approved, later(6 * time.Hour), 17}},
		{"approved: down for a year", Mention{State: Approved, Failures: 20}, look{Evidence: down}, want{Approved, rechecked, 0}},
		{"approved: private address", Mention{State: Approved}, look{Evidence: refused}, want{Approved, later(time.Hour), 0}},
		{"approved: not HTML twice", Mention{State: Approved, Fault: 17, Failures: 1}, look{Evidence: picture}, want{Gone, never, 17}},
		{"moved: redirects to the replacement", Mention{State: Approved, Replacement: "https://a.example/new"}, look{Evidence: linked, final: "https://a.example/new"}, want{Gone, never, 0}},
		{"moved: no redirect", Mention{State: Approved, Replacement: "https://a.example/new"}, look{Evidence: linked, final: "https://a.example/p"}, want{Approved, rechecked, 0}},

		// A person decided.
		{"denied: still there", Mention{State: Refused}, look{Evidence: linked, verdict: Trust, knownAuthor: true}, want{Refused, never, 0}},
		{"denied: gone", Mention{State: Refused}, look{Evidence: gone}, want{Refused, never, 0}},
		{"blocked", Mention{State: Blocked}, look{Evidence: linked, verdict: Trust}, want{Blocked, never, 0}},

		// UNLINKR (LK-50).
		{"UNLINKR: target gone", Mention{Action: UnlinkR, State: Queued}, look{Evidence: gone}, want{Held, rechecked, 0}},
		{"UNLINKR: forged", Mention{Action: UnlinkR, State: Queued}, look{Evidence: linked, final: "https://b.example/t"}, want{Rejected, never, 0}},
		{"UNLINKR: redirect to the suggestion", Mention{Action: UnlinkR, State: Queued, Replacement: "https://c.example/n"}, look{Evidence: linked, final: "https://c.example/n"}, want{Held, rechecked, 0}},
		{"UNLINKR: redirect elsewhere", Mention{Action: UnlinkR, State: Queued, Replacement: "https://evil.example/n"}, look{Evidence: linked, final: "https://b.example/n", moved: true}, want{Rejected, never, 0}},
		{"UNLINKR: permanent redirect, no suggestion", Mention{Action: UnlinkR, State: Queued}, look{Evidence: linked, final: "https://b.example/n", moved: true}, want{Held, rechecked, 0}},
		{"UNLINKR: temporary redirect, no suggestion", Mention{Action: UnlinkR, State: Queued}, look{Evidence: linked, final: "https://b.example/n"}, want{Rejected, never, 0}},
		{"UNLINKR: trusted", Mention{Action: UnlinkR, State: Queued}, look{Evidence: gone, verdict: Trust}, want{Approved, later(24 * time.Hour), 0}},
		{"UNLINKR: down", Mention{Action: UnlinkR, State: Queued}, look{Evidence: down}, want{Queued, later(time.Hour), 0}},
		{"UNLINKR: private address", Mention{Action: UnlinkR, State: Queued}, look{Evidence: refused}, want{Rejected, never, 0}},
		{"UNLINKR: target is back", Mention{Action: UnlinkR, State: Held}, look{Evidence: linked, final: "https://b.example/t"}, want{Gone, never, 0}},

		// LINKMOD (LK-35).
		{"LINKMOD", Mention{Action: LinkMod, State: Queued}, look{Evidence: linked}, want{Held, never, 0}},
		{"LINKMOD: gone", Mention{Action: LinkMod, State: Queued}, look{Evidence: gone}, want{Held, never, 0}},
		{"LINKMOD: trusted", Mention{Action: LinkMod, State: Queued}, look{Evidence: linked, verdict: Trust}, want{Approved, later(24 * time.Hour), 0}},
		{"LINKMOD: down", Mention{Action: LinkMod, State: Queued}, look{Evidence: down}, want{Queued, later(time.Hour), 0}},
		{"LINKMOD: private address", Mention{Action: LinkMod, State: Queued}, look{Evidence: refused}, want{Rejected, never, 16}},
	} {
		m := c.m
		m.Source, m.Target, m.Title = "https://a.example/p", "https://b.example/t", "before"
		c.l.at, c.l.recheck = now, recheck
		judge(&m, c.l)
		if m.State != c.want.state || m.Fault != c.want.fault {
			t.Errorf("%s: %s with fault %d (%s), want %s with %d", c.name, m.State, m.Fault, m.Reason, c.want.state, c.want.fault)
		}
		switch due := c.want.due.(type) {
		case time.Time:
			if !m.Due.Equal(due) {
				t.Errorf("%s: due %s, want %s", c.name, m.Due, due)
			}
		default:
			if after := m.Due.Sub(now); after < recheck*7/8 || after > recheck*9/8 {
				t.Errorf("%s: due after %s, want a recheck", c.name, after)
			}
		}
		verified := m.Verified.Equal(now)
		if isLinked := c.l.Result == verify.Linked && m.Action == "" && (m.State == Held || m.State == Approved); isLinked != (m.Title == "T") || isLinked && !verified {
			t.Errorf("%s: title %q, verified %v", c.name, m.Title, m.Verified)
		}
		if (m.State == Rejected || m.State == Gone) && m.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
	}
}

// TestSuggestionOfAnotherSite: the replacement of a page that is gone counts only
// if it is on the same site (LK-50).
func TestSuggestionOfAnotherSite(t *testing.T) {
	for replacement, kept := range map[string]bool{
		"https://b.example/new": true, "https://www.b.example/new": true, "https://evil.example/": false, "https://b.example.evil.org/": false,
	} {
		m := Mention{Action: UnlinkR, State: Queued, Source: "https://a.example/p", Target: "https://b.example/t", Replacement: replacement}
		judge(&m, look{Evidence: verify.Evidence{Result: verify.Gone, Reason: "410"}, recheck: time.Hour})
		if (m.Replacement != "") != kept || m.State != Held {
			t.Errorf("%s: %+v", replacement, m)
		}
	}
}

// TestSchedule: a source that never answers is rejected after three days, and the
// rechecks of mentions of the same moment are spread.
func TestSchedule(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	m := Mention{State: Queued, Source: "https://a.example/p", Target: "https://b.example/t"}
	down := verify.Evidence{Result: verify.Unavailable, Fault: 50, Reason: "down"}
	looks, at := 0, now
	for ; m.State == Queued; looks++ {
		judge(&m, look{Evidence: down, at: at, recheck: 30 * 24 * time.Hour})
		if m.State == Queued {
			at = m.Due
		}
	}
	if took := at.Sub(now); took < 72*time.Hour || took > 80*time.Hour || looks != 7 || m.Fault != 50 {
		t.Errorf("rejected after %s and %d looks with fault %d", took, looks, m.Fault)
	}
	seen := map[time.Duration]bool{}
	for i := range 100 {
		m := Mention{Source: "https://a.example/" + string(rune('a'+i)), Target: "https://b.example/t"}
		if once, again := spread(&m, time.Hour), spread(&m, time.Hour); once != again {
			t.Error("not the same each time")
		}
		seen[spread(&m, time.Hour).Round(time.Second)] = true
	}
	if len(seen) < 60 {
		t.Errorf("only %d different times", len(seen))
	}
}
