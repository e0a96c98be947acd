package linkmethod

import (
	"context"
	"net/http"
	"strings"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/answer"
)

// Discover tells whether the target's host takes calls: it is a peer, or its
// answer to OPTIONS for the target names LINK. One that names UNLINKR or LINKMOD
// as well, which the draft of 1996 alone has, takes the raw form. The page
// itself is not fetched. A host that was found not to speak LINK is not asked.
func (s *Sender) Discover(ctx context.Context, t outgoing.Target) (outgoing.Endpoint, error) {
	u, err := weburl.Parse(t.URL())
	if err != nil {
		return outgoing.Endpoint{}, err
	}
	if u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
		return outgoing.Endpoint{}, nil // never told (LK-1), so that nobody is asked
	}
	if s.opt.Memory.silent(origin(u), s.opt.Now()) {
		return outgoing.Endpoint{Via: "known not to speak LINK"}, nil
	}
	for _, p := range s.opt.Peers {
		if p.matches(u) {
			return outgoing.Endpoint{URL: u.WithoutFragment(), Via: "list of peers", Form: string(p.form)}, nil
		}
	}
	if !s.opt.Ask {
		return outgoing.Endpoint{}, nil
	}
	return s.ask(ctx, u)
}

// ask looks for LINK among the methods that the target's host allows.
func (s *Sender) ask(ctx context.Context, u weburl.URL) (outgoing.Endpoint, error) {
	resp, err := s.client.Do(ctx, fetch.Request{Method: http.MethodOptions, URL: u.WithoutFragment(), MaxBody: maxAnswer})
	if resp == nil {
		return outgoing.Endpoint{}, err
	}
	if answer.Temporary(resp.Status) {
		_, after := answer.Class(resp.Status, resp.Header, s.opt.Now())
		return outgoing.Endpoint{}, &answer.StatusError{URL: resp.URL, Status: resp.Status, After: after}
	}
	if answer.Gone(resp.Status) {
		return outgoing.Endpoint{}, nil // which says something of the page, and nothing of the host
	}
	form := allowed(resp.Header.Values("Allow"))
	to, err := weburl.Parse(resp.URL)
	if form == "" || err != nil || to.Host() != u.Host() {
		// After a redirect to another host, that one was asked and not this.
		return outgoing.Endpoint{}, s.learn(ctx, u.WithoutFragment())
	}
	return outgoing.Endpoint{URL: to.WithoutFragment(), Via: "OPTIONS", Form: string(form)}, nil
}

// allowed returns the form of the calls that an Allow field names, "" if it
// does not name LINK. Methods are told apart by case (LK-25).
func allowed(fields []string) Form {
	var link, draft bool
	for _, field := range fields {
		for method := range strings.SplitSeq(field, ",") {
			switch Method(strings.Trim(method, " \t")) {
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
