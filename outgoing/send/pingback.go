package send

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// maxPingbackResponse limits the body of a response. A fault has about 400 bytes.
const maxPingbackResponse = 64 << 10

// PingbackOptions configure a [Pingback].
type PingbackOptions struct {
	// Spacing is the minimum time between two notices to one host: 16 s if
	// zero, which WordPress requires; none if negative.
	Spacing time.Duration
}

// Pingback is the [outgoing.Sender] of Pingback.
type Pingback struct {
	client  outgoing.Doer
	spacing time.Duration
}

var _ outgoing.Sender = (*Pingback)(nil)

// NewPingback returns a sender that makes its requests with client.
func NewPingback(client outgoing.Doer, o PingbackOptions) *Pingback {
	s := &Pingback{client: client, spacing: o.Spacing}
	if s.spacing == 0 {
		s.spacing = floodInterval
	}
	return s
}

// Protocol returns [ledger.Pingback].
func (s *Pingback) Protocol() ledger.Protocol { return ledger.Pingback }

// Idempotent returns true: a server that already has the link answers with a
// fault that says so (PB-47).
func (s *Pingback) Idempotent() bool { return true }

// Takes returns true for new links and for links on a page that changed: the
// server may have refused the page as it was. A pingback cannot be withdrawn.
func (s *Pingback) Takes(e ledger.Event) bool { return e == ledger.Added || e == ledger.Updated }

// Once returns true: a server that has the link learns nothing from an update.
func (s *Pingback) Once() bool { return true }

// Spacing returns the minimum time between two notices to one host.
func (s *Pingback) Spacing() time.Duration { return max(s.spacing, 0) }

// Send calls pingback.ping once. If the server refuses without a useful reason,
// Send fetches the source and looks for likely reasons ([FetchProblems]), which
// it adds to the message.
func (s *Pingback) Send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	o := s.send(ctx, n, e)
	o.Endpoint = e.URL
	return o
}

func (s *Pingback) send(ctx context.Context, n ledger.Notice, e outgoing.Endpoint) outgoing.Outcome {
	body, err := encodeCall(n.Source, n.Target)
	if err != nil {
		return outgoing.Outcome{State: ledger.Permanent, Message: err.Error()}
	}
	resp, err := s.client.Do(ctx, outgoing.Request{
		Method:  http.MethodPost,
		URL:     e.URL,
		Header:  http.Header{"Content-Type": {"text/xml"}, "Accept": {"text/xml"}},
		Body:    body,
		MaxBody: maxPingbackResponse,
	})
	if err != nil {
		return outgoing.RequestFailed(err)
	}
	o := s.outcome(ctx, n, resp)
	o.Status = resp.Status
	return o
}

// outcome returns what a response means for the notice.
func (s *Pingback) outcome(ctx context.Context, n ledger.Notice, resp *outgoing.Response) outgoing.Outcome {
	r, err := decodeReply(resp.Body, resp.Header.Get("Content-Type"))
	switch {
	case err == nil && r.fault != nil && (resp.Success() || r.fault.known && r.fault.code != faultGeneric):
		// The page may explain the fault.
		c := classify(r.fault, n.Attempts)
		o := outgoing.Outcome{State: c.state, After: c.after, Message: c.message(r.fault)}
		if r.fault.known {
			o.Fault = &r.fault.code
		}
		if !c.explain {
			return o
		}
		problems, err := FetchProblems(ctx, s.client, n.Source, n.Target)
		if err != nil {
			o.Message += "; the source page cannot be fetched: " + outgoing.OneLine(err.Error())
			return o
		}
		problems = ProblemsFor(ledger.Pingback, problems)
		if len(problems) == 0 {
			if o.State == ledger.Permanent {
				o.Message += "; sitelink finds nothing wrong with the page"
			}
			return o
		}
		var cures []string
		for _, p := range problems {
			o.Message += "; " + p.Message
			cures = append(cures, p.Cure)
		}
		o.Problems, o.Cure = ProblemCodes(problems), strings.Join(cures, "; ")
		if !problems[0].Temporary() {
			// The page stays as it is until its author changes it.
			o.State, o.After = ledger.Permanent, 0
		}
		return o
	case err == nil && resp.Success():
		return outgoing.Outcome{State: ledger.Done, Message: outgoing.OneLine(r.text)}
	case !resp.Success():
		return refusedOutcome(resp, r)
	case errors.Is(err, errNotXMLRPC) && len(resp.Body) > 0:
		return outgoing.Outcome{State: ledger.Permanent, Message: "the server did not answer with XML-RPC: " + resp.Excerpt()}
	}
	// It is unknown whether the notice arrived. Sending it again is harmless.
	return outgoing.Outcome{State: ledger.Retry, Message: err.Error()}
}

// refusedOutcome returns the outcome of a response that has no success status.
// The body may contain a fault as well.
func refusedOutcome(resp *outgoing.Response, r reply) outgoing.Outcome {
	said := ""
	if r.fault != nil {
		said = outgoing.OneLine(r.fault.text)
	}
	o := resp.Refused("the server", said, time.Now())
	if resp.Status == http.StatusTooManyRequests {
		o.After = max(o.After, floodInterval)
	}
	if r.fault != nil && r.fault.known {
		o.Fault = &r.fault.code
	}
	return o
}

// maxSearched is how much of a page is searched for the <link> element: more
// than the five kilobytes of section 5, for pages that start with a long style
// sheet (PB-34, A-PB-8).
const maxSearched = 64 << 10

// linkPattern is the pattern of section 2.3. All clients are required to use
// it, so other ways to write the element do not count: upper case, single
// quotes, another order of the attributes (PB-25, PB-32).
var linkPattern = text.Regexp(`<link rel="pingback" href="([^"]+)" ?/?>`)

// entities are the four that the specification allows in the URL of the
// element. Each is replaced once (PB-29).
var entities = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "&quot;", `"`)

// Discover finds the server of the target as section 2.3 says: from the first
// X-Pingback header, or else from the first match of the pattern in the body.
// The header takes precedence even if its URL cannot be used (A-PB-1).
//
// A target that is missing has no server. ProblemsFor one that fails temporarily, the
// error is an [*outgoing.UnavailableError].
func (s *Pingback) Discover(ctx context.Context, t *outgoing.Target) (outgoing.Endpoint, error) {
	page, missing, err := t.Page(ctx)
	if page == nil {
		return outgoing.Endpoint{Via: missing}, err
	}
	if values := page.Header.Values("X-Pingback"); len(values) > 0 {
		return advertised(strings.TrimSpace(values[0]), "X-Pingback header"), nil
	}
	if !isText(page.Header.Get("Content-Type")) {
		return outgoing.Endpoint{}, nil
	}
	if server, found := linkElement(page.Body); found {
		return advertised(server, "<link>"), nil
	}
	return outgoing.Endpoint{}, nil
}

// linkElement returns the URL of the first element in the searched part of a
// page.
func linkElement(body []byte) (server string, found bool) {
	match := linkPattern().FindSubmatch(body[:min(len(body), maxSearched)])
	if match == nil {
		return "", false
	}
	return entities.Replace(string(match[1])), true
}

// isText reports whether a body with this Content-Type is searched: text, XML,
// and bodies without a type (A-PB-10).
func isText(contentType string) bool {
	if strings.TrimSpace(contentType) == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "/xml") || strings.HasSuffix(media, "+xml")
}

// advertised returns the endpoint with a URL that a page advertises. If the URL
// cannot be used, the endpoint has no URL and Via says why.
func advertised(server, via string) outgoing.Endpoint {
	u, err := url.Parse(server)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return outgoing.Endpoint{Via: fmt.Sprintf("%s, but its URL is not an absolute http or https URL: %.200q", via, server)}
	case u.User != nil:
		return outgoing.Endpoint{Via: fmt.Sprintf("%s, but its URL contains a user name: %.200q", via, u.Redacted())}
	}
	return outgoing.Endpoint{URL: server, Via: via}
}
