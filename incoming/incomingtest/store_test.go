package incomingtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestStore(t *testing.T) {
	ctx := t.Context()
	s := &Store{} // the zero value works
	ids := s.Add(
		incoming.Mention{Source: "https://b.example/", Target: "https://our.example/p#x", State: incoming.Held},
		incoming.Mention{Source: "https://a.example/", Target: "https://OUR.example/p", State: incoming.Approved})
	list := func(f incoming.Filter) (sources []string) {
		for m, err := range s.List(ctx, f) {
			testkit.Check(t, err)
			sources = append(sources, m.Source)
		}
		return sources
	}
	for _, f := range []incoming.Filter{{}, {Target: "our.example"}, {Target: "https://our.example:443/p"}} {
		if got := list(f); len(got) != 2 || got[0] != "https://a.example/" {
			t.Errorf("%+v: %q", f, got)
		}
	}
	for _, f := range []incoming.Filter{{Source: "b.example"}, {States: []incoming.State{incoming.Held}}} {
		if got := list(f); len(got) != 1 || got[0] != "https://b.example/" {
			t.Errorf("%+v: %q", f, got)
		}
	}

	// A due mention is looked at once, until another Due is set.
	ctx, stop := context.WithCancel(ctx)
	looks := 0
	if _, err := s.Update(ctx, ids[0], func(m *incoming.Mention) error { m.Due = time.Unix(1, 0); return nil }); err != nil {
		t.Fatal(err)
	}
	err := s.Work(ctx, func(_ context.Context, m incoming.Mention) (func(*incoming.Mention), error) {
		if looks++; looks == 1 {
			return func(m *incoming.Mention) { m.Due = time.Unix(2, 0) }, nil
		}
		stop()
		return func(m *incoming.Mention) { m.State = incoming.Approved }, nil
	})
	m, missing := s.Mention(t.Context(), ids[0])
	if !errors.Is(err, context.Canceled) || missing != nil || looks != 2 || m.State != incoming.Approved || !m.Due.IsZero() {
		t.Errorf("after %d looks: %+v, %v, %v", looks, m, err, missing)
	}

	failure := errors.New("disk full")
	s.Fail(failure)
	if _, err := s.Mention(t.Context(), ids[0]); !errors.Is(err, failure) {
		t.Errorf("a failing store: %v", err)
	}
}

// TestCallsTwice: what a function does the first time is forgotten.
func TestCallsTwice(t *testing.T) {
	s := &Store{} // the zero value works
	id := s.Add(incoming.Mention{Source: "https://a.example/", Target: "https://our.example/"})[0]
	key := keyOf(incoming.Mention{Source: "https://a.example/", Target: "https://our.example/"})
	calls := 0
	change := func(m *incoming.Mention) error {
		calls++
		m.Failures++
		return nil
	}
	if m, err := s.Update(t.Context(), id, change); err != nil || calls != 2 || m.Failures != 1 {
		t.Errorf("Update: %d calls, %+v, %v", calls, m, err)
	}
	err := s.Record(t.Context(), []incoming.Key{key}, func(all []*incoming.Mention) ([]*incoming.Mention, error) { return all, change(all[0]) })
	if m, missing := s.Mention(t.Context(), id); err != nil || missing != nil || calls != 4 || m.Failures != 2 {
		t.Errorf("Record: %d calls, %+v, %v", calls, m, err)
	}
}
