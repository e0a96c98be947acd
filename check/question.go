package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Query selects links of a site: those that fit all fields that are set. The
// zero value selects every link.
type Query struct {
	// From is the page that holds the link: its path in the docroot, or a site
	// path or URL that it answers.
	From string
	// To is what the link leads to: a path in the docroot, a site path or a
	// URL, each with or without a fragment. Without one, links to any fragment of
	// the target fit. A path that nothing answers fits the links that ask for it;
	// a query in it does not count.
	To string
	// External selects links that lead out of the docroot: to another host, or
	// to a path of the site's own host outside the base URL.
	External bool
}

// ErrNotFound reports that a call names a page or a target that the site does
// not have, or that is no URL.
var ErrNotFound = errors.New("not found")

// selection is a query for one site.
type selection struct {
	page    isite.PageID
	onePage bool
	// may reports from the record alone whether a link may fit; nil means that
	// any may.
	may func(l *isite.Link) bool
	// fits reports whether a link does, once all of it is known.
	fits func(l *Link) bool
}

// links returns the numbers of the links of a page that may fit, nil for all,
// and how many they are.
func (sel *selection) links(s *isite.Site, id isite.PageID) (want []uint32, n int) {
	p := s.Page(id)
	switch {
	case sel.onePage && sel.page != id:
		return nil, 0
	case sel.may == nil:
		return nil, p.Links()
	}
	links := p.All()
	for i := range links {
		if sel.may(&links[i]) {
			want = append(want, uint32(i))
		}
	}
	return want, len(want)
}

func (q Query) selection(s *isite.Site) (*selection, error) {
	sel := &selection{}
	if q.From != "" {
		node, err := named(s, q.From)
		if err != nil {
			return nil, err
		}
		id, ok := s.PageOf(node.Node)
		if !ok {
			return nil, notFound(fmt.Errorf("%q is no page of the docroot", q.From))
		}
		sel.page, sel.onePage = id, true
	}
	var mays []func(*isite.Link) bool
	var fits []func(*Link) bool
	if q.External {
		mays = append(mays, func(l *isite.Link) bool { return leaves(l.State) })
	}
	if q.To != "" {
		may, fit, err := leadsTo(s, q.To)
		if err != nil {
			return nil, err
		}
		mays, fits = append(mays, may), append(fits, fit)
	}
	if len(mays) > 0 {
		sel.may = func(l *isite.Link) bool { return all(mays, l) }
	}
	sel.fits = func(l *Link) bool { return all(fits, l) }
	return sel, nil
}

func all[T any](tests []func(T) bool, x T) bool {
	for _, test := range tests {
		if !test(x) {
			return false
		}
	}
	return true
}

// leaves tells whether a link leads out of the docroot.
func leaves(st host.State) bool {
	return st == host.StateExternal || st == host.StateCredentials || st == host.StateOutsideBase
}

// named finds what a person means: a file of the docroot of exactly that name
// comes before what a link so written would get.
func named(s *isite.Site, text string) (host.Resolved, error) {
	if !strings.HasPrefix(text, "/") {
		if node, ok := s.Lookup(text); ok && node != 0 && s.Tree().Kind(node) == docroot.KindFile {
			return host.Resolved{State: host.StateOK, Node: node, Target: s.Href(node)}, nil
		}
	}
	res, err := s.Request(text)
	if err != nil {
		return res, notFound(err)
	}
	return res, nil
}

// notFound marks an error as one of [ErrNotFound], and keeps its words.
func notFound(err error) error { return &notFoundError{err} }

type notFoundError struct{ error }

func (e *notFoundError) Is(target error) bool { return target == ErrNotFound }
func (e *notFoundError) Unwrap() error        { return e.error }

// leadsTo makes the tests for the target that text names.
func leadsTo(s *isite.Site, text string) (may func(*isite.Link) bool, fits func(*Link) bool, err error) {
	to, err := named(s, text)
	if err != nil {
		return nil, nil, err
	}
	fragment := anchorName(to.Fragment)
	atFragment := func(l *Link) bool { return to.Fragment == "" || anchorName(l.Fragment) == fragment }
	target := sitePath(to.Target)
	if to.State.Answers() && to.Node != docroot.NoNode {
		may = func(l *isite.Link) bool { return l.Node == to.Node && l.State != host.StateWrongCase }
		return may, atFragment, nil
	}
	may = func(l *isite.Link) bool { return l.Node == docroot.NoNode || !s.State(l).Answers() }
	return may, func(l *Link) bool {
		return l.Target != "" && sitePath(l.Target) == target && atFragment(l)
	}, nil
}

// sitePath is what two targets are compared by: a site path decoded and without
// query, or the URL of another site as it is.
func sitePath(target string) string {
	if !strings.HasPrefix(target, "/") {
		return target
	}
	path, _, _ := strings.Cut(target, "?")
	return string(weburl.PercentDecode(nil, path))
}

// anchorName returns the name that a fragment asks for: percent-decoded and
// without text directive.
func anchorName(fragment string) string {
	fragment, _, _ = strings.Cut(fragment, ":~:")
	return string(scan.AppendUTF8(nil, weburl.PercentDecode(nil, fragment)))
}
