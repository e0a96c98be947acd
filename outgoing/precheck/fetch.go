package precheck

import (
	"context"
	"net/http"

	"github.com/sitelink/sitelink/internal/fetch"
)

// maxPage is how much of a page is fetched, so that a link after the part that
// servers read can be told from one that is not there.
const maxPage = 4 << 20

// Fetch gets a source as a server would and returns what is wrong with it
// ([Source]). An error says that there was no answer.
func Fetch(ctx context.Context, client fetch.Doer, source, target string) ([]Problem, error) {
	p, err := Get(ctx, client, source)
	if err != nil {
		return nil, err
	}
	return Source(p, target), nil
}

// Get gets a source as a server would. An error says that there was no answer.
func Get(ctx context.Context, client fetch.Doer, source string) (Page, error) {
	resp, err := client.Do(ctx, fetch.Request{URL: source, Header: http.Header{"Accept": {"text/html, */*;q=0.5"}}, MaxBody: maxPage})
	if err != nil {
		return Page{}, err
	}
	return Page{URL: source, Status: resp.Status, Hops: resp.Hops, Body: resp.Body}, nil
}
