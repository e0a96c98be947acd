package site

import (
	"bytes"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
)

// The context of a link is the element around it and its own class: what is
// closed before it, or has no content, does not matter.
func TestContextOf(t *testing.T) {
	context := func(html string) uint64 {
		off := bytes.Index([]byte(html), []byte("LINK"))
		return contextOf(&Page{}, &scan.Page{Text: []byte(html)}, &scan.Link{Off: uint32(off)})
	}
	item := context(`<li><a href="LINK">`)
	for _, same := range []string{
		`<ul><li><a href="x">x</a> <br><a href="LINK">`,
		`<li><b>bold</b><img src="x"/><a title=t href="LINK">`,
	} {
		if context(same) != item {
			t.Errorf("%s: another context", same)
		}
	}
	for _, other := range []string{`<p><a href="LINK">`, `<li><b><a href="LINK">`, `<li><a class="c" href="LINK">`, `<a href="LINK">`} {
		if context(other) == item {
			t.Errorf("%s: the same context", other)
		}
	}
	if a, b := context(`<li><a class=c href="LINK">`), context(`<li><a class='c' href="LINK">`); a != b {
		t.Error("the quotes of a class matter")
	}
}
