package source

import (
	"bytes"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// templateLink is a link in a template: an attribute whose value is text, actions or
// both. A link of a page that no file contains as it is was composed by one of
// them. Its surroundings tell by which: the attributes of its tag, the elements
// around it in the template, and the text around it up to the next action.
type templateLink struct {
	element string // in lower case
	tag     int
	attr    attribute
	attrs   []attribute // all of the tag
	open    bool        // an action may write more attributes
	pieces  []string    // of the value, between its actions
	// constant is the address in an expression that only turns one address into
	// another form, such as {{ "css/a.css" | relURL }}.
	constant      string
	before, after string // text up to the next action
	first         bool   // it is the first thing in the element around it
}

// maxAttributes is how many attributes of a tag are compared.
const maxAttributes = 100

// linkAttributes are the attributes of templates that are compared with links.
var linkAttributes = map[string]bool{
	"href": true, "src": true, "srcset": true, "imagesrcset": true, "action": true, "formaction": true, "poster": true, "data": true,
	"content": true, "cite": true, "background": true, "xlink:href": true, "longdesc": true, "usemap": true, "data-src": true,
}

// constantAction matches an action that writes an address in another form.
var constantAction = text.Regexp(`^\{\{-?\s*(?:[a-zA-Z.]+URL\s+)?["` + "`" + `']([^"` + "`" + `']+)["` + "`" + `']\s*(?:\|\s*[\w.]+\s*)*-?\}\}$`)

// readTemplate returns the outline of a template with its actions masked, and the links
// in it.
func readTemplate(text []byte) (o *outline, all []templateLink) {
	o = newOutline(maskActions(text))
	for t := range o.tags {
		var attrs []attribute
		var open bool
		if attrs, open = o.attributes(t); len(attrs) == 0 || len(attrs) > maxAttributes {
			continue
		}
		for _, a := range attrs {
			if !linkAttributes[a.name] || a.from == a.to {
				continue
			}
			w := templateLink{element: strings.ToLower(string(o.name(t))), tag: t, attr: a, attrs: attrs, open: open, pieces: o.pieces(a.from, a.to)}
			if c := constantAction().FindSubmatch(bytes.TrimSpace(text[a.from:a.to])); c != nil {
				w.constant = string(c[1])
			}
			w.before, w.after, w.first = o.before(t), o.after(t), o.isFirst(t)
			all = append(all, w)
		}
	}
	return o, all
}

// isLiteral reports whether no action writes a part of the value.
func (w *templateLink) isLiteral() bool { return len(w.pieces) == 1 }

// writes reports whether the template has the whole address: as text, or in an
// expression that only changes its form.
func (w *templateLink) writes() bool { return w.isLiteral() || w.constant != "" }
