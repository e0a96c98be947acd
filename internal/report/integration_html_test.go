//go:build integration && linux

package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// writeHTML writes a report into a file and returns its URL and size.
func writeHTML(t *testing.T, r *check.Result, opt Options) (url string, size int) {
	t.Helper()
	report := renderHTML(t, r, opt)
	name := filepath.Join(t.TempDir(), "report.html")
	testkit.Check(t, os.WriteFile(name, report, 0o644))
	return "file://" + name, len(report)
}

// silent fails the test if the console has messages.
func silent(t *testing.T, b *testkit.Browser) {
	t.Helper()
	for _, line := range b.Console() {
		t.Errorf("console: %.600s", line)
	}
}

// picture saves a PNG in the directory $SITELINK_PICTURES, if it is set, for
// people to look at.
func picture(t *testing.T, b *testkit.Browser, name string) {
	t.Helper()
	png := b.Picture()
	if !bytes.HasPrefix(png, []byte("\x89PNG")) || len(png) < 10_000 {
		t.Errorf("%s: no picture of a report, %d bytes", name, len(png))
	}
	if dir := os.Getenv("SITELINK_PICTURES"); dir != "" {
		testkit.Check(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
	}
}

// expect waits until an expression that returns a string has a value.
func expect(t *testing.T, b *testkit.Browser, expression, want string) {
	t.Helper()
	var got string
	for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		if b.Eval(expression, &got); got == want {
			return
		}
	}
	t.Errorf("%s\n got %q\nwant %q", expression, got, want)
}

func click(b *testkit.Browser, selector string) {
	quoted, _ := json.Marshal(selector)
	b.Do(`document.querySelector(` + string(quoted) + `).click()`)
}

const (
	manyFindings = 100_000
	// patience is far above the 2 s in which the report opens, and answers a
	// search, on an idle machine.
	patience = 30_000.0 // ms

	countText = `document.querySelector("#count").textContent`
	firstRow  = `document.querySelector("#body tr").textContent`
	hashText  = `location.hash` // changes a moment after the view
)

// timed measures the time from an input until the count of matches has changed
// and the frame is drawn.
const timed = `window.timed = (act) => new Promise((done) => {
	const before = performance.now();
	new MutationObserver((_, o) => {
		o.disconnect();
		requestAnimationFrame(() => setTimeout(() => done(performance.now() - before)));
	}).observe(document.querySelector("#count"), {childList: true, characterData: true, subtree: true});
	act();
})`

// TestChromiumHTML opens a report of 100,000 findings and searches it; the log
// has the times.
func TestChromiumHTML(t *testing.T) {
	t.Parallel()
	r, extras := synthetic(manyFindings)
	url, size := writeHTML(t, r, Options{Version: "v0.0.0", Extras: extras})
	b := testkit.StartBrowser(t, true)
	b.Listen()
	b.View(1280, 900, "light")
	b.Load(url)

	var ready float64
	b.Eval(`performance.getEntriesByName("sitelink-ready")[0]?.startTime ?? -1`, &ready)
	if ready < 0 || ready > patience {
		t.Errorf("usable after %.0f ms", ready)
	}
	expect(t, b, countText, "36,311 entries with 100,000 findings")

	b.Do(timed)
	search := func(text, want string) (took float64) {
		t.Helper()
		quoted, _ := json.Marshal(text)
		b.Eval(`timed(() => { const q = document.querySelector("#query"); q.value = `+string(quoted)+`; q.dispatchEvent(new Event("input", {bubbles: true})); })`, &took)
		expect(t, b, countText, want)
		if took > patience {
			t.Errorf("search for %q took %.0f ms", text, took)
		}
		return took
	}
	first := search("page-77777", "1 entry with 1 finding of 100,000")
	words := search("Figure chapter-0", "1,000 entries with 1,000 findings of 100,000")
	none := search("</script>", "0 entries with 0 findings of 100,000")
	all := search("", "36,311 entries with 100,000 findings")
	t.Logf("report of %d findings: %.1f MB, usable %.0f ms after navigation, first search %.0f ms, next %.0f, %.0f and %.0f ms",
		manyFindings, float64(size)/1e6, ready, first, words, none, all)

	// Each key is a search of its own, as when a person types.
	b.Do(`document.querySelector("#query").focus()`)
	b.Type("print.css")
	expect(t, b, countText, "1 entry with 16,667 findings of 100,000")
	expect(t, b, hashText, "#?q=print.css")
	silent(t, b)
}

// TestChromiumHTMLViews: groups, filters, sorting, paging, and the way back by
// the URL.
func TestChromiumHTMLViews(t *testing.T) {
	t.Parallel()
	r, extras := synthetic(6_000)
	url, _ := writeHTML(t, r, Options{Extras: extras})
	b := testkit.StartBrowser(t, true)
	b.Listen()
	b.Load(url)

	// The worst cause is first, and opens its findings.
	expect(t, b, firstRow, "error missing-fileguide/chapter-0000/index.html:20:5<link href>file not found: /assets/print.css1,000 linksin 1,000 files")
	click(b, `#body button`)
	expect(t, b, countText, "1,000 findings of 6,000")
	expect(t, b, `document.querySelector("#chips").textContent`, "only entry guide/chapter-0000/index.html:20:5 ✕")
	b.Load(url)
	click(b, `[data-view=targets]`)
	expect(t, b, firstRow, "/assets/print.csserror missing-file1,00001,0001,000")
	click(b, `#body button`) // its findings
	expect(t, b, countText, "1,000 findings of 6,000")
	expect(t, b, hashText, "#?view=findings&target=%2Fassets%2Fprint.css")
	b.Load(url + "#?view=findings&target=%2Fassets%2Fprint.css&at=3")
	expect(t, b, countText, "1,000 findings of 6,000, showing 201–300 of 1,000")
	expect(t, b, `document.querySelector("#body tr td:nth-child(2)").textContent`, r.Findings[6*200].Page+":20:5<link href>")
	click(b, `#chips button`)
	expect(t, b, countText, "6,000 findings")
	click(b, `[data-view=pages]`)
	expect(t, b, countText, "1,000 pages with 6,000 findings")
	expect(t, b, firstRow, "guide/chapter-0000/index.html516")
	click(b, `#error`)
	expect(t, b, countText, "1,000 pages with 1,000 findings of 6,000")
	click(b, `#error`)
	click(b, `[data-view=codes]`)
	expect(t, b, `[...document.querySelectorAll("#body tr td:first-child")].map((td) => td.textContent).join()`,
		"error missing-file,error missing-directory,error missing-fragment,error wrong-case,warning autoindex")
	click(b, `#body tr:last-child button`)
	expect(t, b, countText, "1,000 findings of 6,000")
	click(b, `#warning`)
	expect(t, b, countText, "0 findings of 6,000")
	expect(t, b, firstRow, "Nothing matches the search and the filters.")
	click(b, `#warning`)
	b.Do(`(document.querySelector("#code").value = "", document.querySelector("#code").dispatchEvent(new Event("change")))`)

	// Sorted by message, descending: compare with the last of the reference
	// solution.
	messages := func(f check.Finding) string { return f.Message }
	want := slices.MaxFunc(r.Findings, func(a, b check.Finding) int { return strings.Compare(messages(a), messages(b)) })
	click(b, `#head th:last-child button`)
	expect(t, b, `document.querySelector("#head th:last-child").ariaSort`, "ascending")
	click(b, `#head th:last-child button`)
	expect(t, b, `document.querySelector("#head th:last-child").ariaSort`, "descending")
	expect(t, b, `document.querySelector("#body td:last-child").firstChild.textContent`, want.Message)
	expect(t, b, `document.activeElement.textContent`, "Message")

	click(b, `[data-view=orphans]`)
	expect(t, b, countText, "120 files")
	expect(t, b, `String(document.querySelector("#code").closest("label").hidden)`, "true")
	silent(t, b)

	// A print shows more rows than the screen.
	click(b, `[data-view=findings]`)
	b.Do(`dispatchEvent(new Event("beforeprint"))`)
	expect(t, b, `String(document.querySelectorAll("#body tr").length)`, "2000")
	b.Do(`dispatchEvent(new Event("afterprint"))`)
	expect(t, b, `String(document.querySelectorAll("#body tr").length)`, "100")
	pdf := b.PDF()
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || bytes.Count(pdf, []byte("/Type /Page\n"))+bytes.Count(pdf, []byte("/Type /Page ")) < 2 {
		t.Errorf("the printed report is %d bytes", len(pdf))
	}
	if dir := os.Getenv("SITELINK_PICTURES"); dir != "" {
		testkit.Check(t, os.WriteFile(filepath.Join(dir, "report.pdf"), pdf, 0o644))
	}
	silent(t, b)
}

// TestChromiumHTMLHostile: a report of hostile text runs none of it, and the
// policy refuses a script that got into the document.
func TestChromiumHTMLHostile(t *testing.T) {
	t.Parallel()
	r, opt := hostileReport()
	url, _ := writeHTML(t, r, opt)
	b := testkit.StartBrowser(t, true)
	b.Listen()
	b.Load(url)
	for _, view := range []string{"causes", "targets", "codes", "pages", "orphans", "unreachable", "findings"} {
		click(b, `[data-view=`+view+`]`)
	}
	expect(t, b, `String(window.owned)`, "undefined")
	for i, s := range hostileTexts {
		quoted, _ := json.Marshal(strings.ToValidUTF8(string(appendCut(nil, s, htmlValueBytes)), "\ufffd"))
		expect(t, b, `String([...document.querySelectorAll("#body td:last-child")].some((td) => td.firstChild.data === `+string(quoted)+`))`, "true")
		if t.Failed() {
			t.Fatalf("text %d is not in the table as it is", i)
		}
	}
	silent(t, b)

	b.Do(`document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.owned=1'><p style='color:red' onclick='window.owned=1'>x</p>")`)
	b.Do(`document.body.lastElementChild.click()`)
	b.Do(`(() => { const s = document.createElement("script"); s.textContent = "window.owned=1"; document.body.append(s); })()`)
	expect(t, b, `String(window.owned)`, "undefined")
	said := strings.Join(b.Console(), "\n")
	for _, directive := range []string{"img-src", "style-src", "script-src"} {
		if !strings.Contains(said, directive) {
			t.Errorf("the browser did not apply %s: %.2000s", directive, said)
		}
	}
}
