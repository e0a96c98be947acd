package lsp

import (
	"bytes"
	"context"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Completion is what could be written at an offset.
type Completion struct {
	// Start and End are the range that an item replaces.
	Start, End int
	Items      []Item
	// More reports that there are others: ask again when the author typed more.
	More bool
}

// Item is one proposal.
type Item struct {
	// Text is what is written, Label what is shown beside Detail.
	Text, Label, Detail string
	Kind                ItemKind
}

// ItemKind is the kind of an item.
type ItemKind uint8

// The kinds of items.
const (
	ItemPage ItemKind = iota
	ItemFile
	ItemHeading
)

// maxItems is how many items are proposed at once.
const maxItems = 100

// typing is the destination that an author is writing.
type typing struct {
	start, end        int
	prefix            string // what precedes the cursor
	image, ref, label bool
}

// openings match what precedes a destination on its line. The destination is
// the last group.
var openings = []struct {
	re         func() *regexp.Regexp
	image, ref bool
	ends       string // the bytes that end the destination
}{
	{text.Regexp(`\{\{[<%]\s*(?:rel)?ref\s+(?:path=)?["` + "`" + `]([^"` + "`" + `]*)$`), false, true, "\"`"},
	{text.Regexp(`\]\[([^\]]*)$`), false, false, "]"},
	{text.Regexp(`!\[(?:[^\]\\]|\\.)*\]\(\s*<?([^)\s>]*)$`), true, false, ") \t>"},
	{text.Regexp(`\]\(\s*<?([^)\s>]*)$`), false, false, ") \t>"},
	{text.Regexp(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]*)$`), false, false, " \t>"},
	{text.Regexp(`(?i)<img\s[^>]*\bsrc\s*=\s*["']([^"']*)$`), true, false, "\"'"},
	{text.Regexp(`(?i)\b(?:href|src|action|cite|poster|data)\s*=\s*["']([^"']*)$`), false, false, "\"'"},
	{text.Regexp(`(?i)\b(?:src|image|img|figure)\s*[:=]\s*["']([^"']*)$`), true, false, "\"'"},
	{text.Regexp(`(?i)\b(?:href|url|link|pageRef)\s*[:=]\s*["']([^"']*)$`), false, false, "\"'"},
}

// typingAt returns the destination that is being written at an offset.
func typingAt(text []byte, offset int) (t typing, ok bool) {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	rest := text[offset:]
	if n := bytes.IndexAny(rest, "\r\n"); n >= 0 {
		rest = rest[:n]
	}
	for _, o := range openings {
		m := o.re().FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		t.prefix = string(line[m[2]:m[3]])
		t.start, t.end = offset-len(t.prefix), offset
		if n := bytes.IndexAny(rest, o.ends); n >= 0 {
			t.end = offset + n
		}
		t.image, t.ref, t.label = o.image, o.ref, o.ends == "]"
		return t, true
	}
	return typing{}, false
}

// Complete returns what an author may mean by the destination at an offset. ok is
// false if the offset is in no destination.
func (s *Snapshot) Complete(ctx context.Context, o *Overlay, file string, text []byte, offset int) (c Completion, ok bool) {
	t, ok := typingAt(text, offset)
	if !ok {
		return Completion{}, false
	}
	c.Start, c.End = t.start, t.end
	if t.label {
		completeLabel(&c, text, t.prefix)
		return c, true
	}
	if before, typed, isFragment := strings.Cut(t.prefix, "#"); isFragment {
		s.completeFragment(ctx, o, &c, &writing{typing: t, file: file, text: text, before: before, typed: typed})
		return c, true
	}
	switch {
	case t.ref:
		s.completeRef(&c, file, t.prefix)
	case strings.HasPrefix(t.prefix, "/") && !strings.HasPrefix(t.prefix, "//"):
		s.completeAddress(&c, t.prefix, t.image)
	default:
		// Files have the places of their pages if the generator resolves their paths, or
		// in a bundle.
		if base := path.Base(file); !strings.HasPrefix(t.prefix, "..") || s.hooks || strings.HasPrefix(base, "index.") || strings.HasPrefix(base, "_index.") {
			s.completeRelative(&c, file, t.prefix, t.image)
		}
		if t.prefix == "" {
			s.completeAddress(&c, "/", t.image)
		} else if !s.hooks && !t.image {
			completePages(s, &c, file, t.prefix)
		}
	}
	return c, true
}

// definition matches the definition of a label in Markdown.
var definition = text.Regexp(`(?m)^ {0,3}\[([^\]^][^\]]*)\]:[ \t]*<?([^\s>]+)`)

// completeLabel adds the labels that the text defines.
func completeLabel(c *Completion, text []byte, prefix string) {
	for _, m := range definition().FindAllSubmatch(text, -1) {
		label := string(m[1])
		if containsFold(label[:min(len(label), len(prefix))], strings.ToLower(prefix)) && !c.add(Item{Text: label, Label: label, Detail: string(m[2]), Kind: ItemHeading}) {
			return
		}
	}
}

// completePages adds the pages with an address, relative to the page of a file, that
// begins with what is typed.
func completePages(s *Snapshot, c *Completion, file, prefix string) {
	from := s.origin(file).address
	for i := range s.addresses {
		a := &s.addresses[i]
		if from == "" || !a.Page || a.Path == from {
			continue
		}
		it := addressItem(a)
		it.Text = weburl.Relative(from, a.Path)
		if strings.HasPrefix(prefix, "./") && !strings.HasPrefix(it.Text, ".") {
			it.Text = "./" + it.Text
		}
		it.Label = it.Text
		if strings.HasPrefix(it.Text, prefix) && !c.add(it) {
			return
		}
	}
}

var imageExtensions = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".svg": true, ".webp": true, ".avif": true, ".bmp": true, ".ico": true}

func isImage(name string) bool { return imageExtensions[strings.ToLower(path.Ext(name))] }

// add adds an item, and reports whether there is room for more.
func (c *Completion) add(it Item) bool {
	if len(c.Items) >= maxItems {
		c.More = true
		return false
	}
	c.Items = append(c.Items, it)
	return true
}

// completeAddress adds the addresses of the site that begin with what is typed,
// and then others if the address or the title contains it. Pages come before
// files. Where an image is meant, images come before everything else.
func (s *Snapshot) completeAddress(c *Completion, prefix string, image bool) {
	want := func(a *Address) bool {
		if image {
			return isImage(a.Path)
		}
		return a.Page
	}
	first, _ := slices.BinarySearchFunc(s.addresses, prefix, func(a Address, p string) int { return strings.Compare(a.Path, p) })
	last := first
	for last < len(s.addresses) && strings.HasPrefix(s.addresses[last].Path, prefix) {
		last++
	}
	for _, wanted := range []bool{true, false} {
		for i := first; i < last; i++ {
			if a := &s.addresses[i]; want(a) == wanted && !c.add(addressItem(a)) {
				return
			}
		}
	}
	words := strings.ToLower(strings.Trim(prefix, "/"))
	if words == "" {
		return
	}
	for i := range s.addresses {
		a := &s.addresses[i]
		if i >= first && i < last || !want(a) {
			continue
		}
		if containsFold(a.Path, words) || containsFold(a.Title, words) {
			if !c.add(addressItem(a)) {
				return
			}
		}
	}
}

// containsFold reports whether text contains words, which are in lower case, in any
// letter case of ASCII.
func containsFold(text, words string) bool {
	for i := 0; i+len(words) <= len(text); i++ {
		j := 0
		for j < len(words) {
			c := text[i+j]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != words[j] {
				break
			}
			j++
		}
		if j == len(words) {
			return true
		}
	}
	return false
}

func addressItem(a *Address) Item {
	it := Item{Text: a.Path, Label: a.Path, Detail: a.Title, Kind: ItemFile}
	if a.Page {
		it.Kind = ItemPage
	}
	return it
}

// completeRelative adds the files beside the content file, which are published
// beside its page.
func (s *Snapshot) completeRelative(c *Completion, file, prefix string, image bool) {
	dir, name := path.Split(prefix)
	if name == "." || name == ".." {
		dir = prefix + "/"
	}
	entries, err := s.readDir(path.Join(path.Dir(file), dir))
	if err != nil || path.IsAbs(file) {
		return
	}
	for _, wanted := range []bool{true, false} {
		for _, e := range entries {
			text := dir + e.Name()
			if e.IsDir() {
				text += "/"
			}
			switch {
			case !strings.HasPrefix(text, prefix), strings.HasPrefix(e.Name(), "."), isImage(e.Name()) != wanted, image && !wanted && !e.IsDir():
			case generator.IsMarkdown(e.Name()) && !s.hooks, path.Join(path.Dir(file), dir, e.Name()) == file:
			default:
				detail := ""
				if f := s.files[path.Join(path.Dir(file), dir, e.Name())]; f != nil {
					detail = f.title
				}
				if !c.add(Item{Text: text, Label: text, Detail: detail, Kind: ItemFile}) {
					return
				}
			}
		}
	}
}

// readDir lists a directory of the project.
func (s *Snapshot) readDir(dir string) ([]os.DirEntry, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// completeRef adds the content files that an argument of ref may name.
func (s *Snapshot) completeRef(c *Completion, file, prefix string) {
	words := strings.ToLower(prefix)
	for _, begins := range []bool{true, false} {
		for i := range s.content {
			f := &s.content[i]
			if len(s.pageOf[int32(i)]) == 0 || f.File == file {
				continue
			}
			text := "/" + f.Name
			starts := strings.HasPrefix(text, prefix) || strings.HasPrefix(f.Name, prefix)
			title := ""
			if x := s.files[f.File]; x != nil {
				title = x.title
			}
			if starts != begins || !starts && !containsFold(f.Name, words) && !containsFold(title, words) {
				continue
			}
			if !c.add(Item{Text: text, Label: text, Detail: title, Kind: ItemPage}) {
				return
			}
		}
	}
}

// writing is a fragment that an author is writing, after the path before.
type writing struct {
	typing
	file          string
	text          []byte
	before, typed string
}

// completeFragment adds the headings and other anchors of the target.
func (s *Snapshot) completeFragment(ctx context.Context, o *Overlay, c *Completion, w *writing) {
	node, headings := docroot.NoNode, []indexedHeading(nil)
	if w.before == "" {
		for _, h := range s.Headings(w.file, w.text) {
			headings = append(headings, indexedHeading{text: h.Text, id: h.Anchor})
		}
		if id, ok := s.page(w.file); ok {
			node = s.Site.Page(id).Node()
		}
	} else {
		d := destination.Destination{Start: w.start, End: w.end, Form: read.FormInline, Value: w.before, Element: "a"}
		if w.ref {
			d.Form, d.Name = read.FormShortcode, "ref"
		}
		at := s.origin(w.file)
		if node = s.lead(ctx, &at, &d).Node; node == docroot.NoNode {
			return
		}
		if f := s.indexed(o, s.SourceOf(node)); f != nil {
			headings = f.headings
		}
	}
	add := func(id, detail string) bool {
		return !strings.HasPrefix(strings.ToLower(id), strings.ToLower(w.typed)) || c.add(Item{Text: w.before + "#" + id, Label: "#" + id, Detail: detail, Kind: ItemHeading})
	}
	seen := map[string]bool{}
	for _, h := range headings {
		if seen[h.id] = true; h.id != "" && !add(h.id, h.text) {
			return
		}
	}
	if node == docroot.NoNode {
		return
	}
	id, ok := s.Site.PageOf(node)
	if !ok || o != nil && o.files[s.SourceOf(node)] != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == nil {
		return
	}
	s.reader.Anchors(id, func(name []byte, kind scan.AnchorKind) {
		if anchor := string(name); kind != scan.AnchorMap && !seen[anchor] {
			seen[anchor] = true
			add(anchor, "")
		}
	})
}
