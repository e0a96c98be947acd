package outgoing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// Entry is a page of the site that speaks to others.
type Entry struct {
	Page string // its path in the docroot
	URL  string // its address on the site, absolute
	// Hash is that of the content.
	Hash string
	// Targets are the addresses that its content links to, as they are written,
	// in document order, each once.
	Targets []string
	// Internal are the pages of the site itself that its content links to, as
	// site paths, sorted: they get no notice. Filled in when Options.Internal
	// asks for it.
	Internal []string
	// Feed: the page is a feed, and its targets are hubs.
	Feed bool
}

// Reason says why a page of the site tells nobody.
type Reason string

// The reasons.
const (
	NotChosen Reason = "not chosen"
	Alias     Reason = "alias"
	Elsewhere Reason = "canonical address elsewhere"
	Listing   Reason = "list of several entries"
	NotFound  Reason = "error page"
	Tombstone Reason = "tombstone"
	TooDeep   Reason = "nested too deeply to be parsed"
)

// Left is how many pages are left out for a reason.
type Left struct {
	Reason Reason
	Pages  int
}

// Entries are what the pages of a site say to others.
type Entries struct {
	Base   string // the site's address
	Origin string // its scheme and host
	List   []Entry
	Left   []Left // sorted by reason
	// left tells, by address, why a page of the site is no entry.
	left map[string]Reason
	// aliases tells, by address, where an alias sends its visitors.
	aliases map[string]string
}

// ErrNoBase: nobody can be told of pages whose address is not known.
var ErrNoBase = errors.New("the site's address is not known: set base-url")

// Read finds the entries of a site, which must be loaded with
// [site.Options.Sums] and a base URL. Pages that the ledger knows are entries
// even when they no longer say anything. What the cache knows is not read
// again, and it then holds what was read; nil is for none. The list is sorted
// by address. The error is [ErrNoBase], that of an option, or that of a page
// that cannot be read.
//
// The content of a page is what stands in the e-content of its only h-entry
// (with that entry's replies, likes, reposts and bookmarks), else its main
// article, else main, else body; outside of e-content without nav, aside and
// footer. A page with several entries is a list and says nothing itself.
func Read(ctx context.Context, s *site.Site, snap *ledger.Snapshot, opt Options, cache *Cache) (*Entries, error) {
	r, err := opt.compile()
	if err != nil {
		return nil, err
	}
	base := s.BaseURL()
	if base == "" {
		return nil, ErrNoBase
	}
	if !s.Sums() {
		return nil, errors.New("the site was loaded without hashes of its files")
	}
	scheme, _, _ := strings.Cut(base, ":")
	read := &reading{s: s, rules: r, origin: strings.ToLower(scheme) + "://" + s.Authority(), known: remember(snap), cache: cache.of(r.print)}
	out := make([]made, s.Pages())
	if err := read.all(ctx, out); err != nil {
		return nil, err
	}
	e := &Entries{Base: base, Origin: read.origin, left: make(map[string]Reason), aliases: make(map[string]string)}
	counts := make(map[Reason]int)
	cache.fill(r.print, out)
	for i := range out {
		m := &out[i]
		switch {
		case m.left != "":
			counts[m.left]++
			e.left[m.entry.URL] = m.left
			if m.left == Alias {
				e.aliases[m.entry.URL] = s.Page(site.PageID(i)).Alias()
			}
		case m.entry.URL != "" && !m.silent:
			e.List = append(e.List, m.entry)
		}
	}
	slices.SortFunc(e.List, func(a, b Entry) int { return cmp.Compare(a.URL, b.URL) })
	for reason, n := range counts {
		e.Left = append(e.Left, Left{reason, n})
	}
	slices.SortFunc(e.Left, func(a, b Left) int { return cmp.Compare(a.Reason, b.Reason) })
	return e, nil
}

// made is what came of a page: an entry, a reason why it is none, or nothing
// when it never had anything to say.
type made struct {
	entry Entry
	left  Reason
	// sum is that of the file, if it was read; silent: nobody is told.
	sum    uint64
	silent bool
}

// reading is one run over the pages of a site.
type reading struct {
	s      *site.Site
	rules  *rules
	origin string // scheme and host of the site
	known  memory
	cache  cached
}

// all reads the pages side by side, each into its place of out.
func (r *reading) all(ctx context.Context, out []made) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(out)) {
		workers.Go(func() {
			w, err := r.worker()
			if err != nil {
				stop(err)
				return
			}
			defer w.close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(out) {
					return
				}
				if out[i], err = w.page(site.PageID(i)); err != nil {
					stop(fmt.Errorf("read %s: %w", r.s.Path(site.PageID(i)), err))
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
