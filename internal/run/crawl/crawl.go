// Package crawl asks a running server for the pages of a site, and returns what it answered in
// place of a docroot. Nothing is predicted and nothing is judged here: [host.Crawled] answers the
// links of the pages with what the server answered.
package crawl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"mime"
	"net/http"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Options configure [Run].
type Options struct {
	Client *fetch.Client
	// Pace is the least time between two requests; 0 for none.
	Pace time.Duration
	// Site has the options with which the result is loaded. The first base URL is that of the
	// server, others mean the same site.
	Site site.Options
	// Follows reports whether the links of the page at a decoded path below the base path are
	// followed. It is called by several goroutines at once; nil follows all.
	Follows func(path string) bool
	// Seeds are asked for and followed in place of the start. Without any, the start is followed.
	Seeds []string
	// MaxPages limits the pages that are followed; 0 for no limit.
	MaxPages int
	// Docroot is the docroot at hand, from which image maps are read (LL-89); "" for none.
	Docroot string
	// Progress is called with the numbers of addresses that were asked for and that are known.
	Progress func(done, known int)
}

// What a run asks for at most. A server can make up addresses without end.
var limits = struct {
	addresses int
	alike     int   // of one pattern that has numbers in its path only
	variants  int   // of one pattern with values of a query or a session, or in a circle
	bytes     int64 // of all texts, on the disk
	pageBytes int64
}{200_000, 5_000, 1_000, 4 << 30, 32 << 20}

const (
	maxAddress  = 8 << 10     // bytes
	maxWait     = time.Minute // for a server that asks to wait
	maxTries    = 4
	maxFailures = 20 // requests without an answer
)

// Texts is where the texts of pages are kept, such as an [os.File].
type Texts interface {
	io.ReaderAt
	io.WriterAt
}

// absent ends an address that no site has. What a server sends for it shows missing pages.
const absent = "/sitelink-asks-for-a-missing-page"

// Run asks for the start, what robots.txt names as sitemaps, sitemap.xml, and all that these and
// their links lead to, below the path of the first base URL. start is the address as a path and
// query below it. The texts of pages are written to texts. The same answers give the same result. An
// error means that the server cannot be asked, or is the cause of ctx.
func Run(ctx context.Context, start string, texts Texts, opt Options) (*host.Crawled, error) {
	base, err := weburl.Parse(opt.Site.BaseURLs[0])
	if err != nil {
		return nil, err
	}
	c := &crawler{
		Options: opt, origin: base.Scheme() + "://" + base.Authority(), base: strings.TrimSuffix(base.Path(), "/"), texts: texts,
		seed: maphash.MakeSeed(), got: map[string]*reply{}, start: start, known: map[string]bool{start: true}, alike: map[string]int{}, cuts: map[string]*host.Cut{},
	}
	for _, raw := range opt.Site.BaseURLs {
		if u, err := weburl.Parse(raw); err == nil {
			c.bases = append(c.bases, u)
		}
	}
	if c.docroot, err = docroot.Open(opt.Docroot); err == nil {
		defer c.docroot.Close()
	}
	first := c.ask(ctx, start)
	if first.err != nil {
		return nil, text.WithHint(first.err, "is the server running at "+c.origin+"?")
	}
	if to := first.Location; first.Status/100 == 3 && !strings.HasPrefix(to, "/") {
		return nil, text.WithHint(fmt.Errorf("%s redirects to %s, which is outside of it", c.origin+c.base+start, to), "check that: sitelink check "+to)
	}
	if first.Status >= http.StatusBadRequest {
		hint := "name the address of a page, such as the home page"
		if i := slices.IndexFunc(c.bases, func(b weburl.URL) bool { return c.base == "" && len(b.Path()) > 1 }); i >= 0 {
			hint = "the base URL has a path, so check that: sitelink check " + c.origin + c.bases[i].Path()
		}
		return nil, text.WithHint(fmt.Errorf("%s answers %d %s", c.origin+c.base+start, first.Status, http.StatusText(first.Status)), hint)
	}
	where, _, _ := strings.Cut(first.Location, "?") // such as /docs/
	c.absent = where[:max(strings.LastIndexByte(where, '/'), 0)] + absent
	if miss := c.ask(ctx, c.absent); miss.Status == http.StatusOK && miss.file.HasText {
		c.notFound, c.got[c.absent] = miss, miss
	}
	for _, also := range append([]string{"/robots.txt", "/sitemap.xml"}, opt.Seeds...) {
		c.add(also)
	}
	if c.base != "" { // robots.txt is at the top of the host
		c.sitemaps(ctx)
	}
	if err := c.crawl(ctx, first); err != nil {
		return nil, err
	}
	if !c.linked.Load() {
		return nil, text.WithHint(fmt.Errorf("%s leads to no page of HTML with links, and sitelink runs no scripts", c.origin+c.base+start),
			"name the address of a page, or check a build, which has what scripts add in the browser: sitelink check --build")
	}
	return c.result(), nil
}

// crawler asks one server.
type crawler struct {
	Options
	origin, base string // without final slash
	start        string
	bases        []weburl.URL
	texts        Texts
	docroot      *docroot.Dir // nil for none
	seed         maphash.Seed
	absent       string
	notFound     *reply            // to that; nil if the server says that it is missing
	vite, linked atomic.Bool       // scripts of Vite, and a page that is complete without scripts, were seen
	got          map[string]*reply // by path and query below the base path
	pages        int               // that are followed

	size     atomic.Int64 // of texts
	failures atomic.Int32

	mu    sync.Mutex
	known map[string]bool
	next  []string // known, and to be asked
	alike map[string]int
	cuts  map[string]*host.Cut
	turn  time.Time // of the next request
}

// reply is what the server answered to one address.
type reply struct {
	host.CrawledAnswer
	file host.CrawledFile // without its path, if the status is 200
	text []byte           // until its links are found
	sum  uint64           // of the text; 0 for none
	own  uint64           // of the text without its address, if missing pages may look like it
	err  error            // why the server did not answer at all
}

// crawl asks for all addresses, one level of links after the other. first is the reply to the
// start.
func (c *crawler) crawl(ctx context.Context, first *reply) error {
	level := []string{c.start}
	finders := make([]*site.Finder, min(max(2*runtime.GOMAXPROCS(0), 4), 16))
	for i := range finders {
		var err error
		if finders[i], err = site.NewFinder(c.Site); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for len(level) > 0 {
		replies := make([]*reply, len(level))
		follow := make([]bool, len(level)) // decided in order, whatever arrives first
		var at atomic.Int64
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, finder := range finders {
			wg.Go(func() {
				for ctx.Err() == nil {
					i := int(at.Add(1)) - 1
					if i >= len(level) {
						return
					}
					r := first
					if level[i] != c.start {
						r = c.ask(ctx, level[i])
					}
					if r.err != nil && c.failed(r) {
						cancel(r.err)
					}
					replies[i] = r
					if c.MaxPages == 0 && c.follows(level[i], r) {
						follow[i] = true
						c.find(finder, level[i], r)
					}
					r.text = nil
					if c.Progress != nil {
						mu.Lock()
						c.Progress(len(c.got)+i+1, len(c.got)+len(level))
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i, key := range level {
			r := replies[i]
			if c.got[key] = r; c.MaxPages > 0 && c.follows(key, r) && c.pages < c.MaxPages {
				c.pages++
				follow[i] = true
				c.find(finders[0], key, r)
			}
			if r.file.HasText && !follow[i] {
				r.file.Unfollowed = true
				if c.MaxPages > 0 && c.pages == c.MaxPages && c.follows(key, r) {
					c.cut("--limit "+strconv.Itoa(c.MaxPages), key, c.MaxPages)
				}
			}
		}
		level = c.admit()
	}
	return nil
}

// follows reports whether the links of a page count.
func (c *crawler) follows(key string, r *reply) bool {
	if !r.file.HasText || r.Missing {
		return false
	}
	path, _, _ := strings.Cut(key, "?")
	return c.Follows == nil || key == c.start && len(c.Seeds) == 0 || slices.Contains(c.Seeds, key) || c.Follows(string(weburl.PercentDecode(nil, path)))
}

// find adds the addresses of the site that the text of a reply asks for.
func (c *crawler) find(f *site.Finder, key string, r *reply) {
	at, err := weburl.Parse(c.origin + c.base + key)
	if err != nil {
		return
	}
	data := r.text
	if data == nil {
		data = make([]byte, r.file.Size)
		if _, err = c.texts.ReadAt(data, r.file.At); err != nil {
			return
		}
	}
	file := r.file
	file.Path = strings.TrimPrefix(string(weburl.PercentDecode(nil, strings.TrimPrefix(at.Path(), c.base))), "/")
	f.Find(&file, at, data, func(u weburl.URL) {
		if host.IsVite(u.Path()) {
			c.vite.Store(true)
		} else if key, ok := c.own(u); ok {
			c.add(key)
		}
	})
}

// own returns the path and query below the base path for a URL of the site.
func (c *crawler) own(u weburl.URL) (key string, ok bool) {
	for _, b := range c.bases {
		below, ok := strings.CutPrefix(u.Path(), strings.TrimSuffix(b.Path(), "/"))
		if !ok || below != "" && below[0] != '/' || u.Authority() != b.Authority() || u.HasCredentials() || u.Scheme() != "http" && u.Scheme() != "https" {
			continue
		}
		key = cmp.Or(below, "/")
		if u.HasQuery() {
			key += "?" + u.Query()
		}
		return key, len(key) <= maxAddress
	}
	return "", false
}

// add adds an address that is to be asked for.
func (c *crawler) add(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known[key] && len(c.known) < 4*limits.addresses {
		c.known[key] = true
		c.next = append(c.next, key)
	}
}

// admit returns the addresses of the next level, sorted, without those that are too many.
func (c *crawler) admit() (level []string) {
	slices.Sort(c.next)
	for _, key := range c.next {
		pattern, made := patternOf(key)
		most := limits.alike
		if made {
			most = limits.variants
		}
		switch {
		case len(c.got)+len(level) >= limits.addresses || c.size.Load() > limits.bytes:
			c.cut("/@", key, len(c.got)+len(level))
		case pattern != "" && c.alike[pattern] >= most:
			c.cut(pattern, key, most)
		default:
			c.alike[pattern]++
			level = append(level, key)
		}
	}
	c.next = nil
	return level
}

// cut records that an address is not asked for, or not followed.
func (c *crawler) cut(pattern, key string, asked int) {
	if c.cuts[pattern] == nil {
		c.cuts[pattern] = &host.Cut{Pattern: pattern, Page: key, Asked: asked}
	}
}

// sitemaps adds the sitemaps that the robots.txt of a host names, if the site is below a path.
func (c *crawler) sitemaps(ctx context.Context) {
	defer func(base string) { c.base = base }(c.base)
	c.base = ""
	r := c.ask(ctx, "/robots.txt")
	if f, err := site.NewFinder(c.Site); err == nil && r.file.HasText {
		c.find(f, "/robots.txt", r)
	}
}

// binary are the ends of addresses that have no links: only their header is asked for.
const binary = `.png .jpg .jpeg .gif .webp .avif .ico .bmp .tif .tiff .heic .woff .woff2 .ttf .otf .eot .mp3 .mp4 .m4a .m4v .ogg .oga .ogv .opus .wav .flac .webm .mov .avi .mkv 
	.pdf .ps .epub .mobi .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .zip .tar .tgz .gz .bz2 .xz .zst .7z .rar .jar .war .deb .rpm .dmg .exe .msi .apk .iso .img .bin .wasm .psd .ai `

// ask asks for an address, again if the server wants that.
func (c *crawler) ask(ctx context.Context, key string) *reply {
	where, _, _ := strings.Cut(key, "?")
	if c.docroot != nil && strings.HasSuffix(where, ".map") {
		if data, err := c.docroot.Head(string(weburl.PercentDecode(nil, where[1:])), nil, 1<<20); err == nil {
			r := &reply{CrawledAnswer: host.CrawledAnswer{Status: http.StatusOK}, file: host.CrawledFile{Address: key}}
			c.keep(r, key, data)
			return r
		}
	}
	method := http.MethodGet
	if end := path.Ext(where); end != "" && strings.Contains(binary, strings.ToLower(end)+" ") && !strings.HasSuffix(where, ".xml.gz") {
		method = http.MethodHead
	}
	for try := 1; ; try++ {
		if err := c.wait(ctx); err != nil {
			return &reply{err: err}
		}
		var typ, charset string
		resp, err := c.Client.Do(ctx, fetch.Request{
			Method: method, URL: c.origin + c.base + key, NoRedirect: true, MaxBody: limits.pageBytes,
			Header: http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}, // some servers send a page to browsers only
			Wants: func(status int, header http.Header) bool {
				typ, charset = typeOf(header)
				return status == http.StatusOK && site.IsText(where, typ)
			},
		})
		var failed *fetch.Error
		if errors.As(err, &failed) {
			if failed.Kind.Retry() && try < 2 {
				c.delay(time.Second)
				continue
			}
			if resp == nil || failed.Kind == fetch.Canceled || failed.Kind == fetch.Connect {
				return &reply{err: err, CrawledAnswer: host.CrawledAnswer{Note: failed.Err.Error()}}
			}
			return &reply{CrawledAnswer: host.CrawledAnswer{Note: failed.Err.Error()}}
		}
		if err != nil {
			return &reply{err: err}
		}
		switch wait, asks := fetch.RetryAfter(resp.Header, time.Now()); {
		case method == http.MethodHead && resp.Status >= http.StatusBadRequest && resp.Status != http.StatusNotFound:
			method = http.MethodGet // some servers know no HEAD
			continue
		case (resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable && asks) && try < maxTries && wait <= maxWait:
			c.delay(max(wait, time.Second))
			continue
		}
		return c.replyOf(key, method, resp, typ, charset)
	}
}

// replyOf returns what a response means.
func (c *crawler) replyOf(key, method string, resp *fetch.Response, typ, charset string) *reply {
	r := &reply{CrawledAnswer: host.CrawledAnswer{Status: resp.Status}}
	if location := resp.Header.Get("Location"); resp.Status/100 == 3 && location != "" {
		to, err := weburl.Parse(resp.URL)
		if err == nil {
			to, err = to.Resolve(location)
		}
		if err != nil {
			return r
		}
		if own, ok := c.own(to); ok && to.Scheme()+"://"+to.Authority() == c.origin {
			r.Location = own
			c.add(own)
		} else {
			r.Location = to.WithoutFragment()
		}
		return r
	}
	if resp.Status/100 != 2 {
		return r
	}
	r.Status = http.StatusOK
	if method == http.MethodHead {
		typ, charset = typeOf(resp.Header)
	}
	r.file = host.CrawledFile{Address: key, Type: typ, Charset: charset}
	switch where, _, _ := strings.Cut(key, "?"); {
	case !site.IsText(where, typ):
	case resp.Truncated && method != http.MethodHead:
		r.file.TooLarge = true
	case method != http.MethodHead:
		c.keep(r, key, resp.Body)
	}
	if strings.Contains(typ, "html") && (bytes.Contains(r.text, []byte("<a ")) || !bytes.Contains(r.text, []byte("<script"))) {
		c.linked.Store(true)
	}
	return r
}

// keep writes the text of a reply to a file.
func (c *crawler) keep(r *reply, key string, data []byte) {
	at := c.size.Add(int64(len(data))) - int64(len(data))
	if _, err := c.texts.WriteAt(data, at); err != nil {
		r.err = fmt.Errorf("keep a page: %w", system.Cause(err))
		return
	}
	r.file.At, r.file.Size, r.file.HasText = at, int64(len(data)), true
	r.text, r.sum = data, c.sum(data)
	if c.notFound != nil || key == c.absent { // a page for missing pages may have the address in it
		r.own = c.sum(bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(c.base+key), nil), []byte(strings.Trim(key, "/")), nil))
		r.Missing = c.notFound != nil && key != c.start && (r.own == c.notFound.own || r.sum == c.notFound.sum)
	}
}

// sum hashes a text without what is in its scripts: servers that reload pages write the time there.
func (c *crawler) sum(data []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for more := true; more; {
		var tag []byte
		tag, data, more = bytes.Cut(data, []byte("<script"))
		h.Write(tag)
		tag, data, _ = bytes.Cut(data, []byte(">"))
		h.Write(tag)
		_, data, _ = bytes.Cut(data, []byte("</script"))
	}
	return h.Sum64() | 1
}

// typeOf returns the media type and charset of a response.
func typeOf(h http.Header) (typ, charset string) {
	typ, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return "", ""
	}
	return typ, params["charset"]
}

// failed counts a request without an answer, and reports whether there is no point in asking on.
func (c *crawler) failed(r *reply) bool {
	var failed *fetch.Error
	return c.failures.Add(1) > maxFailures || !errors.As(r.err, &failed) || failed.Kind == fetch.Connect || failed.Kind == fetch.Canceled
}

// delay lets the next request wait.
func (c *crawler) delay(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := time.Now().Add(d); at.After(c.turn) {
		c.turn = at
	}
}

// wait waits for the turn of a request.
func (c *crawler) wait(ctx context.Context) error {
	c.mu.Lock()
	now := time.Now()
	at := c.turn
	if at.Before(now) {
		at = now
	}
	c.turn = at.Add(c.Pace)
	c.mu.Unlock()
	if left := at.Sub(now); left > 0 {
		select {
		case <-time.After(left):
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// result names the files.
func (c *crawler) result() *host.Crawled {
	out := &host.Crawled{Texts: c.texts, Vite: c.vite.Load(), Answers: make(map[string]host.CrawledAnswer, len(c.got))}
	keys := slices.SortedFunc(maps.Keys(c.got), func(a, b string) int {
		query := func(key string) int { return strings.Count(key, "?") }
		slash := func(key string) int { return strings.Count(key[len(key)-1:], "/") }
		return cmp.Or(query(a)-query(b), slash(b)-slash(a), cmp.Compare(a, b))
	})
	type sent struct {
		sum  uint64
		file int
	}
	byForm := map[string][]sent{}
	taken := map[string]bool{}
	pageOf := map[string]string{}
	for _, key := range keys {
		r := c.got[key]
		if r.Status != http.StatusOK || r.Missing {
			continue
		}
		form := host.Form(key)
		i := slices.IndexFunc(byForm[form], func(s sent) bool { return s.sum == r.sum })
		if i >= 0 {
			r.File = byForm[form][i].file
			continue
		}
		name := nameOf(key, r, len(byForm[form]) > 0)
		if r == c.notFound {
			name = "404.html"
		}
		for taken[name] {
			name += "~"
		}
		taken[name] = true
		r.file.Path, r.File = name, len(out.Files)
		byForm[form] = append(byForm[form], sent{r.sum, r.File})
		out.Files = append(out.Files, r.file)
	}
	dirs := map[string]bool{}
	for i := range out.Files {
		for dir := path.Dir(out.Files[i].Path); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for i := range out.Files { // /docs is a page, and /docs/a as well
		if f := &out.Files[i]; dirs[f.Path] {
			for f.Path += "/index.html"; taken[f.Path]; {
				f.Path += "~"
			}
			taken[f.Path] = true
		}
	}
	for _, key := range keys {
		r := c.got[key]
		if r.Missing {
			r.File = c.notFound.File
		}
		if r.Status == http.StatusOK {
			pageOf[key] = out.Files[r.File].Path
		}
		out.Answers[key] = r.CrawledAnswer
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.cuts)) {
		cut := *c.cuts[pattern]
		cut.Page = cmp.Or(pageOf[cut.Page], pageOf[c.start])
		out.Cuts = append(out.Cuts, cut)
	}
	return out
}

// nameOf returns the path of a file as a build of the site would have it. other: another text
// has an address of this form.
func nameOf(key string, r *reply, other bool) string {
	where, query, has := strings.Cut(key, "?")
	var names []string
	for name := range strings.SplitSeq(where, "/") {
		if decoded := string(weburl.PercentDecode(nil, name)); decoded != "." && decoded != ".." && !strings.ContainsAny(decoded, "/\x00") {
			name = decoded
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if strings.HasSuffix(where, "/") || len(names) == 0 {
		names = append(names, "index.html")
	}
	name := strings.Join(names, "/")
	if has && (strings.Contains(r.file.Type, "html") || other) {
		name += "?" + strings.ReplaceAll(query, "/", "%2F")
	}
	return name
}
