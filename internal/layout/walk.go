package layout

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Source is the text of a template and its file.
type Source struct {
	// File names the template in results.
	File string
	Text []byte
	Lang Language
}

// Loader finds the template that a call in the file from names. ok is false when
// it does not exist, or when its name is only known while a page is made.
type Loader func(name, from string) (s Source, ok bool)

// maxDepth limits nested calls, maxCalls all calls of a page, and maxBytes the
// text read for them: templates may call each other in circles.
const (
	maxDepth = 24
	maxCalls = 5000
	maxBytes = 16 << 20
)

// Walk reads the template root and all templates that it calls, in the order in
// which they write a page. It reads each branch of a condition, and continues
// after the condition in the state that the first branch left.
func Walk(root Source, load Loader) *Doc {
	w := &walker{doc: &Doc{}, load: load}
	w.file(root, frame{page: true, chain: []string{root.File}})
	return w.doc
}

type walker struct {
	doc  *Doc
	load Loader
	html tokenizer
	// branches holds the numbers of the conditional parts around the current
	// place. Each part has its own number.
	branches   []int
	lastBranch int
	// guards are the branches that only depend on whether a template exists.
	guards    []int
	calls     int
	bytes     int
	headOpen  bool
	headDone  bool
	templates int // depth of <template> elements
	cached    bool
	blocks    []string
}

// frame is a file that is being read.
type frame struct {
	page  bool // the file is executed with the page as its data
	chain []string
	depth int
}

// level is a part that an action opened.
type level struct {
	kind  actionKind
	saved tokenizer
	first tokenizer
	turns int
	dot   bool
	// page is frame.page before a block changed the data.
	page bool
}

// file reads one file.
func (w *walker) file(s Source, f frame) {
	if !slices.Contains(w.doc.Files, s.File) {
		w.doc.Files = append(w.doc.Files, s.File)
	}
	w.part(s, 0, len(s.Text), f)
}

// part reads a range of a file: all of it, or the body of a define.
func (w *walker) part(s Source, from, to int, f frame) {
	var levels []level
	dot, base := f.page, len(w.branches)
	defer func() { w.branches = w.branches[:base] }()
	for i := from; i < to; {
		seg := s.Lang.next(s.Text[:to], i, w.html.inMarkup())
		if seg.end <= i { // cannot happen; avoids an endless loop
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
				// Written as a string because html/template removes comments.
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
			if a.kind != blocks { // a block is always written
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
			w.call(callSite{source: s, segment: seg, action: a, frame: f, dot: dot})
		}
	}
}

func (w *walker) branch() {
	w.lastBranch++
	w.branches = append(w.branches, w.lastBranch)
}

// pageWords are expressions whose value is the page if the dot is the page.
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

// callSite is an action that calls another template.
type callSite struct {
	source  Source
	segment segment
	action  action
	frame   frame
	dot     bool // the dot is the page
	page    bool // the called template gets the page
}

func (w *walker) call(c callSite) {
	c.page = true
	if c.source.Lang == Go {
		c.page = w.isPage(c.action.arg, c.frame, c.dot)
	}
	depth := c.frame.depth + 1
	if c.source.Lang == Go && firstWord(c.segment.code) == "template" {
		if from, to, found := w.defined(c.action.name, c.source); found {
			w.record(c, c.source.File)
			if w.enter(c.source) && depth <= maxDepth {
				w.part(c.source, from, to, frame{page: c.page, chain: c.frame.chain, depth: depth})
			}
			return
		}
	}
	callee, ok := w.load(c.action.name, c.source.File)
	if !ok {
		w.record(c, "")
		w.html.hole()
		return
	}
	w.record(c, callee.File)
	if !w.enter(callee) || depth > maxDepth {
		return
	}
	was := w.cached
	w.cached = w.cached || c.action.cached
	w.file(callee, frame{page: c.page, chain: append(slices.Clone(c.frame.chain), callee.File), depth: depth})
	w.cached = was
}

// enter reports whether the limits allow reading s, and counts it.
func (w *walker) enter(s Source) bool {
	w.calls++
	w.bytes += len(s.Text)
	return w.calls <= maxCalls && w.bytes <= maxBytes
}

// defined returns the body of {{define "name"}} in the file.
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

// inHead reports whether the current place is between the tags of the head.
func (w *walker) inHead() bool {
	return w.headOpen && !w.headDone && w.templates == 0 && w.html.state == inText
}

// record notes a call in the head. found is the file that it leads to.
func (w *walker) record(site callSite, found string) {
	if !w.inHead() {
		return
	}
	a := site.action
	c := Call{
		Spot: w.spot(Pos{site.source.File, site.segment.start}, w.html.written, site.frame, site.dot),
		Name: a.name, Arg: a.arg, Found: found, Page: site.page, CachedCall: a.cached || w.cached, Guarded: a.guarded,
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

// headElements are the elements that a head may contain.
var headElements = map[string]bool{
	"base": true, "link": true, "meta": true, "noscript": true, "script": true, "style": true,
	"template": true, "title": true, "bgsound": true, "basefont": true, "noframes": true,
}

// writtenComment matches an action that writes the start or end of a comment.
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

// words handles text between tags: outside of the head it starts the body.
func (w *walker) words(p Pos, f frame, dot bool) {
	if d := w.doc; w.templates == 0 && !w.headDone && d.Body == nil {
		s := w.spot(p, w.html.written, f, dot)
		d.Body = &s
	}
}
