package html

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
)

// TestExempt: the attribute exempts the links of its element and of those inside, and only
// where something can be inside does the page need its tree.
func TestExempt(t *testing.T) {
	const doctype = "<!doctype html><title>t</title>"
	for _, c := range []struct{ page, want, reason string }{
		{`<a href=a data-sitelink-ignore="not &amp; yet">x</a><a href=b>`, "a- b+ fast", "not & yet"},
		{`<img src=a srcset="b 2x" data-proofer-ignore><a href=c>`, "a- b- c+ fast", ""},
		{`<a href=a data-sitelink-ignore><img src=b></a><a href=c>`, "a- b- c+ tree", ""},
		{`<nav data-sitelink-ignore="menu"><ul><li><a href=a>x</a></ul></nav><a href=b>`, "a- b+ tree", "menu"},
		{`<p data-sitelink-ignore=one><a href=a data-sitelink-ignore=two>x</a><p><a href=b>`, "a- b+ tree", "two"},
		{`<style data-sitelink-ignore>a{background:url(a)}</style><a href=b data-sitelink-ignored>`, "a- b+ fast", ""},
		{`<iframe data-sitelink-ignore srcdoc="<a href=a>"></iframe><a href=b>`, "a- b+ fast", ""},
	} {
		p := new(Scanner).Scan([]byte(doctype+c.page), scan.Options{})
		var got []string
		for i := range p.Links {
			l := &p.Links[i]
			if l.Exempt == nil {
				got = append(got, string(l.Value)+"+")
				continue
			}
			got = append(got, string(l.Value)+"-")
			if *l.Exempt != c.reason {
				t.Errorf("%s: reason %q, want %q", c.page, *l.Exempt, c.reason)
			}
		}
		got = append(got, map[bool]string{false: "fast", true: "tree"}[p.Irregular])
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.page, g, c.want)
		}
	}
}
