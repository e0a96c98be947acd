package outgoing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
)

// Entry is a page of the site that can cause notices for its links.
type Entry struct {
	Page string // path in the docroot
	URL  string // absolute URL on the site
	// Hash is the hash of the content.
	Hash string
	// Targets are the URLs that the content links to, as they are written, in
	// document order, each once.
	Targets []string
	// Internal are the pages of the site itself that the content links to, as
	// sorted site paths. They get no notice. Set if Options.Internal is.
	Internal []string
	// Feed is set for a feed. The targets of a feed are its hubs.
	Feed bool
}

// Reason says why a page of the site is not an entry.
type Reason string

// The reasons.
const (
	NotChosen Reason = "not chosen"                  // by Options.Pages and Options.Exclude
	Alias     Reason = "alias"                       // it redirects to another page
	Elsewhere Reason = "canonical address elsewhere" // its canonical URL is another page
	Listing   Reason = "list of several entries"     // it lists several entries
	Excerpt   Reason = "entry of another page"       // its only entry has a title or permalink that leads to its page
	NotFound  Reason = "error page"                  // it is a 404.html
	Tombstone Reason = "tombstone"                   // it says that it was deleted
	NotParsed Reason = "too large or too deep to be parsed"
)

// Exclusion is the number of pages that are not entries for a reason.
type Exclusion struct {
	Reason Reason
	Pages  int
}

// Entries are the pages of a site that can cause notices for their links.
type Entries struct {
	Base     string      // base URL of the site
	Origin   string      // its scheme and host
	List     []Entry     // sorted by URL
	Excluded []Exclusion // sorted by reason
	updates  Updates
	now      time.Time
	// excluded has the reason for each page that is not an entry, by URL.
	excluded map[string]Reason
	// resolve returns what the site answers for one of its own absolute URLs:
	// the status, and the URL at which redirects end.
	resolve func(url string) (status int, final string)
}

// ErrNoBase means that the site was loaded without a base URL. Notices need the
// absolute URLs of pages.
var ErrNoBase = errors.New("the site was loaded without a base URL")

// Read returns the entries of a site, which must have a base URL. Pages that the
// snapshot contains are entries even if they no longer link to other sites. Read
// does not parse files that are unchanged in cache, and updates the cache, which
// may be nil. The error is [ErrNoBase], or about an option, or about a page that
// cannot be read.
//
// The content of a page is the e-content of its only h-entry, with the replies, likes,
// reposts, bookmarks, tags (u-category) and copies (u-syndication) of that entry. Without
// an h-entry, it is the main article, or else main, or else body. What others wrote about
// the page (u-comment, u-like and the like) does not count. Outside of e-content, these do
// not count either: nav, aside, footer and time, lists of comments and webmentions by the
// classes of common themes, the author (p-author), and citations (h-cite) other than
// replies, likes, reposts and bookmarks. A page with several entries is a list, and links
// of lists do not count. A page is also a list if the title of its only entry links to
// another page of the site.
func Read(ctx context.Context, docroot *site.Site, snap *ledger.Snapshot, opt Options, cache *Cache) (*Entries, error) {
	r, err := opt.compile()
	if err != nil {
		return nil, err
	}
	s := isite.Unwrap(docroot)
	base := s.BaseURL()
	if base == "" {
		return nil, ErrNoBase
	}
	read := &reading{s: s, rules: r, base: base, origin: originOf(s), known: indexLedger(snap), cache: cache.of(r.fingerprint)}
	out := make([]pageResult, s.Pages())
	if err := read.all(ctx, out); err != nil {
		return nil, err
	}
	e := &Entries{Base: base, Origin: read.origin, updates: opt.Updates, now: opt.Now, excluded: make(map[string]Reason)}
	if e.now.IsZero() {
		e.now = time.Now()
	}
	aliases := make(map[string]string)
	counts := make(map[Reason]int)
	cache.fill(r.fingerprint, out)
	for i := range out {
		m := &out[i]
		switch {
		case m.excluded != "":
			counts[m.excluded]++
			e.excluded[m.entry.URL] = m.excluded
			if m.excluded == Alias {
				aliases[m.entry.URL] = s.Page(isite.PageID(i)).Alias()
			}
		case m.entry.URL != "" && !m.silent:
			e.List = append(e.List, m.entry)
		}
	}
	// The answer is that of the host: from its rules, its files, and the pages that
	// redirect (aliases, by URL).
	origin := originOf(s)
	absolute := func(address string) string {
		address, _, _ = strings.Cut(address, "#")
		if strings.HasPrefix(address, "/") {
			return origin + address
		}
		return address
	}
	e.resolve = func(url string) (status int, final string) {
		if to, ok := aliases[url]; ok {
			url = absolute(to)
			final = url
		}
		r, err := s.Request(url)
		if err != nil {
			return 0, final
		}
		if r.Final != "" {
			final = absolute(r.Final)
		}
		if to, ok := aliases[final]; ok {
			final = absolute(to)
		}
		if r.Status == 0 && final != "" {
			return 200, final // a page of another site, which is not checked here
		}
		return r.Status, final
	}
	slices.SortFunc(e.List, func(a, b Entry) int { return cmp.Compare(a.URL, b.URL) })
	for reason, n := range counts {
		e.Excluded = append(e.Excluded, Exclusion{reason, n})
	}
	slices.SortFunc(e.Excluded, func(a, b Exclusion) int { return cmp.Compare(a.Reason, b.Reason) })
	return e, nil
}

// Resolve returns what the site answers for one of its own absolute URLs: the
// status, and the URL at which redirects end, "" without a redirect. A page of
// another site has the status 200.
func (e *Entries) Resolve(url string) (status int, final string) { return e.resolve(url) }

// originOf returns scheme and host of a site.
func originOf(s *isite.Site) string {
	scheme, _, _ := strings.Cut(s.BaseURL(), ":")
	return strings.ToLower(scheme) + "://" + s.Authority()
}

// pageResult is the result of reading a page: an entry, the reason why it is not
// one, or the zero value if the page has no links to other sites.
type pageResult struct {
	entry    Entry
	excluded Reason
	// sum is the hash of the file, if it was read.
	sum uint64
	// silent is set if the page has no targets and the ledger does not have it.
	silent bool
}

// reading is one call of Read.
type reading struct {
	s      *isite.Site
	rules  *rules
	base   string // base URL of the site
	origin string // its scheme and host
	known  ledgerIndex
	cache  cachedFiles
}

// all reads the pages in parallel, each into its place of out.
func (r *reading) all(ctx context.Context, out []pageResult) error {
	return r.s.Each(ctx, 0, len(out), func(reader *isite.Reader) func(int) error {
		w := &pageWorker{reading: r, reader: reader}
		return func(i int) (err error) {
			if out[i], err = w.page(isite.PageID(i)); err != nil {
				err = fmt.Errorf("read %s: %w", r.s.Path(isite.PageID(i)), err)
			}
			return err
		}
	})
}

// pageWorker reads one page after the other.
type pageWorker struct {
	*reading
	reader *isite.Reader
}

// page returns the result for one page.
func (w *pageWorker) page(id isite.PageID) (pageResult, error) {
	p, path := w.s.Page(id), w.s.Path(id)
	feed := p.Kind() == isite.PageFeed || p.Kind() == isite.PageJSONFeed
	if !p.Kind().IsHTML() && !(feed && w.rules.opt.Hubs != nil) || p.Error().Err != nil {
		return pageResult{}, nil
	}
	e := Entry{Page: path, URL: w.origin + w.s.Href(p.Node()), Feed: feed}
	_, known := w.known.pages[e.URL]
	switch {
	case !w.rules.includesPage(path):
		return pageResult{entry: e, excluded: NotChosen}, nil
	case p.Alias() != "":
		return pageResult{entry: e, excluded: Alias}, nil
	case path == "404.html" || strings.HasSuffix(path, "/404.html"):
		return pageResult{entry: e, excluded: NotFound}, nil
	case p.HasOtherCanonical():
		return pageResult{entry: e, excluded: Elsewhere}, nil
	}
	outbound := outboundLinks(p)
	skippable := !feed && !known && !w.rules.opt.Internal
	if skippable && len(outbound) == 0 {
		return pageResult{}, nil
	}
	sum, err := w.reader.Sum(id)
	if err != nil {
		return pageResult{}, err
	}
	m, ok := w.cache.get(&e, sum)
	if !ok || known && m.excluded == "" && m.entry.Hash == "" {
		text, err := w.reader.Text(id)
		if err != nil {
			return pageResult{}, err
		}
		m = pageResult{entry: e}
		if !skippable || w.rules.content != nil || !isSilent(text, outbound) {
			m = w.read(e, text, sum, known)
		}
	}
	m.sum = sum
	m.silent = !known && m.excluded == "" && len(m.entry.Targets) == 0 && len(m.entry.Internal) == 0
	return m, nil
}

// isSilent reports whether a page certainly has no targets, like most pages of many sites.
// Its outbound links are all in a menu or footer, and nothing suggests that it is a list,
// an excerpt or a tombstone. The tree of such a page is not needed.
func isSilent(text []byte, outbound []int) bool {
	return !bytes.Contains(text, []byte("h-entry")) && !bytes.Contains(text, []byte(`"410`)) && scanhtml.IsApart(text, outbound)
}

// read returns the result for the text of a page; sum is the hash of its file. It hashes
// the content if the page has targets or the ledger has the page. Changes of other pages do
// not matter.
func (w *pageWorker) read(e Entry, text []byte, sum uint64, known bool) pageResult {
	if e.Feed {
		e.Hash, e.Targets = fmt.Sprintf("%016x", sum), w.rules.opt.Hubs(text)
		return pageResult{entry: e}
	}
	page, err := scanhtml.Parse(text, true)
	if err != nil {
		return pageResult{entry: e, excluded: NotParsed}
	}
	if scanhtml.IsTombstone(page) {
		return pageResult{entry: e, excluded: Tombstone}
	}
	c, ok := w.rules.contentOf(page)
	if !ok {
		return pageResult{entry: e, excluded: Listing}
	}
	if c.other = w.otherPage(e.URL); w.rules.content == nil && c.excerpt() {
		return pageResult{entry: e, excluded: Excerpt}
	}
	w.setTargets(&e, c)
	if known || len(e.Targets) > 0 || len(e.Internal) > 0 {
		e.Hash = c.hash(w.origin, strings.TrimPrefix(e.URL, w.origin))
	}
	return pageResult{entry: e}
}

// otherPage returns a function that reports whether a link of a page leads to another page
// of the site. The home page does not count, because the site's name links to it.
func (w *pageWorker) otherPage(page string) func(href string) bool {
	base, err := weburl.Parse(page)
	if err != nil {
		return func(string) bool { return false } // never: the URL was made from a parsed base URL
	}
	name := func(path string) string {
		path = strings.TrimSuffix(strings.TrimSuffix(path, "index.html"), ".html")
		return strings.TrimSuffix(path, "/")
	}
	home, self := "", name(base.Path())
	if root, err := weburl.Parse(w.base); err == nil {
		home = name(root.Path())
	}
	return func(href string) bool {
		u, err := base.Resolve(href)
		if err != nil || !isOwn(u.String(), w.origin) {
			return false
		}
		to := name(u.Path())
		return to != self && to != home
	}
}

// outboundLinks returns the offsets of the links that leave the docroot.
func outboundLinks(p *isite.Page) (offs []int) {
	for _, l := range p.All() {
		if l.State.IsOutbound() {
			offs = append(offs, int(l.Off))
		}
	}
	return offs
}

// setTargets sets the URLs that the content links to.
func (w *pageWorker) setTargets(e *Entry, c *content) {
	base, err := weburl.Parse(e.URL)
	if err != nil {
		return // never: the URL was made from a parsed base URL
	}
	if href, ok := baseHref(c.page); ok {
		if u, err := base.Resolve(href); err == nil && (u.Scheme() == "http" || u.Scheme() == "https") {
			base = u
		}
	}
	own := strings.TrimPrefix(strings.TrimPrefix(w.origin, "http://"), "https://")
	skipPaths := !w.rules.opt.Internal && base.Authority() == own
	seen := make(map[string]bool)
	c.anchors(w.rules.rel, func(href string) {
		if skipPaths && isPath(href) {
			return
		}
		raw := strings.Trim(href, "\t\n\f\r ")
		u, err := base.Resolve(raw)
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" || u.HasCredentials() {
			return
		}
		if u.Authority() == own {
			if w.rules.opt.Internal && u.Path() != base.Path() {
				e.Internal = append(e.Internal, u.Path())
			}
			return
		}
		target := u.String()
		if isCleanURL(raw) {
			target = raw
		}
		if !w.rules.includesTarget(u.Host(), target) || seen[canonical(target)] {
			return
		}
		seen[canonical(target)] = true
		e.Targets = append(e.Targets, target)
	})
	slices.Sort(e.Internal)
	e.Internal = slices.Compact(e.Internal)
}

// isPath reports whether a value is certainly only a path, query or fragment,
// which stays on the host of the base. Most links need not be resolved to know
// that.
func isPath(href string) bool {
	if len(href) > 1 && href[0] == '/' && href[1] == '/' {
		return false
	}
	for _, c := range []byte(href) {
		if c <= ' ' || c == ':' || c == '\\' {
			return false
		}
	}
	return true
}

// isCleanURL reports whether an absolute URL can be sent as it is written on the
// page, so that a receiver that compares it byte by byte finds it there.
func isCleanURL(raw string) bool {
	scheme, _, ok := strings.Cut(raw, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return false
	}
	return !strings.ContainsFunc(raw, func(c rune) bool { return c <= ' ' || c >= 0x7F || strings.ContainsRune(`"<>\^`+"`{|}", c) })
}

// canonical returns the form in which targets are compared: the canonical URL,
// which has no fragment, so that a page gets one notice however many of its
// anchors are linked. http and https are one: an author who edits the scheme does not
// change what the page links to. A URL without canonical form is only equal to itself.
func canonical(url string) string {
	c, err := weburl.Canonical(url)
	if err != nil {
		return url
	}
	if rest, ok := strings.CutPrefix(c, "https:"); ok {
		return "http:" + rest
	}
	return c
}
