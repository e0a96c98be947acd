package deliver

import (
	"testing"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// pinger is a sender that cannot announce that a page changed.
type pinger struct{ *scripted }

func (pinger) Once() bool { return true }

// TestOnce: an update is not sent with such a protocol to a target that has
// the link, but to one that refused the page. A link that was removed and added
// again is sent again (PB-51, PB-1).
func TestOnce(t *testing.T) {
	refuse := true
	pb := pinger{&scripted{protocol: ledger.Pingback, mayRepeat: true}}
	pb.send = func(n ledger.Notice) outgoing.Outcome {
		if refuse && n.Target == "https://refuses.example/" {
			return outgoing.Outcome{State: ledger.Permanent}
		}
		return outgoing.Outcome{State: ledger.Done}
	}
	wm := &scripted{protocol: ledger.Webmention, mayRepeat: true, discover: func(u string) (string, error) {
		if u == "https://wm.example/" {
			return u, nil
		}
		return "", nil
	}}
	targets := []string{"https://has.example/", "https://refuses.example/", "https://wm.example/"}
	s := store(t)
	deliver := func(event ledger.Event, done ...string) {
		t.Helper()
		pb.sent, wm.sent = nil, nil
		var all []ledger.Notice
		for _, target := range targets {
			all = append(all, notice("a", target, event))
		}
		if err := s.Plan(t.Context(), site, ledger.Change{Notices: all}); err != nil {
			t.Fatal(err)
		}
		run(t, s, Options{Senders: []outgoing.Sender{wm, pb}})
		want(t, states(t, s), done)
	}
	deliver(ledger.Added, "https://has.example/ pingback done", "https://refuses.example/ pingback permanent", "https://wm.example/ webmention done")
	if len(pb.sent) != 2 || len(wm.sent) != 1 {
		t.Fatalf("%q, %q", pb.sent, wm.sent)
	}
	refuse = false
	deliver(ledger.Updated, "https://has.example/ pingback done", "https://refuses.example/ pingback done", "https://wm.example/ webmention done")
	want(t, pb.sent, []string{site + "a https://refuses.example/ updated"})
	want(t, wm.sent, []string{site + "a https://wm.example/ updated"})
	deliver(ledger.Updated, "https://has.example/ pingback done", "https://refuses.example/ pingback done", "https://wm.example/ webmention done")
	if len(pb.sent) != 0 || len(wm.sent) != 1 {
		t.Errorf("%q, %q", pb.sent, wm.sent)
	}
	deliver(ledger.Added, "https://has.example/ pingback done", "https://refuses.example/ pingback done", "https://wm.example/ webmention done")
	if len(pb.sent) != 2 {
		t.Errorf("%q", pb.sent)
	}
}
