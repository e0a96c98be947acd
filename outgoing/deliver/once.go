package deliver

import (
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// once is a sender by whose protocol a target is told of a link once: it has no
// word for a change of the page. Takes is true for an update nevertheless,
// because a target may have refused the page as it was.
type once interface {
	Once() bool
}

// remember keeps the notices of which the delivery has to know: those of the
// protocols besides, and those that were told for good.
func (d *delivery) remember(notices []ledger.Notice) {
	keep := map[ledger.Protocol]func(ledger.State) bool{}
	for _, s := range d.opt.Senders {
		if o, ok := s.(once); ok && o.Once() {
			keep[s.Protocol()] = func(state ledger.State) bool { return state == ledger.Done }
		}
	}
	for _, s := range d.opt.Besides {
		keep[s.Protocol()] = func(ledger.State) bool { return true }
	}
	for _, n := range notices {
		if keeps := keep[n.Protocol]; keeps != nil && keeps(n.State) {
			d.known[n.Key] = n
		}
	}
}

// told tells whether the target of an update has heard of the link already by a
// protocol that has nothing to add.
func (d *delivery) told(n ledger.Notice, s outgoing.Sender) bool {
	if o, ok := s.(once); n.Event != ledger.Updated || !ok || !o.Once() {
		return false
	}
	return d.known[ledger.Key{Source: n.Source, Target: n.Target, Protocol: s.Protocol()}].State == ledger.Done
}
