// Package record compares a site with a record of its earlier addresses and anchors. So an
// author learns which links of other people a change breaks.
//
// [Of] makes the record of a loaded site, [Record.Write] and [Read] keep it in a file, and
// [Compare] returns what is gone: addresses that nothing answers any more, and ids that
// vanished from pages that still exist. [Gone.Findings] are ready for [check.Options.More];
// [Gone.Concern] adds who relies on what is gone.
package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
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
	err := s.Each(ctx, 0, len(r.Entries), func(reader *site.Reader) func(int) error {
		return func(i int) error {
			e := &r.Entries[i]
			id, ok := pageOf(s, e.File)
			if !ok {
				return nil
			}
			return e.read(reader, id)
		}
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// read fills in what the page of an entry contains.
func (e *Entry) read(r *site.Reader, id site.PageID) error {
	var names []string
	text, err := r.Named(id, func(_, name []byte, kind scan.AnchorKind, _ uint32) {
		if kind != scan.AnchorMap && utf8.Valid(name) {
			names = append(names, string(name))
		}
	})
	if err != nil {
		return err
	}
	var isHeading map[string]bool
	e.Title, e.Heading, e.Text, isHeading = describe(text)
	e.Headings, e.IDs = nil, nil
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case seen[name]:
		case isHeading[name]:
			e.Headings = append(e.Headings, name)
		default:
			e.IDs = append(e.IDs, name)
		}
		seen[name] = true
	}
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
	case assetExtensions[ext] || host.IsConfig(name):
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

// leastText is how many bytes of text a page needs so that two pages do not have
// the same text by chance.
const leastText = 80

// describe returns the title of a page, its only h1, and a hash of its content:
// the words of its main element, or without one those of the body outside of
// navigation, header and footer. The page around the content changes with every
// build, and with the address. ids are those that name headings.
func describe(page []byte) (title, heading, hash string, ids map[string]bool) {
	d := description{ids: map[string]bool{}}
	d.read(page)
	if d.headings == 1 {
		heading = words(d.heading)
	}
	content := d.main
	if len(d.main) == 0 {
		content = d.body
	}
	if text := words(content); len(text) >= leastText {
		h := fnv.New128a()
		h.Write([]byte(text))
		hash = hex.EncodeToString(h.Sum(nil))
	}
	return words(d.title), heading, hash, d.ids
}

// words joins the words of a text by single spaces.
func words(text []byte) string { return string(bytes.Join(bytes.Fields(text), []byte{' '})) }

// description collects the texts of a page.
type description struct {
	title, heading, main, body []byte
	headings                   int
	// open counts the elements of each kind around the current place.
	inTitle, inHeading bool
	inMain, leftOut    int
	// ids are the ids of headings: of the heading itself, of an element in it, and of
	// an element with nothing but start tags and empty anchors between it and the
	// heading, as in <section id="x"><h2> and <a name="x"></a><h2>. pending are the ids
	// of such elements until a heading comes.
	ids     map[string]bool
	pending []string
	level   int // of the headings around the current place
}

// maxTitle bounds what a hostile page can put into a record.
const maxTitle = 1000

func (d *description) read(page []byte) {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(0)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			d.text(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			d.element(atom.Lookup(name), 1)
			for more {
				var key, value []byte
				if key, value, more = z.TagAttr(); string(key) == "id" || string(key) == "name" {
					d.pending = append(d.pending, string(value))
				}
			}
			// A heading takes the pending ids.
			if d.level > 0 {
				for _, id := range d.pending {
					d.ids[id] = true
				}
				d.pending = nil
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			d.element(atom.Lookup(name), -1)
		}
	}
}

// element notes a start tag (1) or an end tag (-1).
func (d *description) element(name atom.Atom, step int) {
	switch name {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		d.level = max(0, d.level+step)
	case atom.A, atom.Span:
	case atom.P:
		if step > 0 {
			d.pending = nil
		}
	case atom.Div, atom.Header, atom.Hgroup, atom.Section:
		if step < 0 {
			d.pending = nil
		}
	default:
		d.pending = nil
	}
	switch name {
	case atom.Title:
		d.inTitle = step > 0 && len(d.title) == 0
	case atom.H1:
		if d.inHeading = step > 0; d.inHeading {
			d.headings++
		}
	case atom.Main:
		d.inMain = max(0, d.inMain+step)
	case atom.Nav, atom.Header, atom.Footer, atom.Aside, atom.Script, atom.Style, atom.Noscript, atom.Template:
		d.leftOut = max(0, d.leftOut+step)
	}
}

func (d *description) text(text []byte) {
	if len(bytes.TrimSpace(text)) > 0 {
		d.pending = nil
	}
	switch {
	case d.inTitle:
		d.title = appendUpTo(d.title, text)
		return
	case d.inHeading && d.headings == 1:
		d.heading = appendUpTo(d.heading, text)
	}
	switch {
	case d.leftOut > 0:
	case d.inMain > 0:
		d.main = append(append(d.main, text...), ' ')
	default:
		d.body = append(append(d.body, text...), ' ')
	}
}

// appendUpTo appends text as long as dst is no title that is too long.
func appendUpTo(dst, text []byte) []byte {
	return append(dst, text[:min(len(text), max(0, maxTitle-len(dst)))]...)
}

// A record in a file is JSON Lines: a header, then a line for each entry, sorted
// by address. The header has the number of entries and a hash of their lines. So
// a file that was cut off, or edited by a merge, does not pass as the record of
// a smaller site: every address that it lacks would then count as new.

// AddressesFile is the name of the record that a deploy writes.
const AddressesFile = "addresses.jsonl"

// version is the version of the format.
const version = 1

// maxFileBytes is the largest record that is read. That of a site with 80,000
// pages and three million ids has about 100 MB.
const maxFileBytes = 1 << 30

type header struct {
	Version int    `json:"sitelink-addresses"`
	Entries int    `json:"entries"`
	Sum     string `json:"sha256"`
}

// Encode returns the record as the content of a file. Records of equal sites are
// equal byte for byte.
func (r *Record) Encode() []byte {
	var lines bytes.Buffer
	encoder := json.NewEncoder(text.JSONWriter(&lines))
	encoder.SetEscapeHTML(false)
	for i := range r.Entries {
		// Strings and lists of them can always be encoded.
		_ = encoder.Encode(&r.Entries[i])
	}
	sum := sha256.Sum256(lines.Bytes())
	head, _ := json.Marshal(header{version, len(r.Entries), hex.EncodeToString(sum[:])})
	return append(append(head, '\n'), lines.Bytes()...)
}

// Write replaces the file with the record.
func (r *Record) Write(name string) error { return system.WriteFile(name, r.Encode(), 0o666) }

// Read reads a record from a file; shown is the file's name in messages. The errors
// name the file and have hints. That of a file that does not exist wraps
// [fs.ErrNotExist].
func Read(name, shown, when string) (*Record, error) {
	data, err := system.Read(name, maxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("read the record %s: %w", shown, err)
	}
	r, err := decode(data)
	if err != nil {
		return nil, text.WithHint(fmt.Errorf("read the record %s: %w", shown, err), hintOf(err))
	}
	r.When = when
	return r, nil
}

var (
	errNewer     = errors.New("a newer version of sitelink has written it")
	errNotRecord = errors.New("it is not a record of addresses")
)

func hintOf(err error) string {
	switch {
	case errors.Is(err, errNewer):
		return "update sitelink, or compare with a commit or a directory"
	case errors.Is(err, errNotRecord):
		return "sitelink deploy writes one; --since also takes the directory of an older build, and a commit"
	}
	return "restore the file, for example with git checkout, or remove it: the next sitelink deploy writes it again"
}

// decode parses the content of a file.
func decode(data []byte) (*Record, error) {
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	var head header
	if err := json.Unmarshal(line, &head); err != nil || head.Version == 0 {
		return nil, errNotRecord
	}
	if head.Version > version {
		return nil, fmt.Errorf("%w, with format %d", errNewer, head.Version)
	}
	if sum := sha256.Sum256(rest); head.Sum != hex.EncodeToString(sum[:]) {
		return nil, errors.New("it is damaged: its lines are not those that were written")
	}
	r := &Record{}
	n := 1
	for line := range bytes.Lines(rest) {
		n++
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d is no entry: %w", n, err)
		}
		if err := e.valid(); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if last := len(r.Entries) - 1; last >= 0 && r.Entries[last].Address >= e.Address {
			return nil, fmt.Errorf("line %d: the entries are not sorted by address", n)
		}
		r.Entries = append(r.Entries, e)
	}
	if len(r.Entries) != head.Entries {
		return nil, fmt.Errorf("it is damaged: it has %d entries, and its first line says %d", len(r.Entries), head.Entries)
	}
	return r, nil
}

// valid refuses what no site has: the values go into requests to the host and into
// reports.
func (e *Entry) valid() error {
	switch {
	case !strings.HasPrefix(e.Address, "/") || strings.HasPrefix(e.Address, "//"):
		return fmt.Errorf("%q is not the path of an address", e.Address)
	case strings.ContainsFunc(e.Address, func(c rune) bool {
		return c <= ' ' || c == 0x7f || c == '\\' || c == '#' || c == '?' || c == utf8.RuneError
	}):
		return fmt.Errorf("%q is not a percent-encoded path", e.Address)
	case strings.ContainsRune(e.File, 0) || strings.HasPrefix(e.File, "/"):
		return fmt.Errorf("%q is not a path in the docroot", e.File)
	}
	for segment := range strings.SplitSeq(e.File, "/") {
		if segment == ".." || segment == "." {
			return fmt.Errorf("%q is not a path in the docroot", e.File)
		}
	}
	return nil
}
