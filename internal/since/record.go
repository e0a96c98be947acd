// Package since compares a site with a record of the addresses and anchors that
// it answered before, so that an author learns which links of other people a
// change breaks.
//
// [Of] makes the record of a loaded site, [Record.Write] and [Read] keep it in a
// file, and [Compare] returns what is gone: addresses that nothing answers any
// more, and ids that vanished from pages that still exist. [Gone.Findings] are
// ready for [check.Options.More]; [Gone.Concern] adds whom they concern.
//
// The package opens the files of the docroot through internal/site, a record and
// an access log, and writes the record that its caller names. It starts no program and
// opens no connection.
package since

import (
	"context"
	"encoding/hex"
	"hash/fnv"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
)

// Record is what a site answered at one time.
type Record struct {
	// When says in messages when that was: "at the last deploy", "in old-public".
	When string
	// Entries are sorted by address, one for each.
	Entries []Entry
}

// Entry is one address that the site answered.
type Entry struct {
	// Address is the percent-encoded path below the base path, as a link would
	// name the file: /blog/a/ for blog/a/index.html.
	Address string `json:"address"`
	// File is the docroot path of the file that answered; "" for a redirect that
	// a rule of the host names in full.
	File string `json:"file,omitempty"`
	// Title is the text of a page's title element.
	Title string `json:"title,omitempty"`
	// Heading is the text of the only h1 of a page, "" if there are more or none.
	Heading string `json:"h1,omitempty"`
	// Text is a hash of the page's content, see [describe]; "" for other files
	// and for pages with very little text.
	Text string `json:"text,omitempty"`
	// Headings are the ids of headings, and IDs all other ids and names of a
	// elements, both in document order and without duplicates.
	Headings []string `json:"headings,omitempty"`
	IDs      []string `json:"ids,omitempty"`
}

// Of returns the record of a site. It reads every page again. The error is that
// of ctx, or of a page that cannot be read.
func Of(ctx context.Context, s *site.Site, when string) (*Record, error) {
	r := &Record{When: when, Entries: addresses(s)}
	err := eachEntry(ctx, s, len(r.Entries), func(reader *site.Reader, i int) error {
		e := &r.Entries[i]
		id, ok := pageOf(s, e.File)
		if !ok {
			return nil
		}
		return e.read(reader, id)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// read fills in what the page of an entry contains.
func (e *Entry) read(r *site.Reader, id site.PageID) error {
	e.Headings, e.IDs = nil, nil
	seen := map[string]bool{}
	text, err := r.Named(id, func(text, name []byte, kind scan.AnchorKind, value uint32) {
		if kind == scan.AnchorMap || seen[string(name)] || !utf8.Valid(name) {
			return
		}
		seen[string(name)] = true
		if isHeading(text, int(value)) {
			e.Headings = append(e.Headings, string(name))
		} else {
			e.IDs = append(e.IDs, string(name))
		}
	})
	if err != nil {
		return err
	}
	e.Title, e.Heading, e.Text = describe(text)
	return nil
}

// pageOf returns the HTML page at a docroot path, if it was read.
func pageOf(s *site.Site, file string) (site.PageID, bool) {
	node, ok := s.Lookup(file)
	if !ok || file == "" {
		return 0, false
	}
	return readablePage(s, node)
}

func readablePage(s *site.Site, node docroot.NodeID) (site.PageID, bool) {
	id, ok := s.PageOf(node)
	if !ok {
		return 0, false
	}
	p := s.Page(id)
	return id, p.Kind().IsHTML() && p.Error().Err == nil
}

// addresses returns an entry for each address that people may link to, sorted:
// that of each file that the host serves, and of each redirect that a rule names
// in full.
func addresses(s *site.Site) []Entry {
	t := s.Tree()
	var list []Entry
	for i := range t.Len() {
		node := docroot.NodeID(i)
		file := t.Path(node)
		if t.Kind(t.Real(node)) != docroot.KindFile || !counts(file) {
			continue
		}
		address := strings.TrimPrefix(s.Href(node), s.BasePath())
		if a := s.AnswerRequest(address, ""); a.Node != docroot.NoNode && answers(&a) {
			list = append(list, Entry{Address: address, File: file})
		}
	}
	for _, p := range s.RulePaths() {
		if a := s.Answer(p); counts(p) && a.Final != "" && answers(&a) {
			list = append(list, Entry{Address: escape(p)})
		}
	}
	// A file comes before a rule with the same address.
	slices.SortFunc(list, func(a, b Entry) int {
		if c := strings.Compare(a.Address, b.Address); c != 0 {
			return c
		}
		return strings.Compare(b.File, a.File)
	})
	return slices.CompactFunc(list, func(a, b Entry) bool { return a.Address == b.Address })
}

// answers reports whether a visitor who asks for the address gets what it stands
// for. A listing of a directory and the page for missing files do not. An answer
// with status 410 says that the author removed the page on purpose.
func answers(a *host.Answer) bool {
	switch a.State {
	case host.StateAutoindex, host.StateFallback:
		return false
	case host.StateRedirectsAway, host.StateProxied, host.StateConditional:
		return true
	}
	return a.State.Answers() || a.Status == statusGone
}

const statusGone = 410

// assetExtensions are the extensions of files that pages load and people do
// not link to, and those of their sources.
var assetExtensions = map[string]bool{
	".css": true, ".js": true, ".mjs": true, ".cjs": true, ".map": true, ".wasm": true, ".scss": true, ".less": true,
	".woff": true, ".woff2": true, ".ttf": true, ".otf": true, ".eot": true, ".cur": true,
}

// hostFiles are the files that configure a host, which serves some of them
// nevertheless.
var hostFiles = map[string]bool{"_redirects": true, "_headers": true, "_routes.json": true, "_worker.js": true, "CNAME": true, "netlify.toml": true, "vercel.json": true, "firebase.json": true, "staticwebapp.config.json": true}

// counts reports whether people may rely on the address of a file: pages, feeds,
// images, documents, archives, data. Style sheets, scripts and fonts do not count,
// nor do fingerprinted files and hidden ones.
func counts(file string) bool {
	file = strings.TrimPrefix(file, "/")
	for _, dir := range strings.Split(file, "/") {
		if strings.HasPrefix(dir, ".") && dir != ".well-known" {
			return false
		}
	}
	name := path.Base(file)
	ext := strings.ToLower(path.Ext(name))
	switch {
	case assetExtensions[ext] || hostFiles[name]:
		return false
	case ext == ".html" || ext == ".htm" || ext == ".xhtml":
		return true
	}
	return !IsFingerprinted(name)
}

// IsFingerprinted reports whether a name contains a hash of the file's content, as
// bundlers and Hugo's pipes write it: app.3f2a9c41.js, logo-BxY12_ab.svg,
// photo_hu8d2c_5120_300x0.jpg. The hash is a word of its own; a word of digits, or
// of letters alone, may be a date or a name.
func IsFingerprinted(name string) bool {
	stem := strings.TrimSuffix(name, path.Ext(name))
	words := strings.FieldsFunc(stem, func(c rune) bool { return c == '.' || c == '-' || c == '_' || c == '~' || c == '@' })
	for i, w := range words {
		if isHash(w) && (i > 0 || len(w) >= 32) {
			return true
		}
		if rest, ok := strings.CutPrefix(w, "hu"); ok && i > 0 && (isHex(rest) && len(rest) >= 8 || rest == "" && i+1 < len(words) && isHex(words[i+1])) {
			return true
		}
	}
	return false
}

// isHash reports whether a word looks like a hash: eight hexadecimal digits or
// more with digits and letters among them, or 8 to 12 letters in both cases with
// digits.
func isHash(w string) bool {
	digits, lower, upper := 0, 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z':
			lower++
		case 'A' <= c && c <= 'Z':
			upper++
		default:
			return false
		}
	}
	switch {
	case len(w) < 8 || digits == 0 || lower+upper == 0:
		return false
	case isHex(w):
		return true
	}
	return len(w) <= 12 && lower > 1 && upper > 1
}

func isHex(w string) bool {
	for i := range len(w) {
		if c := w[i] | 0x20; !('0' <= w[i] && w[i] <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return w != ""
}

// eachEntry runs n tasks through workers that each have a reader of the site. The
// first error ends all of them, and so does the end of ctx.
func eachEntry(ctx context.Context, s *site.Site, n int, task func(r *site.Reader, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			r, err := s.NewReader()
			if err != nil {
				cancel(err)
				return
			}
			defer r.Close()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := task(r, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// shortHash returns the hash of a text as 32 hexadecimal digits.
func shortHash(text []byte) string {
	h := fnv.New128a()
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}
