package site

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
	"github.com/sitelink/sitelink/internal/docroot"
)

// Sum returns a hash of the bytes of the page's file, for telling that nothing
// changed since another build; 0 unless [Options.Sums] asked for it. It is no
// protection against somebody who wants two files to look alike.
//
// xxhash reads 478 MB of rust-doc in 0.04 s of processor time; SHA-256 would
// take 0.3 s of a check's 1.4 s.
func (p *Page) Sum() uint64 { return p.sum }

// Sums tells whether the hashes of files are known.
func (s *Site) Sums() bool { return s.opt.Sums }

// addSum notes the hash of what was read of a page.
func (w *worker) addSum(p *Page, data []byte) {
	if w.l.s.opt.Sums {
		p.sum = xxhash.Sum64(data)
	}
}

// Sum returns the hash of the bytes of a page's file: [Page.Sum] if
// [Options.Sums] was set, or else the hash of the file as it is now. The error is
// that of reading the file.
func (r *Reader) Sum(id PageID) (uint64, error) {
	p := &r.s.pages[id]
	if r.s.opt.Sums {
		return p.sum, nil
	}
	data, raw, _, err := r.s.load(r.dir, p, r.buf)
	r.buf = raw
	if err != nil {
		return 0, docroot.FileError(err)
	}
	return xxhash.Sum64(data), nil
}

// Text returns the text of a page as UTF-8 without byte order mark, good until
// the reader is used again. The error is that of reading the file, or
// [ErrChanged] when [Options.Sums] is set and the file is not what it was when
// the site was loaded.
func (r *Reader) Text(id PageID) ([]byte, error) {
	p := &r.s.pages[id]
	data, raw, _, err := r.s.load(r.dir, p, r.buf)
	r.buf = raw
	if err != nil {
		return nil, docroot.FileError(err)
	}
	if r.s.opt.Sums && xxhash.Sum64(data) != p.sum {
		return nil, ErrChanged
	}
	if p.plain && r.s.opt.Sums {
		// The same bytes as when the page was scanned, which need no second look.
		return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), nil
	}
	return r.s.scanPage(&r.scan, p.kind, data).UTF8(), nil
}
