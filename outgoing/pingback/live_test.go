package pingback

import (
	"context"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
)

// live is a target that is fetched for each notice.
type live struct {
	client fetch.Doer
	url    string
}

func (l live) URL() string { return l.url }
func (l live) Page(ctx context.Context) (*outgoing.TargetPage, error) {
	resp, err := l.client.Do(ctx, fetch.Request{URL: l.url})
	if err != nil {
		return nil, err
	}
	return &outgoing.TargetPage{URL: resp.URL, Status: resp.Status, Header: resp.Header, Body: resp.Body}, nil
}
