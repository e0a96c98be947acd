package linkmethod

import (
	"context"
	"sync"
	"time"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// silence is how long a host that does not speak LINK is left alone (LK-57).
const silence = 30 * 24 * time.Hour

// Memory remembers of hosts that they do not speak LINK, from one run to the
// next. It is safe for concurrent use.
type Memory struct {
	remember func(context.Context, ledger.Peer) error

	mu    sync.Mutex
	until map[string]time.Time // by origin
}

// NewMemory returns a memory that holds what a ledger knows of its peers, and
// hands what it learns to remember, which may be nil: [ledger.Store.Remember].
func NewMemory(peers []ledger.Peer, remember func(context.Context, ledger.Peer) error) *Memory {
	m := &Memory{remember: remember, until: make(map[string]time.Time)}
	for _, p := range peers {
		if p.Protocol == ledger.LinkMethod {
			m.until[p.Origin] = p.Until
		}
	}
	return m
}

// silent tells whether the host was found not to speak LINK.
func (m *Memory) silent(origin string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Before(m.until[origin])
}

// learn remembers that the host does not speak LINK.
func (m *Memory) learn(ctx context.Context, origin string, now time.Time) error {
	until := now.Add(silence).UTC().Truncate(time.Second)
	m.mu.Lock()
	m.until[origin] = until
	m.mu.Unlock()
	if m.remember == nil {
		return nil
	}
	return m.remember(ctx, ledger.Peer{Origin: origin, Protocol: ledger.LinkMethod, Until: until})
}
