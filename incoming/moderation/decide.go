package moderation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// ErrNotApproved means that a mention cannot be approved, because its link was not found
// or is gone.
var ErrNotApproved = errors.New("it cannot be approved")

// Approve approves a mention that was verified, and returns it. It also approves the held
// mentions by the same author, see [incoming.ApproveAuthor], and returns their number. now
// is the time of the decision: a mention that was denied before is looked at again. The
// error is [ErrNotApproved] with the reason, [incoming.ErrNotFound], or that of the store.
func Approve(ctx context.Context, store incoming.Store, id string, now time.Time) (m incoming.Mention, more int, err error) {
	m, err = store.Update(ctx, id, func(m *incoming.Mention) error {
		switch {
		case m.State == incoming.Approved:
			return nil
		case m.Verified.IsZero():
			return fmt.Errorf("the mention %s is %s, and its link was not found: %w", m.ID, m.State, ErrNotApproved)
		case m.State == incoming.Gone:
			return fmt.Errorf("the source of the mention %s no longer has the link: %w", m.ID, ErrNotApproved)
		case m.Due.IsZero() || m.Action.Ours(): // then it is looked for on our page
			m.Due = now
		}
		m.State = incoming.Approved
		return nil
	})
	if err == nil {
		more, err = incoming.ApproveAuthor(ctx, store, &m)
	}
	return m, more, err
}

// Deny decides against a mention, and returns it. It stays denied, also if the other
// site sends it again. The error is [incoming.ErrNotFound] or that of the store.
func Deny(ctx context.Context, store incoming.Store, id string) (incoming.Mention, error) {
	return store.Update(ctx, id, func(m *incoming.Mention) error {
		m.State, m.Due = incoming.Refused, time.Time{}
		return nil
	})
}

// SetRule adds a rule, or removes it if its verdict is "", and applies the rules to the
// mentions that the store has, see [incoming.ApplyRules]. A running receiver obeys the
// rule within a second. It returns the number of mentions that changed. The error says
// what is wrong with the pattern, or is that of the store; after the latter, SetRule can
// be repeated.
func SetRule(ctx context.Context, store incoming.Store, rule incoming.Rule, now time.Time) (changed int, err error) {
	if rule.Pattern, err = incoming.ParsePattern(rule.Pattern); err != nil {
		return 0, err
	}
	rule.Note = oneLine(rule.Note)
	if err := store.SetRules(ctx, []incoming.Rule{rule}); err != nil {
		return 0, err
	}
	return incoming.ApplyRules(ctx, store, now)
}

// oneLine returns a text without control characters and line breaks.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7F && r <= 0xA0 || r == 0x2028 || r == 0x2029 }), " ")
}
