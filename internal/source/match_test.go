package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/source/read"
)

// TestAlign: each test has the destinations of a source and the links of its
// page; a link is RAW, or RAW@REGION. The result is the number of the source's
// link for each link of the page.
func TestAlign(t *testing.T) {
	tests := []struct{ name, items, links, want string }{
		{"the same", "/a/ /b/", "/a/ /b/", "0 1"},
		{"repeated", "/a/ /a/ /a/", "/a/ /a/ /a/", "0 1 2"},
		{"generated before", "/a/ /b/ /a/", "/n/ /a/ /x/ /a/ /b/ /a/ /n/", "- - - 0 1 2 -"},
		{"generated after", "/a/ /b/", "/a/ /b/ /z/ /b/ /a/", "0 1 - - -"},
		{"single, in navigation and main", "/a/", "/a/@-6 /a/@2 /a/@-6", "- 0 -"},
		{"not rendered", "/a/ /gone/ /b/", "/a/ /b/", "0 2"},
		{"other spelling", "/ä~b/ c.md", "/%C3%A4%20b/ /x/c/", "0 1"},
		{"MyST takes it for an id", "a.md b/c c", "#a.md #b/c #c", "0 1 -"},
		{"another fragment is another link", "c.md#a", "/x/c/#b", "-"},
		{"relativeURLs", "/q/", "../../q/", "0"},
		{"own address", "/q/", "https://example.org/sub/q/", "0"},
		{"nothing", "", "/a/", "-"},
		{"an address in a query", "/a?u=http://b/ //c/", "/sub/a?u=http://b/ /sub/c/", "0 -"},
		{"an anchor for another page", "#a ./#b", "/de/#a /#b", "0 1"},
		{"crossed by the anchors of headings", "#x #y ../o/c/#d", "/a/c/#d #x #y", "2 0 1"},
		{"crossed, in navigation", "#x #y ../o/c/#d", "/a/c/#d@-6 #x #y", "- 0 1"},
		{"crossed, twice", "#x #y ../o/c/#d", "/a/c/#d /b/c/#d #x #y", "- - 0 1"},
	}
	m := Map{index: &index{}, base: "example.org", basePath: "/sub"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const page = "p/o/index.html"
			var items []read.Written
			for _, dest := range strings.Fields(tt.items) {
				items = append(items, read.Written{Value: strings.ReplaceAll(dest, "~", " ")})
			}
			var links []pageLink
			for _, raw := range strings.Fields(tt.links) {
				l := pageLink{raw: raw}
				if at := strings.IndexByte(raw, '@'); at >= 0 {
					fmt.Sscan(raw[at+1:], &l.region)
					l.raw = raw[:at]
				}
				l.addr = m.address(l.raw, page)
				links = append(links, l)
			}
			pairs, n := align(items, m.addresses(items, page), links)
			var got []string
			count := 0
			for _, p := range pairs {
				if p < 0 {
					got = append(got, "-")
					continue
				}
				count++
				got = append(got, fmt.Sprint(p))
			}
			if s := strings.Join(got, " "); s != tt.want || n != count {
				t.Errorf("got %s (%d pairs), want %s", s, n, tt.want)
			}
		})
	}
}

// Beyond the limit of the table, only values that are there equally often are
// paired.
func TestAlignLarge(t *testing.T) {
	var m Map
	var items []read.Written
	var links []pageLink
	for i := range 3000 {
		dest := fmt.Sprintf("/%d/", i%1500)
		items = append(items, read.Written{Value: dest})
		links = append(links, pageLink{raw: dest, addr: m.address(dest, "a.html")})
	}
	links = append(links, pageLink{raw: "/7/", addr: m.address("/7/", "a.html")})
	pairs, n := align(items, m.addresses(items, "a.html"), links)
	if n != 2998 || pairs[1508] != 1508 || pairs[7] != -1 || pairs[1507] != -1 {
		t.Errorf("%d pairs; 1508 is %d, 7 is %d, 1507 is %d", n, pairs[1508], pairs[7], pairs[1507])
	}
}
