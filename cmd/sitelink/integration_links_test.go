//go:build integration && linux

package main_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// linkAttributes are the attributes with one URL as value, by element, as
// sitelink and the DOM name them. TestChromiumLinks compares only these,
// because the DOM keeps no list of the URLs in style sheets, JSON or meta
// elements.
var linkAttributes = map[string]string{
	"a": "href xlink:href", "area": "href", "link": "href", "img": "src", "script": "src href xlink:href", "iframe": "src",
	"frame": "src", "embed": "src", "object": "data", "video": "src poster", "audio": "src", "source": "src", "track": "src",
	"input": "src formaction", "button": "formaction", "form": "action", "body": "background", "blockquote": "cite", "q": "cite",
	"ins": "cite", "del": "cite", "image": "href xlink:href", "use": "href xlink:href",
}

// collectLinks lists the links of the document, each as "element attribute
// URL". Every URL is resolved by an element of the document, so that its base
// and encoding count. Template contents and shadow trees do not belong to it.
const collectLinks = `(table => {
	const probe = document.createElementNS("http://www.w3.org/1999/xhtml", "a");
	const links = [];
	for (const e of document.querySelectorAll("*")) {
		const html = e.namespaceURI === "http://www.w3.org/1999/xhtml";
		const svg = e.namespaceURI === "http://www.w3.org/2000/svg";
		if (!html && !svg) continue;
		for (const name of (table[e.localName] || "").split(" ")) {
			const ofSVG = e.localName === "use" || e.localName === "image" || name === "xlink:href" || (e.localName === "script" && name === "href");
			if (ofSVG ? !svg : html ? false : !(e.localName === "a" && name === "href")) continue;
			const value = name === "xlink:href" ? e.getAttributeNS("http://www.w3.org/1999/xlink", "href") : e.getAttributeNS(null, name);
			if (name === "" || value === null) continue;
			// What browsers never load is not a link.
			if (e.localName === "input" && name === "src" && e.type !== "image") continue;
			if (name === "xlink:href" && e.getAttributeNS(null, "href") !== null) continue;
			let url = "empty";
			if (value !== "" || name === "href") {
				probe.href = value;
				url = probe.protocol === ":" ? "invalid" : probe.href;
			}
			links.push(e.localName + " " + name + " " + url);
		}
	}
	return links;
})`

// minDOMLinks keeps TestChromiumLinks from passing on nothing.
const minDOMLinks = 300

// TestChromiumLinks: the links that sitelink finds on every fixture page are
// those of Chromium's DOM: element, attribute and resolved URL. The pages
// l-inert (LL-30, LL-32), l-attributes (LL-55 to LL-58, LL-60), l-values
// (LL-62, LL-64) and l-base* (LL-36) hold the cases of these requirements.
func TestChromiumLinks(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, p := range linkPages() {
		files[p.name] = p.content
	}
	for _, p := range fragmentPages() {
		files[p.name] = p.content
	}
	docroot := writeFixtures(t, files)
	b := startChromium(t)
	origin := serveFixtures(t, docroot)

	ofSitelink := map[string][]string{}
	eachLink(t, docroot, []string{"--base-url", origin, "--script-fragments", "error"}, func(r *row) {
		known := slices.Contains(strings.Fields(linkAttributes[r.Element]), r.Attribute)
		if known && r.Code != "inert" {
			ofSitelink[r.Page] = append(ofSitelink[r.Page], r.Element+" "+r.Attribute+" "+r.url(origin))
		}
	})
	var table strings.Builder
	for name, attributes := range linkAttributes {
		table.WriteString(`"` + name + `": "` + attributes + `",`)
	}
	links := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".svg") {
			continue // no page
		}
		b.Load(origin + "/" + name)
		var ofDOM []string
		b.Eval(collectLinks+"({"+table.String()+"})", &ofDOM)
		links += len(ofDOM)
		for i, link := range ofDOM {
			ofDOM[i] = strings.TrimSuffix(link, "#") // an empty fragment shows in no field
		}
		slices.Sort(ofDOM) // foster parenting and late bodies change the order
		if cloning[name] {
			ofDOM = slices.Compact(ofDOM)
		}
		slices.Sort(ofSitelink[name])
		missed, extra := difference(ofDOM, ofSitelink[name])
		for _, link := range missed {
			t.Errorf("%s: sitelink misses %q", name, clip(link))
		}
		for _, link := range extra {
			t.Errorf("%s: the DOM has no %q", name, clip(link))
		}
	}
	t.Logf("compared %d links on %d pages", links, len(files))
	if links < minDOMLinks {
		t.Errorf("compared %d links, want at least %d", links, minDOMLinks)
	}
}

// url builds the resolved URL from the fields of the row.
func (r *row) url(origin string) string {
	switch {
	case r.Code == "empty-link":
		return "empty"
	case r.Code == "bad-url" && r.Target == "":
		return "invalid"
	}
	u := r.Target
	if r.isInternal() {
		u = origin + u
	}
	u, _, _ = strings.Cut(u, "#")
	if r.Fragment != "" {
		u += "#" + r.Fragment
	}
	return u
}

// difference returns what only one of two sorted lists holds.
func difference(a, b []string) (onlyA, onlyB []string) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			onlyA, a = append(onlyA, a[0]), a[1:]
		default:
			onlyB, b = append(onlyB, b[0]), b[1:]
		}
	}
	return append(onlyA, a...), append(onlyB, b...)
}
