package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Query selects links of a site: those that match all fields that are set. The
// zero value selects every link.
type Query struct {
	// From is the page that holds the link: its path in the docroot, or a site
	// path or URL that it answers.
	From string
	// To is what the link leads to: a path in the docroot, a site path or a
	// URL, with or without a fragment. Without one, links to any fragment of the
	// target match. If nothing answers the path, the links that ask for it match,
	// whatever their query.
	To string
	// External selects links that lead out of the docroot: to another host, or
	// to a path of the site's own host outside the base URL.
	External bool
}

// ErrNotFound reports that a call names a page or a target that the site does
// not have, or something that is not a URL.
var ErrNotFound = errors.New("not found")

// notFound makes err an [ErrNotFound] with the same text.
func notFound(err error) error { return &notFoundError{err} }

type notFoundError struct{ error }

func (e *notFoundError) Is(target error) bool { return target == ErrNotFound }
func (e *notFoundError) Unwrap() error        { return e.error }

// selection is a query for one site.
type selection struct {
	page    isite.PageID
	onePage bool
	// may reports from the record alone whether a link may match.
	may []func(l *isite.Link) bool
	// fit reports whether a link does, once all of it is known; nil for each.
	fit func(l *Link) bool
}

// links returns the numbers of the links of a page that may match, nil for all,
// and how many they are.
func (sel *selection) links(s *isite.Site, id isite.PageID) (want []uint32, n int) {
	p := s.Page(id)
	switch {
	case sel.onePage && sel.page != id:
		return nil, 0
	case len(sel.may) == 0:
		return nil, p.Links()
	}
	links := p.All()
	for i := range links {
		if !slices.ContainsFunc(sel.may, func(may func(l *isite.Link) bool) bool { return !may(&links[i]) }) {
			want = append(want, uint32(i))
		}
	}
	return want, len(want)
}

// selection finds what the query names.
func (q Query) selection(s *isite.Site) (*selection, error) {
	sel := &selection{}
	if q.From != "" {
		node, err := resolveName(s, q.From)
		if err != nil {
			return nil, err
		}
		id, ok := s.PageOf(node.Node)
		if !ok {
			return nil, notFound(fmt.Errorf("%q is not a page of the docroot", q.From))
		}
		sel.page, sel.onePage = id, true
	}
	if q.External {
		sel.may = append(sel.may, func(l *isite.Link) bool { return l.State.Leaves() })
	}
	if q.To != "" {
		to, err := resolveName(s, q.To)
		if err != nil {
			return sel, err
		}
		if to.Fragment != "" {
			fragment := anchorName(to.Fragment)
			sel.fit = func(l *Link) bool { return anchorName(l.Fragment) == fragment }
		}
		if to.State.Answers() && to.Node != docroot.NoNode {
			sel.may = append(sel.may, func(l *isite.Link) bool {
				return l.Node == to.Node && !l.State.IsMeant()
			})
			return sel, nil
		}
		target := sitePath(to.Target)
		sel.may = append(sel.may, func(l *isite.Link) bool { return l.Node == docroot.NoNode || !s.State(l).Answers() })
		fit := sel.fit
		sel.fit = func(l *Link) bool { return l.Target != "" && sitePath(l.Target) == target && (fit == nil || fit(l)) }
	}
	return sel, nil
}

// resolveName finds what a person names: a file of the docroot with exactly that
// path, or else what a link with that value leads to.
func resolveName(s *isite.Site, text string) (host.Resolved, error) {
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

// sitePath returns the part of a target that decides whether two are the same: a
// site path decoded and without query, or the URL of another site as it is.
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
