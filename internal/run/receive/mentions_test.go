package receive

import (
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestDecideCounts: a mention that is named, and that its author's other mention takes
// along, counts once.
func TestDecideCounts(t *testing.T) {
	store := incomingtest.NewStore(nil)
	var named []incoming.Mention
	for _, path := range []string{"1", "2", "3", "4"} {
		m := incoming.Mention{Source: "https://a.example/" + path, Target: "https://our.example/", State: incoming.Held, Verified: time.Unix(1700000000, 0)}
		named = append(named, testkit.Must(store.Mention(t.Context(), store.Add(m)[0]))(t))
	}
	changed, others, err := Decide(t.Context(), store, named[:2], incoming.Approved)
	if changed != 2 || others != 2 || err != nil {
		t.Errorf("%d mentions and %d others, %v; want 2 and 2", changed, others, err)
	}
}
