package templates

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
)

// mark ends what is written into a built page. It is how a later run knows its
// own elements from those of a template, so that no record has to be kept
// beside the docroot: a copy of the docroot can be undone as well.
const mark = "<!--sitelink-->"

// maxElementEnd is where an element in the head ends at the latest: clients may
// look no further (PB-35; Pingback 1.0, 2.3).
const maxElementEnd = 5000

// block returns what is written into a page that needs these elements, "" for
// none.
func block(elements string) string {
	if elements == "" {
		return ""
	}
	return elements + mark
}

// blockLength returns the length of the block that text begins with, 0 when it
// begins with none.
func blockLength(text []byte) int {
	i := 0
	for {
		k := linkLength(text[i:])
		if k == 0 {
			break
		}
		i += k
	}
	if i == 0 || !bytes.HasPrefix(text[i:], []byte(mark)) {
		return 0
	}
	return i + len(mark)
}

// linkLength returns the length of the element, in one of the forms that
// [Endpoints.HTML] writes, that text begins with; 0 when it begins with none.
func linkLength(text []byte) int {
	for _, rel := range [...]string{"pingback", "webmention"} {
		start := `<link rel="` + rel + `" href="`
		if !bytes.HasPrefix(text, []byte(start)) {
			continue
		}
		k := bytes.IndexByte(text[len(start):], '"')
		if k < 1 {
			return 0
		}
		for _, end := range [...]string{`">`, `" />`} {
			if bytes.HasPrefix(text[len(start)+k:], []byte(end)) {
				return len(start) + k + len(end)
			}
		}
		return 0
	}
	return 0
}

// findBlock returns where in the page's head a block stands; from is to when
// none does.
func findBlock(text []byte, h *scan.Head) (from, to int) {
	if n := blockLength(text[h.Charset:]); n > 0 && h.Charset > 0 {
		return h.Charset, h.Charset + n
	}
	return h.Start, h.Start + blockLength(text[h.Start:])
}

// place returns where n bytes are inserted into a page without block: right
// after the charset declaration, so that nothing that a parser needs early
// moves, or where there is none, or it comes too late for pingback clients, at
// the start of the head.
func place(h *scan.Head, n int) int {
	if h.Charset > 0 && h.Charset+n <= maxElementEnd {
		return h.Charset
	}
	return h.Start
}
