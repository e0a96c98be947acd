package incoming

import "time"

const (
	// pause is the least time between two looks at one mention, however often it
	// is sent (PB-59).
	pause = time.Hour
	// tombstone is how long a removed link is remembered: an UNLINK for it
	// succeeds as often as it is repeated (A-LK-7).
	tombstone = 30 * 24 * time.Hour
)

// decide returns what a notice changes in the mention that it is about, nil for
// nothing, and the answer. It depends on nothing else.
func decide(m *Mention, n Notice, now time.Time) (*Mention, Answer) {
	switch n.Action {
	case Unlink:
		return decideUnlink(m, n, now)
	case UnlinkR:
		return decideUnlinkR(m, n, now)
	case LinkMod:
		return decideLinkMod(m, n, now)
	}
	return decideLink(m, n, now)
}

// decideLink decides about a pingback, a webmention or a LINK. Only a webmention
// brings the next look at a verified mention forward: for a pingback it is an
// error to repeat it (A-PB-6), and LINK is idempotent (LK-43).
func decideLink(m *Mention, n Notice, now time.Time) (*Mention, Answer) {
	if m == nil {
		return newMention(n, now), Answer{Outcome: Accepted, Reason: "The link is recorded and will be verified."}
	}
	var changed *Mention
	if n.Subscribe && !m.Subscribed { // a later LINK without it keeps it (A-LK-10)
		m.Subscribed, changed = true, m
	}
	known := Answer{Outcome: Known, Reason: "The link is recorded already."}
	switch m.State {
	case Rejected, Gone, Blocked:
		requeue(m, now)
		return m, Answer{Outcome: Accepted, Reason: "The link is recorded and will be verified again."}
	case Held, Approved:
		if n.Protocol == Webmention && hasten(m, now) {
			changed = m
		}
	}
	return changed, known
}

// decideUnlink decides about an UNLINK. It removes nothing: the source is looked at
// first (LK-49).
func decideUnlink(m *Mention, n Notice, now time.Time) (*Mention, Answer) {
	unknown := Answer{Outcome: Unlinked, Reason: "No such link is recorded."}
	if m == nil {
		return nil, unknown
	}
	switch m.State {
	case Rejected, Gone:
		if now.Sub(m.Fetched) > tombstone && now.Sub(m.Received) > tombstone {
			return nil, unknown
		}
		return nil, Answer{Outcome: Known, Reason: "The link was removed already."}
	case Refused, Blocked:
		return nil, Answer{Outcome: Known, Reason: "The link is not shown."}
	}
	accepted := Answer{Outcome: Accepted, Reason: "The source will be checked before the link is removed."}
	changed := hasten(m, now)
	if n.Replacement != "" && m.Replacement != n.Replacement {
		m.Replacement, changed = n.Replacement, true
	}
	if !changed {
		return nil, accepted
	}
	return m, accepted
}

// decideUnlinkR decides about an UNLINKR, which our page does link to.
func decideUnlinkR(m *Mention, n Notice, now time.Time) (*Mention, Answer) {
	if m == nil {
		return newMention(n, now), Answer{Outcome: Accepted, Reason: "The target will be checked before the link is changed."}
	}
	switch m.State {
	case Rejected, Gone, Blocked:
		m.Replacement = n.Replacement
		requeue(m, now)
		return m, Answer{Outcome: Accepted, Reason: "The target will be checked again."}
	}
	return nil, Answer{Outcome: Known, Reason: "This is recorded already."}
}

// decideLinkMod decides about a LINKMOD. A call that was handled does not answer
// for the next modification.
func decideLinkMod(m *Mention, n Notice, now time.Time) (*Mention, Answer) {
	if m == nil {
		return newMention(n, now), Answer{Outcome: Accepted, Reason: "The modification is recorded."}
	}
	switch m.State {
	case Rejected, Gone, Blocked, Approved:
		requeue(m, now)
		return m, Answer{Outcome: Accepted, Reason: "The modification is recorded."}
	}
	return nil, Answer{Outcome: Known, Reason: "The modification is recorded already."}
}

// newMention returns the mention that a notice is the first one about.
func newMention(n Notice, now time.Time) *Mention {
	m := &Mention{
		Action: n.Action, Protocol: n.Protocol, Source: n.Source, Target: n.Target,
		State: Queued, Received: now, Due: now, Peer: n.Peer, Subscribed: n.Subscribe,
	}
	if n.Action == Link {
		m.Action = ""
	} else {
		m.Replacement = n.Replacement
	}
	return m
}

// requeue makes a mention one that was never verified.
func requeue(m *Mention, now time.Time) {
	m.State, m.Fault, m.Reason, m.Failures = Queued, 0, "", 0
	m.Due = nextLook(m, now)
}

// hasten brings the next look at a mention forward. It reports whether that
// changed it.
func hasten(m *Mention, now time.Time) bool {
	at := nextLook(m, now)
	if !m.Due.IsZero() && !m.Due.After(at) {
		return false
	}
	m.Due = at
	return true
}

// nextLook returns the earliest time for the next look at a mention. A clock that
// was set back does not delay it further.
func nextLook(m *Mention, now time.Time) time.Time {
	if m.Fetched.IsZero() || m.Fetched.After(now) && m.Fetched.Sub(now) > pause {
		return now
	}
	if at := m.Fetched.Add(pause); at.After(now) {
		return at
	}
	return now
}
