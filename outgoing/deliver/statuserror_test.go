package deliver

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// TestStatusError: why a target could not be asked says whether and when it is
// asked again.
func TestStatusError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want outgoing.Outcome
	}{
		{&fetch.Error{URL: "http://h/", Kind: fetch.Timeout, Err: errors.New("x")}, outgoing.Outcome{State: ledger.Retry}},
		{&fetch.Error{URL: "http://h/", Kind: fetch.NoSuchHost, Err: errors.New("x")}, outgoing.Outcome{State: ledger.Permanent}},
		{&fetch.Error{URL: "http://h/", Kind: fetch.RefusedAddress, Err: errors.New("x")}, outgoing.Outcome{State: ledger.Skipped}},
		{fmt.Errorf("ask: %w", &answer.StatusError{URL: "http://h/", Status: 503, After: time.Minute}),
			outgoing.Outcome{State: ledger.Retry, Status: 503, After: time.Minute}},
	} {
		got := unreachable(test.err)
		if got.State != test.want.State || got.Status != test.want.Status || got.After != test.want.After || got.Message != test.err.Error() {
			t.Errorf("%v: %+v", test.err, got)
		}
	}
}
