//go:build integration

package moderation

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// accessible checks the page with axe-core, in light and in dark colors, on a phone and on
// a wide screen.
func accessible(t *testing.T, b *testkit.Browser, page string) {
	t.Helper()
	for _, colors := range []string{"light", "dark"} {
		for _, width := range []int{1280, 320} {
			b.View(width, 640, colors)
			if faults := b.Axe("html"); len(faults) > 0 {
				t.Errorf("%s: %d pixels wide, %s colors: %q", page, width, colors, faults)
			}
			if dir := os.Getenv("SITELINK_PICTURES"); dir != "" {
				name := fmt.Sprintf("%s-%d-%s.png", strings.ReplaceAll(page, " ", "-"), width, colors)
				if err := os.WriteFile(filepath.Join(dir, name), b.Picture(), 0o644); err != nil {
					t.Error(err)
				}
			}
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
	page := testkit.Must(NewPage(PageOptions{Store: store, Address: server.URL + "/moderation", Key: []byte(key)}))(t)
	server.Config.Handler = page
	link := testkit.Must(SignedLink(server.URL+"/moderation", []byte(key), time.Now()))(t)

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
	for i := range maxRows {
		store.Add(incoming.Mention{Source: fmt.Sprintf("https://b%d.example/", i), Target: "https://our.example/", State: incoming.Held})
	}
	b.Load(server.URL + "/moderation?page=2")
	accessible(t, b, "the second page")
	if messages := b.Console(); len(messages) > 0 {
		t.Errorf("console: %q", messages)
	}
}
