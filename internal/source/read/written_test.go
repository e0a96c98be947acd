package read

import (
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
)

// headingIDs are headings in the order of one page, with the ids that Hugo 0.162 gives
// them for each value of autoIDType. TestHugoHeadingIDs asks Hugo again.
var headingIDs = []struct{ text, id, ascii, blackfriday string }{
	{"Plain text", "plain-text", "plain-text", "plain-text"},
	{"Two  spaces", "two--spaces", "two--spaces", "two-spaces"},
	{"  lead and trail  ", "lead-and-trail", "lead-and-trail", "lead-and-trail"},
	{"Tab\there", "tabhere", "tabhere", "tab-here"},
	{"Under_score - and--dash", "under_score---anddash", "under_score---anddash", "under-score-and-dash"},
	{"Ümläut Straße", "ümläut-straße", "umlaut-strae", "ümläut-straße"},
	{"Cafe\u0301 combining", "cafe-combining", "cafe-combining", "cafe-combining"},
	{"हिन्दी शीर्षक", "हनद-शरषक", "-", "ह-न-द-श-र-षक"},
	{"ไทย ภาษา", "ไทย-ภาษา", "--1", "ไทย-ภาษา"},
	{"日本語 見出し", "日本語-見出し", "--2", "日本語-見出し"},
	{"中文，标点。", "中文标点", "heading", "中文-标点"},
	{"Emoji 😀 here", "emoji--here", "emoji--here", "emoji-here"},
	{"C++ & C#", "c--c", "c--c", "c-c"},
	{"`code()` and *emph*", "code-and-emph", "code-and-emph", "code-and-emph"},
	{"1.2.3 Version", "123-version", "123-version", "1-2-3-version"},
	{"!!!", "heading", "heading-1", "heading"},
	{"!!!", "heading-1", "heading-2", "heading-1"},
	{"Ⅻ roman ² ½", "-roman--", "-roman--", "ⅻ-roman-²-½"},
	{"Nb\u00a0sp em\u2003space", "nbsp-emspace", "nbsp-emspace", "nb-sp-em-space"},
	{"zero\u200bwidth", "zerowidth", "zerowidth", "zero-width"},
	{"ǅ ﬁ", "ǆ-ﬁ", "--3", "ǆ-ﬁ"},
	{"İstanbul", "istanbul", "istanbul", "istanbul"},
	{"ΑΣ", "ασ", "heading-3", "ασ"},
	{"don't “quote”", "dont-quote", "dont-quote", "don-t-quote"},
	{"[link](/x/) text", "link-text", "link-text", "link-text"},
	{"<b>raw</b> html", "raw-html", "raw-html", "raw-html"},
	{"amp &amp; &lt;x&gt;", "amp--x", "amp--x", "amp-x"},
	{"&eacute;t &#233;t &unknown;", "ét-233t-unknown", "et-233t-unknown", "ét-233-t-unknown"},
	{"٣ arabic digits", "٣-arabic-digits", "-arabic-digits", "٣-arabic-digits"},
	{"heading", "heading-2", "heading-4", "heading-2"},
	{"Plain text", "plain-text-1", "plain-text-1", "plain-text-1"},
	{"Plain text", "plain-text-2", "plain-text-2", "plain-text-2"},
	{"trailing punct ?", "trailing-punct-", "trailing-punct-", "trailing-punct"},
	{"-lead dash-", "-lead-dash-", "-lead-dash-", "lead-dash"},
	{"_emph_ under", "emph-under", "emph-under", "emph-under"},
	{"a\\_b escaped", "a_b-escaped", "a_b-escaped", "a-b-escaped"},
	{"--flag", "flag", "flag", "flag"},
	{"`--flag`", "--flag", "--flag", "flag-1"},
	{"a -- b", "a--b", "a--b", "a-b"},
	{"a --- b", "a--b-1", "a--b-1", "a-b-1"},
	{"a---b----c", "ab-c", "ab-c", "a-b-c"},
	{"a\\--b", "a--b-2", "a--b-2", "a-b-2"},
	{"line `a -- b` c", "line-a----b-c", "line-a----b-c", "line-a-b-c"},
	{"<https://e.example/a-b>", "", "", ""},
	{"https://e.example/a_b bare", "bare", "bare", "bare"},
	{"![alt text](x.png) img", "alt-text-img", "alt-text-img", "alt-text-img"},
	{"~~gone~~ x", "gone-x", "gone-x", "gone-x"},
	{"explicit {#ex}", "ex", "ex", "ex"},
	{"ex", "ex-1", "ex-1", "ex-1"},
}

// headingPage is a page with these headings, and one of two lines.
func headingPage() string {
	page := "---\ntitle: x\n---\n\n"
	for _, h := range headingIDs {
		page += "## " + h.text + "\n\n"
	}
	return page + "One line\nand the last\n---\n"
}

// wantIDs returns the ids of the headings of the page.
func wantIDs(ids generator.HeadingIDs) (all []string) {
	for _, h := range headingIDs {
		switch ids {
		case generator.GitHubASCIIIDs:
			all = append(all, h.ascii)
		case generator.BlackfridayIDs:
			all = append(all, h.blackfriday)
		default:
			all = append(all, h.id)
		}
	}
	return append(all, "and-the-last")
}

// TestAutoID: the ids of headings are those that Hugo gives.
func TestAutoID(t *testing.T) {
	for _, ids := range []generator.HeadingIDs{"", generator.GitHubASCIIIDs, generator.BlackfridayIDs} {
		got, want := Headings("content/a.md", []byte(headingPage()), generator.Hugo, ids), wantIDs(ids)
		if len(got) != len(want) {
			t.Fatalf("%d headings, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i].Anchor != want[i] {
				t.Errorf("%s: %q gets %q, want %q", ids, got[i].Text, got[i].Anchor, want[i])
			}
		}
	}
	for _, h := range Headings("content/a.md", []byte(headingPage()), generator.Hugo, generator.NoHeadingIDs) {
		if h.Anchor != h.ID {
			t.Errorf("%q gets %q although Hugo makes no ids", h.Text, h.Anchor)
		}
	}
}

// TestAutoIDOfOthers: other generators know no typographer, and keep combining marks.
func TestAutoIDOfOthers(t *testing.T) {
	got := Headings("docs/a.md", []byte("## --flag\n\n## हिन्दी\n"), generator.None, "")
	if len(got) != 2 || got[0].Anchor != "--flag" || got[1].Anchor != "हिन्दी" {
		t.Errorf("got %+v", got)
	}
}
