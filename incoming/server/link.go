package server

import (
	"net/http"
	"strings"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/scan/endpoint"
	"github.com/sitelink/sitelink/internal/weburl"
)

// sideHeader names the side of a call that a refusal is about, source or target,
// so that clients need not trust the number: 416 and 417 mean something else
// today, and the draft contradicts itself (LK-60, A-LK-1).
const sideHeader = "Link-Fault"

// actions are the actions of the methods.
var actions = map[string]incoming.Action{
	"LINK": incoming.Link, "UNLINK": incoming.Unlink, "UNLINKR": incoming.UnlinkR, "LINKMOD": incoming.LinkMod,
}

// rawReply is an answer in the words of the LINK draft.
type rawReply struct {
	status int
	phrase string // the reason phrase
	side   string // at fault, or ""
	text   string
}

func badRequest(text string) rawReply {
	return rawReply{http.StatusBadRequest, "Bad Request", "", text}
}

// call reads a call, passes it to the receiver, and returns the reply.
func (s *Server) call(w http.ResponseWriter, r *http.Request, c *call) rawReply {
	n := incoming.Notice{
		Protocol: incoming.LinkMethod, Action: actions[c.method],
		Source: withoutFragment(c.urls[0]), Target: withoutFragment(c.urls[1]), Peer: s.peer(r),
	}
	if len(c.urls) > 2 {
		switch more := c.urls[2]; {
		case n.Action == incoming.LinkMod:
			return badRequest("LINKMOD has a source and a target only.")
		case n.Action == incoming.Link && more != "LINKMOD":
			return badRequest("The word after the target can only be LINKMOD.")
		case n.Action == incoming.Link:
			n.Subscribe = true
		default:
			n.Replacement = withoutFragment(more)
		}
	}
	for _, u := range []string{n.Source, n.Target, n.Replacement} {
		if parsed, err := weburl.Parse(u); u != "" && (err != nil || parsed.Scheme() != "http" && parsed.Scheme() != "https") { // LK-1
			return badRequest("The URLs of a call must be absolute http or https URLs.")
		}
	}
	answers, err := s.receive(r.Context(), []incoming.Notice{n})
	if err != nil {
		return rawReply{http.StatusInternalServerError, "Internal Server Error", "", "The call could not be stored. Please try again later."}
	}
	if answers[0].Outcome == incoming.Limited {
		setRetryAfter(w, answers[0].RetryAfter)
	}
	// One notice has one reply (LK-26 to LK-37). The draft has no other status codes than
	// these, so too many requests are a 500, after which clients try again; 400 would tell
	// them that the server does not know the method.
	a := answers[0]
	ours, theirs := "target", "source"
	if n.Action.Ours() {
		ours, theirs = theirs, ours
	}
	// By section 7 of the draft, 416 is about the other side's URL, 417 about that of
	// the receiver; section 11 says otherwise (A-LK-1).
	invalid := func(side, text string) rawReply {
		status := http.StatusExpectationFailed
		if side == theirs {
			status = http.StatusRequestedRangeNotSatisfiable
		}
		return rawReply{status, "Invalid " + side + " URI", side, reason(a, text)}
	}
	switch a.Outcome {
	case incoming.Accepted, incoming.Known:
		if n.Subscribe && !a.Subscribed {
			return rawReply{http.StatusMultiStatus, "No Linkmod", "", "The link is recorded. This server does not send LINKMOD calls."}
		}
		return rawReply{status: http.StatusOK, phrase: "Ok"}
	case incoming.Elsewhere:
		return rawReply{http.StatusNotFound, "Not Found", ours, reason(a, "This server does not serve the "+ours+".")}
	case incoming.Missing:
		return invalid(ours, "The "+ours+" does not exist.")
	case incoming.Closed:
		return invalid(ours, "The "+ours+" does not accept such calls.")
	case incoming.Unlinked:
		return invalid(theirs, "There is no link from the source to the target.")
	case incoming.Denied:
		return badRequest(reason(a, "Calls from this site or this address are not accepted."))
	case incoming.Limited:
		return rawReply{http.StatusInternalServerError, "Internal Server Error", "", reason(a, "There are too many requests. Please try again later.")}
	}
	return badRequest(reason(a, "The source and the target must be http or https URLs of different pages."))
}

// withoutFragment removes the fragment, which URLs of RFC 1738 do not have (LK-22,
// A-LK-9).
func withoutFragment(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	return raw
}

// serveLinkFields answers the other form of the methods: the page of ours on the
// request line, those of others in Link fields (LK-58, RFC 2068, 19.6.1.2).
func (s *Server) serveLinkFields(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	notices, status, text := s.linkNotices(r)
	if status != 0 {
		s.plain(w, "link", status, text)
		return
	}
	answers, err := s.receive(r.Context(), notices)
	if err != nil {
		s.plain(w, "link", http.StatusInternalServerError, "The call could not be stored. Please try again later.")
		return
	}
	// The answer to all is that to the first one that was refused: then nothing
	// was recorded (LK-59).
	status = http.StatusNoContent
	for _, a := range answers {
		switch a.Outcome {
		case incoming.Known:
		case incoming.Accepted:
			status = http.StatusAccepted
		default:
			// Each reason why a call is refused has its status (LK-60).
			switch a.Outcome {
			case incoming.Elsewhere, incoming.Missing:
				s.plain(w, "link", http.StatusNotFound, reason(a, "There is no such page."))
			case incoming.Closed:
				s.plain(w, "link", http.StatusForbidden, reason(a, "This page does not accept such calls."))
			case incoming.Denied:
				s.plain(w, "link", http.StatusForbidden, reason(a, "Calls from this site or this address are not accepted."))
			case incoming.Limited:
				setRetryAfter(w, a.RetryAfter)
				s.plain(w, "link", http.StatusTooManyRequests, reason(a, "There are too many requests. Please try again later."))
			case incoming.Unlinked:
				s.plain(w, "link", http.StatusUnprocessableEntity, reason(a, "There is no such link."))
			default:
				s.plain(w, "link", http.StatusUnprocessableEntity, reason(a, "The source and the target must be http or https URLs of different pages."))
			}
			return
		}
	}
	if status == http.StatusAccepted {
		s.plain(w, "link", status, "The call is recorded and will be verified.")
		return
	}
	s.metrics.request("link", status)
	w.WriteHeader(status)
}

// linkNotices reads the Link fields of a request. Any relation type is accepted
// (A-LK-13). If the fields cannot be used, it returns a status and a text.
func (s *Server) linkNotices(r *http.Request) (notices []incoming.Notice, status int, text string) {
	const noLink = "The request names one URL only. Name the other one in a Link field, or use a request line with both: " +
		"METHOD SOURCE TARGET HTTP/1.1."
	if r.RequestURI == "*" {
		return nil, http.StatusBadRequest, "The request must name a page."
	}
	origin := s.origin(r)
	own, err := weburl.Parse(origin + r.URL.RequestURI())
	if err != nil || own.Scheme() != "http" && own.Scheme() != "https" {
		return nil, http.StatusBadRequest, "The address of the request is not an http or https URL."
	}
	peer := s.peer(r)
	for _, field := range r.Header.Values("Link") {
		links, whole := endpoint.Links(field)
		if !whole {
			return nil, http.StatusBadRequest, "A Link field is malformed."
		}
		for _, l := range links {
			other, err := own.Resolve(l.Target)
			if err != nil || other.Scheme() != "http" && other.Scheme() != "https" {
				return nil, http.StatusUnprocessableEntity, "A Link field does not have an http or https URL."
			}
			if l.Anchored {
				if anchor, err := own.Resolve(l.Anchor); err != nil || anchor.WithoutFragment() != own.WithoutFragment() {
					return nil, http.StatusUnprocessableEntity, "The anchor of a link names another page. Send the request to the address of that page."
				}
			}
			n := incoming.Notice{Protocol: incoming.LinkMethod, Action: actions[r.Method], Peer: peer,
				Source: withoutFragment(other.String()), Target: own.WithoutFragment()}
			if n.Action.Ours() {
				n.Source, n.Target = n.Target, n.Source
			}
			notices = append(notices, n)
		}
	}
	if len(notices) == 0 {
		return nil, http.StatusBadRequest, noLink
	}
	return notices, 0, ""
}
