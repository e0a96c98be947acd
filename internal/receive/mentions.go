package receive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/fault"
)

// shortestName is the length of the shortest beginning of an ID that names a
// mention.
const shortestName = 6

// Select returns the mentions that the names mean, each once, in the order of the
// store. A name is an ID, the beginning of one, or the URL of a source or target.
func Select(ctx context.Context, store incoming.Store, names []string) ([]incoming.Mention, error) {
	var found []incoming.Mention
	taken := map[string]bool{}
	for _, name := range names {
		mentions, err := named(ctx, store, name)
		if err != nil {
			return nil, err
		}
		if len(mentions) == 0 {
			return nil, fault.Usage(fmt.Sprintf("there is no mention %q", name), "sitelink mentions list --state all prints the IDs")
		}
		for _, m := range mentions {
			if !taken[m.ID] {
				taken[m.ID] = true
				found = append(found, m)
			}
		}
	}
	return found, nil
}

// named returns the mentions of one name.
func named(ctx context.Context, store incoming.Store, name string) (found []incoming.Mention, err error) {
	if strings.Contains(name, "://") {
		for _, f := range []incoming.Filter{{Source: name}, {Target: name}} {
			for m, err := range store.List(ctx, f) {
				if err != nil {
					return nil, err
				}
				found = append(found, m)
			}
		}
		return found, nil
	}
	m, err := store.Mention(ctx, name)
	if err == nil {
		return []incoming.Mention{m}, nil
	}
	if !errors.Is(err, incoming.ErrNotFound) || len(name) < shortestName {
		return nil, ignoreNotFound(err)
	}
	for m, err := range store.List(ctx, incoming.Filter{}) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(m.ID, name) {
			found = append(found, m)
		}
	}
	if len(found) > 1 {
		return nil, fault.Usage(fmt.Sprintf("%d mentions have IDs that begin with %s", len(found), name), "write more of the ID")
	}
	return found, nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, incoming.ErrNotFound) {
		return nil
	}
	return err
}

// Decide approves or denies mentions and returns how many changed. A mention that
// is not verified cannot be approved: its text is not known.
func Decide(ctx context.Context, store incoming.Store, mentions []incoming.Mention, to incoming.State) (changed int, err error) {
	for _, m := range mentions {
		was := m.State
		_, err := store.Update(ctx, m.ID, func(m *incoming.Mention) error {
			was = m.State
			if to == incoming.Approved && m.Verified.IsZero() {
				return fault.Usage(fmt.Sprintf("%s is %s and cannot be approved: the link was not found yet", m.Source, m.State),
					"sitelink mentions show "+m.ID+" prints what is known about it")
			}
			m.State = to
			return nil
		})
		if err != nil {
			return changed, err
		}
		if was != to {
			changed++
		}
	}
	return changed, nil
}

// SetRules adds rules for these patterns, or removes them with the verdict "", and
// applies them to the mentions that the store has: a block takes effect on all of
// a site's mentions, and its removal puts them back. It returns how many mentions
// changed.
func SetRules(ctx context.Context, store incoming.Store, patterns []string, verdict incoming.Verdict, note string) (changed int, err error) {
	var rules []incoming.Rule
	for _, p := range patterns {
		rules = append(rules, incoming.Rule{Pattern: p, Verdict: verdict, Note: note})
	}
	if err := store.SetRules(ctx, rules); err != nil {
		return 0, err
	}
	for _, pattern := range patterns {
		affected, err := affected(ctx, store, pattern, verdict)
		if err != nil {
			return changed, err
		}
		for _, m := range affected {
			if _, err := store.Update(ctx, m.ID, func(m *incoming.Mention) error { apply(m, verdict); return nil }); err != nil {
				return changed, err
			}
			changed++
		}
	}
	return changed, nil
}

// affected returns the mentions that a changed rule concerns.
func affected(ctx context.Context, store incoming.Store, pattern string, verdict incoming.Verdict) (found []incoming.Mention, err error) {
	filter := incoming.Filter{}
	switch verdict {
	case incoming.Block:
		filter.States = []incoming.State{incoming.Queued, incoming.Held, incoming.Approved}
	case incoming.Trust:
		filter.States = []incoming.State{incoming.Held}
	case "":
		filter.States = []incoming.State{incoming.Blocked}
	default:
		return nil, nil
	}
	if !strings.Contains(pattern, "://") {
		filter.Source = pattern
	}
	for m, err := range store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		if (incoming.Rule{Pattern: pattern}).Matches(m.Source) {
			found = append(found, m)
		}
	}
	return slices.Clip(found), nil
}

// apply applies a changed rule to a mention.
func apply(m *incoming.Mention, verdict incoming.Verdict) {
	switch {
	case verdict == incoming.Block && m.State != incoming.Blocked:
		m.State, m.Due = incoming.Blocked, time.Time{}
	case verdict == incoming.Trust && m.State == incoming.Held:
		m.State = incoming.Approved
	case verdict == "" && m.State == incoming.Blocked && m.Verified.IsZero():
		m.State, m.Due = incoming.Queued, time.Now()
	case verdict == "" && m.State == incoming.Blocked:
		m.State = incoming.Held
	}
}
