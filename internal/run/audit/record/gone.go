package record

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
	public "github.com/sitelink/sitelink/site"
)

// CompareOptions say how to compare. The zero value reports all ids, as warnings.
type CompareOptions struct {
	// HeadingsOnly leaves out the ids that no heading has.
	HeadingsOnly bool
	// Verdict is that of the findings, Warning if it is not set.
	Verdict check.Verdict
}

// Gone is what a record has and a site does not have any more.
type Gone struct {
	site *site.Site
	opt  CompareOptions
	when string
	list []gone // sorted by address and fragment
	// byPath holds, for each path that led to an address, indexes into list. The
	// path is decoded and below the base path.
	byPath map[string][]int
}

// gone is one address, or one id of a page, that is gone.
type gone struct {
	entry   *Entry
	address string // the spelling that is gone, see [Entry]
	id      string // "" for an address
	page    string // docroot path of the page that lost the id
	status  int
	// suggestion is the site path of the page with the same content, or #ID. See
	// file is the docroot path of that page.
	suggestion, file string
	concerns         check.Concerns
	referrers        map[string]int
}

// Compare returns what the record has and the site does not have. It reads pages
// again only if something is gone, to find where it went. The error is that of
// ctx, or of a page that cannot be read.
func Compare(ctx context.Context, r *Record, s *site.Site, opt CompareOptions) (*Gone, error) {
	opt.Verdict = cmp.Or(opt.Verdict, check.Warning)
	g := &Gone{site: s, opt: opt, when: r.When, byPath: map[string][]int{}}
	changed := map[site.PageID]*Entry{} // pages that lost ids
	for i := range r.Entries {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e := &r.Entries[i]
		at := len(g.list)
		a := s.AnswerRequest(e.Address, "")
		if !g.addAddress(e, &a) {
			if a.State == host.StateViaRedirect || !a.State.Answers() || a.Node == docroot.NoNode {
				continue
			}
			if id, ok := readablePage(s, a.Node); ok && s.Page(id).Alias() == "" && g.addAnchors(e, id) {
				changed[id] = e
			}
		}
		for n := at; n < len(g.list); n++ {
			// Links may name a file by its address, by its name, and by its address without the
			// final slash, all decoded.
			address := string(weburl.PercentDecode(nil, e.Address))
			list := []string{address}
			if e.File != "" {
				list = append(list, "/"+e.File)
			}
			if bare := strings.TrimSuffix(address, "/"); bare != "" {
				list = append(list, bare)
			}
			slices.Sort(list)
			for _, p := range slices.Compact(list) {
				g.byPath[p] = append(g.byPath[p], n)
			}
		}
	}
	if len(g.list) == 0 {
		return g, nil
	}
	if err := g.suggestPages(ctx, r); err != nil {
		return nil, err
	}
	// Headings may have other ids now.
	reader := g.site.NewReader()
	defer reader.Close()
	renamed := map[*Entry]map[string]string{}
	for id, e := range changed {
		if ctx.Err() != nil {
			return g, context.Cause(ctx)
		}
		if len(e.Headings) == 0 {
			continue
		}
		var now Entry
		if err := now.read(reader, id); err != nil {
			return g, err
		}
		renamed[e] = Renamed(e.Headings, now.Headings)
	}
	for i := range g.list {
		if x := &g.list[i]; x.id != "" && renamed[x.entry][x.id] != "" {
			x.suggestion = "#" + renamed[x.entry][x.id]
		}
	}
	return g, nil
}

// Empty reports whether nothing is gone.
func (g *Gone) Empty() bool { return len(g.list) == 0 }

// addAddress notes that the address of an entry is gone, or the name of its file:
// /a.html for an address such as /a. /a/index.html counts only if /a/ does not answer. It
// reports whether one is gone.
func (g *Gone) addAddress(e *Entry, a *host.Answer) bool {
	x := gone{entry: e, address: e.Address}
	name := "/" + e.File
	switch {
	case !answers(a):
	case e.File == "" || name == string(weburl.PercentDecode(nil, e.Address)) || strings.HasSuffix(e.Address, "/"):
		return false
	default:
		named := g.site.Answer(name)
		if answers(&named) {
			return false
		}
		x.address, a = escape(name), &named
	}
	x.status = a.Status
	if a.State == host.StateWrongCase && a.Node != docroot.NoNode {
		x.suggestion, x.file = g.site.Href(a.Node), g.site.Tree().Path(a.Node)
	}
	g.list = append(g.list, x)
	return true
}

// addAnchors notes the ids of an entry that a page does not have.
func (g *Gone) addAnchors(e *Entry, id site.PageID) bool {
	p, first := g.site.Page(id), len(g.list)
	lists := [][]string{e.Headings, e.IDs}
	if g.opt.HeadingsOnly {
		lists = lists[:1]
	}
	for _, ids := range lists {
		for _, name := range ids {
			ask, asks := g.site.ParseFragment(name)
			// Every page has #top, and an id with a directive in it cannot be linked to.
			if asks && !p.Has(ask.Exact) {
				g.list = append(g.list, gone{entry: e, address: e.Address, id: name, page: g.site.Path(id)})
			}
		}
	}
	slices.SortFunc(g.list[first:], func(a, b gone) int { return strings.Compare(a.id, b.id) })
	return len(g.list) > first
}

// suggestPages finds the pages and files that have the content of those that are
// gone.
func (g *Gone) suggestPages(ctx context.Context, r *Record) error {
	if !slices.ContainsFunc(g.list, func(x gone) bool { return x.id == "" }) {
		return nil
	}
	list := addresses(g.site)
	err := g.site.Each(ctx, 0, len(list), func(reader *site.Reader) func(int) error {
		return func(i int) error {
			id, ok := pageOf(g.site, list[i].File)
			if !ok || g.site.Page(id).Alias() != "" {
				return nil
			}
			text, err := reader.Text(id)
			if err != nil {
				return err
			}
			list[i].Title, list[i].Heading, list[i].Text, _ = describe(text)
			return nil
		}
	})
	if err != nil {
		return err
	}
	before := map[string]bool{}
	for i := range r.Entries {
		before[r.Entries[i].Address] = true
	}
	// What two pages had in common before does not identify one.
	for _, property := range []func(e *Entry) string{
		func(e *Entry) string { return e.Text },
		func(e *Entry) string { return e.Title },
		func(e *Entry) string { return e.Heading },
		func(e *Entry) string { return fileName(e) },
	} {
		old, now := map[string]int{}, map[string][]*Entry{}
		for i := range r.Entries {
			old[property(&r.Entries[i])]++
		}
		for i := range list {
			now[property(&list[i])] = append(now[property(&list[i])], &list[i])
		}
		for i := range g.list {
			x := &g.list[i]
			value := property(x.entry)
			if x.id != "" || x.suggestion != "" || value == "" || old[value] > 1 {
				continue
			}
			if e := only(now[value], before); e != nil {
				x.suggestion, x.file = g.site.BasePath()+e.Address, e.File
			}
		}
	}
	return nil
}

// fileName returns the name of a file other than a page: many pages have the name
// index.html.
func fileName(e *Entry) string {
	switch strings.ToLower(path.Ext(e.File)) {
	case "", ".html", ".htm", ".xhtml", ".xml", ".json", ".txt":
		return ""
	}
	return path.Base(e.File)
}

// only returns the only entry with a new address, or without such the only entry;
// nil if there are several.
func only(list []*Entry, before map[string]bool) *Entry {
	fresh := slices.DeleteFunc(slices.Clone(list), func(e *Entry) bool { return before[e.Address] })
	switch {
	case len(fresh) == 1:
		return fresh[0]
	case len(fresh) == 0 && len(list) == 1:
		return list[0]
	}
	return nil
}

// Renamed returns the new ids of headings by the old ones, given the ids of all
// headings of a page before and now. Two ids belong together if they are at the
// same place between headings that kept their ids. If the number of headings
// there differs, Renamed does not know which one was renamed.
func Renamed(before, now []string) map[string]string {
	kept := map[string]bool{}
	for _, id := range now {
		kept[id] = true
	}
	old := map[string]bool{}
	for _, id := range before {
		old[id] = true
	}
	// Between keeps the ids between two that both lists have, by the first of them.
	between := func(list []string, other map[string]bool) map[[2]string][]string {
		runs, from := map[[2]string][]string{}, ""
		var run []string
		for _, id := range append(slices.Clone(list), "") {
			if id != "" && !other[id] {
				run = append(run, id)
				continue
			}
			runs[[2]string{from, id}] = run
			from, run = id, nil
		}
		return runs
	}
	is, renamed := between(now, old), map[string]string{}
	for place, ids := range between(before, kept) {
		if fresh := is[place]; len(fresh) == len(ids) {
			for i, id := range ids {
				renamed[id] = fresh[i]
			}
		}
	}
	return renamed
}

// escape percent-encodes a decoded path.
func escape(p string) string {
	var b strings.Builder
	for i := range len(p) {
		if c := p[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"#%<>?[\\]^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Findings returns a finding for each address and id that is gone, for
// [check.Options.More]. [Gone.Concern] adds to their messages who relies on the
// address or id.
func (g *Gone) Findings(*public.Site) []check.Finding {
	out := make([]check.Finding, len(g.list))
	for i := range g.list {
		x, f := &g.list[i], &out[i]
		*f = check.Finding{
			Page: x.page, Target: g.site.BasePath() + x.address, Fragment: x.id, Status: x.status,
			Verdict: g.opt.Verdict, Code: check.AnchorGone, Count: 1, Suggestion: x.suggestion, Message: g.message(x),
		}
		if x.id == "" {
			f.Code = check.AddressGone
			f.Page = cmp.Or(x.entry.File, strings.Trim(string(weburl.PercentDecode(nil, x.address)), "/"))
		}
	}
	return out
}

// File returns the docroot path of the page that the finding of an address
// suggests, or of the page of an anchor, or "".
func (g *Gone) File(f *check.Finding) string {
	if i, ok := g.index(f); ok {
		return cmp.Or(g.list[i].file, g.list[i].page)
	}
	return ""
}

// MovedTo returns the site path of the page or file that has the content of an address
// which is gone, "" if none is known. The address is decoded and below the base path.
// A nil Gone knows none.
func (g *Gone) MovedTo(address string) string {
	if g == nil {
		return ""
	}
	for _, i := range g.byPath[address] {
		if x := &g.list[i]; x.id == "" && x.suggestion != "" {
			return x.suggestion
		}
	}
	return ""
}

// NewID returns the id that the heading of a page has in place of one that is gone, ""
// if that is not known. The page is named by its docroot path. A nil Gone knows none.
func (g *Gone) NewID(page, id string) string {
	if g == nil {
		return ""
	}
	for i := range g.list {
		if x := &g.list[i]; x.page == page && x.id == id && id != "" {
			return strings.TrimPrefix(x.suggestion, "#")
		}
	}
	return ""
}

// index returns the place of a finding in the list.
func (g *Gone) index(f *check.Finding) (int, bool) {
	if f.Code != check.AddressGone && f.Code != check.AnchorGone {
		return 0, false
	}
	address := strings.TrimPrefix(f.Target, g.site.BasePath())
	for _, i := range g.byPath[string(weburl.PercentDecode(nil, address))] {
		if x := &g.list[i]; x.address == address && x.id == f.Fragment {
			return i, true
		}
	}
	return 0, false
}

// maxNamed is how many pages of each kind a finding names.
const maxNamed = 3

// Links counts the broken links among findings that lead to what is gone.
func (g *Gone) Links(findings []check.Finding) {
	if len(g.list) == 0 {
		return
	}
	for i := range findings {
		f := &findings[i]
		if f.Target == "" || f.Element == "" && f.Raw == "" {
			continue
		}
		for _, n := range g.at(f.Target, f.Fragment) {
			c := &g.list[n].concerns
			c.Links += max(1, f.Count)
			if len(c.Pages) < maxNamed && !slices.Contains(c.Pages, f.Page) {
				c.Pages = append(c.Pages, f.Page)
			}
		}
	}
}

// Mention notes that a page of another site, the source, links to a URL of this
// one.
func (g *Gone) Mention(source, target string) {
	target, fragment, _ := strings.Cut(target, "#")
	r, err := g.site.Request(target)
	if err != nil || !strings.HasPrefix(r.Target, "/") {
		return
	}
	for _, n := range g.at(r.Target, fragment) {
		c := &g.list[n].concerns
		c.Mentions++
		// The smallest, because stores list mentions in no particular order.
		c.Sources = append(c.Sources, source)
		slices.Sort(c.Sources)
		c.Sources = slices.Compact(c.Sources)
		c.Sources = c.Sources[:min(len(c.Sources), maxNamed)]
	}
}

// at returns what is gone of what a link asks for: an address, or the id of a page.
// target is a site path.
func (g *Gone) at(target, fragment string) []int {
	target, _, _ = strings.Cut(target, "?")
	target, ok := strings.CutPrefix(target, g.site.BasePath())
	if !ok {
		return nil
	}
	found := g.byPath[string(weburl.PercentDecode(nil, target))]
	if len(found) == 0 {
		return nil
	}
	decoded := string(weburl.PercentDecode(nil, fragment))
	var out []int
	for _, n := range found {
		if id := g.list[n].id; id == "" || id == fragment || id == decoded {
			out = append(out, n)
		}
	}
	return out
}

// Concern adds to the findings of a check who relies on what is gone. The findings
// include those of [Gone.Findings]. Call Concern after [Gone.Links], [Gone.Mention]
// and [Gone.ReadLog].
func (g *Gone) Concern(findings []check.Finding) {
	for i := range g.list {
		x := &g.list[i]
		x.concerns.Referrers = slices.SortedFunc(maps.Keys(x.referrers), func(a, b string) int {
			return cmp.Or(cmp.Compare(x.referrers[b], x.referrers[a]), strings.Compare(a, b))
		})
		x.concerns.Referrers = x.concerns.Referrers[:min(len(x.concerns.Referrers), maxNamed)]
	}
	for i := range findings {
		f := &findings[i]
		if n, ok := g.index(f); ok {
			x := &g.list[n]
			f.Message = g.message(x)
			if c := &x.concerns; c.Links+c.Mentions+c.Requests > 0 {
				f.Concerns = c
			}
		}
	}
}

// message says what is gone, and who relies on it, as far as that is known.
func (g *Gone) message(x *gone) string {
	var m string
	switch target := g.site.BasePath() + x.address; {
	case x.id != "":
		m = fmt.Sprintf("%s had the id %q %s and lost it: links to it show the top of the page", target, x.id, g.when)
	case x.status == 200:
		m = fmt.Sprintf("%s answered %s, and the host has only a directory listing or its fallback page for it now: add an alias or a redirect", target, g.when)
	case x.status != 0 && x.status != 404:
		m = fmt.Sprintf("%s answered %s, and the host refuses it now with status %d", target, g.when, x.status)
	default:
		m = fmt.Sprintf("%s answered %s and does not answer now: add an alias or a redirect", target, g.when)
	}
	if who := whom(&x.concerns); len(who) > 0 {
		m += "; used by " + strings.Join(who, ", ")
	}
	return m
}

// whom lists who relies on an address or an anchor.
func whom(c *check.Concerns) (who []string) {
	if c.Links > 0 {
		who = append(who, named(text.Count(c.Links, "link")+" of this site", c.Pages, len(c.Pages) < maxNamed))
	}
	if c.Mentions > 0 {
		who = append(who, named(text.Count(c.Mentions, "received mention"), c.Sources, c.Mentions == len(c.Sources)))
	}
	if c.Requests > 0 {
		who = append(who, named(text.Count(c.Requests, "request"), c.Referrers, false))
	}
	return who
}

// named adds to a count of links where they are: all places, or the first.
func named(counted string, places []string, all bool) string {
	switch {
	case len(places) == 0:
		return counted
	case all:
		return counted + " (" + strings.Join(places, ", ") + ")"
	}
	return counted + " (such as from " + places[0] + ")"
}

// Limits of reading an access log, which may be large and is written by strangers:
// every visitor chooses the request line and the referrer.
const (
	maxLine      = 64 << 10 // bytes; the rest of a longer line is skipped
	maxReferrers = 16       // different ones for each address; others are only counted
	maxReferrer  = 300      // bytes
	checkEvery   = 4096     // lines between two looks at the context
)

// Log says what was read of an access log.
type Log struct {
	// Lines counts the lines, Skipped those in another format.
	Lines, Skipped int
}

// ReadLog counts the requests for addresses that are gone in an access log in the
// common or the combined log format, compressed with gzip or not. shown names the
// log in messages. It reads the log as a stream, in memory that does not depend on
// its size. The error is that of reading, that of ctx, or says that no line is in
// one of the formats.
func (g *Gone) ReadLog(ctx context.Context, log io.Reader, shown string) (read Log, err error) {
	in := bufio.NewReaderSize(log, maxLine)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return read, fmt.Errorf("read the log %s: %w", shown, err)
		}
		in = bufio.NewReaderSize(unzipped, maxLine)
	}
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			read.Lines++
			if !g.addRequest(bytes.TrimRight(line, "\r\n")) {
				read.Skipped++
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			if read.Lines > 0 && read.Skipped == read.Lines {
				return read, text.WithHint(fmt.Errorf("read the log %s: none of its lines is in the common or combined log format", shown),
					"the access logs of nginx, Apache, Caddy and lighttpd are, unless they are configured otherwise")
			}
			return read, nil
		case err != nil:
			return read, fmt.Errorf("read the log %s: %w", shown, err)
		case read.Lines%checkEvery == 0 && ctx.Err() != nil:
			return read, context.Cause(ctx)
		}
	}
}

// addRequest counts the request of a line. It reports whether the line is in one of
// the formats:
//
//	192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET /a/ HTTP/1.1" 200 512
//	192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET /a/ HTTP/1.1" 200 512 "https://example.org/" "Mozilla/5.0"
func (g *Gone) addRequest(line []byte) bool {
	date := bytes.IndexByte(line, '[')
	if date < 0 {
		return false
	}
	end := bytes.Index(line[date:], []byte("] \""))
	if end < 0 {
		return false
	}
	request, rest, ok := quoted(line[date+end+2:])
	if !ok || !hasStatus(rest) {
		return false
	}
	method, target, ok := bytes.Cut(request, []byte{' '})
	if !ok || string(method) != "GET" && string(method) != "HEAD" {
		return true // a broken request, or one that does not visit the page
	}
	target, _, _ = bytes.Cut(target, []byte{' '})
	found := g.at(requestPath(target), "")
	if len(found) == 0 {
		return true
	}
	referrer := ""
	if i := bytes.IndexByte(rest, '"'); i >= 0 {
		if text, _, ok := quoted(rest[i:]); ok {
			referrer = g.otherSite(text)
		}
	}
	for _, n := range found {
		x := &g.list[n]
		if x.id != "" {
			continue // browsers do not send the fragment
		}
		x.concerns.Requests++
		if referrer == "" {
			continue
		}
		if x.referrers == nil {
			x.referrers = map[string]int{}
		}
		if _, known := x.referrers[referrer]; known || len(x.referrers) < maxReferrers {
			x.referrers[referrer]++
		}
	}
	return true
}

// quoted returns the text between the quotation mark that begins a line and the
// next one, with escapes as servers write them, and what follows.
func quoted(line []byte) (text, rest []byte, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		return nil, nil, false
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return line[1:i], line[i+1:], true
		}
	}
	return nil, nil, false
}

// hasStatus reports whether a text begins with a status and a number of bytes.
func hasStatus(text []byte) bool {
	fields := bytes.Fields(text[:min(len(text), 40)])
	if len(fields) < 2 || len(fields[0]) != 3 {
		return false
	}
	for _, c := range fields[0] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// requestPath returns the path of the target of a request, which proxies write as
// a URL.
func requestPath(target []byte) string {
	text := string(target)
	if i := strings.Index(text, "://"); i > 0 {
		rest := text[i+3:]
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return "/"
		}
		return rest[slash:]
	}
	return text
}

// otherSite returns a referrer that is a page of another site, "" for any other.
func (g *Gone) otherSite(referrer []byte) string {
	if len(referrer) > maxReferrer {
		return ""
	}
	own := g.site.Authority() // without its port
	if i := strings.LastIndexByte(own, ':'); i > 0 && !strings.HasSuffix(own, "]") {
		own = own[:i]
	}
	u, err := weburl.Parse(string(referrer))
	if err != nil || u.Host() == "" || !strings.HasPrefix(u.Scheme(), "http") || u.Host() == own {
		return ""
	}
	return string(referrer)
}
