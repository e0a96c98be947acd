package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/text"
)

// Format is a file format.
type Format string

// The formats of the files of pages. The index and the advice are JSON, which data
// folders of generators may mix with the other formats.
const (
	JSON Format = "json"
	YAML Format = "yaml"
	TOML Format = "toml"
	JF2  Format = "jf2"  // the feed of jf2.spec.indieweb.org, with the wm- fields of webmention.io
	Atom Format = "atom" // RFC 4287
)

// Formats lists the formats.
var Formats = []Format{JSON, YAML, TOML, JF2, Atom}

// Internal is the protocol of a link between two pages of the own site.
const Internal incoming.Protocol = "internal"

// PageFile is the file of one page.
type PageFile struct {
	// Generator marks the files that an export may replace and remove.
	Generator string `json:"generator" yaml:"generator" toml:"generator"`
	Page      string `json:"page" yaml:"page" toml:"page"`
	// Mentions are sorted by the time when they were received, then by source.
	Mentions []Item `json:"mentions" yaml:"mentions" toml:"mentions"`
}

// Item is one mention of a page. Its texts are plain text: valid UTF-8 without
// control characters.
type Item struct {
	ID       string `json:"id,omitempty" yaml:"id,omitempty" toml:"id,omitempty"`
	Protocol string `json:"protocol" yaml:"protocol" toml:"protocol"`
	// Source and Target are http or https URLs.
	Source  string `json:"source" yaml:"source" toml:"source"`
	Target  string `json:"target" yaml:"target" toml:"target"`
	Title   string `json:"title,omitempty" yaml:"title,omitempty" toml:"title,omitempty"`
	Excerpt string `json:"excerpt,omitempty" yaml:"excerpt,omitempty" toml:"excerpt,omitempty"`
	Lang    string `json:"lang,omitempty" yaml:"lang,omitempty" toml:"lang,omitempty"`
	Author  Author `json:"author,omitzero" yaml:"author,omitempty" toml:"author,omitempty"`
	// Received and Verified are times as in RFC 3339, "" if they are not known.
	Received string `json:"received,omitempty" yaml:"received,omitempty" toml:"received,omitempty"`
	Verified string `json:"verified,omitempty" yaml:"verified,omitempty" toml:"verified,omitempty"`
}

// Author is who wrote the source. URL is an http or https URL, or "".
type Author struct {
	Name string `json:"name,omitempty" yaml:"name,omitempty" toml:"name,omitempty"`
	URL  string `json:"url,omitempty" yaml:"url,omitempty" toml:"url,omitempty"`
}

// Index is the file index: the pages that have mentions, by path as [PageOf]
// returns it.
type Index struct {
	Generator string                `json:"generator"`
	Pages     map[string]IndexEntry `json:"pages"`
}

// IndexEntry is a page in the index.
type IndexEntry struct {
	File     string `json:"file"` // in the folder pages, without extension
	Mentions int    `json:"mentions"`
	Sum      string `json:"sum"` // of the mentions and their file, for the next export
}

// AdviceList is the file advice.
type AdviceList struct {
	Generator string   `json:"generator"`
	Advice    []Advice `json:"advice"`
}

// Advice is what another site reported about a link of ours: its target is gone,
// moved to Replacement, or changed.
type Advice struct {
	Action      string `json:"action"` // "unlinkr" or "linkmod"
	Page        string `json:"page"`   // of ours, that has the link
	Target      string `json:"target"`
	Replacement string `json:"replacement,omitempty"`
	Received    string `json:"received,omitempty"`
	Verified    string `json:"verified,omitempty"`
}

func itemOf(m incoming.Mention) Item {
	return Item{
		ID: plain(m.ID), Protocol: plain(string(m.Protocol)), Source: plain(m.Source), Target: plain(m.Target),
		Title: plain(m.Title), Excerpt: plain(m.Excerpt), Lang: plain(m.Lang),
		Author:   Author{Name: plain(m.Author.Name), URL: webOrNone(m.Author.URL)},
		Received: stamp(m.Received), Verified: stamp(m.Verified),
	}
}

func adviceOf(page string, m incoming.Mention) Advice {
	return Advice{Action: string(m.Action), Page: page, Target: plain(m.Target), Replacement: webOrNone(m.Replacement),
		Received: stamp(m.Received), Verified: stamp(m.Verified)}
}

func compareItems(a, b Item) int {
	return cmp.Or(cmp.Compare(a.Received, b.Received), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.ID, b.ID))
}

func webOrNone(text string) string {
	if !isWeb(text) {
		return ""
	}
	return plain(text)
}

// stamp returns a time in UTC with whole seconds, so that all have the same length
// and sort as text.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// plain makes a text of a stranger safe to encode and to print: invalid UTF-8 and
// noncharacters become U+FFFD, control characters spaces, and characters that
// change the direction of the text around it are removed.
func plain(text string) string {
	isPlain := func(r rune) bool {
		return r >= ' ' && r < 0x7F || r > 0x9F && r != utf8.RuneError && r&0xFFFE != 0xFFFE && !unicode.Is(unicode.Bidi_Control, r) && r != 0x2028 && r != 0x2029
	}
	if strings.IndexFunc(text, func(r rune) bool { return !isPlain(r) }) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case isPlain(r):
			return r
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case r&0xFFFE == 0xFFFE || r == utf8.RuneError:
			return utf8.RuneError
		}
		return ' '
	}, text)
}

// generator is the value that identifies the files of an export.
const generator = "sitelink mentions export"

// format writes the files of pages in one format.
type format struct {
	name      Format
	extension string
	page      func(*PageFile) ([]byte, error)
}

// marks are the beginnings of our files, by extension.
var marks = map[string]string{
	".json": "{\n  \"generator\": \"" + generator + "\"",
	".yaml": "generator: " + generator + "\n",
	".toml": "generator = '" + generator + "'\n",
	".atom": xml.Header + "<!-- " + generator + " -->\n",
}

func hasMark(name string, text []byte) bool {
	mark, ok := marks[path.Ext(name)]
	return ok && bytes.HasPrefix(text, []byte(mark))
}

func formatOf(f Format) (*format, error) {
	switch f {
	case JSON, "":
		return &format{JSON, ".json", func(p *PageFile) ([]byte, error) { return encodeJSON(p) }}, nil
	case YAML:
		return &format{YAML, ".yaml", encodeYAML}, nil
	case TOML:
		return &format{TOML, ".toml", func(p *PageFile) ([]byte, error) { return toml.Marshal(p) }}, nil
	case JF2:
		return &format{JF2, ".json", func(p *PageFile) ([]byte, error) { return encodeJSON(jf2Of(p)) }}, nil
	case Atom:
		return &format{Atom, ".atom", encodeAtom}, nil
	}
	return nil, fmt.Errorf("unknown format %q; the formats are json, yaml, toml, jf2 and atom", f)
}

// encodeJSON leaves no <, > and & in strings, so a file can be part of a script
// element.
func encodeJSON(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(text.EscapeHidden(data), '\n'), err
}

// encodeYAML writes all strings in double quotes, so that none of them has another
// meaning. Go's quoted strings of valid UTF-8 are strings of YAML, with the same value:
// the escapes of Go are among those of YAML 1.1 and 1.2. The library needs fifteen times
// the processor time for the same data.
func encodeYAML(p *PageFile) ([]byte, error) {
	out := []byte(marks[".yaml"])
	field := func(name, value string) {
		out = append(append(out, name...), ": "...)
		out = append(strconv.AppendQuote(out, strings.ToValidUTF8(value, "\uFFFD")), '\n')
	}
	optional := func(name, value string) {
		if value != "" {
			field(name, value)
		}
	}
	field("page", p.Page)
	out = append(out, "mentions:\n"...)
	for i := range p.Mentions {
		m := &p.Mentions[i]
		indent := "  - "
		if m.ID != "" {
			field(indent+"id", m.ID)
			indent = "    "
		}
		field(indent+"protocol", m.Protocol)
		field("    source", m.Source)
		field("    target", m.Target)
		optional("    title", m.Title)
		optional("    excerpt", m.Excerpt)
		optional("    lang", m.Lang)
		if m.Author != (Author{}) {
			out = append(out, "    author:\n"...)
			optional("      name", m.Author.Name)
			optional("      url", m.Author.URL)
		}
		optional("    received", m.Received)
		optional("    verified", m.Verified)
	}
	return out, nil
}

// jf2Feed is a feed of JF2, https://jf2.spec.indieweb.org/.
type jf2Feed struct {
	Generator string     `json:"generator"`
	Type      string     `json:"type"`
	Name      string     `json:"name"`
	URL       string     `json:"url,omitempty"`
	Children  []jf2Entry `json:"children"`
}

type jf2Entry struct {
	Type       string   `json:"type"`
	Author     *jf2Card `json:"author,omitempty"`
	URL        string   `json:"url"`
	Published  string   `json:"published,omitempty"`
	Received   string   `json:"wm-received,omitempty"`
	ID         string   `json:"wm-id,omitempty"`
	Source     string   `json:"wm-source"`
	Target     string   `json:"wm-target"`
	Protocol   string   `json:"wm-protocol"`
	Property   string   `json:"wm-property"`
	MentionOf  string   `json:"mention-of"`
	Name       string   `json:"name,omitempty"`
	Content    *jf2Text `json:"content,omitempty"`
	Lang       string   `json:"lang,omitempty"`
	VerifiedAt string   `json:"wm-verified,omitempty"`
}

type jf2Card struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

type jf2Text struct {
	Text string `json:"text"`
}

func jf2Of(p *PageFile) *jf2Feed {
	f := &jf2Feed{Generator: generator, Type: "feed", Name: "Mentions of " + p.Page, URL: pageURL(p)}
	for _, i := range p.Mentions {
		e := jf2Entry{Type: "entry", URL: i.Source, Received: i.Received, VerifiedAt: i.Verified, ID: i.ID, Source: i.Source, Target: i.Target,
			Protocol: i.Protocol, Property: "mention-of", MentionOf: i.Target, Name: i.Title, Lang: i.Lang}
		if i.Author != (Author{}) {
			e.Author = &jf2Card{"card", i.Author.Name, i.Author.URL}
		}
		if i.Excerpt != "" {
			e.Content = &jf2Text{i.Excerpt}
		}
		f.Children = append(f.Children, e)
	}
	return f
}

// pageURL returns the address of a page, from the first mention.
func pageURL(p *PageFile) string {
	text, _, _ := strings.Cut(p.Mentions[0].Target, "#")
	return text
}

type atomFeed struct {
	XMLName   xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title     string      `xml:"title"`
	ID        string      `xml:"id"`
	Updated   string      `xml:"updated"`
	Generator string      `xml:"generator"`
	Link      atomLink    `xml:"link"`
	Entries   []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Lang      string     `xml:"xml:lang,attr,omitempty"`
	Title     string     `xml:"title"`
	ID        string     `xml:"id"`
	Links     []atomLink `xml:"link"`
	Author    atomAuthor `xml:"author"`
	Published string     `xml:"published,omitempty"`
	Updated   string     `xml:"updated"`
	Summary   string     `xml:"summary,omitempty"`
}

type atomAuthor struct {
	Name string `xml:"name"`
	URI  string `xml:"uri,omitempty"`
}

// unknownTime is written where Atom requires a time and none is known.
const unknownTime = "1970-01-01T00:00:00Z"

// encodeAtom writes the feed of a page. The text constructs have the default type,
// which is plain text.
func encodeAtom(p *PageFile) ([]byte, error) {
	address := pageURL(p)
	f := atomFeed{Title: "Mentions of " + p.Page, ID: address, Updated: unknownTime, Generator: generator, Link: atomLink{"related", address}}
	for _, i := range p.Mentions {
		e := atomEntry{Lang: i.Lang, Title: cmp.Or(i.Title, i.Source), ID: i.Source, Links: []atomLink{{"alternate", i.Source}, {"related", i.Target}},
			Author: atomAuthor{cmp.Or(i.Author.Name, hostOf(i.Source)), i.Author.URL}, Published: i.Received,
			Updated: cmp.Or(i.Verified, i.Received, unknownTime), Summary: i.Excerpt}
		f.Updated = max(f.Updated, e.Updated)
		f.Entries = append(f.Entries, e)
	}
	text, err := xml.MarshalIndent(&f, "", "  ")
	return append(append([]byte(marks[".atom"]), text...), '\n'), err
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}
