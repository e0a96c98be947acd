package read

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// TemplateLink is a link in a template: an attribute whose value is text, actions or
// both. A link of a page that no file contains as it is was composed by one of
// them. Its surroundings tell by which: the attributes of its tag, the elements
// around it in the template, and the text around it up to the next action.
type TemplateLink struct {
	Element string // in lower case
	Tag     int
	Attr    Attribute
	Attrs   []Attribute // all of the tag
	Open    bool        // an action may write more attributes
	Pieces  []string    // of the value, between its actions
	// Constant is the address in an expression that only turns one address into
	// another form, such as {{ "css/a.css" | relURL }}.
	Constant      string
	Before, After string // text up to the next action
	First         bool   // it is the first thing in the element around it
}

// MaxAttributes is how many attributes of a tag are compared.
const MaxAttributes = 100

// LinkAttributes are the attributes of templates that are compared with links.
var LinkAttributes = map[string]bool{
	"href": true, "src": true, "srcset": true, "imagesrcset": true, "action": true, "formaction": true, "poster": true, "data": true,
	"content": true, "cite": true, "background": true, "xlink:href": true, "longdesc": true, "usemap": true, "data-src": true,
}

// constantAction matches an action that writes an address in another form.
var constantAction = text.Regexp(`^\{\{-?\s*(?:[a-zA-Z.]+URL\s+)?["` + "`" + `']([^"` + "`" + `']+)["` + "`" + `']\s*(?:\|\s*[\w.]+\s*)*-?\}\}$`)

// TemplateLinks returns the outline of a template with its actions masked, and the links
// in it.
func TemplateLinks(text []byte) (o *Outline, all []TemplateLink) {
	o = NewOutline(MaskActions(text))
	for t := range o.Tags {
		var attrs []Attribute
		var open bool
		if attrs, open = o.Attributes(t); len(attrs) == 0 || len(attrs) > MaxAttributes {
			continue
		}
		for _, a := range attrs {
			if !LinkAttributes[a.Name] || a.From == a.To {
				continue
			}
			w := TemplateLink{Element: strings.ToLower(string(o.Name(t))), Tag: t, Attr: a, Attrs: attrs, Open: open, Pieces: o.Pieces(a.From, a.To)}
			if c := constantAction().FindSubmatch(bytes.TrimSpace(text[a.From:a.To])); c != nil {
				w.Constant = string(c[1])
			}
			w.Before, w.After, w.First = o.Before(t), o.After(t), o.IsFirst(t)
			all = append(all, w)
		}
	}
	return o, all
}

// IsLiteral reports whether no action writes a part of the value.
func (w *TemplateLink) IsLiteral() bool { return len(w.Pieces) == 1 }

// Writes reports whether the template has the whole address: as text, or in an
// expression that only changes its form.
func (w *TemplateLink) Writes() bool { return w.IsLiteral() || w.Constant != "" }
