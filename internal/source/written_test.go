package source

import "testing"

// headingIDs are headings in the order of one page, with the ids that Hugo 0.162 gives
// them. TestHugoHeadingIDs asks Hugo again.
var headingIDs = []struct{ text, id string }{
	{"Plain text", "plain-text"},
	{"Two  spaces", "two--spaces"},
	{"  lead and trail  ", "lead-and-trail"},
	{"Tab\there", "tabhere"},
	{"Under_score - and--dash", "under_score---anddash"},
	{"Ümläut Straße", "ümläut-straße"},
	{"Cafe\u0301 combining", "cafe-combining"},
	{"हिन्दी शीर्षक", "हनद-शरषक"},
	{"ไทย ภาษา", "ไทย-ภาษา"},
	{"日本語 見出し", "日本語-見出し"},
	{"中文，标点。", "中文标点"},
	{"Emoji 😀 here", "emoji--here"},
	{"C++ & C#", "c--c"},
	{"`code()` and *emph*", "code-and-emph"},
	{"1.2.3 Version", "123-version"},
	{"!!!", "heading"},
	{"!!!", "heading-1"},
	{"Ⅻ roman ² ½", "-roman--"},
	{"Nb\u00a0sp em\u2003space", "nbsp-emspace"},
	{"zero\u200bwidth", "zerowidth"},
	{"ǅ ﬁ", "ǆ-ﬁ"},
	{"İstanbul", "istanbul"},
	{"ΑΣ", "ασ"},
	{"don't “quote”", "dont-quote"},
	{"[link](/x/) text", "link-text"},
	{"<b>raw</b> html", "raw-html"},
	{"amp &amp; &lt;x&gt;", "amp--x"},
	{"&eacute;t &#233;t &unknown;", "ét-233t-unknown"},
	{"٣ arabic digits", "٣-arabic-digits"},
	{"heading", "heading-2"},
	{"Plain text", "plain-text-1"},
	{"Plain text", "plain-text-2"},
	{"trailing punct ?", "trailing-punct-"},
	{"-lead dash-", "-lead-dash-"},
	{"_emph_ under", "emph-under"},
	{"a\\_b escaped", "a_b-escaped"},
	{"--flag", "flag"},
	{"`--flag`", "--flag"},
	{"a -- b", "a--b"},
	{"a --- b", "a--b-1"},
	{"a---b----c", "ab-c"},
	{"a\\--b", "a--b-2"},
	{"line `a -- b` c", "line-a----b-c"},
	{"<https://e.example/a-b>", ""},
	{"https://e.example/a_b bare", "bare"},
	{"![alt text](x.png) img", "alt-text-img"},
	{"~~gone~~ x", "gone-x"},
	{"explicit {#ex}", "ex"},
	{"ex", "ex-1"},
}

// headingPage is a page with these headings, and one of two lines.
func headingPage() string {
	page := "---\ntitle: x\n---\n\n"
	for _, h := range headingIDs {
		page += "## " + h.text + "\n\n"
	}
	return page + "One line\nand the last\n---\n"
}

// TestAutoID: the ids of headings are those that Hugo gives.
func TestAutoID(t *testing.T) {
	got := ReadHeadings("content/a.md", []byte(headingPage()), Hugo)
	if len(got) != len(headingIDs)+1 {
		t.Fatalf("%d headings, want %d", len(got), len(headingIDs)+1)
	}
	for i, h := range headingIDs {
		if got[i].Anchor != h.id {
			t.Errorf("%q gets %q, want %q", h.text, got[i].Anchor, h.id)
		}
	}
	if last := got[len(headingIDs)]; last.Anchor != "and-the-last" {
		t.Errorf("a heading of two lines gets %q", last.Anchor)
	}
}

// TestAutoIDOfOthers: other generators know no typographer, and keep combining marks.
func TestAutoIDOfOthers(t *testing.T) {
	got := ReadHeadings("docs/a.md", []byte("## --flag\n\n## हिन्दी\n"), None)
	if len(got) != 2 || got[0].Anchor != "--flag" || got[1].Anchor != "हिन्दी" {
		t.Errorf("got %+v", got)
	}
}
