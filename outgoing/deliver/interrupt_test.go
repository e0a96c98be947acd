package deliver

import (
	"context"
	"testing"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// strictStore is a store that, like a database, does nothing once its context has
// ended.
type strictStore struct{ ledger.Store }

func (s strictStore) Begin(ctx context.Context, k ledger.Key) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.Begin(ctx, k)
}

func (s strictStore) Record(ctx context.Context, from ledger.Key, n ledger.Notice) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.Record(ctx, from, n)
}

// interrupting is a sender that interrupts the run in its steps.
type interrupting struct {
	*scripted
	sending, asked func()
	sent           error // of the context, at the end of Send
}

func (s *interrupting) Idempotent() bool {
	if s.asked != nil {
		s.asked()
	}
	return s.scripted.Idempotent()
}

func (s *interrupting) Send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	if s.sending != nil {
		s.sending()
	}
	s.sent = ctx.Err()
	return s.scripted.Send(ctx, n, e)
}

// TestInterruptedWhileSending: a notice in flight is finished and its outcome is
// recorded, although the run was interrupted.
func TestInterruptedWhileSending(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	wm := &interrupting{scripted: &scripted{protocol: ledger.Webmention, mayRepeat: true}, sending: cancel}
	s := strictStore{store(t, notice("p", "https://t.example/", ledger.Added))}
	r, err := Run(ctx, s, Options{Senders: []outgoing.Sender{wm}})
	if err != nil || r.Stopped == "" || len(r.Results) != 1 || r.Results[0].State != ledger.Done {
		t.Errorf("%+v, %v", r, err)
	}
	if wm.sent != nil {
		t.Errorf("the request was interrupted: %v", wm.sent)
	}
	want(t, states(t, s), []string{"https://t.example/ webmention done"})
}

// TestInterruptedBeforeRecording: the same for an outcome without a request.
func TestInterruptedBeforeRecording(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	link := &interrupting{scripted: &scripted{protocol: ledger.LinkMethod}, asked: cancel}
	begun := notice("p", "https://t.example/", ledger.Added)
	begun.State = ledger.InFlight
	s := strictStore{store(t, begun)}
	r, err := Run(ctx, s, Options{Senders: []outgoing.Sender{link}})
	if err != nil || len(r.Results) != 1 || !r.Results[0].NotRepeated {
		t.Errorf("%+v, %v", r, err)
	}
	want(t, states(t, s), []string{"https://t.example/ permanent"})
}

// TestInterruptedBeforeSending: a notice that is not begun stays as it is.
func TestInterruptedBeforeSending(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true, discover: func(target string) (string, error) {
		cancel()
		return target, nil
	}}
	s := strictStore{store(t, notice("p", "https://t.example/", ledger.Added))}
	r, err := Run(ctx, s, Options{Senders: []outgoing.Sender{wm}})
	if err != nil || r.NotTried != 1 || len(wm.sent) != 0 {
		t.Errorf("%+v, %v; sent %q", r, err, wm.sent)
	}
	want(t, states(t, s), []string{"https://t.example/ pending"})
}
