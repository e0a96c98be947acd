package site

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/sitelink/sitelink/internal/docroot"
)

// MaxSitemapBytes and MaxSitemapEntries are what a sitemap may have at most
// (https://www.sitemaps.org/protocol.html#index): search engines refuse more.
const (
	MaxSitemapBytes   = 50 << 20
	MaxSitemapEntries = 50_000
)

// ErrSitemapSize: a sitemap that is far too large for anybody to read it.
var ErrSitemapSize = errors.New("larger than the 52,428,800 bytes that a sitemap may have")

// sitemapRoom is from which size a sitemap is not read. Those between the
// limit and this are, so that their links are checked too; memory stays within
// a few hundred MB whatever lies there.
const sitemapRoom = MaxSitemapBytes + MaxSitemapBytes/4

// unzipHead returns what the first bytes of a gzip file hold: nothing when
// they are none.
func unzipHead(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	head := make([]byte, sniffBytes)
	n, _ := io.ReadFull(z, head)
	return head[:n]
}

// unzip inflates a gzip file, of which limit bytes are accepted: the rest of a
// bomb is never made.
func unzip(data []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("no gzip file: %w", err)
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(z, limit+1))
	if n > limit {
		return nil, docroot.ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("a damaged gzip file: %w", err)
	}
	return out.Bytes(), nil
}

// pageLimit is the size above which a page is not read.
func (s *Site) pageLimit(p *Page) int64 {
	if p.kind == PageSitemap || p.kind == PageIndex {
		return min(s.opt.MaxPageBytes, sitemapRoom)
	}
	return s.opt.MaxPageBytes
}

// load reads the text of a page into buf, which grows as needed.
func (s *Site) load(dir *docroot.Dir, p *Page, buf []byte) (text, raw []byte, mode fs.FileMode, err error) {
	limit := s.pageLimit(p)
	var room [256]byte // a path on the stack for most
	raw, mode, err = dir.Read(append(s.tree.AppendPath(room[:0], s.tree.Nodes[p.node].Real), 0), buf, limit)
	text = raw
	if err == nil && p.zipped {
		text, err = unzip(raw, limit)
	}
	if errors.Is(err, docroot.ErrTooLarge) && limit < s.opt.MaxPageBytes {
		err = ErrSitemapSize
	}
	return text, raw, mode, err
}
