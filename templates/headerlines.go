package templates

import (
	"bytes"
	"errors"
	"strings"
)

// The marks around a rule in a file of lines. The second form of the first one
// says that the line before it had no end until the rule came.
const (
	headerBegin     = "# sitelink:begin"
	headerBeginOpen = "# sitelink:begin, after a line without end"
	headerEnd       = "# sitelink:end"
)

// headerBlock is where a rule with its marks stands in a file: from includes
// the line end that was added before it.
type headerBlock struct {
	from, to int
	open     bool // the line before had no end
}

// findLines finds the marked rule; ok is false when there is none.
func findLines(text []byte) (b headerBlock, ok bool, err error) {
	begin := -1
	at := 0
	for line := range bytes.Lines(text) {
		switch content := string(bytes.TrimRight(line, "\r\n")); content {
		case headerBegin, headerBeginOpen:
			if begin >= 0 || ok {
				return b, false, errors.New("a mark " + headerBegin + " stands there twice")
			}
			begin = at
			b = headerBlock{from: at, open: content == headerBeginOpen}
		case headerEnd:
			if begin < 0 {
				return b, false, errors.New("a mark " + headerEnd + " has no beginning")
			}
			b.to, begin, ok = at+len(line), -1, true
		}
		at += len(line)
	}
	if begin >= 0 {
		return b, false, errors.New("the mark " + headerBegin + " has no end")
	}
	if ok && b.open {
		b.from -= len(lineEnd(text[:b.from]))
	}
	return b, ok, nil
}

// lineEnd returns the line end with which text ends, "" when it has none.
func lineEnd(text []byte) string {
	switch {
	case bytes.HasSuffix(text, []byte("\r\n")):
		return "\r\n"
	case bytes.HasSuffix(text, []byte("\n")):
		return "\n"
	}
	return ""
}

// insertLines puts rule between marks at the end of text, or in the place of
// the one that is there.
func insertLines(text []byte, rule string) ([]byte, error) {
	old, ok, err := findLines(text)
	if err != nil {
		return nil, err
	}
	if !ok {
		old = headerBlock{from: len(text), to: len(text), open: len(text) > 0 && lineEnd(text) == ""}
	}
	return putLines(text, old, rule), nil
}

// insertPath puts rule, whose first line is a path, into _headers. Where the
// file has lines for that path, the rest of rule goes there: of two paths that
// are the same, Cloudflare heeds the last one only. clean is text without the
// rule.
func insertPath(text, clean []byte, rule string) ([]byte, error) {
	path, headers, _ := strings.Cut(rule, "\n")
	old, ok, err := findLines(text)
	if err != nil {
		return nil, err
	}
	after, open := afterPath(clean, path)
	switch {
	case after < 0:
		return insertLines(text, rule)
	case ok && after <= old.from && pathOf(clean, old.from) == path:
		return putLines(text, old, headers), nil
	}
	return putLines(clean, headerBlock{from: after, to: after, open: open}, headers), nil
}

// afterPath returns the offset after the last line that is path, -1 for none;
// open tells whether that line has no end.
func afterPath(text []byte, path string) (after int, open bool) {
	after, at := -1, 0
	for line := range bytes.Lines(text) {
		if at += len(line); string(bytes.TrimSpace(line)) == path {
			after, open = at, lineEnd(line) == ""
		}
	}
	return after, open
}

// pathOf returns the path for which headers at off in _headers are.
func pathOf(text []byte, off int) string {
	path := ""
	for line := range bytes.Lines(text[:min(off, len(text))]) {
		if trimmed := string(bytes.TrimSpace(line)); isHeaderPath(trimmed) {
			path = trimmed
		}
	}
	return path
}

// isHeaderPath tells whether a line of _headers, without the white space
// around it, is a path.
func isHeaderPath(line string) bool {
	return strings.HasPrefix(line, "/") || strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")
}

// putLines puts rule between marks in the place of old.
func putLines(text []byte, old headerBlock, rule string) []byte {
	begin, eol := headerBegin, "\n"
	if first := bytes.IndexByte(text, '\n'); first > 0 && text[first-1] == '\r' {
		eol = "\r\n"
	}
	block := begin + "\n" + rule + headerEnd + "\n"
	if old.open {
		block = "\n" + headerBeginOpen + "\n" + rule + headerEnd + "\n"
	}
	block = strings.ReplaceAll(block, "\n", eol)
	return apply(nil, text, []splice{{old.from, old.to, block}})
}

// removeLines takes the marked rule out.
func removeLines(text []byte) ([]byte, error) {
	b, ok, err := findLines(text)
	if err != nil || !ok {
		return text, err
	}
	if b.open && b.to < len(text) { // somebody has gone on behind it: the line before needs its end now
		b.from += len(lineEnd(text[:bytes.Index(text[b.from:], []byte("#"))+b.from]))
	}
	return apply(nil, text, []splice{{b.from, b.to, ""}}), nil
}
