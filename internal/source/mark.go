package source

import (
	"bytes"
	"html"
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// marks are what a page says itself about its source, for templates that want
// no guessing: <meta name="sitelink:source" content="content/post/a.md"> names
// the file; <!-- sitelink:source content/post/a.md:12:7 --> the place of the
// next link, or, without a line, the file of all links up to the next one.
type marks struct {
	file     string
	comments []mark
}

type mark struct {
	at           int // where the comment ends
	file         string
	line, column int // 0 when not given
}

var (
	markWord    = []byte("sitelink:source")
	metaContent = regexp.MustCompile(`(?is)\bcontent\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)`)
	markPlace   = regexp.MustCompile(`^(.+?)(?::(\d{1,9})(?::(\d{1,9}))?)?$`)
)

// findMarks looks for both forms.
func findMarks(text []byte) (m marks) {
	for i := 0; ; {
		n := bytes.Index(text[i:], markWord)
		if n < 0 {
			return m
		}
		at := i + n
		i = at + len(markWord)
		open := bytes.LastIndexByte(text[:at], '<')
		if open < 0 {
			continue
		}
		switch before := string(text[open:at]); {
		case strings.HasPrefix(before, "<!--") && strings.TrimSpace(before[4:]) == "":
			end := bytes.Index(text[i:], []byte("-->"))
			if end < 0 {
				continue
			}
			if p := markPlace.FindStringSubmatch(strings.TrimSpace(html.UnescapeString(string(text[i : i+end])))); p != nil {
				c := mark{at: i + end + 3, file: cleanMark(p[1])}
				c.line, _ = strconv.Atoi(p[2])
				c.column, _ = strconv.Atoi(p[3])
				m.comments = append(m.comments, c)
			}
		case len(before) > 5 && strings.EqualFold(before[:5], "<meta") && m.file == "":
			end := bytes.IndexByte(text[i:], '>')
			if end < 0 {
				continue
			}
			if c := metaContent.FindSubmatch(text[open : i+end]); c != nil {
				m.file = cleanMark(html.UnescapeString(strings.Trim(string(c[1]), `"'`)))
			}
		}
	}
}

// cleanMark makes a slash path of a file name as templates print it.
func cleanMark(name string) string {
	return path.Clean(strings.ReplaceAll(strings.TrimSpace(name), `\`, "/"))
}

// marked places a link by the comment before it. ok is false when no comment
// speaks of it.
func (m *Map) marked(all marks, links []pageLink, j int) (*Position, bool) {
	on := &links[j]
	var by *mark
	if i := sort.Search(len(all.comments), func(i int) bool { return int64(all.comments[i].at) > on.offset }); i > 0 {
		by = &all.comments[i-1]
	}
	if by == nil || by.line > 0 && j > 0 && links[j-1].offset >= int64(by.at) {
		return nil, false
	}
	f, ok := m.content.named(by.file)
	if !ok {
		return nil, false
	}
	doc := m.document(f)
	if doc == nil {
		return nil, false
	}
	if by.line == 0 {
		at, _, ok := doc.only(&on.addr, m.addresses(doc.items, m.page), m.matterAddresses(doc, m.page))
		if !ok {
			return nil, false
		}
		return doc.place(f.shown, at), true
	}
	// The mark is of the link; its destination is looked for from there on.
	from, to, ok := doc.lines.span(by.line)
	if !ok {
		return nil, false
	}
	best := -1
	for _, it := range doc.items {
		src := m.address(it.dest, m.page)
		if it.order < from || it.order >= to || fits(&src, &on.addr) == noMatch {
			continue
		}
		_, column := doc.lines.at(it.order)
		if best < 0 || column <= by.column {
			best = it.at
		}
	}
	if best >= 0 {
		return doc.place(f.shown, best), true
	}
	return &Position{File: f.shown, Line: by.line, Column: max(1, by.column), Module: doc.module}, true
}
