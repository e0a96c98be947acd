package incoming

import (
	"testing"
	"time"
)

// TestDecide: what a notice changes in a mention, for each state and each action
// (LK-26 to LK-35, LK-43, PB-47, A-PB-6, A-LK-7, A-LK-10).
func TestDecide(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const day = 24 * time.Hour
	link := func(p Protocol) Notice { return Notice{Protocol: p, Action: Link} }
	call := func(a Action) Notice { return Notice{Protocol: LinkMethod, Action: a} }
	subscribing := Notice{Protocol: LinkMethod, Action: Link, Subscribe: true}
	month := now.Add(30 * day)

	for _, c := range []struct {
		name    string
		m       *Mention
		n       Notice
		outcome Outcome
		state   State // "" for no change
		due     time.Time
	}{
		{"new pingback", nil, link(Pingback), Accepted, Queued, now},
		{"new webmention", nil, link(Webmention), Accepted, Queued, now},
		{"new LINK", nil, link(LinkMethod), Accepted, Queued, now},
		{"queued, pingback", &Mention{State: Queued, Due: now}, link(Pingback), Known, "", now},
		{"queued, webmention", &Mention{State: Queued, Due: now}, link(Webmention), Known, "", now},
		{"approved, pingback", &Mention{State: Approved, Due: month}, link(Pingback), Known, "", month},
		{"approved, LINK", &Mention{State: Approved, Due: month}, link(LinkMethod), Known, "", month},
		{"approved, webmention", &Mention{State: Approved, Due: month, Fetched: ago(day)}, link(Webmention), Known, Approved, now},
		{"approved, webmention soon after a look", &Mention{State: Approved, Due: month, Fetched: ago(time.Minute)}, link(Webmention), Known, Approved, now.Add(59 * time.Minute)},
		{"approved, webmention again", &Mention{State: Approved, Due: now.Add(59 * time.Minute), Fetched: ago(time.Minute)}, link(Webmention), Known, "", now.Add(59 * time.Minute)},
		{"approved, webmention, clock set back", &Mention{State: Approved, Due: month, Fetched: now.Add(300 * day)}, link(Webmention), Known, Approved, now},
		{"held, webmention", &Mention{State: Held, Due: month, Fetched: ago(day)}, link(Webmention), Known, Held, now},
		{"denied, webmention", &Mention{State: Refused}, link(Webmention), Known, "", time.Time{}},
		{"rejected, pingback", &Mention{State: Rejected, Fault: 17, Failures: 3, Fetched: ago(day)}, link(Pingback), Accepted, Queued, now},
		{"rejected, pingback, soon after a look", &Mention{State: Rejected, Fault: 17, Fetched: ago(time.Minute)}, link(Pingback), Accepted, Queued, now.Add(59 * time.Minute)},
		{"gone, webmention", &Mention{State: Gone, Fault: 16, Fetched: ago(day)}, link(Webmention), Accepted, Queued, now},
		{"blocked, the block is gone", &Mention{State: Blocked}, link(Webmention), Accepted, Queued, now},
		{"LINKMOD wanted", &Mention{State: Held, Due: month}, subscribing, Known, Held, month},
		{"LINKMOD wanted again", &Mention{State: Held, Due: month, Subscribed: true}, subscribing, Known, "", month},

		{"UNLINK, unknown", nil, call(Unlink), Unlinked, "", time.Time{}},
		{"UNLINK, queued", &Mention{State: Queued, Due: now}, call(Unlink), Accepted, "", now},
		{"UNLINK, approved", &Mention{State: Approved, Due: month, Fetched: ago(day)}, call(Unlink), Accepted, Approved, now},
		{"UNLINK, just looked at", &Mention{State: Approved, Due: month, Fetched: ago(time.Minute)}, call(Unlink), Accepted, Approved, now.Add(59 * time.Minute)},
		{"UNLINK, gone yesterday", &Mention{State: Gone, Fetched: ago(day)}, call(Unlink), Known, "", time.Time{}},
		{"UNLINK, gone last month", &Mention{State: Gone, Fetched: ago(31 * day)}, call(Unlink), Unlinked, "", time.Time{}},
		{"UNLINK, rejected", &Mention{State: Rejected, Fetched: ago(day)}, call(Unlink), Known, "", time.Time{}},
		{"UNLINK, denied", &Mention{State: Refused}, call(Unlink), Known, "", time.Time{}},

		{"UNLINKR", nil, call(UnlinkR), Accepted, Queued, now},
		{"UNLINKR, queued", &Mention{State: Queued, Due: now}, call(UnlinkR), Known, "", now},
		{"UNLINKR, proved", &Mention{State: Held, Due: month}, call(UnlinkR), Known, "", month},
		{"UNLINKR, not proved yesterday", &Mention{State: Rejected, Fetched: ago(day)}, call(UnlinkR), Accepted, Queued, now},
		{"UNLINKR, denied", &Mention{State: Refused}, call(UnlinkR), Known, "", time.Time{}},

		{"LINKMOD", nil, call(LinkMod), Accepted, Queued, now},
		{"LINKMOD, queued", &Mention{State: Queued, Due: now}, call(LinkMod), Known, "", now},
		{"LINKMOD, not handled", &Mention{State: Held}, call(LinkMod), Known, "", time.Time{}},
		{"LINKMOD, handled", &Mention{State: Approved, Fetched: ago(day)}, call(LinkMod), Accepted, Queued, now},
	} {
		m := c.m
		if m != nil {
			clone := *m
			m = &clone
		}
		changed, a := decide(m, c.n, now)
		if a.Outcome != c.outcome || a.Reason == "" {
			t.Errorf("%s: %+v, want %s", c.name, a, c.outcome)
		}
		switch {
		case changed == nil && c.state != "", changed != nil && c.state == "":
			t.Errorf("%s: changed to %+v", c.name, changed)
		case changed != nil:
			if changed.State != c.state || !changed.Due.Equal(c.due) {
				t.Errorf("%s: %s due %s, want %s due %s", c.name, changed.State, changed.Due, c.state, c.due)
			}
			if changed.State == Queued && (changed.Fault != 0 || changed.Failures != 0) {
				t.Errorf("%s: %+v", c.name, changed)
			}
			// LK-43: the same notice again changes nothing.
			if again, _ := decide(changed, c.n, now); again != nil && c.n.Action != UnlinkR {
				t.Errorf("%s: repeated, it changes the mention to %+v", c.name, again)
			}
		}
	}
}
