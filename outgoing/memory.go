package outgoing

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// memory is what a ledger knows, by address.
type memory struct {
	pages map[string]*ledger.Page
	links map[string][]string // targets by source, in the ledger's order
	// notices of all protocols by source and target key.
	notices map[pair][]*ledger.Notice
}

type pair struct{ source, key string }

func remember(snap *ledger.Snapshot) memory {
	m := memory{make(map[string]*ledger.Page), make(map[string][]string), make(map[pair][]*ledger.Notice)}
	for i := range snap.Pages {
		m.pages[snap.Pages[i].URL] = &snap.Pages[i]
	}
	for _, l := range snap.Links {
		m.links[l.Source] = append(m.links[l.Source], l.Target)
	}
	for i := range snap.Notices {
		n := &snap.Notices[i]
		p := pair{n.Source, key(n.Target)}
		m.notices[p] = append(m.notices[p], n)
	}
	return m
}

// readingVersion is that of the rules by which content and hash are found. It
// grows with every change of them, so that no cache of another version is used.
const readingVersion = 2

// fingerprint is a hash of what decides which links of a file count. Pages and
// Exclude do not: they are asked for each page anew.
func fingerprint(o Options) uint64 {
	return xxhash.Sum64String(fmt.Sprintf("%d %q %t %t", readingVersion, [][]string{o.Allow, o.Deny, {o.Content}, o.Rel}, o.Internal, o.Hubs != nil))
}
