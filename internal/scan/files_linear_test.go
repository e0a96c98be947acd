package scan

import (
	"strings"
	"testing"
	"time"
)

// TestFiles_linear: eight times the text takes about four times as long, in
// every format and for what an attacker would repeat.
func TestFiles_linear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	type reader = func(*Scanner, []byte, Options) *Page
	for _, c := range []struct {
		name           string
		read           reader
		before, repeat string
	}{
		{"entries", (*Scanner).Data, "<urlset>", "<url><loc>/a?b&amp;c</loc></url>"},
		{"items", (*Scanner).Data, "<rss>", "<item><link>/a</link><guid>http://h/</guid><description>&lt;a href=b></description></item>"},
		{"nested items", (*Scanner).Data, "<rss>", "<item><guid>http://h/</guid><link>http://h/</link>"},
		{"links of one item", (*Scanner).Data, "<rss><item>", "<guid>http://h/</guid><link>http://h/</link>"},
		{"contents of one item", (*Scanner).Data, "<rss><item>", "<description>&lt;a href=b></description>"},
		{"bases", (*Scanner).Data, "<feed>", `<link xml:base="a/" href="b"/>`},
		{"nested bases", (*Scanner).Data, "<feed>", `<a xml:base="aaaaaaaaaaaaaaaa/"><link href="b"/>`},
		{"references in content", (*Scanner).Data, "<rss><item><description>", "&lt;a href=&quot;&amp;amp;&quot;>"},
		{"element names", (*Scanner).Data, "<opml>", "<outline url='a'/><outlinE url='b'/>"},
		{"one base, many links", (*Scanner).Data, "<feed xml:base='/" + strings.Repeat("a/", 400) + "'>", "<link href='b'/>"},
		{"sheet", (*Scanner).CSS, "", "@import 'a';b{c:url(d)}"},
		{"sheet strings", (*Scanner).CSS, "", "a{b:url('\n"},
		{"sheet urls", (*Scanner).CSS, "", "url(a b"},
		{"manifest", (*Scanner).Manifest, `{"icons":[`, `{"src":"a"},`},
		{"manifest objects", (*Scanner).Manifest, "", `{"icons":`},
		{"manifest arrays", (*Scanner).Manifest, "", `[`},
		{"manifest keys", (*Scanner).Manifest, "{", `"start_url":"a",`},
		{"json feed", (*Scanner).JSONFeed, `{"items":[`, `{"url":"http://h/","content_html":"<a href=\u0062>"},`},
		{"json feed contents", (*Scanner).JSONFeed, `{"items":[{`, `"content_html":"<a href=\u0062>",`},
		{"json-ld", (*Scanner).JSONLD, "", `{"url":["/a",`},
		{"robots", (*Scanner).Robots, "", "Sitemap: a\n"},
		{"robots line", (*Scanner).Robots, "Sitemap: ", " #"},
		{"headers", (*Scanner).Headers, "", "/a\n Link: <b>; rel=c, <d>\n"},
		{"header targets", (*Scanner).Headers, "/a\n Link: ", "<b>,"},
		{"header parameters", (*Scanner).Headers, "/a\n Link: <b>", `;c="d\"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Scanner
			best := func(size int) time.Duration {
				text := []byte(c.before + strings.Repeat(c.repeat, size/len(c.repeat)))
				least := time.Hour
				for range 3 {
					least = min(least, cost(func() { c.read(&s, text, Options{}) }))
				}
				return least
			}
			var ratio float64
			for range 5 {
				small, large := best(1<<16), best(1<<19)
				// What takes no time at all has no ratio.
				if ratio = float64(large) / float64(max(small, 2*time.Millisecond)); ratio < 24 { // the square of 8 is 64
					t.Logf("64 KB in %v, factor %.1f", small, ratio)
					return
				}
			}
			t.Errorf("four times the text takes %.1f times as long", ratio)
		})
	}
}
