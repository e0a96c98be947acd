// Package precheck foretells why a target would refuse a page: the page's bytes
// and how its server answered enter, problems leave, each with its cure.
//
// Servers tell little. WordPress answers fault 0 without a word to a page
// without a title, to a link around a picture, and to one it does not find; so
// its rules are applied here, to the byte (class-wp-xmlrpc-server.php,
// pingback_ping, of version 6.1; unchanged for years before and after).
package precheck

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/outgoing/answer"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Code names a problem.
type Code string

// The codes, in the order in which a server meets the problems.
const (
	NotLive       Code = "not-live"       // the page does not answer with success, or is empty
	Redirected    Code = "redirected"     // the address leads to another one
	RefusedSource Code = "refused-source" // an address that servers do not fetch
	NoTitle       Code = "no-title"       // no title, or too late
	NoLink        Code = "no-link"        // no link to the target
	LinkLate      Code = "link-late"      // the link stands too late on the page
	LinkText      Code = "link-text"      // the link has no plain text
	LinkBytes     Code = "link-bytes"     // the address is written in another way
	LinkHidden    Code = "link-hidden"    // markup hides the link
)

var order = []Code{NotLive, Redirected, RefusedSource, NoTitle, NoLink, LinkLate, LinkText, LinkBytes, LinkHidden}

// OfPage tells whether the problem is one of the page and not of one link.
func (c Code) OfPage() bool {
	switch c {
	case NotLive, Redirected, RefusedSource, NoTitle:
		return true
	}
	return false
}

// Problem is one reason for which a target may refuse a page.
type Problem struct {
	Code Code
	// Protocol is the one whose servers refuse; [ledger.AnyProtocol] if all do.
	Protocol ledger.Protocol
	// Message says what is wrong, Cure what to do about it: both without a
	// capital and without a full stop.
	Message, Cure string
	// Offset is where in the page, in bytes, and Line on which line, from 1;
	// -1 and 0 for the page as a whole.
	Offset, Line int
}

// Passing tells whether the problem may pass by itself, as a page that is not
// live everywhere yet.
func (p Problem) Passing() bool { return p.Code == NotLive }

// For returns the problems that servers of a protocol care about.
func For(protocol ledger.Protocol, all []Problem) []Problem {
	var those []Problem
	for _, p := range all {
		if p.Protocol == ledger.AnyProtocol || p.Protocol == protocol {
			those = append(those, p)
		}
	}
	return those
}

// Page is a source as its server answered.
type Page struct {
	// URL is the address that is sent as the source.
	URL    string
	Status int
	// Hops are the redirects on the way.
	Hops []fetch.Hop
	Body []byte
}

// Source returns what is wrong with a page for a server that is told of its link
// to target, in the order in which the server meets it. target is the absolute
// address that is sent. Source makes no request; a page's bytes may be anything.
func Source(p Page, target string) []Problem {
	var found []Problem
	add := func(problem Problem) { found = append(found, problem) }
	if p.Status < 200 || p.Status > 299 {
		add(Problem{Code: NotLive, Offset: -1,
			Message: fmt.Sprintf("the page answers %s", answer.StatusText(p.Status)),
			Cure:    "publish the page, then send again"})
		// What it says is not the page.
		return found
	}
	if len(bytes.TrimSpace(p.Body)) == 0 {
		add(Problem{Code: NotLive, Offset: -1,
			Message: "the page is empty",
			Cure:    "publish the page, then send again"})
		return found
	}
	if len(p.Hops) > 0 {
		add(redirected(p))
	}
	if why := refusedSource(p.URL, target); why != "" {
		add(Problem{Code: RefusedSource, Protocol: ledger.Pingback, Offset: -1,
			Message: "WordPress does not fetch the page: " + why,
			Cure:    "publish the page at an http or https address on the usual port of a public host"})
	}
	if problem, bad := noTitle(p.Body); bad {
		add(problem)
	}
	for _, problem := range linkProblems(p, target) {
		add(problem)
	}
	for i := range found {
		if at := found[i].Offset; at >= 0 {
			found[i].Line = bytes.Count(p.Body[:at], []byte("\n")) + 1
		}
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Compare(slices.Index(order, a.Code), slices.Index(order, b.Code))
	})
	return found
}

// redirected is the problem of a page whose address leads elsewhere: WordPress
// follows no redirect of a source.
func redirected(p Page) Problem {
	last := p.Hops[len(p.Hops)-1].To
	problem := Problem{Code: Redirected, Protocol: ledger.Pingback, Offset: -1,
		Message: fmt.Sprintf("the page is redirected to %s, which WordPress does not follow", last),
		Cure:    "set the base URL so that it gives the page's final address"}
	from, err1 := url.Parse(p.URL)
	to, err2 := url.Parse(last)
	if err1 == nil && err2 == nil && from.Scheme == "http" && to.Scheme == "https" && from.Host == to.Host {
		problem.Cure = "set the base URL to https"
	}
	return problem
}
