package site

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/script"
)

// TestFragmentRequests: which element a serialised fragment selects (HTML
// 7.4.6.4, "find a potential indicated element").
func TestFragmentRequests(t *testing.T) {
	h := newHasher()
	tests := []struct {
		name, fragment string
		exact, decoded string // "" for none
		route          bool
	}{
		{"plain", "a", "a", "", false},
		{"LL-63/empty_is_always_found", "", "", "", false},
		{"LL-63/top_is_always_found", "top", "", "", false},
		{"top_in_any_case", "ToP", "", "", false},
		{"top_decoded", "%74op", "", "", false},
		{"top_decoded_upper_case", "TO%50", "", "", false},
		{"top_and_space", "top%20", "top%20", "top ", false},
		{"top_and_slash", "top/", "top/", "", false},
		{"full_width_top", "%EF%BD%94op", "%EF%BD%94op", "\uFF54op", false},
		{"decoded_once", "a%2520b", "a%2520b", "a%20b", false},
		{"utf8", "%C3%A9", "%C3%A9", "é", false},
		{"invalid_utf8", "x%FFy", "x%FFy", "x\uFFFDy", false},
		{"overlong", "x%C0%80y", "x%C0%80y", "x\uFFFD\uFFFDy", false},
		{"truncated", "x%C3y", "x%C3y", "x\uFFFDy", false},
		{"byte_order_mark_stays", "%EF%BB%BFbom", "%EF%BB%BFbom", "\uFEFFbom", false},
		{"no_escape", "100%", "100%", "", false},
		{"bad_escape", "%zz", "%zz", "", false},
		{"escaped_percent", "%25zz", "%25zz", "%zz", false},
		{"plus_is_plus", "a+b", "a+b", "", false},
		{"escaped_plus", "a%2Bb", "a%2Bb", "a+b", false},
		{"directive_cut", "id:~:text=x", "id", "", false},
		{"directive_alone", ":~:text=x", "", "", false},
		{"two_directives", "a:~:b:~:c", "a", "", false},
		{"directive_escaped", "id%3A~%3Atext=x", "id%3A~%3Atext=x", "id:~:text=x", false},
		{"half_directive", "id:~text=x", "id:~text=x", "", false},
		{"directive_behind_top", "top:~:text=x", "", "", false},
		{"route_slash", "/route", "/route", "", true},
		{"route_bang", "!x", "!x", "", true},
		{"route_later", "a/route", "a/route", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			k, ask := h.fragment([]byte(tc.fragment))
			if ask != (tc.exact != "") {
				t.Fatalf("asks: %t, want %t", ask, tc.exact != "")
			}
			if tc.exact != "" && k.Exact != sum(h.id, []byte(tc.exact)) {
				t.Errorf("exact is not %q", tc.exact)
			}
			switch {
			case tc.decoded == "" && k.Decoded != 0:
				t.Error("a decoded form that is the same")
			case tc.decoded != "" && k.Decoded != sum(h.id, []byte(tc.decoded)):
				t.Errorf("decoded is not %q", tc.decoded)
			}
			if (k.Form == script.FormRoute) != tc.route {
				t.Errorf("form: %d", k.Form)
			}
		})
	}
}

// TestAnchorTable: every anchor of a page is found, however many there are, and
// no other name is.
func TestAnchorTable(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 1000, 20000} {
		var b strings.Builder
		b.WriteString("<!doctype html>")
		for i := range n {
			fmt.Fprintf(&b, "<p id=i%d>", i)
		}
		s := loadFiles(t, files{"p.html": b.String()}, Options{})
		p := s.Page(0)
		if p.Anchors() != n {
			t.Errorf("%d anchors, want %d", p.Anchors(), n)
		}
		for i := range n {
			if !p.Has(sum(s.hash.id, fmt.Appendf(nil, "i%d", i))) {
				t.Fatalf("anchor %d of %d is not found", i, n)
			}
		}
		for i := range 1000 {
			if p.Has(sum(s.hash.id, fmt.Appendf(nil, "j%d", i))) {
				t.Fatalf("with %d anchors, j%d is found", n, i)
			}
		}
		if p.Has(0) {
			t.Errorf("with %d anchors, nothing is found", n)
		}
	}
}

// TestMapNamesApart: LL-51, the names of maps and those of other anchors are
// separate.
func TestMapNamesApart(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<!doctype html><map name=m1></map><p id=p1><a name=a1>`}, Options{})
	p := s.Page(0)
	for _, tc := range []struct {
		name     string
		id, mapn bool
	}{{"m1", false, true}, {"p1", true, false}, {"a1", true, false}} {
		if got := p.Has(sum(s.hash.id, []byte(tc.name))); got != tc.id {
			t.Errorf("LL-51: fragment %s: %t", tc.name, got)
		}
		if got := p.Has(sum(s.hash.mapn, []byte(tc.name))); got != tc.mapn {
			t.Errorf("LL-51: map %s: %t", tc.name, got)
		}
	}
}

// TestHasFolded: in quirks mode the names of a elements match in any letter
// case, but ids never do (measured with Chromium).
func TestHasFolded(t *testing.T) {
	const body = `<a name=Name>x</a><p id=Ident>y</p><a name="Été">z</a>`
	quirks := loadFiles(t, files{"p.html": "<meta charset=utf-8>" + body}, Options{})
	standard := loadFiles(t, files{"p.html": "<!doctype html><meta charset=utf-8>" + body}, Options{})
	for fragment, want := range map[string]bool{"name": true, "NAME": true, "n%41me": true, "ident": false, "nope": false, "": false, "name:~:text=x": true, "%C3%89T%C3%A9": true} {
		if got := quirks.HasFolded(0, fragment); got != want {
			t.Errorf("quirks mode, #%s: %t, want %t", fragment, got, want)
		}
		if standard.HasFolded(0, fragment) {
			t.Errorf("standards mode, #%s is found", fragment)
		}
	}
	if !quirks.Page(0).Quirks() || standard.Page(0).Quirks() {
		t.Error("the modes are confused")
	}
}

// TestSVGAnchors: an SVG file is read for its ids and its links, but with
// Linklint's table only for its ids.
func TestSVGAnchors(t *testing.T) {
	for tags, links := range map[scan.Tags]int{scan.Modern: 1, scan.Linklint: 0} {
		s := loadFiles(t, files{"p.html": plain, "i.svg": `<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/><a href="gone.html"/></svg>`}, Options{Tags: tags})
		p := s.Page(pageID(t, s, "i.svg"))
		if p.Kind() != PageSVG || p.Links() != links || !p.Has(sum(s.hash.id, []byte("a"))) {
			t.Errorf("tags %d: kind %d, %d links, %d anchors", tags, p.Kind(), p.Links(), p.Anchors())
		}
	}
}

// TestReaderAnchors: the anchors of a page can be listed again, in order.
func TestReaderAnchors(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<!doctype html><p id=b><a name=a id=c></a><map name=m></map><p id=""><template><p id=t></template>`}, Options{})
	r := s.NewReader()
	defer r.Close()
	got := ""
	if err := r.Anchors(0, func(name []byte, kind scan.AnchorKind) { got += fmt.Sprintf("%s:%d ", name, kind) }); err != nil {
		t.Fatal(err)
	}
	if want := "b:0 c:0 a:1 m:2 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
