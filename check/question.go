package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// Question selects links of a site. A link is selected when it fits all fields
// that are set; the zero value selects every link.
type Question struct {
	// From is the page that holds the link: its path in the docroot, or a site
	// path or URL that it answers.
	From string
	// To is what the link leads to: a path in the docroot, a site path or a
	// URL, each with a fragment or without. Without one, all fragments of the
	// target count. A path that nothing answers is found by the links that ask
	// for it; a query in it is left out.
	To string
	// External selects links that lead out of the docroot: to another host, or
	// on the own host to a path that is not below the base URL.
	External bool
}

// ErrNothingNamed: a field of a [Question] names nothing.
var ErrNothingNamed = errors.New("nothing is named")

// Ask writes the rows of the links that fit q as [Links] does, and reads only
// pages that may hold one. An error is one of Links, or wraps
// [ErrNothingNamed] where q makes no sense for this site. Pages that changed meanwhile are the findings of the result.
func Ask(ctx context.Context, handle *site.Site, opt Options, q Question, render func(dst []byte, f *Finding) []byte, w io.Writer) (*Result, error) {
	s := isite.Unwrap(handle)
	sel, err := q.selection(s)
	if err != nil {
		return nil, err
	}
	return links(ctx, s, opt, sel, render, w)
}

// selection is a question that knows its site.
type selection struct {
	page    isite.PageID
	onePage bool
	// may tells by the record alone whether a link may fit; nil means that any
	// may.
	may func(l *isite.Link) bool
	// fits tells whether a link does, once all of it is known.
	fits func(f *Finding) bool
}

// links returns the numbers of the links of a page that may fit, nil for all,
// and how many they are.
func (sel *selection) links(s *isite.Site, id isite.PageID) (want []uint32, n int) {
	p := s.Page(id)
	switch {
	case sel == nil:
		return nil, p.Links()
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

// render leaves out the rows of links that do not fit.
func (sel *selection) render(render func([]byte, *Finding) []byte) func([]byte, *Finding) []byte {
	if sel == nil {
		return render
	}
	return func(dst []byte, f *Finding) []byte {
		if !sel.fits(f) {
			return dst
		}
		return render(dst, f)
	}
}

func (q Question) selection(s *isite.Site) (*selection, error) {
	sel := &selection{}
	if q.From != "" {
		node, err := named(s, q.From)
		if err != nil {
			return nil, err
		}
		id, ok := s.PageOf(node.Node)
		if !ok {
			return nil, nothingNamed(fmt.Errorf("%q is no page of the docroot", q.From))
		}
		sel.page, sel.onePage = id, true
	}
	var mays []func(*isite.Link) bool
	var fits []func(*Finding) bool
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
	sel.fits = func(f *Finding) bool { return all(fits, f) }
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
func leaves(st isite.State) bool {
	return st == isite.StateExternal || st == isite.StateCredentials || st == isite.StateOutsideBase
}

// named finds what a person means: a file of the docroot of exactly that name
// comes before what a link so written would get.
func named(s *isite.Site, text string) (isite.Resolved, error) {
	if !strings.HasPrefix(text, "/") {
		if node, ok := s.Lookup(text); ok && node != 0 && s.Tree().Kind(node) == isite.KindFile {
			return isite.Resolved{State: isite.StateOK, Node: node, Target: s.Href(node)}, nil
		}
	}
	res, err := s.Request(text)
	if err != nil {
		return res, nothingNamed(err)
	}
	return res, nil
}

// nothingNamed marks an error as one of [ErrNothingNamed], and keeps its words.
func nothingNamed(err error) error { return &questionError{err} }

type questionError struct{ error }

func (e *questionError) Is(target error) bool { return target == ErrNothingNamed }
func (e *questionError) Unwrap() error        { return e.error }

// leadsTo makes the tests for the target that text names.
func leadsTo(s *isite.Site, text string) (may func(*isite.Link) bool, fits func(*Finding) bool, err error) {
	to, err := named(s, text)
	if err != nil {
		return nil, nil, err
	}
	fragment := anchorName(to.Fragment)
	atFragment := func(f *Finding) bool { return to.Fragment == "" || anchorName(f.Fragment) == fragment }
	target := sitePath(to.Target)
	if to.State.Answers() && to.Node != isite.NoNode {
		may = func(l *isite.Link) bool { return l.Node == to.Node && l.State != isite.StateWrongCase }
		return may, atFragment, nil
	}
	may = func(l *isite.Link) bool { return l.Node == isite.NoNode || !s.State(l).Answers() }
	return may, func(f *Finding) bool {
		return f.Target != "" && sitePath(f.Target) == target && atFragment(f)
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

// Answers returns the docroot path of the file, or of the directory whose
// listing, answers the link; "" when none does.
func (f *Finding) Answers(handle *site.Site) string {
	s := isite.Unwrap(handle)
	if f.Status != 200 || f.node == isite.NoNode {
		return ""
	}
	return s.Tree().Path(f.node)
}
