package ledger

import "io"

// Write writes a snapshot as a ledger file: sorted JSON Lines, the first of
// them with the version and the address of the site. The only errors are those
// of w.
func Write(w io.Writer, s *Snapshot) error {
	b := newBook()
	b.base, b.pages, b.links, b.peers = s.Base, s.Pages, s.Links, s.Peers
	for _, n := range s.Notices {
		b.notices[n.Key] = n
	}
	return b.write(w)
}
