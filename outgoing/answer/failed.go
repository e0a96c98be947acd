package answer

import (
	"errors"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Failed is the outcome of a request that got no answer: a repeat may succeed
// unless the error says that it cannot. An address that is not of the public
// internet is skipped (PB-61): nobody asked it.
func Failed(err error) outgoing.Outcome {
	o := outgoing.Outcome{State: ledger.Retry, Message: Line(err.Error())}
	var failed *fetch.Error
	if errors.As(err, &failed) {
		switch {
		case failed.Kind == fetch.RefusedAddress:
			o.State = ledger.Skipped
		case !failed.Kind.Retry():
			o.State = ledger.Permanent
		}
	}
	return o
}
