package scan

// JSONLD reads a file of JSON-LD: the links that [Scanner.HTML] finds in a
// script element of that type. Their element is "json-ld", their attribute
// empty. It never fails. text must stay unchanged while the page is in use, and
// be shorter than 4 GiB.
func (s *Scanner) JSONLD(text []byte, opt Options) *Page {
	s.opt = opt
	s.reset(text, "utf-8")
	s.page.Quirks = false
	jsonLD(text, func(start, end int, value []byte) {
		if start != end && (len(value) != end-start || &value[0] != &text[start]) {
			value = s.keep(value)
		}
		s.place(value, uint32(start), KindMetadata, "json-ld", "")
	})
	s.repairUTF8()
	return &s.page
}
