package deliver

import (
	"slices"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Delivered is how one notice went in a run.
type Delivered struct {
	ledger.Notice
	// Via says where the endpoint was found.
	Via string
	// Repeated: an earlier run had begun it, and nobody knew how it went.
	Repeated bool
	// Unsettled: the same, but a repeat may do harm, so it was not repeated.
	Unsettled bool
}

// Failed tells whether the target could not be told. That it takes no notices
// is no failure.
func (d *Delivered) Failed() bool { return d.State == ledger.Permanent || d.Open() }

// Report is what a run did.
type Report struct {
	// Notices are sorted by key.
	Notices []Delivered
	// Left are notices that were claimed, and not tried as the run ended
	// before.
	Left int
	// Stopped is why the run ended before all was tried: "", or the error of
	// its context.
	Stopped string
}

// Count returns how many notices came to that state.
func (r *Report) Count(s ledger.State) int {
	n := 0
	for i := range r.Notices {
		if r.Notices[i].State == s {
			n++
		}
	}
	return n
}

// Failed returns how many targets could not be told.
func (r *Report) Failed() int {
	n := 0
	for i := range r.Notices {
		if r.Notices[i].Failed() {
			n++
		}
	}
	return n
}

// Repeated returns how many notices were sent although an earlier run may have
// sent them, and Unsettled how many were not, for that reason.
func (r *Report) Repeated() (repeated, unsettled int) {
	for i := range r.Notices {
		if r.Notices[i].Repeated {
			repeated++
		}
		if r.Notices[i].Unsettled {
			unsettled++
		}
	}
	return repeated, unsettled
}

func (r *Report) sort() {
	slices.SortFunc(r.Notices, func(a, b Delivered) int { return ledger.CompareKeys(a.Key, b.Key) })
}
