package source

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/scan"
)

// ReadWritten returns the places of links in a file, sorted by offset. name is its
// path in the project.
func ReadWritten(name string, text []byte, g generator.Name) []Written {
	var all []Written
	switch {
	case path.Base(name) == ".htaccess":
		all = rulesWritten(text, apacheFields)
	case isRuleTemplate(name) && !isHTMLLike(name) && !isContent(name):
		all = rulesWritten(text, ruleFields)
	case isContent(name) && !(isHTMLName(name) && frontMatter(text) == 0 && bytes.Contains(text, []byte("{{"))) && !(isHTMLName(name) && !g.Traits().Refs && isHTMLTemplate(name, text)):
		all = contentWritten(parseDocument(name, text, g.Traits().Refs))
	case isHTMLLike(name), hasExtension(name, wordSet(".svg .xml")):
		all = append(matterWritten(values(text, 0, frontMatter(text)), FormMatter), templateWritten(text)...)
	case hasExtension(name, wordSet(".css .scss .sass .less")):
		var s scan.CSSScanner
		page := s.Scan(text, scan.Options{DefaultCharset: "utf-8"})
		for i := range page.Links {
			l := &page.Links[i]
			at := int(page.Source(l.Off))
			all = append(all, Written{At: at, Position: at, Value: string(l.Value), Form: FormCSS, Element: page.Element(l)})
		}
	case isTemplate(name), hasExtension(name, wordSet(".webmanifest")):
		of := values(text, 0, len(text))
		for i := range of {
			of[i].nested = true
		}
		all = matterWritten(of, FormData)
	}
	slices.SortStableFunc(all, func(a, b Written) int { return a.At - b.At })
	return slices.CompactFunc(all, func(a, b Written) bool { return a.At == b.At })
}

// contentWritten returns the places of a content file, with the definitions that
// no link uses.
func contentWritten(d *Document) []Written {
	all := matterWritten(d.matter, FormMatter)
	for _, w := range d.links {
		if w.Position = w.At; w.Form == FormShortcode {
			w.Value = w.Value[:min(w.Size, len(w.Value))]
		}
		all = append(all, w)
	}
	for _, def := range d.defs {
		all = append(all, Written{At: def.at, Position: def.at, Value: def.dest, Form: FormDefinition})
	}
	return all
}

// matterWritten returns the values that may be links.
func matterWritten(values []value, form Form) (all []Written) {
	for _, v := range values {
		if v.holdsLink() {
			all = append(all, Written{At: v.at, Position: v.at, Value: v.text, Form: form, Key: v.key})
		}
	}
	return all
}

// templateWritten returns the addresses in the attributes of a template, and the
// strings in actions there.
func templateWritten(text []byte) (all []Written) {
	o, links := readTemplate(text)
	for i := range links {
		w := &links[i]
		from, to := w.attr.from, w.attr.to
		if w.isLiteral() && !strings.HasSuffix(w.attr.name, "srcset") {
			all = append(all, Written{At: from, Position: from, Value: w.pieces[0], Form: FormHTML, Element: w.element, Name: w.attr.name})
			continue
		}
		for i := from; i < to; i++ {
			end := i
			for end < to && o.text[end] == masked {
				end++
			}
			for _, s := range actionStrings(text, i, end) {
				s.Element, s.Name = w.element, w.attr.name
				s.Position = i
				all = append(all, s)
			}
			i = end
		}
	}
	return all
}

// actionStrings returns the strings in the actions between two offsets.
func actionStrings(text []byte, from, to int) (all []Written) {
	for i := from; i < to; i++ {
		q := text[i]
		if q != '"' && q != '`' && q != '\'' {
			continue
		}
		n := bytes.IndexByte(text[i+1:to], q)
		if n < 0 {
			return all
		}
		if s := text[i+1 : i+1+n]; n > 0 && !bytes.ContainsAny(s, "\\\n") {
			all = append(all, Written{At: i + 1, Position: i, Value: string(s), Form: FormString, Size: n})
		}
		i += n + 1
	}
	return all
}

// rulesWritten returns the destinations in the lines of a rule file.
func rulesWritten(text []byte, fields func(line []byte) (from, to string)) (all []Written) {
	off := 0
	for line := range bytes.Lines(text) {
		if from, to := fields(line); to != "" {
			first := bytes.Index(line, []byte(from))
			at := off + first + len(from) + bytes.Index(line[first+len(from):], []byte(to))
			all = append(all, Written{At: at, Position: off + first, Value: to, Size: len(to), Key: from})
		}
		off += len(line)
	}
	return all
}
