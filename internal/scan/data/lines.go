package data

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/scan"
)

// Robots reads the Sitemap lines of robots.txt, in any letter case
// (https://www.sitemaps.org/protocol.html#submit_robots). The element of a link
// is "sitemap", its attribute is empty. Robots never fails.
func (s *Scanner) Robots(text []byte, opt scan.Options) *scan.Page {
	s.lines(text, func(line []byte, off int) {
		if k := bytes.IndexByte(line, '#'); k >= 0 {
			line = line[:k]
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !scan.EqualFold(scan.Trim(name), "sitemap") {
			return
		}
		off += len(name) + 1
		if v := scan.Trim(value); len(v) > 0 {
			off += len(value) - len(bytes.TrimLeft(value, scan.Space))
			s.b.Add(v, uint32(off), scan.KindLink, "sitemap", "")
		}
	})
	return &s.b.Page
}

// IsTextSitemap reports whether a sitemap is a plain list of addresses, not XML.
func IsTextSitemap(text []byte) bool {
	text = scan.Trim(text[scan.UTF8BOMLen(text):])
	return len(text) > 0 && text[0] != '<' && text[0] != 0 && text[0] < 0x80
}

// TextSitemap reads a sitemap with one absolute URL in a line
// (https://www.sitemaps.org/protocol.html#otherformats). The element of a link
// is "loc", its attribute is empty. Other lines are ignored.
func (s *Scanner) TextSitemap(text []byte, opt scan.Options) *scan.Page {
	s.lines(text, func(line []byte, off int) {
		if v := scan.Trim(line); scan.IsWebURL(v) {
			s.b.Add(v, uint32(off+bytes.Index(line, v)), scan.KindEntry, "loc", "")
		}
	})
	return &s.b.Page
}

// Headers reads the targets of the Link headers (RFC 8288, section 3) in a
// _headers file. The element of a link is "link", its attribute is empty. A
// line that is not indented gives the path that the indented lines below it
// apply to. Relative targets are resolved against that path or, if it has a *
// or a placeholder, against the part before it. Headers never fails.
func (s *Scanner) Headers(text []byte, opt scan.Options) *scan.Page {
	var rule []byte
	s.lines(text, func(line []byte, off int) {
		if len(line) > 0 && line[0] != ' ' && line[0] != '\t' {
			if line[0] != '#' {
				rule = headerBase(bytes.TrimRight(line, scan.Space))
			}
			return
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !scan.EqualFold(scan.Trim(name), "link") {
			return
		}
		first := len(s.b.Page.Links)
		off += len(name) + 1
		linkHeader(value, func(start, end int, kind scan.LinkKind) {
			s.b.Add(value[start:end], uint32(off+start), kind, "link", "")
		})
		s.b.Rebase(first, rule)
	})
	return &s.b.Page
}

// headerBase returns the base URL for the targets of a rule.
func headerBase(path []byte) []byte {
	if k := bytes.IndexByte(path, '*'); k >= 0 {
		path = path[:k]
	}
	if k := bytes.Index(path, []byte("/:")); k >= 0 {
		path = path[:k+1]
	}
	return path
}

// lines calls f with each line of a text in UTF-8 and its offset.
func (s *Scanner) lines(text []byte, f func(line []byte, off int)) {
	s.b.Reset(text, "utf-8")
	s.b.Page.Quirks = false
	i := scan.UTF8BOMLen(text)
	for i < len(text) {
		end, next := scan.LineEnd(text, i)
		f(text[i:end], i)
		i = next
	}
	s.b.RepairUTF8()
}

// linkHeader calls emit for each target of a Link header's value. start and end
// are the range between < and >. The kind is [scan.KindHint] if all relations
// only name a host. It stops at the first syntax error.
func linkHeader(value []byte, emit func(start, end int, kind scan.LinkKind)) {
	for i := 0; i < len(value); {
		switch {
		case value[i] == ',' || value[i] == ' ' || value[i] == '\t':
			i++
			continue
		case value[i] != '<':
			return
		}
		n := bytes.IndexByte(value[i:], '>')
		if n < 0 {
			return
		}
		start, end := i+1, i+n
		rel, next := linkParameters(value, end+1)
		kind := scan.KindLink
		if k, _, _ := scan.Relations(rel); k == scan.KindHint {
			kind = scan.KindHint
		}
		emit(start, end, kind)
		i = next
	}
}

// linkParameters reads the parameters after a target, up to the comma before
// the next target. It returns the value of the first rel.
func linkParameters(value []byte, i int) (rel []byte, next int) {
	for i < len(value) && value[i] != ',' {
		if value[i] != ';' {
			i++
			continue
		}
		j := i + 1
		for j < len(value) && value[j] != '=' && value[j] != ';' && value[j] != ',' {
			j++
		}
		name := scan.Trim(value[i+1 : j])
		if i = j; i == len(value) || value[i] != '=' {
			continue
		}
		i = scan.SkipSpace(value, i+1)
		from := i
		if i < len(value) && value[i] == '"' {
			from++
			for i++; i < len(value) && value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
			i = min(i, len(value))
		} else {
			for i < len(value) && value[i] != ';' && value[i] != ',' {
				i++
			}
		}
		if rel == nil && scan.EqualFold(name, "rel") {
			rel = scan.Trim(value[min(from, i):i])
		}
	}
	return rel, i
}
