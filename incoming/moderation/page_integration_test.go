//go:build integration

package moderation

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
)

// axNode is a node of the accessibility tree.
type axNode struct {
	Ignored    bool
	Role, Name struct{ Value string }
}

// tree returns "role name" for the nodes of the accessibility tree that a screen reader
// would read.
func tree(b *testkit.Browser) (nodes []string) {
	var result struct{ Nodes []axNode }
	b.Call("Accessibility.getFullAXTree", nil, &result)
	for _, n := range result.Nodes {
		if !n.Ignored {
			nodes = append(nodes, n.Role.Value+" "+n.Name.Value)
		}
	}
	return nodes
}

// focused returns the accessible text of the element that has the focus.
func focused(b *testkit.Browser) (text string) {
	b.Eval("(document.activeElement.innerText || document.activeElement.tagName).trim()", &text)
	return text
}

// lowContrast returns the texts with a contrast below 4.5, and the name of the focus
// ring if its contrast is below 3 (WCAG 1.4.3 and 1.4.11).
func lowContrast(b *testkit.Browser) (low []string) {
	b.Eval(`(() => {
		const canvas = document.createElement('i');
		const focus = [...document.styleSheets[0].cssRules].find(r => r.selectorText === ':focus-visible');
		canvas.style.cssText = 'background: Canvas; outline: ' + focus.style.outline;
		document.body.append(canvas);
		const numbers = color => { const n = color.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
		const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
		const light = c => c.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
		const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + .05) / (y + .05); };
		const page = numbers(getComputedStyle(canvas).backgroundColor).slice(0, 3);
		const behind = e => e ? over(numbers(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : page;
		const low = [];
		for (const e of document.body.querySelectorAll('*')) {
			if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
			const under = behind(e), r = ratio(over(numbers(getComputedStyle(e).color), under), under);
			if (r < 4.5) low.push(r.toFixed(2) + ' ' + e.tagName + ' ' + e.innerText);
		}
		const ring = ratio(over(numbers(getComputedStyle(canvas).outlineColor), page), page);
		if (ring < 3) low.push(ring.toFixed(2) + ' focus ring');
		canvas.remove();
		return low;
	})()`, &low)
	return low
}

// structure returns what assistive technology needs and a page lacks: the language, one
// first heading, no heading level left out, a name for each field, no doubled id, and no
// element that changes the order of the focus.
func structure(b *testkit.Browser) (faults []string) {
	b.Eval(`(() => {
		const all = [...document.querySelectorAll('*')], faults = [], ids = all.map(e => e.id).filter(Boolean);
		if (document.documentElement.lang !== 'en') faults.push('no language');
		if (document.querySelectorAll('h1').length !== 1) faults.push('not one first heading');
		if (document.querySelectorAll('main').length !== 1) faults.push('not one main part');
		let level = 0;
		for (const h of document.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
			if (h.tagName[1] - level > 1) faults.push('a heading skips a level: ' + h.innerText);
			level = +h.tagName[1];
		}
		if (new Set(ids).size !== ids.length) faults.push('two elements have one id');
		for (const e of all) {
			if (e.tabIndex > 0) faults.push('a tabindex changes the order: ' + e.tagName);
			for (const id of (e.getAttribute('aria-labelledby') || '').split(' ').filter(Boolean))
				if (!document.getElementById(id)) faults.push('no element has the id ' + id);
			if (e.matches('input:not([type=hidden]), select, textarea') && !e.labels.length) faults.push('a field has no label');
			if (e.matches('img:not([alt])')) faults.push('a picture has no text');
		}
		return faults;
	})()`, &faults)
	return faults
}

// accessible checks the page in light and in dark colors.
func accessible(t *testing.T, b *testkit.Browser, page string) {
	t.Helper()
	if faults := structure(b); len(faults) > 0 {
		t.Errorf("%s: %q", page, faults)
	}
	for _, colors := range []string{"light", "dark"} {
		b.View(320, 640, colors)
		if low := lowContrast(b); len(low) > 0 {
			t.Errorf("%s: low contrast with %s colors: %q", page, colors, low)
		}
	}
}

// TestChromium uses the page as people do: with the keyboard only, without scripts, on a
// phone, and as a screen reader sees it.
func TestChromium(t *testing.T) {
	store := incomingtest.NewStore(nil)
	hostile := []string{
		`<script>document.title='owned'</script>`, `"><img src=x onerror="document.title='owned'">`, "{{.Form}} ${1}", "\u202Egnp.exe", strings.Repeat("W", 300), "",
	}
	var ids []string
	for i, text := range hostile {
		ids = append(ids, store.Add(incoming.Mention{Protocol: incoming.Webmention, Source: fmt.Sprintf("https://a%d.example/%s", i, strings.Repeat("long-path-", 20)), Target: "https://our.example/",
			State: incoming.Held, Title: text, Excerpt: text, Lang: text, Author: incoming.Author{Name: text}, Verified: time.Unix(1, 0), Received: time.Unix(1, 0)})...)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the browser complains about the certificate
	server.StartTLS()
	defer server.Close()
	page, err := NewPage(PageOptions{Store: store, Address: server.URL + "/moderation"})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = page
	link, err := page.LoginLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	b := testkit.StartBrowser(t, false)
	b.Call("Security.setIgnoreCertificateErrors", testkit.Params{"ignore": true}, nil)
	b.Call("Accessibility.enable", nil, nil)
	b.View(320, 640, "dark") // WCAG 1.4.10: no scrolling in two directions
	tab, enter := func() { b.Press("Tab", 9, "") }, func() { b.Press("Enter", 13, "\r") }
	b.Load(server.URL + "/moderation")
	accessible(t, b, "the page for those who are not logged in")
	b.Listen()
	b.Load(link)
	accessible(t, b, "the page of the login link")
	tab()
	if got := focused(b); got != "Log in" {
		t.Fatalf("the first element is %q", got)
	}
	b.Follow(enter)

	accessible(t, b, "the list")
	var layout struct {
		Wide          int
		Small, Titles []string
	}
	b.Eval(`({wide: document.documentElement.scrollWidth, titles: [...document.querySelectorAll('h2')].map(e => e.textContent),
		small: [...document.querySelectorAll('button')].filter(e => e.getBoundingClientRect().height < 44 || e.getBoundingClientRect().right > 320).map(e => e.innerText)})`, &layout)
	if len(layout.Titles) != len(hostile) {
		t.Fatalf("the page shows %q", layout.Titles)
	}
	if layout.Wide > 320 || len(layout.Small) > 0 {
		t.Errorf("on a phone, the page is %d wide, and these buttons are too small: %q", layout.Wide, layout.Small)
	}
	for i, text := range hostile[:4] {
		if layout.Titles[i] != text {
			t.Errorf("%q is shown as %q", text, layout.Titles[i])
		}
	}
	var title string
	if b.Eval("document.title", &title); title != "Held mentions" {
		t.Errorf("the title is %q", title)
	}
	nodes := tree(b)
	for _, want := range []string{"RootWebArea Held mentions", "heading Held mentions", "main ", "heading " + hostile[0], "article " + hostile[0], "button Approve " + hostile[0], "button Deny " + hostile[0],
		"button Trust a0.example", "button Block a0.example", "button Log out", "blockquote "} {
		if !slices.Contains(nodes, want) {
			t.Errorf("the accessibility tree lacks %q:\n%s", want, strings.Join(nodes, "\n"))
		}
	}
	for _, n := range nodes {
		if n == "button " || n == "link " || n == "heading " {
			t.Errorf("an element has no name: %s", n)
		}
	}

	// The order of the focus is that of the page. The second mention is denied and the
	// first approved, and the messages have the focus.
	var order []string
	for range 7 {
		tab()
		order = append(order, focused(b))
	}
	if got := strings.Join(append(order[:1:1], order[3:]...), ", "); got != "Log out, Approve, Deny, Trust a0.example, Block a0.example" {
		t.Errorf("the order of the focus is %s", got)
	}
	var ring string
	if b.Eval("getComputedStyle(document.activeElement).outlineStyle", &ring); ring != "solid" {
		t.Errorf("the focus is not visible: %s", ring)
	}
	decide := func(steps int, id string, want incoming.State, message string) {
		t.Helper()
		for range steps {
			tab()
		}
		b.Follow(enter)
		if m, err := store.Mention(t.Context(), id); err != nil || m.State != want {
			t.Errorf("the mention is %s, want %s (%v)", m.State, want, err)
		}
		got := ""
		for deadline := time.Now().Add(60 * time.Second); got != message && time.Now().Before(deadline); { // autofocus comes after the first rendering
			got = focused(b)
		}
		if got != message {
			t.Errorf("the focus is on %q, want the message", got)
		}
		if !slices.Contains(tree(b), "status ") && !slices.Contains(tree(b), "status "+message) {
			t.Errorf("the message is not a status:\n%s", strings.Join(tree(b), "\n"))
		}
	}
	decide(4, ids[1], incoming.Refused, results["deny"]) // from Block: two links, Approve, Deny
	accessible(t, b, "the list with a message")
	decide(3, ids[0], incoming.Approved, results["approve"])
	if messages := b.Console(); len(messages) > 0 {
		t.Errorf("console: %q", messages)
	}
}
