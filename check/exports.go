package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// The lists in this file are what it takes to check links between sites: the
// anchors and addresses of one, and the external targets of another.

// Anchor is one name that a page defines.
type Anchor struct {
	// Page is the docroot path of the page.
	Page string
	// Name is the name as the DOM has it.
	Name string
	// Kind is id, name (of an a element) or map (for usemap only).
	Kind string
}

var anchorKinds = [...]string{scan.AnchorID: "id", scan.AnchorName: "name", scan.AnchorMap: "map"}

// Anchors calls visit for every anchor of the site, or of one page when page
// names it as [Query.From] does. An anchor that a page defines twice is visited
// once. The order is that of the pages and of their text. Calls do not overlap,
// but they come from several goroutines. An error of visit ends the work and is
// returned.
//
// The error wraps [ErrNotFound] when there is no such page. Otherwise it is that
// of visit or of ctx, or that of a page that cannot be read again.
func Anchors(ctx context.Context, s *site.Site, opt Options, page string, visit func(Anchor) error) error {
	in := isite.Unwrap(s)
	sel, err := Query{From: page}.selection(in)
	if err != nil {
		return err
	}
	seq := newSequence(func(anchors []Anchor) error {
		for _, a := range anchors {
			if err := visit(a); err != nil {
				return err
			}
		}
		return nil
	})
	defer context.AfterFunc(ctx, seq.wake)()
	return readers(ctx, in, opt, in.Pages(), func(r *isite.Reader, i int) error {
		buf, err := seq.buffer(ctx, i)
		if err != nil {
			return err
		}
		id := isite.PageID(i)
		p := in.Page(id)
		if p.Anchors() > 0 && (!sel.onePage || sel.page == id) {
			seen := make(map[Anchor]bool, p.Anchors())
			path := in.Path(id)
			err := r.Anchors(id, func(name []byte, kind scan.AnchorKind) {
				a := Anchor{path, string(name), anchorKinds[kind]}
				if !seen[a] {
					seen[a] = true
					buf = append(buf, a)
				}
			})
			if err != nil {
				return pageError(in, id, err)
			}
		}
		return seq.put(i, buf)
	})
}

func pageError(s *isite.Site, id isite.PageID, err error) error {
	return fmt.Errorf("read page %s: %w", s.Path(id), err)
}

// Address is one path that the host of the site answers.
type Address struct {
	// Path is the site path, percent-decoded.
	Path string
	// File is the docroot path of what answers: a file, or a directory that
	// the host lists; "" where only a rule answers.
	File string
	// Kind is page for a file whose anchors are known, file for any other,
	// listing for a directory, and rule where the host redirects to another site
	// or another server answers.
	Kind string
	// Final is the site path or URL that the host redirects to, "" when it does
	// not redirect.
	Final string
}

// Addresses lists the paths that the host answers, sorted: what another site may
// link to. It tries the path of each file and directory with the profile, with
// and without the slash of a directory and the extension of a page. It also
// tries the paths that redirect rules name in full, but not paths that only
// match a pattern, because these are endless. Addresses reads no file. The error
// is that of ctx.
func Addresses(ctx context.Context, s *site.Site) ([]Address, error) {
	w := addressFinder{isite.Unwrap(s), nil}
	t, base := w.s.Tree(), w.s.BasePath()
	for i := range t.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w.node(docroot.NodeID(i))
	}
	for _, path := range w.s.RulePaths() {
		w.add(path)
	}
	if base != "" {
		if a := w.s.Answer("/"); a.State.Answers() && a.Node != docroot.NoNode {
			w.found = append(w.found, Address{base, t.Path(a.Node), addressKind(w.s, a.Node), base + "/"})
		}
	}
	slices.SortFunc(w.found, func(a, b Address) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(w.found), nil
}

// addressFinder collects the paths that the host answers.
type addressFinder struct {
	s     *isite.Site
	found []Address
}

// node asks for the paths of a file or directory.
func (w *addressFinder) node(node docroot.NodeID) {
	t := w.s.Tree()
	path := "/" + t.Path(node)
	w.add(path)
	switch t.Kind(t.Real(node)) {
	case docroot.KindDir:
		if node != 0 {
			w.add(path + "/")
		}
	case docroot.KindFile:
		for _, extension := range []string{".html", ".htm"} {
			if stem, ok := strings.CutSuffix(path, extension); ok && !strings.HasSuffix(stem, "/") {
				w.add(stem)
				w.add(stem + "/")
			}
		}
	}
}

// add asks for a path below the base path, and adds it if something answers.
func (w *addressFinder) add(path string) {
	s, base := w.s, w.s.BasePath()
	a := s.Answer(path)
	x := Address{Path: base + path, Final: a.Final}
	switch {
	case a.State == host.StateRedirectsAway || a.State == host.StateProxied || a.State == host.StateConditional:
		x.Kind = "rule"
	case a.State.Answers() && a.Node != docroot.NoNode && a.Status == 200:
		x.File, x.Kind = s.Tree().Path(a.Node), addressKind(s, a.Node)
	default:
		return
	}
	if strings.HasPrefix(a.Final, "/") {
		x.Final = base + a.Final
	}
	w.found = append(w.found, x)
}

// addressKind returns the kind of the address of a node.
func addressKind(s *isite.Site, node docroot.NodeID) string {
	if s.Tree().Kind(s.Tree().Real(node)) == docroot.KindDir {
		return "listing"
	}
	if id, ok := s.PageOf(node); ok && s.Page(id).Error().Err == nil {
		switch s.Page(id).Kind() {
		case isite.PageHTML, isite.PageXHTML, isite.PageSVG:
			return "page"
		}
	}
	return "file"
}

// ExternalTarget is one address outside the docroot that the site links to.
type ExternalTarget struct {
	// Target is the absolute URL without fragment. It is a path for a target on
	// the site's own host outside the base URL.
	Target string
	// Fragment is the part of the URL after #.
	Fragment string
	// Host and Path find the file of the other site: the host, with its port
	// unless that is the default of the scheme, "" when not known; and the path,
	// percent-decoded and without query.
	Host, Path string
	// Anchor is the name that the page there has to define: the fragment
	// percent-decoded. It is "" when every page serves the fragment (none, top, a
	// text directive) or only a script can (#/route, #!route).
	Anchor string
	// Links and Pages are how many links lead there, from how many pages.
	Links, Pages int
	// Page, Line and Column are the place of the first link.
	Page         string
	Line, Column int
}

// ExternalTargets lists the addresses outside the docroot that links lead to,
// see [Query.External], sorted by target and fragment. Memory grows with the
// number of addresses, not of links. The error is that of ctx, or of a page that
// cannot be read again.
func ExternalTargets(ctx context.Context, s *site.Site, opt Options) ([]ExternalTarget, error) {
	in := isite.Unwrap(s)
	sel, err := Query{External: true}.selection(in)
	if err != nil {
		return nil, err
	}
	type key struct{ target, fragment string }
	var mu sync.Mutex // guards found
	found := map[key]*ExternalTarget{}
	err = readers(ctx, in, opt, in.Pages(), func(r *isite.Reader, i int) error {
		id := isite.PageID(i)
		want, n := sel.links(in, id)
		if n == 0 {
			return nil
		}
		path := in.Path(id)
		here := map[key]*ExternalTarget{}
		err := r.Details(id, want, func(_ int, d *isite.Detail) {
			k := key{d.Target, d.Fragment}
			x := here[k]
			if x == nil {
				k.fragment = strings.Clone(k.fragment) // part of the page's text
				x = &ExternalTarget{Target: d.Target, Fragment: k.fragment, Pages: 1, Page: path, Line: d.Line, Column: d.Column}
				here[k] = x
			}
			x.Links++
		})
		if err != nil {
			return pageError(in, id, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for k, x := range here {
			have := found[k]
			if have == nil {
				found[k] = x
				continue
			}
			have.Links += x.Links
			have.Pages++
			if x.Page < have.Page {
				have.Page, have.Line, have.Column = x.Page, x.Line, x.Column
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]ExternalTarget, 0, len(found))
	for _, x := range found {
		x.Host, x.Path = hostAndPath(in, x.Target)
		if name := anchorName(x.Fragment); !strings.EqualFold(name, "top") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "!") {
			x.Anchor = name
		}
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b ExternalTarget) int {
		return cmp.Or(strings.Compare(a.Target, b.Target), strings.Compare(a.Fragment, b.Fragment))
	})
	return out, nil
}

// hostAndPath splits a target into the host and the decoded path without query.
func hostAndPath(s *isite.Site, target string) (host, path string) {
	if strings.HasPrefix(target, "/") {
		return s.Authority(), sitePath(target)
	}
	u, err := weburl.Parse(target)
	if err != nil {
		return "", ""
	}
	host = u.Host()
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host, sitePath(u.Path())
}
