package pingback

import (
	"context"
	"net/netip"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing"
)

// live is a target that is fetched for each notice.
type live struct {
	client Doer
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

// client6 may connect to localhost, by whichever address it has.
func client6() *fetch.Client {
	return fetch.New(fetch.Options{Pace: -1, UserAgent: "sitelink/test", Allow: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}})
}
