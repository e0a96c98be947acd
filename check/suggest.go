package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/similar"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// A suggestion is the value that the author most likely meant, in the manner in
// which the link was written.

// suggestAtOnce sets the suggestion of the codes that need nothing but the
// finding. There can be many of them, so the workers that describe links do it.
func suggestAtOnce(s *isite.Site, f *Finding) {
	switch f.plainCode() {
	case ViaRedirect:
		if to := behindRedirect(s, f); to != "" && !f.temporary && gives(s, f, to) {
			f.Suggestion = to
		}
	case WrongHost, LocalAddress, DeadScheme, MixedContent:
		if to := plainReading(s, f); to != "" && to != f.Raw && gives(s, f, to) {
			f.Suggestion = to
		}
	case MissingBase:
		if to := withBase(s, f); gives(s, f, to) {
			f.Suggestion = to
		} else if to = replacePath(s, f, s.Link(f.node)); gives(s, f, to) {
			f.Suggestion = to
		}
	case ServerDependent: // a host that ignores letter case: others do not
		if f.node == docroot.NoNode {
			return
		}
		if to := replacePath(s, f, s.Link(f.node)); to != f.Raw && bareAddress(to) == bareAddress(f.Raw) && gives(s, f, to) {
			f.Suggestion = to
		}
	}
}

// withBase returns the value of a link that lacks the base path, or the slash after it,
// with it.
func withBase(s *isite.Site, f *Finding) string {
	to, _, _ := strings.Cut(f.meant, "?")
	if !strings.HasPrefix(to, "/") {
		return withTail(f, f.meant)
	}
	return replacePath(s, f, to)
}

// plainReading returns what a link means that browsers take for another address than
// its author did; "" if that is not known.
func plainReading(s *isite.Site, f *Finding) string {
	raw := strings.TrimSpace(f.Raw)
	scheme, rest, _ := strings.Cut(raw, ":")
	switch {
	case strings.HasPrefix(f.meant, "/"):
		here, _ := s.Public("/" + f.Page)
		there, to := s.Public(f.meant)
		if there != here || f.isFeed || here != "" && strings.HasPrefix(strings.ToLower(raw), strings.ToLower(here)) {
			to = there + to
		}
		return withTail(f, to)
	case f.meant != "":
		return withTail(f, f.meant)
	case f.plainCode() == MixedContent:
		return "https:" + rest
	case f.plainCode() != DeadScheme:
		return ""
	case strings.EqualFold(scheme, "file") || len(scheme) == 1:
		// The path of a file on the author's machine may end with one of the docroot.
		path, tail := cutValue(strings.ReplaceAll(rest, `\`, "/"))
		for {
			i := strings.IndexByte(path[min(1, len(path)):], '/')
			if i < 0 {
				return ""
			}
			path = path[i+1:]
			if node, ok := s.Lookup(decodeFragment(path)); ok && strings.Trim(path, "/") != "" {
				return s.Link(node) + tail
			}
		}
	}
	return host.MeantScheme(strings.ToLower(scheme)) + ":" + rest
}

// withTail returns an address with the fragment of a link.
func withTail(f *Finding, to string) string {
	if f.Fragment != "" {
		to += "#" + f.Fragment
	}
	return to
}

// cutValue splits a link as written into its path and what follows: query and fragment.
func cutValue(raw string) (path, tail string) {
	raw = strings.TrimSpace(raw)
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		return raw[:i], raw[i:]
	}
	return raw, ""
}

// bareAddress returns the path of a value in lower case, without what hosts add to
// addresses or leave out: guides for /Guides/index.html?x.
func bareAddress(raw string) string {
	p, _ := cutValue(raw)
	return strings.ToLower(bareName(p))
}

// gives reports whether value, in place of the link, gives no finding.
func gives(s *isite.Site, f *Finding, value string) bool {
	page, ok := pageOf(s, f.Page)
	if !ok {
		return false
	}
	if f.hasBase && !isRooted(value) {
		return true // resolved against an address that is not known here
	}
	r, err := s.Follow(page, value)
	return err == nil && isFine(s, f, r)
}

// pageOf returns the page of a finding or link by its path.
func pageOf(s *isite.Site, path string) (isite.PageID, bool) {
	node, _ := s.Lookup(path)
	return s.PageOf(node)
}

// suggest sets the suggestions of all other codes, where something similar exists. The
// search is bounded, and the links with the most findings come first. left is the
// number of findings that did not get a full search.
func suggest(ctx context.Context, s *isite.Site, opt Options, findings []Finding) (left int, err error) {
	byTarget := map[isite.PageID][]*Finding{}
	var missing []*Finding
	for i := range findings {
		f := &findings[i]
		switch f.plainCode() {
		case MissingFragment, MissingMap, UnresolvedRef:
			if to := behindRedirect(s, f); to != "" && gives(s, f, to) { // an alias page, which leads on
				f.Suggestion = to
			} else if target, ok := s.PageOf(f.node); ok {
				byTarget[target] = append(byTarget[target], f)
			}
		case MissingFile, MissingDirectory, MissingIndex, WrongCase, Fallback:
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 {
		files := newFileIndex(s)
		files.budget = allow(len(missing))
		mostFirst(missing, func(f *Finding) string { return f.Target })
		for i, f := range missing {
			f.Suggestion = files.suggestion(f)
			if f.translation {
				f.Message += "; it would be the page itself in another language"
			}
			if files.budget < 0 {
				f.Suggestion, left = "", len(missing)-i
				break
			}
		}
	}
	targets := slices.Sorted(maps.Keys(byTarget))
	lefts := make([]int, len(targets))
	err = readers(ctx, s, opt, len(targets), func(r *isite.Reader, i int) error {
		lefts[i] = suggestAnchors(s, r, targets[i], byTarget[targets[i]])
		return nil
	})
	for _, n := range lefts {
		left += n
	}
	return left, err
}

// besideRule returns the value with or without the final slash that a redirect rule of the
// host is about: /old for /old/ beside the rule /old. What a permanent redirect leads to
// takes its place. It returns "" if no rule is about either.
func besideRule(s *isite.Site, f *Finding) string {
	page, ok := pageOf(s, f.Page)
	to, _, _ := strings.Cut(f.Target, "?")
	if !ok || f.hasBase || strings.Trim(to, "/") == "" {
		return ""
	}
	if other, has := strings.CutSuffix(to, "/"); has {
		to = other
	} else {
		to += "/"
	}
	value := replacePath(s, f, to)
	r, err := s.Follow(page, value)
	if err != nil || r.State != host.StateViaRedirect {
		return ""
	}
	if !r.Temporary {
		value = replacePath(s, f, r.Final)
	}
	if strings.Contains(r.Final, "?") || !gives(s, f, value) {
		return ""
	}
	return value
}

// mostFirst sorts findings by how many have the same key.
func mostFirst(findings []*Finding, key func(f *Finding) string) {
	count := map[string]int{}
	for _, f := range findings {
		count[key(f)]++
	}
	slices.SortStableFunc(findings, func(a, b *Finding) int { return cmp.Compare(count[key(b)], count[key(a)]) })
}

// anchorNames are the anchors of a page, in which to look for similar ones. They
// belong to one goroutine.
type anchorNames struct {
	ids, maps similar.Names
	headings  []heading
	// originals are the headings of the page in the language that it was translated from;
	// nil if it has others, or if there is no such page.
	originals []heading
}

// heading is the id of a heading, with its level.
type heading struct {
	level byte // '1' to '6'
	id    string
}

// readAnchors reads the anchors of a page, and the headings of its original. The error is
// that of reading it again.
func readAnchors(s *isite.Site, r *isite.Reader, page isite.PageID) (*anchorNames, error) {
	a := &anchorNames{}
	err := a.read(r, page)
	if err != nil {
		return nil, err
	}
	for _, id := range originals(s, page) {
		var o anchorNames
		sameLevel := func(a, b heading) bool { return a.level == b.level }
		if o.read(r, id) == nil && len(a.headings) > 0 && slices.EqualFunc(a.headings, o.headings, sameLevel) {
			a.originals = o.headings
			break
		}
	}
	return a, nil
}

func (a *anchorNames) read(r *isite.Reader, page isite.PageID) error {
	_, err := r.Named(page, func(text, name []byte, kind scan.AnchorKind, at uint32) {
		if kind == scan.AnchorMap {
			a.maps.Add(string(name))
			return
		}
		a.ids.Add(string(name))
		if level := headingAt(text, int(at)); level != 0 {
			a.headings = append(a.headings, heading{level, string(name)})
		}
	})
	return err
}

// headingAt returns the level of the heading that has the id at an offset: of <h2 id=x>,
// and of <section id=x><h2>, as Sphinx writes it; 0 for any other element.
func headingAt(text []byte, at int) byte {
	from := bytes.LastIndexByte(text[:at], '<')
	to := bytes.IndexByte(text[at:], '>')
	if from < 0 || to < 0 {
		return 0
	}
	inner := bytes.TrimLeft(text[at+to+1:], " \t\r\n")
	for _, tag := range [][]byte{text[from:], inner} {
		if len(tag) > 3 && tag[0] == '<' && tag[1]|0x20 == 'h' && '1' <= tag[2] && tag[2] <= '6' {
			return tag[2]
		}
	}
	return 0
}

// originals returns the pages that a page in a language may be a translation of: a.html
// and en/a.html for zh/a.html.
func originals(s *isite.Site, page isite.PageID) (pages []isite.PageID) {
	p := s.Path(page)
	mine := languageOf(p)
	if mine == "" {
		return nil
	}
	for _, language := range []string{"", "en/"} {
		node, ok := s.Lookup(language + p[len(mine):])
		if id, isPage := s.PageOf(node); ok && isPage && language != mine {
			pages = append(pages, id)
		}
	}
	return pages
}

// near returns the id or map of the page that the author of a link most likely meant by
// a fragment that is not on the page; "" if none is similar. Translations often keep the
// ids of the original in their links. Where both pages have headings of the same levels in
// the same order, the heading in the same place is meant: the third of zh/a.html for the
// third of a.html.
func (a *anchorNames) near(f *Finding) string {
	want := decodeFragment(f.Fragment)
	if f.Code == MissingMap || f.Code == UnresolvedRef {
		return a.maps.Nearest(want)
	}
	for _, is := range []func(id string) bool{
		func(id string) bool { return id == want },
		func(id string) bool { return similar.Plain(want) != "" && similar.Plain(id) == similar.Plain(want) },
	} {
		if i := slices.IndexFunc(a.originals, func(h heading) bool { return is(h.id) }); i >= 0 {
			return a.headings[i].id
		}
	}
	return a.ids.NearestTitle(want)
}

// isSpent reports whether near no longer compares names.
func (a *anchorNames) isSpent() bool {
	return a.ids.Budget != nil && *a.ids.Budget < 0 || a.maps.Budget != nil && *a.maps.Budget < 0
}

func decodeFragment(fragment string) string {
	return string(weburl.PercentDecode(nil, fragment))
}

// suggestAnchors sets the suggestions of links to a page that lacks the fragment
// or map that they ask for. It sets none if the page cannot be read again. It returns of
// how many it did not look for all that is similar.
func suggestAnchors(s *isite.Site, r *isite.Reader, target isite.PageID, findings []*Finding) (left int) {
	anchors, err := readAnchors(s, r, target)
	if err != nil {
		return 0
	}
	mostFirst(findings, func(f *Finding) string { return f.Fragment })
	type key struct {
		code     Code
		fragment string
	}
	known := map[key]string{}
	// A template may have rendered Markdown with #id as part of another page, as
	// markdownify of Hugo does. Then all links of a page to the target, at least manyOwn,
	// name ids of the page itself. Where docs/a/index.html has the ids x, y and z, its
	// links ../#x, ../#y and ../#z to docs/index.html, which lacks them, mean #x, #y and
	// #z.
	found := map[string]map[string]bool{} // page, then fragment; nil if one is not there
	for _, f := range findings {
		ids, seen := found[f.Page]
		switch {
		case seen && ids == nil || ids[f.Fragment]:
			continue
		case f.Code != MissingFragment || f.hasBase || f.isFeed || !gives(s, f, ownAnchor(f)):
			found[f.Page] = nil
			continue
		case !seen:
			ids = map[string]bool{}
			found[f.Page] = ids
		}
		ids[f.Fragment] = true
	}
	own := map[string]bool{}
	for page, ids := range found {
		own[page] = len(ids) >= manyOwn
	}
	for _, f := range findings {
		if own[f.Page] {
			f.Suggestion = ownAnchor(f)
			continue
		}
		if f.Suggestion = meantAnchor(s, f); f.Suggestion != "" {
			continue
		}
		k := key{f.Code, f.Fragment}
		nearest, ok := known[k]
		if !ok {
			nearest = anchors.near(f)
			known[k] = nearest
		}
		if nearest != "" {
			f.Suggestion = withFragment(s, f, "", encodeFragment(nearest))
		} else if anchors.isSpent() {
			left++
		}
	}
	return left
}

// manyOwn is how many ids a page cannot have in common with the missing ids of another
// page by chance.
const manyOwn = 3

// ownAnchor returns the fragment of a link, as a link within its page.
func ownAnchor(f *Finding) string {
	_, fragment, _ := strings.Cut(f.Raw, "#")
	return "#" + fragment
}

// isOwnAnchor reports whether a link should have been one within its page, see
// ownAnchors.
func isOwnAnchor(f *Finding) bool {
	return f.Code == MissingFragment && strings.HasPrefix(f.Suggestion, "#") && !strings.HasPrefix(f.Raw, "#")
}

// ownAnchorNote returns what the author should know of the links that should have been
// links within their page, "" if the findings have none.
func ownAnchorNote(findings []Finding) string {
	n, first := 0, (*Finding)(nil)
	for i := range findings {
		if f := &findings[i]; isOwnAnchor(f) {
			if n += max(1, f.Count); first == nil {
				first = f
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d links name an id of their own page, but lead to another page, such as %s on %s: "+
		"a template renders the Markdown as part of the other page; in Hugo, replace markdownify with .Page.RenderString", n, first.Raw, first.Page)
}

// withFragment returns the link with a query, unless that is "", and another fragment. It
// has the address of the page if the link's own path deserves a finding, too.
func withFragment(s *isite.Site, f *Finding, query, fragment string) string {
	if f.Code == UnresolvedRef { // the label of a definition
		return decodeFragment(fragment)
	}
	for _, value := range []string{f.Raw, replacePath(s, f, s.Link(f.node))} {
		before, _, _ := strings.Cut(value, "#")
		if query != "" {
			before, _, _ = strings.Cut(before, "?")
		}
		if value = before + query + "#" + fragment; gives(s, f, value) {
			return value
		}
	}
	return ""
}

// encodeFragment percent-encodes the characters that a fragment cannot hold, but no letters:
// people read them.
func encodeFragment(id string) string {
	var b strings.Builder
	for _, c := range id {
		if c >= utf8.RuneSelf && c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsNumber(c)) {
			b.WriteRune(c)
			continue
		}
		u, err := weburl.Parse("http://h/#" + strings.ReplaceAll(string(c), "%", "%25") + ".") // a space at the end would go
		if err != nil {
			return id
		}
		b.WriteString(strings.TrimSuffix(u.Fragment(), "."))
	}
	return b.String()
}

// shownFragment returns a fragment as people read it, without the text directive that
// browsers take away.
func shownFragment(fragment string) string {
	fragment = isite.TrimDirective(fragment)
	if id := decodeFragment(fragment); utf8.ValidString(id) {
		return id
	}
	return fragment
}

// meantAnchor returns what a link to a missing id certainly means; "" if that is not
// certain: the address of its own page, see ownAddress, or ?x=1#sec for #sec?x=1.
func meantAnchor(s *isite.Site, f *Finding) string {
	if f.Code != MissingFragment {
		return ""
	}
	if own := ownAddress(s, f.Page, f.Raw, f.Fragment); own != "" {
		return own
	}
	if id, query, ok := strings.Cut(f.Fragment, "?"); ok {
		return withFragment(s, f, "?"+query, id)
	}
	return ""
}

// ownAddress returns the address of the page of a link to an id of that page, such as #x,
// that the base element leads to another page; "" if the page lacks the id, too.
func ownAddress(s *isite.Site, page, raw, fragment string) string {
	if !strings.HasPrefix(raw, "#") {
		return ""
	}
	id, ok := pageOf(s, page)
	if !ok || !s.Page(id).HasBase() {
		return ""
	}
	p := s.Page(id)
	if ask, asks := s.ParseFragment(fragment); !asks || !hasFragment(p, &ask) {
		return ""
	}
	return s.Link(p.Node()) + raw
}

// suggestion returns the suggestion for a link to a missing file or directory.
func (x *fileIndex) suggestion(f *Finding) string {
	if fixed := cmp.Or(addScheme(f.Raw), besideRule(x.s, f)); fixed != "" {
		return fixed
	}
	if path, id, ok := strings.Cut(f.Raw, "%23"); ok && gives(x.s, f, path+"#"+id) {
		return path + "#" + id
	}
	page, _ := x.s.Lookup(f.Page)
	if isMarkdownPath(f.Raw) {
		if fixed := x.pagesOfMarkdown(f); len(fixed) > 0 {
			return fixed[0]
		}
	}
	return x.meant(f, page)
}

// meant returns the value that leads to the file that a link means, in the language of
// its page. It returns "" if it finds no file, or several that are equally close to the
// page. The page that holds the link is the last choice: a wrong address rarely means
// its own page, except in a menu. On docs/a.html, setup.html means docs/setup/index.html
// rather than blog/setup/index.html; on a.html in the docroot, it may mean either.
func (x *fileIndex) meant(f *Finding, page docroot.NodeID) (self string) {
	from, _ := x.s.PageOf(page)
	a := x.aimOf(f)
	mine, asked := languageOf(f.Page), languageOf(a.path)
	f.translation = mine != asked && bareName(f.Page[len(mine):]) == bareName(a.path[len(asked):])
	for rule := ruleSpelled; rule <= ruleReworded; rule++ {
		best, most, times := "", -1, 0
		var values []string
		for _, id := range x.guesses(f, a, page, rule) {
			if !x.budget.Take(guessCost + len(f.Raw) + len(values)) {
				return ""
			}
			if x.isCopy(id) && !isMarkdownPath(f.Raw) {
				continue
			}
			value, node := x.write(f, from, x.translated(f, a, id))
			if value == "" || value == f.Raw || slices.Contains(values, value) || f.translation && languageOf(x.s.Tree().Path(node)) != asked {
				continue
			}
			if node == page {
				self = cmp.Or(self, value)
				continue
			}
			values = append(values, value)
			switch n := x.sharedDirectories(page, node); {
			case n > most:
				best, most, times = value, n, 1
			case n == most:
				times++
			}
		}
		switch {
		case len(values) > 1 && (most == 0 || times > 1):
			return ""
		case len(values) > 0:
			return best
		}
	}
	return self
}

// isCopy reports whether a file is the Markdown of a page beside it, as generators write it
// for programs: a.md beside a.html or a.
func (x *fileIndex) isCopy(id docroot.NodeID) bool {
	t := x.s.Tree()
	name := t.Name(id)
	if t.Kind(id) != docroot.KindFile || !isMarkdownPath(name) {
		return false
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	return slices.ContainsFunc([]string{stem, stem + ".html"}, func(page string) bool { return t.Child(t.Parent(id), []byte(page)) != docroot.NoNode })
}

// translated returns the file at the same address in the language that the link names or,
// failing that, the language of the page. For a link on zh/a.html, it returns
// zh/guide/b.html in place of guide/b.html and of en/guide/b.html.
func (x *fileIndex) translated(f *Finding, a aim, id docroot.NodeID) docroot.NodeID {
	mine := cmp.Or(languageOf(a.path), languageOf(f.Page))
	if mine == "" {
		return id
	}
	p := x.s.Tree().Path(id)
	p = strings.TrimPrefix(p, languageOf(p))
	if to, ok := x.s.Lookup(mine + strings.TrimPrefix(p, "/")); ok {
		return to
	}
	return id
}

// write returns the value that leads to a node in place of the link, and the node
// that answers it; "" if that would be a finding, too.
func (x *fileIndex) write(f *Finding, from isite.PageID, to docroot.NodeID) (value string, node docroot.NodeID) {
	value = replacePath(x.s, f, x.s.Link(to))
	r, err := x.s.Follow(from, value)
	if err != nil || r.State == host.StateExternal || !isFine(x.s, f, r) {
		return "", docroot.NoNode
	}
	return value, r.Node
}

// isFine reports whether a link in place of f that was resolved so gives no
// finding.
func isFine(s *isite.Site, f *Finding, r host.Resolved) bool {
	if r.State == host.StateExternal || r.State == host.StateOutsideBase && f.plainCode() == WrongHost {
		return true
	}
	if !r.State.Answers() || decisions[r.State].verdict != OK {
		return r.State == host.StateViaRedirect && r.Temporary // its address is the one to link to
	}
	target, ok := s.PageOf(r.Node)
	if !ok {
		return true
	}
	p := s.Page(target)
	if f.linkCode != "" && (r.State != host.StateOK || p.NoIndex()) { // the entry of a sitemap or feed
		return false
	}
	fragment, asks := s.ParseFragment(r.Fragment)
	return !asks || !p.Kind().HasAnchors() || hasFragment(p, &fragment) || f.Code == MissingMap
}

// wholeScheme matches what is left of http:// and https:// if one of their characters is
// missing, before the name of a host; and what a bracket or the site's own address is put
// before.
var wholeScheme = text.Regexp(`(?i)^(?:/*(https?)(?::/|;?//)|(?:(?:https?://[^/]+)?/+|[(<\[]+)(https?)://)([\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?#].*)?)$`)

// addScheme repairs an e-mail address or a host name without scheme, or without the whole
// of it; "" for anything else: me@example.org is mailto:me@example.org, www.example.org/a
// is https://www.example.org/a, and so are https:/www.example.org/a, https//www.example.org/a
// and /https://www.example.org/a.
func addScheme(raw string) string {
	raw = strings.TrimSpace(raw)
	lower := strings.ToLower(raw)
	if strings.HasPrefix(lower, "www.") {
		return "https://" + raw
	}
	if strings.Contains(lower, "http") {
		if m := wholeScheme().FindStringSubmatch(raw); m != nil {
			return cmp.Or(m[1], m[2]) + "://" + m[3]
		}
	}
	if user, host, ok := strings.Cut(raw, "@"); ok && user != "" && strings.Contains(host, ".") && !strings.ContainsAny(raw, "/?# ") {
		return "mailto:" + raw
	}
	return ""
}

// pagesOfMarkdown returns links to the pages that may have been made of the Markdown
// file that a link names, the most likely first. The path is relative to the Markdown
// file with the link: a.md beside b.md, which become a/index.html and
// b/index.html.
func (x *fileIndex) pagesOfMarkdown(f *Finding) (values []string) {
	raw, _ := cutValue(f.Raw)
	name := string(weburl.PercentDecode(nil, raw))
	name = strings.TrimSuffix(name, path.Ext(name))
	names := []string{name}
	if last := path.Base(name); last == "index" || last == "_index" || strings.EqualFold(last, "README") {
		names = append(names, path.Dir(name))
	}
	dirs := []string{path.Dir(f.Page), path.Dir(path.Dir(f.Page))}
	if strings.HasPrefix(name, "/") {
		dirs = []string{""}
	}
	page, _ := x.s.Lookup(f.Page)
	from, _ := x.s.PageOf(page)
	for _, dir := range dirs {
		for _, name := range names {
			p := strings.TrimPrefix(path.Join("/", dir, name), "/")
			for _, try := range []string{path.Join(p, "index.html"), p + ".html"} {
				n, ok := x.s.Lookup(try)
				if !ok {
					continue
				}
				if fixed, _ := x.write(f, from, n); fixed != "" && fixed != f.Raw && !slices.Contains(values, fixed) {
					values = append(values, fixed)
				}
			}
		}
	}
	return values
}

// behindRedirect returns the value that leads straight to where a redirect or an
// alias page leads; "" if that is not certain. Where /old/ redirects to /new/,
// ../old/#x is ../new/#x, and ../old/?q is unknown if the rule leads to /new/?page=1.
func behindRedirect(s *isite.Site, f *Finding) string {
	to := f.Final
	if target, ok := s.PageOf(f.node); ok {
		// A rule such as "/* /index.html 200" sends an alias page for each missing one.
		path := strings.Trim(decodeAddress(s, cmp.Or(to, f.Target)), "/")
		_, named := s.Lookup(path)
		if _, page := s.Lookup(path + ".html"); named || page {
			to = cmp.Or(s.Page(target).Alias(), to)
		}
	}
	switch {
	case !strings.HasPrefix(to, "/"):
		return to // elsewhere, or unknown
	case strings.ContainsAny(to, "?#"):
		if f.Fragment != "" || strings.Contains(f.Raw, "?") {
			return "" // the query or fragment of the link, or that of the redirect?
		}
		return to
	}
	return replacePath(s, f, to)
}

// encodedLetters matches the bytes of characters beyond ASCII, percent-encoded.
var encodedLetters = text.Regexp(`(?:%[89A-Fa-f][0-9A-Fa-f])+`)

// replacePath writes href, a site path, in place of the path of a link, in the
// manner in which the link was written: relative to the page, from the root, or
// absolute. Query and fragment stay.
func replacePath(s *isite.Site, f *Finding, href string) string {
	if s.Rooted() {
		raw, tail := cutValue(f.Raw)
		return replaceRooted(s, f, raw, href) + tail
	}
	page := s.BasePath() + "/" + f.Page
	if f.hasBase {
		page = ""
	}
	value := weburl.WithPath(f.Raw, page, href)
	if strings.IndexFunc(f.Raw, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 {
		return value
	}
	// Its author wrote other letters as they are.
	return encodedLetters().ReplaceAllStringFunc(value, func(s string) string {
		decoded := decodeFragment(s)
		if strings.IndexFunc(decoded, func(c rune) bool { return c == utf8.RuneError || !unicode.In(c, unicode.L, unicode.M, unicode.N) }) >= 0 {
			return s
		}
		return decoded
	})
}

// replaceRooted does the work of replacePath where directories of the docroot
// have addresses of their own. href is a path in the docroot; whether the link
// needs a host depends on whether href has the same host as the page.
func replaceRooted(s *isite.Site, f *Finding, raw, href string) string {
	here, from := s.Public("/" + f.Page)
	there, to := s.Public(href)
	absolute := strings.Contains(raw, "://")
	switch {
	case there == "" && here == "": // no host at all
	case absolute || here != there && !strings.HasPrefix(raw, "//"):
		return there + to
	case strings.HasPrefix(raw, "//"):
		_, host, _ := strings.Cut(there, ":")
		return host + to
	}
	if strings.HasPrefix(raw, "/") || raw == "" || f.hasBase {
		return to
	}
	return weburl.Relative(from, to)
}
