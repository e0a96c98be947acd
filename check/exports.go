package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

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
func Anchors(ctx context.Context, handle *site.Site, opt Options, page string, visit func(Anchor) error) error {
	s := isite.Unwrap(handle)
	sel, err := Query{From: page}.selection(s)
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
	return readers(ctx, s, opt, s.Pages(), func(r *isite.Reader, i int) error {
		buf, err := seq.buffer(ctx, i)
		if err != nil {
			return err
		}
		id := isite.PageID(i)
		p := s.Page(id)
		if p.Anchors() > 0 && (!sel.onePage || sel.page == id) {
			seen := make(map[Anchor]bool, p.Anchors())
			path := s.Path(id)
			err := r.Anchors(id, func(name []byte, kind scan.AnchorKind) {
				a := Anchor{path, string(name), anchorKinds[kind]}
				if !seen[a] {
					seen[a] = true
					buf = append(buf, a)
				}
			})
			if err != nil {
				return pageError(s, id, err)
			}
		}
		return seq.put(i, buf)
	})
}

func pageError(s *isite.Site, id isite.PageID, err error) error {
	return fmt.Errorf("read page %s: %w", s.Path(id), err)
}

// Address is one path by which the host of the site answers.
type Address struct {
	// Path is the site path, percent-decoded.
	Path string
	// File is the docroot path of what answers: a file, or a directory that
	// the host lists; "" where only a rule does.
	File string
	// Kind is page for a file whose anchors are known, file for any other,
	// listing for a directory, and rule where the host sends visitors elsewhere
	// or another server answers.
	Kind string
	// Final is the site path or URL to which the host redirects, "" when it
	// does not.
	Final string
}

// Addresses lists the paths by which visitors get the files of the site, those
// of redirects to them included, sorted by path: what another site may link to.
// It asks the profile for the path of each file and directory, with and without
// the slash of a directory and the extension of a page, and for the paths that
// redirect rules name. What answers by a pattern only has no end and is not
// listed. No file is read. The error is that of ctx.
func Addresses(ctx context.Context, handle *site.Site) ([]Address, error) {
	s := isite.Unwrap(handle)
	t := s.Tree()
	base := s.BasePath()
	var out []Address
	ask := func(path string) {
		a := s.Answer(path)
		x := Address{Path: base + path, Final: a.Final}
		switch {
		case a.State == host.StateRedirectsAway || a.State == host.StateProxied || a.State == host.StateConditional:
			x.Kind = "rule"
		case a.State.Answers() && a.Node != docroot.NoNode && a.Status == 200:
			x.File, x.Kind = t.Path(a.Node), fileKind(s, a.Node)
		default:
			return
		}
		if strings.HasPrefix(a.Final, "/") {
			x.Final = base + a.Final
		}
		out = append(out, x)
	}
	for i := range t.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		node := docroot.NodeID(i)
		path := "/" + t.Path(node)
		ask(path)
		switch t.Kind(t.Real(node)) {
		case docroot.KindDir:
			if node != 0 {
				ask(path + "/")
			}
		case docroot.KindFile:
			for _, extension := range []string{".html", ".htm"} {
				if stem, ok := strings.CutSuffix(path, extension); ok && !strings.HasSuffix(stem, "/") {
					ask(stem)
					ask(stem + "/")
				}
			}
		}
	}
	for _, path := range s.RulePaths() {
		ask(path)
	}
	if base != "" {
		if a := s.Answer("/"); a.State.Answers() && a.Node != docroot.NoNode {
			out = append(out, Address{base, t.Path(a.Node), fileKind(s, a.Node), base + "/"})
		}
	}
	slices.SortFunc(out, func(a, b Address) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(out), nil
}

// fileKind says what a node is to those who link to it from elsewhere.
func fileKind(s *isite.Site, node docroot.NodeID) string {
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
