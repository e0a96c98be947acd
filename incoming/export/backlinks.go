package export

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/site"
)

// Backlinks returns the links between the pages of a site as approved mentions with
// the protocol [Internal], sorted by target and source, for [Write]. The site must
// have a base URL. It reads files only.
//
// A link counts if it is in the content of its page, as [outgoing.Read] finds it, and
// if it leads to a page of the site. Menus, lists of several entries, broken links,
// and everything inside data-no-mention do not count. The options select pages and
// content as they do for notices. Two pages that link to each other make two
// mentions. Several links from one page to another make one. The title of a mention
// is the first h1 of the page, or else its title; its language is that of the page.
func Backlinks(ctx context.Context, s *site.Site, opt outgoing.Options) iter.Seq2[incoming.Mention, error] {
	return func(yield func(incoming.Mention, error) bool) {
		all, err := backlinks(ctx, s, opt)
		if err != nil {
			yield(incoming.Mention{}, err)
			return
		}
		for _, m := range all {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Join returns the mentions of several lists, one after the other: those of a store and
// [Backlinks], for one export.
func Join(lists ...iter.Seq2[incoming.Mention, error]) iter.Seq2[incoming.Mention, error] {
	return func(yield func(incoming.Mention, error) bool) {
		for _, list := range lists {
			for m, err := range list {
				if !yield(m, err) {
					return
				}
			}
		}
	}
}

func backlinks(ctx context.Context, s *site.Site, opt outgoing.Options) ([]incoming.Mention, error) {
	opt.Internal = true
	entries, err := outgoing.Read(ctx, s, &ledger.Snapshot{}, opt, nil)
	if err != nil {
		return nil, fmt.Errorf("read the links between pages: %w", err)
	}
	docroot, err := os.OpenRoot(s.Docroot())
	if err != nil {
		return nil, fmt.Errorf("read the links between pages: %w", err)
	}
	defer docroot.Close()
	var all []incoming.Mention
	for _, e := range entries.List {
		targets := internalTargets(entries, &e)
		if len(targets) == 0 {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		title, lang, err := headOf(docroot, e.Page)
		if err != nil {
			return nil, err
		}
		for _, target := range targets {
			all = append(all, incoming.Mention{Protocol: Internal, State: incoming.Approved, Source: e.URL, Target: target, Title: title, Lang: lang})
		}
	}
	slices.SortFunc(all, func(a, b incoming.Mention) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Source, b.Source))
	})
	return all, nil
}

// internalTargets returns the URLs of the other pages of the site that the content of
// a page links to, after redirects.
func internalTargets(entries *outgoing.Entries, e *outgoing.Entry) (targets []string) {
	_, own, _ := split(e.URL)
	seen := map[string]bool{own: true}
	for _, path := range e.Internal {
		status, final := entries.Resolve(entries.Origin + path)
		final = cmp.Or(final, entries.Origin+path)
		if status != 200 || !strings.HasPrefix(final, entries.Origin+"/") {
			continue
		}
		u, err := url.Parse(final)
		if err != nil {
			continue
		}
		u.RawQuery, u.Fragment = "", ""
		if _, page, ok := split(final); ok && !seen[page] && isPage(u.Path) {
			seen[page] = true
			targets = append(targets, u.String())
		}
	}
	return targets
}

// isPage reports whether a path is that of a page, by its extension: links to pictures
// and downloads are not mentions.
func isPage(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	_, extension, ok := strings.Cut(name, ".")
	return !ok || slices.Contains([]string{"html", "htm", "xhtml"}, extension[strings.LastIndexByte(extension, '.')+1:])
}

// maxHeadBytes is how much of a page is read to find its title.
const maxHeadBytes = 256 << 10

// headOf returns the title and the language of a page.
func headOf(docroot *os.Root, page string) (title, lang string, err error) {
	f, err := docroot.Open(page)
	if err != nil {
		return "", "", fmt.Errorf("read the title of a page: %w", err)
	}
	defer f.Close()
	r, err := charset.NewReader(io.LimitReader(f, maxHeadBytes), "text/html")
	if err != nil {
		return "", "", fmt.Errorf("read the title of %s: %w", page, err)
	}
	heading := ""
	for z := html.NewTokenizer(r); heading == ""; {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				return "", "", fmt.Errorf("read the title of %s: %w", page, z.Err())
			}
			return title, lang, nil
		case html.StartTagToken:
			t := z.Token()
			switch {
			case t.DataAtom == atom.Html:
				lang = attr(t, "lang")
			case t.DataAtom == atom.Title && title == "":
				title = textUntil(z, "title")
			case t.DataAtom == atom.H1:
				heading = textUntil(z, "h1")
			}
		}
	}
	return heading, lang, nil
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// textUntil returns the text up to an end tag, with white space folded.
func textUntil(z *html.Tokenizer, end string) string {
	var b strings.Builder
	for {
		switch z.Next() {
		case html.TextToken:
			b.WriteString(html.UnescapeString(string(z.Raw())))
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) != end {
				continue
			}
			fallthrough
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		}
	}
}
