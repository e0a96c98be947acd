//go:build integration && linux

package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

// TestChromiumHTMLKeyboard: Tab reaches every control in the order of the page,
// shows the focus, and leaves at the end. Keys alone sort, choose and turn
// pages.
func TestChromiumHTMLKeyboard(t *testing.T) {
	t.Parallel()
	r, extras := synthetic(600)
	url, _ := writeHTML(t, r, Options{Extras: extras})
	b := testkit.StartBrowser(t, true)
	b.Listen()
	b.View(1280, 900, "light")
	b.Load(url)

	const focus = `(() => {
		const e = document.activeElement;
		if (e === document.body) return "";
		const s = getComputedStyle(e), r = e.getBoundingClientRect();
		const seen = r.width > 0 && r.left >= 0 && s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1;
		return (seen ? "" : "unseen ") + (e.id || e.textContent);
	})()`
	var order []string
	for range 60 {
		b.Press("Tab", 9, "")
		var at string
		if b.Eval(focus, &at); at == "" {
			break
		}
		order = append(order, at)
	}
	want := []string{"Skip to the findings", "Causes", "All findings", "By page", "By target", "By code", "Orphans (12)", "query", "code", "error", "warning",
		"Code", "Place", "Message", "Links", "100 links",
		"First", "Previous", "Next", "Last"}
	if !slices.Equal(order, want) {
		t.Errorf("Tab goes\n%q\nwant\n%q", order, want)
	}

	b.Do(`document.querySelector("#head button").focus()`)
	b.Press("Enter", 13, "\r")
	expect(t, b, `document.querySelector("#head th").ariaSort`, "ascending")
	expect(t, b, `document.activeElement.textContent`, "Code")
	b.Do(`document.querySelector("#pager button:nth-of-type(3)").focus()`)
	b.Press(" ", 32, " ")
	expect(t, b, countText, "402 entries with 600 findings, showing 101–200 of 402")
	expect(t, b, `document.activeElement.textContent`, "Next")
	b.Do(`document.querySelector("#error").focus()`)
	b.Press(" ", 32, " ")
	expect(t, b, countText, "1 entry with 100 findings of 600")
	silent(t, b)
}

// TestChromiumHTMLAxe: axe-core finds no fault of accessibility in any view, in light and
// wide as in dark and narrow.
func TestChromiumHTMLAxe(t *testing.T) {
	t.Parallel()
	many, extras := synthetic(24)
	sourced := sources()
	many.Findings = append(many.Findings, sourced.Findings...)
	url, _ := writeHTML(t, many, Options{Version: "v0.0.0", BaseURL: "https://example.org/", Date: "2026-11-26", SourceLinks: "https://forge.example/{file}#L{line}", Extras: extras})
	b := testkit.StartBrowser(t, true)
	for colors, width := range map[string]int{"light": 1280, "dark": 420} {
		b.View(width, 900, colors)
		b.Load(url)
		for _, view := range []string{"causes", "findings", "pages", "targets", "codes", "orphans"} {
			click(b, `[data-view=`+view+`]`)
			for _, f := range b.Axe("html") {
				t.Errorf("%d px, %s, %s: %s", width, colors, view, f)
			}
		}
	}
}

// axNode is a node of the accessibility tree.
type axNode struct {
	Role, Name struct{ Value string }
	Ignored    bool
}

// TestChromiumHTMLReaders tests what a screen reader gets, also where the rows
// are displayed as blocks.
func TestChromiumHTMLReaders(t *testing.T) {
	t.Parallel()
	r, extras := synthetic(300)
	url, _ := writeHTML(t, r, Options{Extras: extras})
	b := testkit.StartBrowser(t, true)
	for _, width := range []int{1280, 390} {
		b.View(width, 900, "light")
		b.Load(url)
		var tree struct{ Nodes []axNode }
		b.Call("Accessibility.getFullAXTree", nil, &tree)
		roles := map[string]int{}
		var nameless []string
		for _, n := range tree.Nodes {
			if n.Ignored {
				continue
			}
			roles[n.Role.Value]++
			if slices.Contains([]string{"button", "textbox", "searchbox", "checkbox", "combobox", "image", "link", "navigation"}, n.Role.Value) && n.Name.Value == "" {
				nameless = append(nameless, n.Role.Value)
			}
		}
		if len(nameless) > 0 {
			t.Errorf("%d px: without a name: %q", width, nameless)
		}
		// The entries have 4 columns, 100 rows and a head; the reasons have
		// rows too.
		if roles["columnheader"] < 4 || roles["row"] < 101 || roles["cell"] < 400 || roles["table"] < 2 {
			t.Errorf("%d px: %d tables, %d rows, %d column headers, %d cells", width, roles["table"], roles["row"], roles["columnheader"], roles["cell"])
		}
		for _, role := range []string{"main", "banner", "contentinfo", "search", "status", "navigation", "group", "heading"} {
			if roles[role] == 0 {
				t.Errorf("%d px: no %s", width, role)
			}
		}
	}
}

// TestChromiumHTMLPictures: light, dark and narrow, nothing wider than the
// window. $SITELINK_PICTURES keeps the pictures.
func TestChromiumHTMLPictures(t *testing.T) {
	t.Parallel()
	many, extras := synthetic(2_000)
	sourced, clean := sources(), results()[0].result
	foreign, root := otherScripts(t)
	warned := few()
	for i := range warned.Findings {
		warned.Findings[i].Verdict = check.Warning
	}
	b := testkit.StartBrowser(t, true)
	b.Listen()
	urls := map[string]string{}
	urls["many"], _ = writeHTML(t, many, Options{Version: "v0.0.0", BaseURL: "https://example.org/docs/", Date: "2026-11-26", Extras: extras})
	urls["few"], _ = writeHTML(t, &sourced, Options{Version: "v0.0.0", SourceLinks: "https://forge.example/{file}#L{line}", Extras: fewOrphans()})
	urls["scripts"], _ = writeHTML(t, foreign, Options{Root: root})
	urls["warned"], _ = writeHTML(t, &warned, Options{})
	urls["clean"], _ = writeHTML(t, &clean, Options{})
	for _, v := range []struct {
		name          string
		width, height int
		colors        string
	}{{"light", 1280, 900, "light"}, {"dark", 1280, 900, "dark"}, {"wide", 1800, 1100, "light"}, {"narrow", 390, 900, "light"}, {"narrow-dark", 390, 900, "dark"}} {
		b.View(v.width, v.height, v.colors)
		for name, url := range urls {
			b.Load(url)
			picture(t, b, name+"-"+v.name)
			var top float64
			if b.Eval(`document.querySelector("#body tr").getBoundingClientRect().bottom`, &top); top > 0.7*float64(v.height) {
				t.Errorf("%s, %s: the first cause ends %.0f px down", name, v.name, top)
			}
			var over float64
			if b.Eval(`document.documentElement.scrollWidth - innerWidth`, &over); over > 0 {
				t.Errorf("%s, %s: %.0f px too wide", name, v.name, over)
			}
			if name != "many" {
				continue
			}
			for _, view := range []string{"causes", "findings", "pages", "targets", "codes"} {
				click(b, `[data-view=`+view+`]`)
				b.Do(`document.querySelector("#findings").scrollIntoView()`)
				picture(t, b, name+"-"+v.name+"-"+view)
			}
		}
	}
	b.View(718, 1000, "light") // A4 between its margins
	b.Call("Emulation.setEmulatedMedia", testkit.Params{"media": "print"}, nil)
	b.Load(urls["many"])
	picture(t, b, "many-print")
	b.Do(`document.querySelector("#table").scrollIntoView()`)
	picture(t, b, "many-print-findings")
	expect(t, b, `getComputedStyle(document.querySelector("#body td")).display`, "table-cell")
	expect(t, b, `String([...document.querySelectorAll("input, select, .views button, #pager button")].some((e) => e.checkVisibility()))`, "false")
	silent(t, b)
}

// otherScripts returns a result with lines of text in other scripts, a very long address and
// a family, and the root of its sources.
func otherScripts(t *testing.T) (*check.Result, string) {
	lines := []string{"انظر [الدليل](/guides/دليل/) للمزيد من المعلومات.", "詳細は[ガイド](/guides/入門/)をご覧ください。", "\t<li><a class=\"nav\" href=\"/guides/one/\">One</a></li>",
		"See [all](/" + strings.Repeat("very-long-address-without-end/", 30) + ") of it.", "राम [मार्ग](/guides/मार्ग/)"}
	var r check.Result
	files := testkit.Files{}
	for i, line := range lines {
		raw := text.Regexp(`/[^")]+/`)().FindString(line)
		at := &check.Position{File: fmt.Sprintf("content/%d.md", i), Line: 1, Column: utf8.RuneCountInString(line[:strings.Index(line, raw)]) + 1}
		r.Findings = append(r.Findings, check.Finding{Page: fmt.Sprintf("%d/index.html", i), Line: 3, Column: 9, Element: "a", Attribute: "href", Raw: raw, Target: raw,
			Verdict: check.Error, Code: check.MissingFile, Message: "file not found: " + raw, Count: 1, Source: at})
		files[at.File] = line
	}
	for i := range 12 {
		f := broken(1, fmt.Sprintf("/docs/v%d/a/", i))[0]
		f.Source, f.Suggestion = &check.Position{File: fmt.Sprintf("content/old/%d.md", i), Line: 1, Column: 16}, "/docs/a/"
		files[f.Source.File] = "The [old page](" + f.Raw + ") says so."
		r.Findings = append(r.Findings, f)
	}
	r.Summary = check.Summary{Docroot: "public", Profile: "generic", Pages: 9, Links: 40, Errors: len(r.Findings)}
	return &r, testkit.MakeDocroot(t, files)
}

// TestChromiumHTMLWithoutScript: without JavaScript the report can be read, and
// has no control that does nothing.
func TestChromiumHTMLWithoutScript(t *testing.T) {
	t.Parallel()
	r, extras := synthetic(2_000)
	url, _ := writeHTML(t, r, Options{Extras: extras})
	b := testkit.StartBrowser(t, false)
	b.Listen()
	b.View(1280, 900, "light")
	b.Load(url)
	expect(t, b, `String(document.querySelectorAll("#body tr").length)`, "500")
	expect(t, b, `String([...document.querySelectorAll("input, select, button")].some((e) => e.checkVisibility()))`, "false")
	var shown string
	b.Eval(`document.body.innerText`, &shown)
	for _, want := range []string{"1,667 errors and 333 warnings", fmt.Sprintf("These are the first 500 of %s entries.", text.Thousands(entryCount(r))), "old/attachment-00039.pdf"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	silent(t, b)
}
