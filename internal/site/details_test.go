package site

import (
	"bytes"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
)

// Two builds of one source that differ only in the time in their addresses are
// equal. Everything else keeps them apart, and no offset moves.
func TestWithoutBuildTimes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`<script src="/a.js?v=1700000000">`, `<script src="/a.js?v=0000000000">`},
		{`<script src="/a.js?1700000000123&x=1">`, `<script src="/a.js?0000000000000&x=1">`},
		{`?a=123456789?b=987654321`, `?a=000000000?b=000000000`},
		{`?v=12345678`, `?v=12345678`},                           // a version, not a time
		{`/1700000000/a.js`, `/1700000000/a.js`},                 // a path, not a query
		{`What? 1700000000 seconds`, `What? 1700000000 seconds`}, // a sentence
		{`?`, `?`},
		{``, ``},
	} {
		in := []byte(c.text)
		if got := WithoutBuildTimes(in); string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
		if string(in) != c.text {
			t.Errorf("%s: the text itself was changed to %s", c.text, in)
		}
	}
}

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
