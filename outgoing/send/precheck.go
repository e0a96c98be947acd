package send

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// ProblemCode identifies a kind of problem.
type ProblemCode string

// The codes, in the order in which a receiver meets the problems.
const (
	NotLive       ProblemCode = "not-live"       // the page does not answer with a success, or is empty
	Redirected    ProblemCode = "redirected"     // the URL redirects to another one
	RefusedSource ProblemCode = "refused-source" // receivers do not fetch such a URL
	NoTitle       ProblemCode = "no-title"       // the page has no title, or it comes too late
	NoLink        ProblemCode = "no-link"        // the page has no link to the target
	LinkLate      ProblemCode = "link-late"      // the link comes too late on the page
	LinkText      ProblemCode = "link-text"      // the link has no plain text
	LinkBytes     ProblemCode = "link-bytes"     // the URL is written in another way
	LinkHidden    ProblemCode = "link-hidden"    // markup before the link hides it
)

var order = []ProblemCode{NotLive, Redirected, RefusedSource, NoTitle, NoLink, LinkLate, LinkText, LinkBytes, LinkHidden}

// ofPage reports whether the problem concerns the whole page, not one link.
func (c ProblemCode) ofPage() bool {
	switch c {
	case NotLive, Redirected, RefusedSource, NoTitle:
		return true
	}
	return false
}

// Problem is a reason why a receiver may refuse a notice.
type Problem struct {
	Code ProblemCode
	// Protocol is the protocol in which receivers refuse the notice:
	// [ledger.AnyProtocol] if all do.
	Protocol ledger.Protocol
	// Message says what is wrong, Cure how to fix it. Both start with a lower
	// case letter and have no full stop.
	Message, Cure string
	// Offset is the byte offset in the page and Line the line, from 1. They are
	// -1 and 0 for the page as a whole.
	Offset, Line int
}

// Temporary reports whether the problem may go away without a change by the
// author, as for a page that is not live everywhere yet.
func (p Problem) Temporary() bool { return p.Code == NotLive }

// ProblemsFor returns the problems that matter to receivers of a protocol.
func ProblemsFor(protocol ledger.Protocol, all []Problem) []Problem {
	var matching []Problem
	for _, p := range all {
		if p.Protocol == ledger.AnyProtocol || p.Protocol == protocol {
			matching = append(matching, p)
		}
	}
	return matching
}

// ProblemCodes returns the codes of problems, separated by spaces. Pages with the same
// problems have the same codes.
func ProblemCodes(all []Problem) string {
	var codes []string
	for _, p := range all {
		codes = append(codes, string(p.Code))
	}
	return strings.Join(codes, " ")
}

// OfHost reports whether one of the codes is about what the site's host answers,
// which the built page does not show.
func OfHost(codes string) bool {
	return slices.ContainsFunc(strings.Fields(codes), func(c string) bool { return ProblemCode(c) == NotLive || ProblemCode(c) == Redirected })
}

// maxPage is how much of a page is fetched. It is more than receivers read, to
// find links that come too late for them.
const maxPage = 4 << 20

// FetchProblems gets a source as a receiver would and returns what is wrong with it, as
// [CheckSource] does. The error means that there was no response.
func FetchProblems(ctx context.Context, client outgoing.Doer, source, target string) ([]Problem, error) {
	page, err := get(ctx, client, source)
	if err != nil {
		return nil, err
	}
	return CheckSource(source, page, target), nil
}

func get(ctx context.Context, client outgoing.Doer, source string) (*outgoing.Response, error) {
	page, err := client.Do(ctx, outgoing.Request{URL: source, Header: http.Header{"Accept": {"text/html, */*;q=0.5"}}, MaxBody: maxPage})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// CheckSource returns what is wrong with a page for a receiver that gets a notice about
// its link to target, in the order in which the receiver meets the problems.
// precheckSource and target are the absolute URLs that are sent, page is the response for
// precheckSource. CheckSource makes no request.
func CheckSource(source string, page *outgoing.Response, target string) []Problem {
	var found []Problem
	add := func(problem Problem) { found = append(found, problem) }
	if !page.Success() {
		add(Problem{Code: NotLive, Offset: -1,
			Message: "the page answered " + outgoing.StatusText(page.Status),
			Cure:    "publish the page, then send again"})
		return found // the body is an error page
	}
	if len(bytes.TrimSpace(page.Body)) == 0 {
		add(Problem{Code: NotLive, Offset: -1,
			Message: "the page is empty",
			Cure:    "publish the page, then send again"})
		return found
	}
	if page.Redirected {
		add(redirected(source, page.URL))
	}
	if why := refusedSource(source, target); why != "" {
		add(Problem{Code: RefusedSource, Protocol: ledger.Pingback, Offset: -1,
			Message: "WordPress does not fetch the page: " + why,
			Cure:    "publish the page at an http or https URL on a public host, on the default port"})
	}
	if problem, bad := noTitle(page.Body); bad {
		add(problem)
	}
	for _, problem := range linkProblems(source, page.Body, target) {
		add(problem)
	}
	for i := range found {
		if at := found[i].Offset; at >= 0 {
			found[i].Line = bytes.Count(page.Body[:at], []byte("\n")) + 1
		}
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Compare(slices.Index(order, a.Code), slices.Index(order, b.Code))
	})
	return found
}

// redirected returns the problem of a page with a URL that redirects: WordPress
// does not follow redirects of a source.
func redirected(source, final string) Problem {
	problem := Problem{Code: Redirected, Protocol: ledger.Pingback, Offset: -1,
		Message: fmt.Sprintf("the page redirects to %s, and WordPress does not follow redirects", final),
		Cure:    "set the base URL so that links have the final URL"}
	from, err1 := url.Parse(source)
	to, err2 := url.Parse(final)
	if err1 == nil && err2 == nil && from.Scheme == "http" && to.Scheme == "https" && from.Host == to.Host {
		problem.Cure = "set the base URL to https"
	}
	return problem
}
