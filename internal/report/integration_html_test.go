//go:build integration && linux

package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testchrome"
)

// writeHTML writes a report into a file and returns its address and size.
func writeHTML(t *testing.T, r *check.Result, extras Extras) (url string, size int) {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, Options{Version: "v0.0.0", Extras: extras}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + name, b.Len()
}

// silent fails the test for whatever the console has said.
func silent(t *testing.T, b *testchrome.Browser) {
	t.Helper()
	for _, line := range b.Console() {
		t.Errorf("console: %.600s", line)
	}
}

// picture keeps a PNG in the directory of $SITELINK_PICTURES, if it is set: a
// person has to look at them.
func picture(t *testing.T, b *testchrome.Browser, name string) {
	t.Helper()
	png := b.Picture()
	if !bytes.HasPrefix(png, []byte("\x89PNG")) || len(png) < 10_000 {
		t.Errorf("%s: no picture of a report, %d bytes", name, len(png))
	}
	if dir := os.Getenv("SITELINK_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	manyFindings = 100_000
	// patience is far above the 2 s that the report has to open, and to answer
	// a search, on a machine that does nothing else.
	patience = 8_000.0 // ms
)

// TestChromiumHTML: the report of 100,000 findings opens, answers a search,
// and can be used by keyboard alone.
func TestChromiumHTML(t *testing.T) {
	r, extras := synthetic(manyFindings)
	url, size := writeHTML(t, r, extras)
	b := testchrome.Start(t, true)
	b.Listen()
	b.View(1280, 900, "light")
	b.Load(url)

	var ready float64
	b.Eval(`performance.getEntriesByName("sitelink-ready")[0]?.startTime ?? -1`, &ready)
	if ready < 0 || ready > patience {
		t.Errorf("usable after %.0f ms", ready)
	}
	expect(t, b, `document.querySelector("#count").textContent`, "100,000 findings")

	b.Do(`window.timed = (act) => new Promise((done) => {
		const count = document.querySelector("#count"), before = performance.now();
		new MutationObserver((_, o) => { o.disconnect(); requestAnimationFrame(() => setTimeout(() => done(performance.now() - before))); })
			.observe(count, {childList: true, characterData: true, subtree: true});
		act();
	})`)
	search := func(text, want string) float64 {
		t.Helper()
		quoted, _ := json.Marshal(text)
		var took float64
		b.Eval(`timed(() => { const q = document.querySelector("#query"); q.value = `+string(quoted)+`; q.dispatchEvent(new Event("input", {bubbles: true})); })`, &took)
		expect(t, b, `document.querySelector("#count").textContent`, want)
		if took > patience {
			t.Errorf("search for %q took %.0f ms", text, took)
		}
		return took
	}
	first := search("page-77777", "1 finding of 100,000")
	again := search("Figure chapter-0", "1,000 findings of 100,000")
	none := search("</script>", "0 findings of 100,000")
	all := search("", "100,000 findings")
	t.Logf("report of %d findings: %.1f MB, usable %.0f ms after navigation, first search %.0f ms, next %.0f, %.0f and %.0f ms",
		manyFindings, float64(size)/1e6, ready, first, again, none, all)

	press := func(selector string) {
		t.Helper()
		b.Do(`document.querySelector(` + "`" + selector + "`" + `).click()`)
	}
	press(`[data-view=targets]`)
	expect(t, b, `document.querySelector("#body tr").textContent`, "/assets/print.csserror missing-file16,667016,66716,667")
	press(`[data-view=codes]`)
	press(`[data-view=orphans]`)
	expect(t, b, `document.querySelector("#count").textContent`, "2,000 files")
	press(`[data-view=findings]`)
	silent(t, b)

	if !strings.Contains(url, "report.html") {
		t.Fatal(url)
	}
	for _, v := range []struct {
		name          string
		width, height int
		colors        string
	}{{"light", 1280, 900, "light"}, {"dark", 1280, 900, "dark"}, {"wide", 1800, 1100, "light"}, {"narrow", 390, 844, "light"}, {"narrow-dark", 390, 844, "dark"}} {
		b.View(v.width, v.height, v.colors)
		b.Do(`scrollTo(0, 0)`)
		picture(t, b, v.name)
		b.Do(`document.querySelector("#findings").scrollIntoView()`)
		picture(t, b, v.name+"-findings")
	}
}

func expect(t *testing.T, b *testchrome.Browser, expression, want string) {
	t.Helper()
	var got string
	b.Eval(expression, &got)
	if got != want {
		t.Errorf("%s\n got %q\nwant %q", expression, got, want)
	}
}
