package site

import (
	"errors"
	"fmt"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

// ErrChanged: the page is not what it was when the site was loaded.
var ErrChanged = errors.New("changed while the docroot was checked")

// Reader tells what a [Link] does not hold: it reads the page again, unless
// the worker that read it first kept what is wanted. It is not safe for
// concurrent use; make one for each worker and close it.
type Reader struct {
	s    *Site
	dir  *docroot.Dir
	scan scanner
	res  resolver
	buf  []byte
	// detail is what the callback of Details sees: one, so that it does not
	// have to be allocated for each link.
	detail Detail
}

// NewReader opens the docroot for reading pages again.
func (s *Site) NewReader() (*Reader, error) {
	dir, err := docroot.Open(s.Real())
	if err != nil {
		return nil, fmt.Errorf("read docroot %s: %w", s.Root(), disk.Cause(err))
	}
	return &Reader{s: s, dir: dir, res: resolver{s: s, PathResolver: host.NewPathResolver(s.Host)}}, nil
}

// Close releases the docroot.
func (r *Reader) Close() { r.dir.Close() }

// text reads and scans a page.
func (r *Reader) text(p *Page) (*scan.Page, error) {
	if r.buf == nil { // what was kept needs none
		r.buf = make([]byte, 0, docroot.FirstBuffer)
	}
	data, raw, _, err := r.s.load(r.dir, p, r.buf)
	r.buf = raw
	if err != nil {
		return nil, docroot.FileError(err)
	}
	if p.kind == PageMap {
		page, _ := mapPage(data)
		return &page, nil
	}
	return r.s.scanPage(&r.scan, p.kind, data), nil
}

// Details calls f with everything about the links of a page whose numbers are
// in want, which ascends, or about all of them when want is nil; in order. d,
// and the strings Raw and Fragment in it, which are parts of the page's text,
// last only until f returns. The error is [ErrChanged] when the page no longer
// holds the links that were loaded; f may have been called for some by then.
func (r *Reader) Details(id PageID, want []uint32, f func(link int, d *Detail)) error {
	p := &r.s.pages[id]
	if r.fromKept(p, want, f) {
		return nil
	}
	page, err := r.text(p)
	if err != nil {
		return err
	}
	if len(page.Links) != len(p.links) {
		return ErrChanged
	}
	r.res.open(p, page)
	r.res.startMemo()
	lines := liner{text: page.Text}
	nextBase, all := 0, want == nil
	for i := range page.Links {
		l := &page.Links[i]
		if l.Off != p.links[i].Off {
			return ErrChanged
		}
		before := nextBase
		if nextBase = r.res.rebase(page, nextBase, l.Off); nextBase != before {
			clear(r.res.memo) // the same value means another target now
		}
		if !all {
			if len(want) == 0 {
				return nil
			}
			if want[0] != uint32(i) {
				continue
			}
			want = want[1:]
		}
		r.detail = r.res.detail(p, page, l, &p.links[i], &lines)
		r.s.permissions(&r.detail.Resolved)
		f(i, &r.detail)
	}
	return nil
}

// fromKept answers Details from what the page's worker kept, if it kept all
// that is wanted.
func (r *Reader) fromKept(p *Page, want []uint32, f func(link int, d *Detail)) bool {
	if len(want) == 0 || len(want) > len(p.kept) {
		return false
	}
	next := 0
	for _, w := range want {
		for next < len(p.kept) && p.kept[next].link < w {
			next++
		}
		if next == len(p.kept) || p.kept[next].link != w {
			return false
		}
	}
	next = 0
	for _, w := range want {
		for p.kept[next].link != w {
			next++
		}
		r.detail = p.kept[next].Detail
		r.s.permissions(&r.detail.Resolved)
		f(int(w), &r.detail)
	}
	return true
}

// Anchors calls f for every anchor that fragments on a page can hit, in
// document order.
func (r *Reader) Anchors(id PageID, f func(name []byte, kind scan.AnchorKind)) error {
	page, err := r.text(&r.s.pages[id])
	if err != nil {
		return err
	}
	for _, a := range page.Anchors {
		f(a.Name, a.Kind)
	}
	return nil
}

// Place returns the position of an offset in a page's text, as
// [scan.Fault] has it.
func (r *Reader) Place(id PageID, off uint32) (line, column int, offset int64, err error) {
	page, err := r.text(&r.s.pages[id])
	if err != nil {
		return 0, 0, 0, err
	}
	l := liner{text: page.Text}
	line, column = l.at(off)
	return line, column, page.Source(off), nil
}
