package outgoing

import (
	"bytes"

	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/internal/scan/outline"
)

// pageOutline asks questions of a page's outline.
type pageOutline struct{ *outline.Outline }

// outermost returns the elements of the page that fit and stand in no other such.
func (o pageOutline) outermost(fits func(i int) bool) []int {
	return o.between(0, o.Len(), fits, func(int) bool { return false })
}

// named returns the HTML elements of a name that stand in no other such.
func (o pageOutline) named(a atom.Atom) []int {
	if !o.Has(a) {
		return nil // without a look at each node
	}
	return o.outermost(o.isElement(a))
}

// outermostIn returns those below an element, and leaves out what stands in
// an element that is closed, too.
func (o pageOutline) outermostIn(root int, fits, closed func(i int) bool) []int {
	return o.between(root+1, o.End(root), fits, closed)
}

func (o pageOutline) between(from, to int, fits, closed func(i int) bool) (found []int) {
	for i := from; i < to; {
		next := i + 1
		switch {
		case o.IsText(i):
		case o.Tag(i) == atom.Template:
			next = o.End(i)
		case fits(i):
			found, next = append(found, i), o.End(i)
		case closed(i):
			next = o.End(i)
		}
		i = next
	}
	return found
}

func (o pageOutline) isElement(a atom.Atom) func(i int) bool {
	return func(i int) bool { return o.Tag(i) == a && !o.Foreign(i) }
}

func (o pageOutline) hasClass(i int, class string) bool {
	classes, _ := o.Attr(i, outline.Class)
	for c := range bytes.FieldsSeq(classes) {
		if string(c) == class {
			return true
		}
	}
	return false
}

// baseHref returns the first base element's address.
func (o pageOutline) baseHref() (href []byte, ok bool) {
	if !o.Has(atom.Base) {
		return nil, false
	}
	for i := range o.Len() {
		if o.Tag(i) == atom.Base {
			if href, ok = o.Attr(i, outline.Href); ok {
				return href, true
			}
		}
	}
	return nil, false
}
