package site

import (
	"hash/maphash"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/script"
)

// scriptsKey returns the number for [Page.Scripts]. The text of an inline script
// counts only if it may do something with fragments.
func (s *Site) scriptsKey(p *Page, page *scan.Page) uint64 {
	key := uint64(1)
	mix := func(h uint64) { key = (key ^ h) * 0x9E3779B97F4A7C15 }
	for i := range page.Scripts {
		sc := &page.Scripts[i]
		switch l := page.ScriptLink(sc); {
		case l >= 0 && p.links[l].State.Answers() && p.links[l].Node != docroot.NoNode:
			mix(uint64(p.links[l].Node))
		case l >= 0:
			mix(maphash.Bytes(s.hash.id, page.Links[l].Value))
		case !sc.External && script.Matters(sc.Text):
			mix(maphash.Bytes(s.hash.id, sc.Text))
		}
	}
	return max(key, 1)
}

// Script is a script that a page runs.
type Script struct {
	// Address is its address as written, or "" for an inline script.
	Address string
	// Node is the script's file, or NoNode if it is not in the docroot.
	Node docroot.NodeID
	// Text is the text of an inline script.
	Text []byte
}

// Scripts returns the scripts that a page runs, in order. Text is valid until the
// reader is used again. The error is that of [Reader.Details].
func (r *Reader) Scripts(id PageID) ([]Script, error) {
	p := &r.s.pages[id]
	page, err := r.text(p)
	if err != nil {
		return nil, err
	}
	if len(page.Links) != len(p.links) {
		return nil, ErrChanged
	}
	out := make([]Script, 0, len(page.Scripts))
	for i := range page.Scripts {
		sc := &page.Scripts[i]
		if !sc.External {
			out = append(out, Script{Node: docroot.NoNode, Text: sc.Text})
			continue
		}
		l := page.ScriptLink(sc)
		if l < 0 {
			continue // an empty src
		}
		found := Script{Address: string(page.Links[l].Value), Node: docroot.NoNode}
		if rec := &p.links[l]; rec.State.Answers() {
			found.Node = rec.Node
		}
		out = append(out, found)
	}
	return out, nil
}

// File returns the contents of a file of the docroot, at most limit bytes. They
// are valid until the reader is used again.
func (r *Reader) File(node docroot.NodeID, limit int64) ([]byte, error) {
	if err := r.Open(); err != nil {
		return nil, err
	}
	if f := r.s.Sent(node); f != nil {
		return r.s.Text(f, nil, limit)
	}
	data, _, err := r.dir.Read(append(r.s.tree.AppendPath(nil, r.s.tree.Nodes[node].Real), 0), r.buf[:0], limit)
	if err != nil {
		return nil, docroot.FileError(err)
	}
	return data, nil
}
