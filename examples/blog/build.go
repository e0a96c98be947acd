package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/incoming/export"
	"github.com/sitelink/sitelink/templates"
)

// newest is how many pages the home page and the feed show in full.
const newest = 3

// folder is the path of the content in the repository, so that an editor can
// open the positions in reports.
const folder = "examples/blog/content/"

type blog struct {
	fsys      fs.FS
	md        goldmark.Markdown
	links     hook.Recorder
	templates *template.Template
	pages     []*page // newest first
	written   int     // HTML pages
}

// newBlog reads the content and renders it. It writes relative links to files
// that do not exist to out.
func newBlog(fsys fs.FS, out io.Writer) (*blog, error) {
	b := &blog{fsys: fsys}
	files := hook.InFiles(fsys)
	relative := hook.Relative{
		Resolve: func(file, target string, dir bool) bool {
			return files(file, strings.TrimPrefix(target, "examples/blog/"), dir)
		},
		Report: func(l hook.Link) {
			fmt.Fprintf(out, "%s:%d:%d: no such file: %s\n", l.Position.File, l.Position.Line, l.Position.Column, l.Destination)
		},
	}
	b.md = goldmark.New(
		goldmark.WithExtensions(extension.GFM, &b.links, relative, addresses{}),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe()))
	var err error
	if b.templates, err = template.ParseFS(fsys, "templates/*.html"); err != nil {
		return nil, err
	}
	if err := advertise(b.templates); err != nil {
		return nil, err
	}
	if b.pages, err = readPages(fsys, "content"); err != nil {
		return nil, err
	}
	mentions, err := export.Read(must(fs.Sub(fsys, "mentions")))
	if err != nil {
		return nil, err
	}
	for _, p := range b.pages {
		path, _ := export.PageOf(baseURL + strings.TrimPrefix(p.Address, "/"))
		p.Mentions = mentions[path]
		var body bytes.Buffer
		p.doc, err = b.links.Convert(b.md, hook.Input{File: folder + p.File, Line: p.Line, Text: p.Text}, &body, fileOf(p.File))
		if err != nil {
			return nil, err
		}
		p.Body = template.HTML(body.String())
	}
	return b, nil
}

// advertise adds the webmention endpoint to the head of each page with text.
func advertise(set *template.Template) error {
	e, err := templates.NewEndpoints("", "https://webmention.example/hedge-and-stile")
	if err != nil {
		return err
	}
	return templates.Insert(set.Lookup("page.html"), e)
}

// build writes the site into docroot.
func (b *blog) build(docroot string) error {
	if err := os.CopyFS(docroot, must(fs.Sub(b.fsys, "static"))); err != nil {
		return fmt.Errorf("copy static files: %w", err)
	}
	for _, p := range b.pages {
		if err := b.write(docroot, p.Address, "page.html", p, p); err != nil {
			return err
		}
	}
	first := b.pages[:min(newest, len(b.pages))]
	home := list{Title: "Newest", Full: true, Groups: []group{{Pages: first}}}
	if err := b.write(docroot, "/", "list.html", home, first...); err != nil {
		return err
	}
	if err := b.write(docroot, "/archive/", "list.html", list{Title: "All pages", Groups: b.byTag()}); err != nil {
		return err
	}
	for _, p := range first {
		p.doc.Page("feed.xml")
	}
	feed, err := atom(first)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docroot, "feed.xml"), feed, 0o644)
}

// write executes a template into the index file of an address. shown are the
// pages whose text it contains.
func (b *blog) write(docroot, address, name string, data any, shown ...*page) error {
	var text bytes.Buffer
	if err := b.templates.ExecuteTemplate(&text, name, data); err != nil {
		return err
	}
	file := path.Join(strings.TrimPrefix(address, "/"), "index.html")
	for _, p := range shown {
		p.doc.Page(file)
	}
	b.written++
	file = filepath.Join(docroot, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// list is the data of a page that shows several texts.
type list struct {
	Title  string
	Full   bool // show the texts, not only their titles
	Groups []group
}

type group struct {
	Name  string
	Pages []*page
}

// byTag returns all pages grouped by tag, first those without a tag.
func (b *blog) byTag() []group {
	tags := map[string][]*page{}
	for _, p := range b.pages {
		if len(p.Tags) == 0 {
			tags[""] = append(tags[""], p)
		}
		for _, tag := range p.Tags {
			tags[tag] = append(tags[tag], p)
		}
	}
	var out []group
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, group{tag, tags[tag]})
	}
	return out
}

// must is for subtrees of the embedded files, which always exist.
func must(fsys fs.FS, err error) fs.FS {
	if err != nil {
		panic(err)
	}
	return fsys
}

type feed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string   `xml:"title"`
	ID      string   `xml:"id"`
	Links   []link   `xml:"link"`
	Updated string   `xml:"updated"`
	Author  string   `xml:"author>name"`
	Entries []entry  `xml:"entry"`
}

type entry struct {
	Title   string  `xml:"title"`
	ID      string  `xml:"id"`
	Link    link    `xml:"link"`
	Updated string  `xml:"updated"`
	Content content `xml:"content"`
}

type link struct {
	Rel  string `xml:"rel,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type content struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// atom returns the Atom feed of pages (RFC 4287), newest first. Pages have a
// date but no time.
func atom(pages []*page) ([]byte, error) {
	site := strings.TrimSuffix(baseURL, "/")
	f := feed{Title: "Hedge and Stile", ID: baseURL, Author: "The walkers",
		Links: []link{{Href: baseURL}, {Rel: "self", Href: site + "/feed.xml"}}}
	for _, p := range pages {
		updated := p.Date + "T00:00:00Z"
		if f.Updated == "" {
			f.Updated = updated
		}
		address := site + p.Address
		f.Entries = append(f.Entries, entry{p.Title, address, link{Href: address}, updated, content{"html", string(p.Body)}})
	}
	out, err := xml.MarshalIndent(f, "", "  ")
	return append([]byte(xml.Header), append(out, '\n')...), err
}
