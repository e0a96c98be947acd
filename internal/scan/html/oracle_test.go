package html

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// oracle lists the attributes with one URL or name in the tree of
// golang.org/x/net/html as a sorted set. The parser copies elements, so counts
// mean nothing.
func oracle(text []byte) ([]string, error) {
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	hosts := map[*html.Node]bool{}
	var walk func(n *html.Node, inert, shadow bool)
	walk = func(n *html.Node, inert, shadow bool) {
		for ; n != nil; n = n.NextSibling {
			root := n.Type == html.ElementNode && n.Data == "template" && beginsShadow(n) && !hosts[n.Parent]
			if root {
				hosts[n.Parent] = true
			}
			if n.Type == html.ElementNode {
				oracleElement(n, inert, shadow || root, set)
				if n.Namespace == "" && n.Data == "link" && !inert && bytes.IndexByte(text, '&') < 0 {
					oracleAdvert(n, set)
				}
			}
			walk(n.FirstChild, inert || n.Type == html.ElementNode && n.Namespace == "" && n.Data == "template" && !root, shadow || root)
		}
	}
	walk(root.FirstChild, false, false)
	var out []string
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out, nil
}

func oracleElement(n *html.Node, inert, shadow bool, set map[string]bool) {
	seen := map[string]bool{}
	foreign := n.Namespace != "" && HasLink(namespaceOf(n), []byte(n.Data))
	hasHref, runs := false, true
	for _, a := range n.Attr {
		hasHref = hasHref || a.Namespace == "" && a.Key == "href"
		if a.Namespace == "" && a.Key == "type" && n.Data == "script" {
			runs = isJavaScript([]byte(strings.Trim(a.Val, scan.Space)))
		}
	}
	for _, a := range n.Attr {
		key := a.Key
		if a.Namespace != "" {
			key = a.Namespace + ":" + key
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		switch {
		case key == "id" && !inert && !shadow && a.Val != "":
			set["anchor id "+a.Val] = true
		case key == "name" && n.Namespace == "" && n.Data == "a" && !inert && !shadow && a.Val != "":
			set["anchor name "+a.Val] = true
		case key == "href" && n.Namespace == "" && (n.Data == "a" || n.Data == "area" || n.Data == "link"),
			key == "src" && n.Namespace == "" && (n.Data == "img" || n.Data == "script" && runs || n.Data == "iframe"),
			foreign && !(shadow && strings.HasPrefix(a.Val, "#") && n.Data != "a") && (key == "href" || key == "xlink:href" && !hasHref && n.Namespace == "svg"):
			set[fmt.Sprintf("link %s %s %v %s", n.Data, key, inert, a.Val)] = true
		}
	}
}

// oracleAdvert adds what a link element advertises. Pages with character
// references are left out, because relations are not decoded.
func oracleAdvert(n *html.Node, set map[string]bool) {
	for _, a := range n.Attr {
		if a.Key != "rel" {
			continue
		}
		for _, word := range strings.FieldsFunc(a.Val, func(r rune) bool { return strings.ContainsRune(scan.Space, r) }) {
			for _, rel := range []string{"pingback", "webmention"} {
				if scan.EqualFold([]byte(word), rel) {
					set["advert "+rel] = true
				}
			}
		}
		return
	}
}

// ours lists the same for a Page.
func ours(p *scan.Page) []string {
	set := map[string]bool{}
	for _, a := range p.Anchors {
		switch a.Kind {
		case scan.AnchorID:
			set["anchor id "+string(a.Name)] = true
		case scan.AnchorName:
			set["anchor name "+string(a.Name)] = true
		}
	}
	for _, a := range p.Adverts {
		for bit, rel := range map[scan.AdvertRel]string{scan.AdvertPingback: "pingback", scan.AdvertWebmention: "webmention"} {
			if a.Rel&bit != 0 && bytes.IndexByte(p.Text, '&') < 0 {
				set["advert "+rel] = true
			}
		}
	}
	for i := range p.Links {
		l := &p.Links[i]
		el := p.Element(l)
		switch {
		case l.Attr == scan.AttrHref && (el == "a" || el == "area" || el == "link"),
			l.Attr == scan.AttrSrc && (el == "img" || el == "script" || el == "iframe"),
			l.Attr == scan.AttrHref, l.Attr == scan.AttrXlinkHref:
			set[fmt.Sprintf("link %s %s %v %s", el, l.Attr, l.Inert, l.Value)] = true
		}
	}
	var out []string
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// foldForeign changes the element names of link rows to lower case, because the
// parser adjusts the case of svg names.
func foldForeign(rows []string) []string {
	for i, r := range rows {
		if f := strings.SplitN(r, " ", 3); f[0] == "link" {
			rows[i] = "link " + strings.ToLower(f[1]) + " " + f[2]
		}
	}
	sort.Strings(rows)
	return slices.Compact(rows)
}

// compare compares the scanner with the oracle. Callers leave out texts that
// browsers and the oracle read differently.
func compare(t *testing.T, s *Scanner, text []byte) {
	t.Helper()
	want, err := oracle(text)
	if err != nil {
		return // more than 512 open elements
	}
	got := ours(s.Scan(text, scan.Options{Charset: "utf-8"}))
	want, got = foldForeign(want), foldForeign(got)
	if len(s.noscript) > 0 { // the oracle runs no scripts
		isAnchor := func(row string) bool { return strings.HasPrefix(row, "anchor ") }
		want, got = slices.DeleteFunc(want, isAnchor), slices.DeleteFunc(got, isAnchor)
	}
	if !slices.Equal(got, want) {
		t.Errorf("irregular=%v page %q\n got %q\nwant %q", s.el.Page.Irregular, clip(text), diff(got, want), diff(want, got))
	}
}

func diff(a, b []string) (only []string) {
	for _, x := range a {
		if !slices.Contains(b, x) {
			only = append(only, x)
		}
	}
	return only
}

func clip(b []byte) []byte { return b[:min(len(b), 600)] }

// probe gives each start tag an id and a link.
func probe(text []byte) []byte {
	var out []byte
	n := 0
	for i := 0; i < len(text); i++ {
		out = append(out, text[i])
		if text[i] == '<' && i+1 < len(text) && scan.Class[text[i+1]]&scan.ClassLetter != 0 {
			j := i + 1
			for j < len(text) && scan.Class[text[j]]&scan.ClassNameEnd == 0 {
				out = append(out, text[j])
				j++
			}
			if j < len(text) {
				n++
				out = append(out, fmt.Sprintf(" id=i%d href=h%d ", n, n)...)
			}
			i = j - 1
		}
	}
	return out
}

func TestTreeConstruction(t *testing.T) {
	var s Scanner
	slow := 0
	for _, text := range testkit.TreeTests(t) {
		if !utf8.Valid(text) {
			continue
		}
		compare(t, &s, text)
		compare(t, &s, probe(text))
		if s.el.Page.Irregular {
			slow++
		}
	}
	t.Logf("%d pages were irregular", slow)
}

// FuzzPage compares the fast path, and its decision when to use the slow path,
// with the tree of x/net/html. It reads every page as it is, and again with an
// id and a link in each start tag.
func FuzzPage(f *testing.F) {
	for _, text := range testkit.TreeTests(f) {
		f.Add(text)
	}
	for _, c := range testkit.PageSeeds {
		f.Add([]byte(c))
	}
	var s Scanner
	f.Fuzz(func(t *testing.T, text []byte) {
		testkit.CheckPage(t, s.Scan(text, scan.Options{}))
		testkit.CheckPage(t, s.Scan(text, scan.Options{Tags: scan.Linklint}))
		if !utf8.Valid(text) || oracleIsWrong(text) || oracleIsWrong(probe(text)) {
			return
		}
		compare(t, &s, text)
		compare(t, &s, probe(text))
	})
}

// oracleIsWrong reports whether the text has a construct that x/net/html reads
// differently from browsers, or that means something else after the probe.
func oracleIsWrong(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, c := range []string{
		"<frameset", "<frame", // its tokenizer lets raw-text start tags inside frameset swallow what follows
		"\x00", // it drops NUL in some positions
		"\xEF\xBB\xBF",
		"<caption",                // it accepts a cell inside one (13.2.6.4.11)
		"<plaintext", "<!doctype", // the probe does not fit into them
	} {
		if bytes.Contains(lower, []byte(c)) {
			return true
		}
	}
	return escapedLess(lower)
}

// escapedLess reports whether a script in an escaped state has a "<" without a
// letter or slash after it. By the standard that keeps the state (HTML
// 13.2.5.23), but x/net/html leaves it.
func escapedLess(text []byte) bool {
	_, script, _ := bytes.Cut(text, []byte("<script"))
	_, rest, _ := bytes.Cut(script, []byte("<!--"))
	for {
		_, after, ok := bytes.Cut(rest, []byte("<"))
		if !ok {
			return false
		}
		if len(after) == 0 || after[0] != '/' && scan.Class[after[0]]&scan.ClassLetter == 0 {
			return true
		}
		rest = after
	}
}
