package markdown

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/scan"
)

// forgePage finds what a forge adds to the links of a Markdown file: the ids of headings,
// footnotes and HTML, and references without a definition.
type forgePage struct {
	s       *Scanner
	source  []byte
	locator *Locator
	// level is that of the open heading, 0 if none is; text is its text so far. In a heading
	// of HTML, text of Markdown counts too.
	level, at int
	text      []byte
	used      map[string]int // ids, with the number of the last repetition
	// refs is the text of the paragraph as far as brackets matter, with the places of its
	// bytes in the source; nil if the file has no "][".
	refs   []byte
	places []int
	known  bool
	labels []scan.Anchor // of definitions, which a page has if one is missing
	lacks  bool
}

// visit is called for each node before and after those in it.
func (f *forgePage) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch n := n.(type) {
	case *ast.Heading:
		if entering {
			f.open(n.Level, max(0, n.Pos()))
		} else {
			f.close()
		}
	case *ast.LinkReferenceDefinition:
		if entering {
			// "[//]: #" is how people write comments.
			if at := f.locator.Offset(n); at >= 0 && !f.s.defs[uint32(at)] && string(n.Destination) != "#" {
				f.s.b.Page.Unused = append(f.s.b.Page.Unused, 1+bytes.Count(f.source[:at], []byte("\n")))
			}
			f.labels = append(f.labels, scan.Anchor{Name: n.Label, Off: uint32(max(0, n.Pos())), Kind: scan.AnchorMap})
		}
	case *extast.FootnoteLink:
		if entering {
			f.text = strconv.AppendInt(f.text, int64(n.Index), 10)
			f.anchor("fnref-"+strconv.Itoa(n.Index), 0)
		}
	case *extast.Footnote:
		if entering {
			f.anchor("fn-"+string(n.Ref), max(0, n.Pos()))
			f.anchor("fnref-"+string(n.Ref), max(0, n.Pos()))
		}
	}
	if n.Type() == ast.TypeBlock && f.known {
		f.references()
	}
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Text:
		value := n.Value(f.source)
		if f.level > 0 {
			if !n.IsRaw() {
				value = unescaped(value)
			}
			f.text = append(f.text, value...)
			if n.SoftLineBreak() || n.HardLineBreak() {
				f.text = append(f.text, '\n')
			}
		}
		if f.known {
			for i := n.Segment.Start; i < n.Segment.Stop; i++ {
				f.refs, f.places = append(f.refs, f.source[i]), append(f.places, i)
			}
			if n.SoftLineBreak() {
				f.refs, f.places = append(f.refs, ' '), append(f.places, n.Segment.Stop)
			}
		}
	case *ast.AutoLink:
		f.text = append(f.text, n.Label(f.source)...)
		f.opaque(n)
	case *ast.RawHTML, *ast.HTMLBlock:
		f.html(n)
		f.opaque(n)
	case *ast.Image:
		f.opaque(n)
		return ast.WalkSkipChildren, nil
	case *ast.CodeSpan, *ast.Link:
		f.opaque(n)
		if f.level == 0 {
			return ast.WalkSkipChildren, nil
		}
		known := f.known
		f.known = false
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			_ = ast.Walk(c, f.visit)
		}
		f.known = known
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}

// opaque notes an inline node that may be the text of a reference, but holds no part of one.
func (f *forgePage) opaque(n ast.Node) {
	if f.known && n.Type() == ast.TypeInline {
		f.refs, f.places = append(f.refs, 0), append(f.places, max(0, n.Pos()))
	}
}

func (f *forgePage) open(level, at int) { f.level, f.at, f.text = level, at, f.text[:0] }

// close gives the open heading its id. github-slugger has the rule for repetitions.
func (f *forgePage) close() {
	if f.level == 0 {
		return
	}
	f.level = 0
	base := f.s.Slug(string(f.text))
	id := base
	for n, taken := f.used[id]; taken; _, taken = f.used[id] {
		n++
		f.used[base], id = n, base+"-"+strconv.Itoa(n)
	}
	f.used[id] = 0
	f.anchor(id, f.at)
}

func (f *forgePage) anchor(id string, at int) {
	if id != "" {
		f.s.b.Page.Anchors = append(f.s.b.Page.Anchors, scan.Anchor{Name: f.s.b.Keep([]byte(id)), Off: uint32(at)})
	}
}

// html reads the tags of raw HTML for headings. [Scanner.addHTML] has already
// read their links and ids.
func (f *forgePage) html(n ast.Node) {
	raw := &f.s.raw
	raw.take(f.source, n)
	if f.level == 0 && !hasHeading(raw.html) {
		return
	}
	z := html.NewTokenizer(bytes.NewReader(raw.html))
	for at := 0; ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		start := at
		at += len(z.Raw())
		switch kind {
		case html.TextToken:
			f.text = append(f.text, z.Text()...)
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			switch {
			case len(name) != 2 || name[0] != 'h' || name[1] < '1' || name[1] > '6':
			case kind == html.StartTagToken:
				f.close() // one in a heading ends it
				f.open(int(name[1]-'0'), max(0, raw.SourceOffset(start)))
			default:
				f.close()
			}
		}
	}
}

// hasHeading reports whether HTML may have the tag of a heading.
func hasHeading(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || i+2 >= len(text) {
			return false
		}
		if text = text[i+1:]; text[0]|0x20 == 'h' && '1' <= text[1] && text[1] <= '6' {
			return true
		}
	}
}

// undefined matches a reference in text. Brackets behind a word, a bracket or a backslash are
// code or text: a[i][j].
var undefined = regexp.MustCompile(`(^|[^\w\])\\])\[([^\[\]]*[\pL\x00][^\[\]]*)\]\[([^\[\]]*)\]`)

// references adds the references of a paragraph that have no definition as links.
func (f *forgePage) references() {
	if bytes.Contains(f.refs, []byte("][")) {
		for _, m := range undefined.FindAllSubmatchIndex(f.refs, -1) {
			from, to := m[6], m[7]
			if from == to {
				from, to = m[4], m[5]
			}
			label := f.refs[from:to]
			if bytes.IndexByte(label, 0) >= 0 || m[6] < m[7] && bytes.Equal(label, f.refs[m[4]:m[5]]) || // [tab][tab]
				len(bytes.TrimSpace(label)) == 0 || label[0] == '^' {
				continue
			}
			f.lacks = true
			f.s.b.Add(f.s.b.Keep(label), uint32(f.places[from]), scan.KindUndefined, "reference", "")
		}
	}
	f.refs, f.places = f.refs[:0], f.places[:0]
}
