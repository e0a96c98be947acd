package send

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// LinkPeer matches hosts that take LINK calls. [ParseLinkPeer] makes one.
type LinkPeer struct {
	// host is a host name in ASCII and lower case, with the port if one was
	// given. If subdomains, the hosts below it match instead of host itself.
	host       string
	subdomains bool
	scheme     string   // "" for both
	form       LinkForm // "" if not known
}

// ParseLinkPeer parses an entry of a list of peers: a host ("b.example" or
// "b.example:8080"), all subdomains of a host ("*.example.org"), or an origin
// ("https://b.example"). The form that the peer takes may follow after a space,
// raw or header. Without it, the raw form is tried first.
func ParseLinkPeer(entry string) (LinkPeer, error) {
	fields := strings.Fields(entry)
	if len(fields) == 0 || len(fields) > 2 {
		return LinkPeer{}, fmt.Errorf("peer %q: must be a host, optionally followed by a form", entry)
	}
	var p LinkPeer
	if len(fields) == 2 {
		p.form = LinkForm(fields[1])
		if p.form != Raw && p.form != Header {
			return LinkPeer{}, fmt.Errorf("peer %q: unknown form %q; use %q or %q", entry, fields[1], Raw, Header)
		}
	}
	host, isOrigin := fields[0], strings.Contains(fields[0], "://")
	if !isOrigin {
		host, p.subdomains = strings.CutPrefix(host, "*.")
		if strings.ContainsAny(host, "*/") {
			host = ""
		}
		host = "http://" + host + "/"
	}
	u, err := weburl.Parse(host)
	if err != nil || u.HasCredentials() || u.Path() != "/" || u.HasQuery() || u.HasFragment() || u.Scheme() != "http" && u.Scheme() != "https" {
		return LinkPeer{}, fmt.Errorf("peer %q: %q is not a host; write it like \"b.example\", \"*.example.org\" or \"https://b.example\"", entry, fields[0])
	}
	p.host = u.Authority()
	if isOrigin {
		p.scheme = u.Scheme()
	}
	return p, nil
}

// matches reports whether the host of u is the peer. A host without port matches
// on every port; an origin matches only itself.
func (p LinkPeer) matches(u weburl.URL) bool {
	switch {
	case p.scheme != "":
		return p.scheme == u.Scheme() && p.host == u.Authority()
	case p.subdomains:
		return strings.HasSuffix(u.Host(), "."+p.host) || strings.HasSuffix(u.Authority(), "."+p.host)
	}
	return p.host == u.Host() || p.host == u.Authority()
}

// origin returns the name under which a host is remembered.
func origin(u weburl.URL) string { return u.Scheme() + "://" + u.Authority() }

// MayCall reports whether a URL is at a host that gets calls: a peer, or with
// [LinkOptions.Probe] any host that does not lack support. It makes no request.
func (s *LinkSender) MayCall(url string) bool {
	u, err := weburl.Parse(url)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() || s.opt.Unsupported.has(origin(u), s.opt.Now()) {
		return false
	}
	return s.opt.Probe || slices.ContainsFunc(s.opt.Peers, func(p LinkPeer) bool { return p.matches(u) })
}

// Discover reports whether the host of the target takes calls: because it is a
// peer, or because its response to OPTIONS for the target names LINK. A host
// that also names UNLINKR or LINKMOD, which only the draft of 1996 has, gets the
// raw form first. The page itself is not fetched, and hosts that are known not to
// support LINK are not asked.
func (s *LinkSender) Discover(ctx context.Context, t *outgoing.Target) (outgoing.Endpoint, error) {
	u, err := weburl.Parse(t.URL())
	if err != nil {
		return outgoing.Endpoint{Via: "its URL is not valid"}, nil // retries would not help
	}
	if u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
		return outgoing.Endpoint{}, nil // such a URL is never sent (LK-1)
	}
	if s.opt.Unsupported.has(origin(u), s.opt.Now()) {
		return outgoing.Endpoint{Via: "the host is known not to support LINK"}, nil
	}
	for _, p := range s.opt.Peers {
		if p.matches(u) {
			return outgoing.Endpoint{URL: u.WithoutFragment(), Via: "list of peers", Form: string(p.form)}, nil
		}
	}
	if !s.opt.Probe {
		return outgoing.Endpoint{}, nil
	}
	// OPTIONS asks the host which methods it allows for the target.
	resp, err := s.client.Do(ctx, outgoing.Request{Method: http.MethodOptions, URL: u.WithoutFragment(), MaxBody: maxLinkResponse})
	if resp == nil {
		return outgoing.Endpoint{}, err
	}
	if err := resp.Unavailable(s.opt.Now()); err != nil {
		return outgoing.Endpoint{}, err
	}
	if resp.Status == http.StatusNotFound || resp.Status == http.StatusGone {
		return outgoing.Endpoint{}, nil // this is about the page, not about the host
	}
	form := allowedForm(resp.Header.Values("Allow"))
	to, err := weburl.Parse(resp.URL)
	if form == "" || err != nil || to.Host() != u.Host() {
		// After a redirect to another host, the response is not from this one.
		return outgoing.Endpoint{}, s.remember(ctx, u.WithoutFragment())
	}
	if form == Raw {
		// The host may be behind a proxy that refuses the raw form: see Send.
		form = ""
	}
	return outgoing.Endpoint{URL: to.WithoutFragment(), Via: "OPTIONS", Form: string(form)}, nil
}

// allowedForm returns the form of the calls that an Allow field names, or "" if
// it does not name LINK.
func allowedForm(fields []string) LinkForm {
	var link, draft bool
	for _, field := range fields {
		for method := range strings.SplitSeq(field, ",") {
			switch LinkMethod(strings.Trim(method, " \t")) {
			case Link:
				link = true
			case UnlinkR, LinkMod:
				draft = true
			}
		}
	}
	switch {
	case link && draft:
		return Raw
	case link:
		return Header
	}
	return ""
}

// unsupportedFor is how long a host that does not support LINK is not called
// again (LK-57).
const unsupportedFor = 30 * 24 * time.Hour

// UnsupportedHosts remembers which hosts do not support LINK. It is safe for
// concurrent use.
type UnsupportedHosts struct {
	record func(context.Context, ledger.UnsupportedHost) error

	mu    sync.Mutex
	until map[string]time.Time // by origin
}

// NewUnsupportedHosts returns a set with the hosts that a ledger has, as in
// [ledger.Snapshot]. Each host that is added is passed to record, which may be
// nil or [ledger.Store.RecordUnsupported].
func NewUnsupportedHosts(known []ledger.UnsupportedHost, record func(context.Context, ledger.UnsupportedHost) error) *UnsupportedHosts {
	m := &UnsupportedHosts{record: record, until: make(map[string]time.Time)}
	for _, h := range known {
		if h.Protocol == ledger.LinkMethod {
			m.until[h.Origin] = h.Until
		}
	}
	return m
}

func (m *UnsupportedHosts) has(origin string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return now.Before(m.until[origin])
}

func (m *UnsupportedHosts) add(ctx context.Context, origin string, now time.Time) error {
	until := now.Add(unsupportedFor).UTC().Truncate(time.Second)
	m.mu.Lock()
	m.until[origin] = until
	m.mu.Unlock()
	if m.record == nil {
		return nil
	}
	return m.record(ctx, ledger.UnsupportedHost{Origin: origin, Protocol: ledger.LinkMethod, Until: until})
}
