package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/source/read"
)

// TestSurroundings compares the visible text around a link on a page and in
// Markdown.
func TestSurroundings(t *testing.T) {
	page := &read.VisibleText{}
	text := `<title>T</title><script>if (a<b) x()</script><p>Fish &amp; Chips <!-- n > o --> are <b>ÄPFEL</b> <a href="/x/">a Link</a>, said 3.</p>`
	page.AddHTML(0, []byte(text))
	got := page.Finish().Around(strings.Index(text, "/x/"))
	if want := (read.Surroundings{Before: "tfishchipsareäpfel", After: "alinksaid3"}); got != want {
		t.Errorf("page: %q, want %q", got, want)
	}
	source := "---\nfoo: bar\n---\n[^1]: f *o* o *t* n *o* t *e*\n\nFish & Chips are **Äpfel** [a Link](/x/), said {{< no param >}}3.[^1] ![not](/i.png)\n"
	d := read.Parse("a.md", []byte(source), true)
	for _, it := range d.Links {
		if it.Value == "/x/" {
			if from := d.Visible.Around(it.Order); from != (read.Surroundings{Before: "fishchipsareäpfel", After: "alinksaid3footnote"}) {
				t.Errorf("Markdown: %q", from)
			}
		}
	}
	if got := (&read.VisibleText{}).Finish().Around(7); got != (read.Surroundings{}) {
		t.Errorf("nothing: %q", got)
	}
}

// TestClosest: the surroundings decide, unless two are equally similar.
func TestClosest(t *testing.T) {
	long := strings.Repeat("word", 12)
	hits := []hit{
		{file: contentFile{display: "a.md"}, around: []read.Surroundings{{Before: "x" + long, After: "same"}}},
		{file: contentFile{display: "b.md"}, around: []read.Surroundings{{Before: "y" + long[20:], After: "same"}, {Before: "none", After: "none"}}},
		{file: contentFile{display: "c.md"}},
	}
	page := read.Surroundings{Before: long, After: "samebehind"}
	none := func(*hit) int { return 0 }
	if h := closest(hits, page, none); h == nil || h.file.display != "a.md" {
		t.Errorf("got %v", h)
	}
	if h := closest(hits, page, func(h *hit) int { return map[string]int{"b.md": 40}[h.file.display] }); h == nil || h.file.display != "b.md" {
		t.Errorf("with a bonus: got %v", h)
	}
	twice := append(hits[:1:1], hits[0])
	if h := closest(twice, page, none); h != nil {
		t.Errorf("two with the same: got %v", h)
	}
	// A shortcode that names the file counts more than a link to its page, and both more
	// than nothing.
	for _, test := range []struct{ included, near, own, flags, want string }{
		{"b.md", "a", "", "", "b.md"}, {"", "b", "", "", "b.md"}, {"a.md", "b", "", "", "a.md"}, {"", "", "b.md", "", "b.md"}, {"", "", "", "", ""},
		{"b.md", "a", "", "around", "b.md"}, {"", "b", "", "around", "b.md"}, {"", "", "b.md", "around", "b.md"}, {"", "", "", "around", ""},
		{"b.md", "", "", "composed", "b.md"}, {"", "b", "", "composed", ""}, {"", "b", "", "composed certain", "b.md"}, {"", "", "", "composed certain", ""},
		{"", "", "", "single", ""}, {"b.md", "", "", "single", "b.md"}, {"", "b", "", "single", "b.md"}, {"", "", "", "single certain", "b.md"}, {"", "", "", "single l", "b.md"},
	} {
		has := func(flag string) bool { return strings.Contains(test.flags, flag) }
		hits := []hit{{file: contentFile{display: "a.md", key: "a"}}, {file: contentFile{display: "b.md", key: "b"}}}
		shown := &read.VisibleText{}
		shown.AddHTML(0, []byte(page.Before))
		shown.AddHTML(len(page.Before), []byte(page.After))
		on := &locatedPage{doc: &document{included: map[string]bool{test.included: true}}, near: map[string]bool{test.near: true}, shown: shown}
		l, got := &openLink{page: on, on: &pageLink{label: strings.TrimPrefix(test.flags, "single ")}, nth: 1, link: BuiltLink{Raw: "/x/", Offset: int64(len(page.Before))}, own: &Position{File: test.own}}, ""
		for i := range hits {
			hits[i].certain, hits[i].label = has("certain"), "l"
			hits[i].around = []read.Surroundings{{Before: "x" + long, After: "same"}}[:strings.Count(test.flags, "around")]
		}
		l.composed.by = slices.Repeat([]*written{{}}, strings.Count(test.flags, "composed"))
		hits = hits[strings.Count(test.flags, "single"):]
		s := &search{m: &composer{Map: &Map{index: &index{}}}, content: textSearch{hits: map[string][]hit{"/x/": hits}}}
		if a := inListedContent(s, l); a.at != nil {
			got = a.at.File
		}
		if got != test.want {
			t.Errorf("%+v: got %s", test, got)
		}
	}
	if h := closest(hits, read.Surroundings{Before: "word", After: "same"}, none); h != nil {
		t.Errorf("too little: got %v", h)
	}
}
