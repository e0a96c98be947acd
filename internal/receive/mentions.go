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
	"github.com/sitelink/sitelink/internal/weburl"
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
// applies them to the mentions that the store has. It returns how many changed.
func SetRules(ctx context.Context, store incoming.Store, patterns []string, verdict incoming.Verdict, note string) (changed int, err error) {
	var rules []incoming.Rule
	for _, p := range patterns {
		rules = append(rules, incoming.Rule{Pattern: p, Verdict: verdict, Note: note})
	}
	if err := store.SetRules(ctx, rules); err != nil {
		return 0, err
	}
	return incoming.ApplyRules(ctx, store, time.Now())
}

// Patterns returns the patterns of rules that a user wrote.
func Patterns(texts []string) (patterns []string, err error) {
	for _, text := range texts {
		pattern, err := incoming.ParsePattern(text)
		if err != nil {
			return nil, fault.Usage(err.Error(), "")
		}
		patterns = append(patterns, pattern)
	}
	return patterns, nil
}

// Hosts returns the hosts of the other ends of mentions, sorted.
func Hosts(mentions []incoming.Mention) (hosts []string) {
	for i := range mentions {
		if u, err := weburl.Parse(mentions[i].Remote()); err == nil {
			hosts = append(hosts, u.Host())
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
