package scan

import "bytes"

// label is an index into [Page.labels]: the names of elements and attributes
// of formats other than HTML are few on a page, and any words.
type label uint16

// maxLabels bounds the names of a page; those beyond it are not told.
const maxLabels = 1 << 12

// label returns the number of a name on the page, 0 for "".
func (s *Scanner) label(name string) label {
	if name == "" {
		return 0
	}
	if l, ok := s.labelOf[name]; ok {
		return l
	}
	p := &s.page
	if len(p.labels) == 0 {
		p.labels = append(p.labels, "")
	}
	if len(p.labels) == maxLabels {
		return 0
	}
	if s.labelOf == nil {
		s.labelOf = map[string]label{}
	}
	l := label(len(p.labels))
	p.labels = append(p.labels, name)
	s.labelOf[name] = l
	return l
}

// Attribute returns the name of the attribute that holds l; "" when the
// element's text does. In formats that have no attributes it is the member of
// the object, as in docs/reference/formats.md.
func (p *Page) Attribute(l *Link) string {
	if l.attribute != 0 {
		return p.labels[l.attribute]
	}
	return l.Attr.String()
}

// Rebased tells whether some links resolve against another address than the
// page's own base.
func (p *Page) Rebased() bool { return len(p.rebased) > 0 }

// place adds a link that stands outside of HTML.
func (s *Scanner) place(value []byte, off uint32, kind Kind, element, attribute string) {
	p := &s.page
	s.noteBytes(value)
	p.Links = append(p.Links, Link{Value: value, Off: off, TagOff: off, Attr: AttrText, Kind: kind,
		element: s.label(element), attribute: s.label(attribute)})
}

// labelFold is label for a name as it stands in the text: the name is told in
// lower case.
func (s *Scanner) labelFold(name []byte) label {
	if l, ok := s.labelOf[string(name)]; ok {
		return l
	}
	l := s.label(string(AppendUTF8(nil, bytes.ToLower(name))))
	if l != 0 {
		s.labelOf[string(name)] = l
	}
	return l
}
