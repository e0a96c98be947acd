package deliver

import (
	"context"
	"sync"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
)

// target is the [outgoing.Target] of one delivery: its page is fetched when a
// sender asks for it first.
type target struct {
	url     string
	fetcher fetch.Doer

	mu   sync.Mutex
	page *outgoing.TargetPage
	err  error
}

func (t *target) URL() string { return t.url }

func (t *target) Page(ctx context.Context) (*outgoing.TargetPage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.page != nil || t.err != nil {
		return t.page, t.err
	}
	answer, err := t.fetcher.Do(ctx, fetch.Request{URL: t.url})
	if err != nil {
		t.err = err
		return nil, err
	}
	t.page = &outgoing.TargetPage{URL: answer.URL, Status: answer.Status, Header: answer.Header, Body: answer.Body}
	return t.page, nil
}
