package send

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxWebSubResponse limits the body of a response. One line of it is shown.
const maxWebSubResponse = 16 << 10

// WebSub is the [outgoing.Sender] of WebSub. The source of its notices is a
// feed, and the target is a hub that [Hubs] found in it.
type WebSub struct{ client outgoing.Doer }

var _ outgoing.Sender = (*WebSub)(nil)

// NewWebSub returns a sender that makes its requests with client.
func NewWebSub(client outgoing.Doer) *WebSub { return &WebSub{client} }

// Protocol returns [ledger.WebSub].
func (s *WebSub) Protocol() ledger.Protocol { return ledger.WebSub }

// Idempotent returns true: the hub only fetches the feed again.
func (s *WebSub) Idempotent() bool { return true }

// Takes returns true for a feed that is new or changed. There is no way to
// notify a hub that a feed was removed.
func (s *WebSub) Takes(e ledger.Event) bool { return e == ledger.Added || e == ledger.Updated }

// Spacing returns 0: the pace of the client is enough.
func (s *WebSub) Spacing() time.Duration { return 0 }

// Discover returns the target itself, which is the hub.
func (s *WebSub) Discover(_ context.Context, t *outgoing.Target) (outgoing.Endpoint, error) {
	u, err := weburl.Parse(t.URL())
	if err != nil {
		return outgoing.Endpoint{}, err
	}
	if u.Scheme() != "http" && u.Scheme() != "https" {
		return outgoing.Endpoint{}, nil
	}
	return outgoing.Endpoint{URL: u.WithoutFragment(), Via: "hub of the feed"}, nil
}

// Send posts the URL of the feed, as written, to the hub. Any 2xx status is a
// success; hubs answer 204 or 202.
func (s *WebSub) Send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	resp, err := s.client.Do(ctx, outgoing.Request{
		Method:  http.MethodPost,
		URL:     e.URL,
		Header:  http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body:    weburl.EncodeArgument([]byte("hub.mode=publish&hub.url="), n.Source),
		MaxBody: maxWebSubResponse,
	})
	var o outgoing.Outcome
	switch {
	case resp == nil, err != nil && resp.Status/100 == 3: // a redirect that is not followed
		o = outgoing.RequestFailed(err)
	case resp.Success():
		o = outgoing.Outcome{State: ledger.Done, Status: resp.Status}
	default:
		o = resp.Refused("the hub", resp.Excerpt(), time.Now())
	}
	o.Endpoint = e.URL
	return o
}

// Hubs returns the hubs that a feed names, as absolute http and https URLs in
// the order of the feed, each once. In Atom and RSS these are the links with the
// relation hub that belong to the feed itself, in a JSON Feed the hubs of type
// WebSub. In a damaged feed, only hubs before the damage are found.
//
// https://www.w3.org/TR/websub/#discovery, https://www.jsonfeed.org/version/1.1/#top-level
func Hubs(feed []byte) []string {
	text := bytes.TrimLeft(bytes.TrimPrefix(feed, []byte("\xEF\xBB\xBF")), " \t\r\n")
	var named []string
	if bytes.HasPrefix(text, []byte("{")) {
		named = jsonHubs(text)
	} else {
		named = xmlHubs(feed)
	}
	var hubs []string
	for _, hub := range named {
		u, err := weburl.Parse(hub)
		if err == nil && (u.Scheme() == "http" || u.Scheme() == "https") && !u.HasCredentials() && !slices.Contains(hubs, u.WithoutFragment()) {
			hubs = append(hubs, u.WithoutFragment())
		}
	}
	return hubs
}

func jsonHubs(feed []byte) (named []string) {
	var f struct {
		Hubs []struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"hubs"`
	}
	if json.Unmarshal(feed, &f) != nil {
		return nil
	}
	for _, hub := range f.Hubs {
		if strings.EqualFold(hub.Type, "WebSub") {
			named = append(named, hub.URL)
		}
	}
	return named
}

// xmlHubs reads the children of <feed> and <channel>. It skips entries, whose
// links do not belong to the feed.
func xmlHubs(feed []byte) (named []string) {
	d := xml.NewDecoder(bytes.NewReader(feed))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = charset.NewReaderLabel
	var parents []string
	for {
		token, err := d.Token()
		if err != nil {
			return named
		}
		switch t := token.(type) {
		case xml.StartElement:
			parent := ""
			if len(parents) > 0 {
				parent = parents[len(parents)-1]
			}
			switch {
			case t.Name.Local == "entry", t.Name.Local == "item":
				if d.Skip() != nil {
					return named
				}
				continue
			case t.Name.Local == "link" && (parent == "feed" || parent == "channel") && slices.Contains(strings.Fields(strings.ToLower(attribute(t, "rel"))), "hub"):
				named = append(named, attribute(t, "href"))
			}
			parents = append(parents, t.Name.Local)
		case xml.EndElement:
			if len(parents) > 0 {
				parents = parents[:len(parents)-1]
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
