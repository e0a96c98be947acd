package layout

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Source is the text of a template and where it lies.
type Source struct {
	// File names the template in results.
	File string
	Text []byte
	Lang Language
}

// Loader finds the template that a call names, in the file from. ok is false
// when there is none, or when the name is not known before the page is made.
type Loader func(name, from string) (s Source, ok bool)

// maxDepth bounds calls of calls, maxCalls all calls of a page, and maxBytes
// what is read for them: templates may call each other in circles.
const (
	maxDepth = 24
	maxCalls = 5000
	maxBytes = 16 << 20
)

// Walk reads the template root and all that it calls, as they follow each other
// on a page. Where templates branch, each branch is read; what stands behind
// goes on from the first.
func Walk(root Source, load Loader) *Doc {
	w := &walker{doc: &Doc{}, load: load}
	w.file(root, frame{page: true, chain: []string{root.File}})
	return w.doc
}

type walker struct {
	doc  *Doc
	load Loader
	html tokenizer
	// branches numbers the parts around the place being read; one number is
	// given to each part once.
	branches   []int
	lastBranch int
	// guards are the branches that depend on a template's being there alone.
	guards    []int
	calls     int
	bytes     int
	headOpen  bool
	headDone  bool
	templates int // depth of <template> elements
	cached    bool
	blocks    []string
}

// frame is a file being read.
type frame struct {
	page  bool // the data of the file is the page
	chain []string
	depth int
}

// level is a part that an action has opened.
type level struct {
	kind  actionKind
	saved tokenizer
	first tokenizer
	turns int
	dot   bool
	// page is what the frame said before a block gave other data.
	page bool
}

// file reads one file. dot tells whether the dot is the page.
func (w *walker) file(s Source, f frame) {
	if !slices.Contains(w.doc.Files, s.File) {
		w.doc.Files = append(w.doc.Files, s.File)
	}
	w.part(s, 0, len(s.Text), f)
}

// part reads a stretch of a file: all of it, or the inside of a define.
func (w *walker) part(s Source, from, to int, f frame) {
	var levels []level
	dot, base := f.page, len(w.branches)
	defer func() { w.branches = w.branches[:base] }()
	for i := from; i < to; {
		seg := s.Lang.next(s.Text[:to], i, w.html.inMarkup())
		if seg.end <= i { // cannot be; a loop without end would be worse
			return
		}
		i = seg.end
		if !seg.isAction {
			w.html.feed(s.Text[seg.start:seg.end], Pos{s.File, seg.start},
				func(g tag) { w.tag(g, f, dot) }, func(p Pos) { w.words(p, f, dot) })
			continue
		}
		if seg.code == "" {
			continue
		}
		a := s.Lang.action(seg.code)
		switch a.kind {
		case plain:
			if m := writtenComment.FindStringSubmatch(seg.code); m != nil && s.Lang == Go {
				// What html/template would take out of the text is written so.
				w.html.feed([]byte(m[1]), Pos{s.File, seg.start}, func(tag) {}, func(Pos) {})
				continue
			}
			w.html.hole()
		case extends:
			if w.doc.Extends == "" {
				w.doc.Extends = a.name
			}
		case opens, rebinds, blocks, guards:
			l := level{kind: a.kind, saved: w.html, dot: dot, page: f.page}
			switch a.kind {
			case rebinds:
				dot = false
			case blocks:
				if s.Lang == Go {
					f.page = w.isPage(a.arg, f, dot)
					dot = f.page
				}
				w.blocks = append(w.blocks, a.name)
				w.doc.AllBlocks = append(w.doc.AllBlocks, a.name)
				if w.inHead() {
					w.doc.Blocks = append(w.doc.Blocks, a.name)
				}
			}
			if a.kind != blocks { // which is always written
				w.branch()
			}
			if a.kind == guards {
				w.guards = append(w.guards, w.lastBranch)
			}
			levels = append(levels, l)
		case turns:
			if n := len(levels); n > 0 && levels[n-1].kind != blocks {
				l := &levels[n-1]
				if l.turns == 0 {
					l.first = w.html
				}
				l.turns++
				written := w.html.written
				w.html = l.saved
				w.html.written = max(written, l.saved.written)
				w.branches = w.branches[:len(w.branches)-1]
				w.branch()
				dot = l.dot
			}
		case closes:
			n := len(levels)
			if n == 0 {
				continue
			}
			l := levels[n-1]
			levels = levels[:n-1]
			dot, f.page = l.dot, l.page
			if l.kind == blocks {
				w.blocks = w.blocks[:len(w.blocks)-1]
				continue
			}
			w.branches = w.branches[:len(w.branches)-1]
			if l.turns > 0 {
				written := w.html.written
				w.html = l.first
				w.html.written = max(written, l.first.written)
			}
		case defines:
			if a.name != "" {
				w.doc.Defines = append(w.doc.Defines, a.name)
			}
			i = s.Lang.skipDefine(s.Text[:to], i)
		case calls:
			w.call(s, seg, a, f, dot)
		}
	}
}

func (w *walker) branch() {
	w.lastBranch++
	w.branches = append(w.branches, w.lastBranch)
}

// pageWords are expressions whose value is the page when the dot is.
var pageWords = []string{".", ".Page", "$", "$.Page"}

func (w *walker) isPage(arg string, f frame, dot bool) bool {
	if !slices.Contains(pageWords, arg) {
		return arg == "page"
	}
	if arg[0] == '$' {
		return f.page
	}
	return dot
}

func (w *walker) call(s Source, seg segment, a action, f frame, dot bool) {
	page := true
	if s.Lang == Go {
		page = w.isPage(a.arg, f, dot)
	}
	if s.Lang == Go && firstWord(seg.code) == "template" {
		if from, to, found := w.defined(a.name, s); found {
			w.record(s, seg, a, f, dot, page, s.File)
			if w.enter(s) && f.depth < maxDepth {
				w.part(s, from, to, frame{page: page, chain: f.chain, depth: f.depth + 1})
			}
			return
		}
	}
	callee, ok := w.load(a.name, s.File)
	if !ok {
		w.record(s, seg, a, f, dot, page, "")
		w.html.hole()
		return
	}
	w.record(s, seg, a, f, dot, page, callee.File)
	if !w.enter(callee) || f.depth >= maxDepth {
		return
	}
	was := w.cached
	w.cached = w.cached || a.cached
	w.file(callee, frame{page: page, chain: append(slices.Clone(f.chain), callee.File), depth: f.depth + 1})
	w.cached = was
}

// enter tells whether there is budget for another reading of a file.
func (w *walker) enter(s Source) bool {
	w.calls++
	w.bytes += len(s.Text)
	return w.calls <= maxCalls && w.bytes <= maxBytes
}

// defined looks for {{define "name"}} in the file.
func (w *walker) defined(name string, s Source) (from, to int, ok bool) {
	if !w.enter(s) || !bytes.Contains(s.Text, []byte("define")) {
		return 0, 0, false
	}
	for i := 0; i < len(s.Text); {
		seg := s.Lang.next(s.Text, i, true)
		i = seg.end
		if !seg.isAction {
			continue
		}
		if a := s.Lang.action(seg.code); a.kind == defines && a.name == name {
			end, _ := s.Lang.defineEnd(s.Text, i)
			return i, end, true
		}
	}
	return 0, 0, false
}

// inHead tells whether what is written here stands between the tags of the head.
func (w *walker) inHead() bool {
	return w.headOpen && !w.headDone && w.templates == 0 && w.html.state == inText
}

func (w *walker) record(s Source, seg segment, a action, f frame, dot, page bool, found string) {
	if !w.inHead() {
		return
	}
	c := Call{
		Spot: w.spot(Pos{s.File, seg.start}, w.html.written, f, dot),
		Name: a.name, Arg: a.arg, Found: found, Page: page, CachedCall: a.cached || w.cached, Guarded: a.guarded,
		InBody: w.doc.Body != nil,
	}
	for n := len(c.branches); n > 0 && slices.Contains(w.guards, c.branches[n-1]); n-- {
		c.branches, c.Guarded = c.branches[:n-1], true
	}
	w.doc.Calls = append(w.doc.Calls, c)
}

func (w *walker) spot(p Pos, before int, f frame, dot bool) Spot {
	s := Spot{Pos: p, Before: before, Cached: w.cached, Chain: f.chain, branches: slices.Clone(w.branches)}
	switch {
	case dot:
		s.Data = "."
	case f.page:
		s.Data = "$"
	}
	if n := len(w.blocks); n > 0 {
		s.InBlock = w.blocks[n-1]
	}
	return s
}

// headElements may stand in a head.
var headElements = map[string]bool{
	"base": true, "link": true, "meta": true, "noscript": true, "script": true, "style": true,
	"template": true, "title": true, "bgsound": true, "basefont": true, "noframes": true,
}

// writtenComment matches an action that writes the mark of a comment.
var writtenComment = regexp.MustCompile("^[\"`](<!--[^<>\"`]*|[^<>\"`]*-->)[\"`]\\s*\\|\\s*safeHTML$")

var (
	charsetAttr = regexp.MustCompile(`(?i)[\s"'/]charset\s*=|http-equiv\s*=\s*["']?content-type`)
	advert      = regexp.MustCompile(`(?i)\srel\s*=\s*["']?[^"'>]*\b(pingback|webmention)\b`)
	xhtmlMark   = regexp.MustCompile(`(?i)//DTD XHTML|^\?xml|\?xml `)
)

func (w *walker) tag(g tag, f frame, dot bool) {
	d := w.doc
	if g.name == "!" {
		d.XHTML = d.XHTML || xhtmlMark.MatchString(g.text)
		d.IsDocument = true
		return
	}
	d.IsDocument = d.IsDocument || g.name == "html"
	if g.name == "template" {
		if g.closing {
			w.templates = max(0, w.templates-1)
		} else {
			w.templates++
		}
		return
	}
	if w.templates > 0 {
		return
	}
	switch {
	case g.name == "html":
	case g.name == "head" && !g.closing:
		d.Heads = append(d.Heads, w.spot(g.end, g.before, f, dot))
		w.headOpen = true
	case g.name == "head":
		d.HeadEnds = append(d.HeadEnds, w.spot(g.start, g.before-len(g.text), f, dot))
		if len(d.HeadEnds) == 1 {
			d.BodyFirst = d.Body != nil
		}
		w.headDone = true
	case w.headDone || d.Body != nil:
	case headElements[g.name]:
		w.headOpen = true
		s := w.spot(g.end, g.before, f, dot)
		if m := advert.FindStringSubmatch(g.text); m != nil && g.name == "link" {
			d.Links = append(d.Links, Link{s, strings.ToLower(m[1])})
		}
		if g.name == "meta" && d.Charset == nil && charsetAttr.MatchString(g.text) {
			d.Charset = &s
		}
		if g.closing || g.name == "meta" || g.name == "link" || g.name == "base" {
			d.Implied = &s
		}
	default:
		s := w.spot(g.start, g.before-len(g.text), f, dot)
		d.Body = &s
	}
}

// words notes that text stands between tags, which begins the body.
func (w *walker) words(p Pos, f frame, dot bool) {
	if d := w.doc; w.templates == 0 && !w.headDone && d.Body == nil {
		s := w.spot(p, w.html.written, f, dot)
		d.Body = &s
	}
}
