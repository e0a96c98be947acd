package scan

import "strings"

// Manifest reads a web app manifest (https://www.w3.org/TR/appmanifest/, with
// its Application Information and shortcut extensions). The element of a link
// is the member of the manifest that holds it, such as icons; its attribute the
// member of the object inside, such as src. Faults end the reading with a
// [FaultJSON]. text must stay unchanged while the page is in use, and be
// shorter than 4 GiB.
func (s *Scanner) Manifest(text []byte, opt Options) *Page {
	return s.readJSON(text, opt, func(v *jsonValue) {
		kind, ok := manifestMembers[strings.Join(v.path, ".")]
		if !ok || v.value == "" {
			return
		}
		if kind == KindLink && strings.Contains(v.value, "%s") {
			kind = KindAction // a template that the browser fills in
		}
		s.member(v, kind)
	}, func([]string) {})
}

// manifestMembers are the members whose value is a URL. A scope is a prefix of
// addresses, and nothing asks for it; share targets and handlers are programs.
var manifestMembers = map[string]Kind{
	"start_url": KindLink, "scope": KindHint,
	"icons.src": KindResource, "screenshots.src": KindResource,
	"shortcuts.url": KindLink, "shortcuts.icons.src": KindResource,
	"related_applications.url": KindMetadata,
	"share_target.action":      KindAction, "file_handlers.action": KindAction,
	"file_handlers.icons.src": KindResource,
	"protocol_handlers.url":   KindLink, "note_taking.new_note_url": KindLink,
	"serviceworker.src": KindResource, "serviceworker.scope": KindHint,
	"tab_strip.new_tab_button.url": KindLink,
}

// readJSON walks a document whose encoding is UTF-8 (RFC 8259, 8.1).
func (s *Scanner) readJSON(text []byte, opt Options, f func(v *jsonValue), done func(path []string)) *Page {
	s.opt = opt
	_, bom := sniffBOM(text)
	if bom != 3 {
		bom = 0
	}
	s.reset(text, "utf-8")
	s.page.Quirks = false
	fault, off := walkJSON(text[bom:], func(v *jsonValue) {
		v.off += uint32(bom)
		f(v)
	}, done)
	if fault != "" {
		s.fault(int(off)+bom, FaultJSON, fault)
	}
	s.page.sortLinks()
	s.repairUTF8()
	return &s.page
}

// member adds the link that a string is.
func (s *Scanner) member(v *jsonValue, kind Kind) {
	value := v.raw
	if v.value != string(v.raw) {
		value = s.keep([]byte(v.value))
	}
	element, attribute := v.path[0], ""
	if len(v.path) > 1 {
		element, attribute = v.path[len(v.path)-2], v.path[len(v.path)-1]
	}
	s.place(value, v.off, kind, strings.ToLower(element), strings.ToLower(attribute))
}
