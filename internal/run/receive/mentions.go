package receive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/moderation"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
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
			hint := "sitelink mentions list --state all prints the IDs"
			if len(name) < shortestName {
				hint = fmt.Sprintf("name it by at least %d characters of its ID", shortestName)
			}
			return nil, text.Usage(fmt.Sprintf("there is no mention %q", name), hint)
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
	if !errors.Is(err, incoming.ErrNotFound) {
		return nil, err
	}
	if len(name) < shortestName {
		return nil, nil
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
		return nil, text.Usage(fmt.Sprintf("%d mentions have IDs that begin with %s", len(found), name), "write more of the ID")
	}
	return found, nil
}

// Decide approves or denies mentions and returns how many of them changed, and how many
// others by the same authors. A mention that is not verified cannot be approved: its text
// is not known.
func Decide(ctx context.Context, store incoming.Store, mentions []incoming.Mention, to incoming.State) (changed, others int, err error) {
	for _, m := range mentions {
		if to == incoming.Approved {
			if now, err := store.Mention(ctx, m.ID); err == nil && now.State == to && m.State != to {
				others-- // one before it, by the same author, took it along
			}
			var more int
			_, more, err = moderation.Approve(ctx, store, m.ID, time.Now())
			others += more
		} else {
			_, err = moderation.Deny(ctx, store, m.ID)
		}
		if errors.Is(err, moderation.ErrNotApproved) {
			err = text.Usage(fmt.Sprintf("%s: %v: it is %s", m.Source, err, m.State), "sitelink mentions show "+m.ID+" prints what is known about it")
		}
		if err != nil {
			return changed, others, err
		}
		if m.State != to {
			changed++
		}
	}
	return changed, others, nil
}

// SetRules adds rules, or removes those with the verdict "", and applies them to the
// mentions that the store has. It returns how many changed. file is the file of
// rules, "" for none.
func SetRules(ctx context.Context, store incoming.Store, file string, rules []incoming.Rule) (changed int, err error) {
	if file != "" {
		if err := writeRules(ctx, store, file, rules); err != nil {
			return 0, err
		}
	}
	if err := store.SetRules(ctx, rules); err != nil {
		return 0, err
	}
	return incoming.ApplyRules(ctx, store, time.Now())
}

// Rules returns the same rule for sites that a user wrote.
func Rules(sites []string, verdict incoming.Verdict, note string) (rules []incoming.Rule, err error) {
	for _, site := range sites {
		pattern, err := incoming.ParsePattern(site)
		if err != nil {
			return nil, text.Usage(err.Error(), "")
		}
		rules = append(rules, incoming.Rule{Pattern: pattern, Verdict: verdict, Note: note})
	}
	return rules, nil
}

// Owners returns the patterns for all that the authors of the other ends of mentions
// have there, sorted.
func Owners(mentions []incoming.Mention) (patterns []string) {
	for i := range mentions {
		if owner := incoming.Owner(mentions[i].Remote()); owner != "" {
			patterns = append(patterns, owner)
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// Import brings the mentions of another receiver into the store. The first bytes of the
// file show where it comes from: webmentiond has a database, WordPress XML, and
// webmention.io JSON.
func Import(ctx context.Context, store incoming.Store, name string) (ImportReport, error) {
	f, err := os.Open(name)
	if err != nil {
		return ImportReport{}, fmt.Errorf("read %s: %w", name, system.Cause(err))
	}
	defer f.Close()
	r := bufio.NewReader(f)
	items := JF2(r)
	if begin, _ := r.Peek(16); string(begin) == "SQLite format 3\x00" {
		items = Webmentiond(ctx, name)
	} else if strings.HasPrefix(strings.TrimLeft(string(begin), "\uFEFF \t\r\n"), "<") {
		items = WordPress(r)
	}
	report, err := ImportItems(ctx, store, items, ImportOptions{})
	if err != nil {
		err = fmt.Errorf("import %s: %w", name, system.Cause(err))
	}
	return report, err
}
