package read

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/scan"
)

// Links returns the places of links in a file, sorted by offset. name is its
// path in the project.
func Links(name string, text []byte, g generator.Name) []Written {
	var all []Written
	switch {
	case path.Base(name) == ".htaccess":
		all = rulesWritten(text, apacheFields)
	case IsRuleTemplate(name) && !IsHTMLLike(name) && !IsContent(name):
		all = rulesWritten(text, RuleFields)
	case IsContent(name) && !(IsHTMLName(name) && FrontMatter(text) == 0 && bytes.Contains(text, []byte("{{"))) && !(IsHTMLName(name) && !g.Traits().Refs && IsHTMLTemplate(name, text)):
		d := Parse(name, text, g.Traits().Refs)
		all = matterWritten(d.Matter, FormMatter)
		for _, w := range d.Links {
			if w.Position = w.At; w.Form == FormShortcode {
				w.Value = w.Value[:min(w.Size, len(w.Value))]
			}
			all = append(all, w)
		}
		for _, def := range d.Defs { // also those that no link uses
			all = append(all, Written{At: def.At, Position: def.At, Value: def.Dest, Form: FormDefinition})
		}
	case IsHTMLLike(name), hasExtension(name, WordSet(".svg .xml")):
		all = append(matterWritten(Values(text, 0, FrontMatter(text)), FormMatter), templateWritten(text)...)
	case hasExtension(name, WordSet(".css .scss .sass .less")):
		var s scan.CSSScanner
		page := s.Scan(text, scan.Options{DefaultCharset: "utf-8"})
		for i := range page.Links {
			l := &page.Links[i]
			at := int(page.Source(l.Off))
			all = append(all, Written{At: at, Position: at, Value: string(l.Value), Form: FormCSS, Element: page.Element(l)})
		}
	case IsTemplate(name), hasExtension(name, WordSet(".webmanifest")):
		of := Values(text, 0, len(text))
		for i := range of {
			of[i].Nested = true
		}
		all = matterWritten(of, FormData)
	}
	slices.SortStableFunc(all, func(a, b Written) int { return a.At - b.At })
	return slices.CompactFunc(all, func(a, b Written) bool { return a.At == b.At })
}

// matterWritten returns the values that may be links.
func matterWritten(values []Value, form Form) (all []Written) {
	for _, v := range values {
		if v.HoldsLink() {
			all = append(all, Written{At: v.At, Position: v.At, Value: v.Text, Form: form, Key: v.Key})
		}
	}
	return all
}

// templateWritten returns the addresses in the attributes of a template, and the
// strings in actions there.
func templateWritten(text []byte) (all []Written) {
	o, links := TemplateLinks(text)
	for i := range links {
		w := &links[i]
		from, to := w.Attr.From, w.Attr.To
		if w.IsLiteral() && !strings.HasSuffix(w.Attr.Name, "srcset") {
			all = append(all, Written{At: from, Position: from, Value: w.Pieces[0], Form: FormHTML, Element: w.Element, Name: w.Attr.Name})
			continue
		}
		for _, action := range actions().FindAllIndex(o.Text[from:to], -1) {
			for _, s := range actionStrings(text, from+action[0], from+action[1]) {
				s.Element, s.Name = w.Element, w.Attr.Name
				all = append(all, s)
			}
		}
	}
	return all
}

// actionStrings returns the strings without escapes in the action text[start:end].
func actionStrings(text []byte, start, end int) (all []Written) {
	for at := start; at < end; at++ {
		quote := text[at]
		if quote != '"' && quote != '`' && quote != '\'' {
			continue
		}
		at++
		size := bytes.IndexByte(text[at:end], quote)
		if size < 0 {
			break
		}
		if value := text[at : at+size]; size > 0 && !bytes.ContainsAny(value, "\\\n") {
			all = append(all, Written{At: at, Position: start, Value: string(value), Form: FormString, Size: size})
		}
		at += size
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
