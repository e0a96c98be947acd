package html

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
	"golang.org/x/net/html"
)

// TestParse_hostile: what would take the parser minutes or gigabytes is refused, at once.
func TestParse_hostile(t *testing.T) {
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	long := strings.Repeat(" a=b", 2000)
	for name, page := range map[string]string{
		"nested":             strings.Repeat("<div>", 1_000_000),
		"formatting":         strings.Repeat("<b>", 1_000_000),
		"tables":             strings.Repeat("<table><tr><td>", 1_000_000),
		"opened again":       "<p>" + numbered("<b a=%d>", 480) + strings.Repeat("<p>x", 1<<18),
		"closed in comments": "<p>" + numbered("<b a=%d><!--</b>-->", 480) + strings.Repeat("<p>x", 1<<18),
		"closed in values":   "<p>" + numbered("<b a=%d x='></b>'>", 480) + strings.Repeat("<p>x", 1<<18),
		"closed in tables":   "<p>" + numbered("<b a=%d><td></b>", 480) + strings.Repeat("<p>x", 1<<18),
		"compared":           numbered("<p><i"+strings.Repeat(" a", 400)+" z=%d>x", 1000),
		"long tag":           "<i" + long + ">",
		"bodies":             numbered("<body a%d>", 1<<17),
		"roots":              numbered("<HTML a%d>", 1<<17),
		"large":              strings.Repeat("x", maxParsed+1) + "<p>",
	} {
		start := time.Now()
		var err error
		if used := allocated(func() { _, err = Parse([]byte(page), true) }); err == nil || used > 256<<20 || time.Since(start) > 5*time.Second {
			t.Errorf("%s: error %v, %d MB, %v", name, err, used>>20, time.Since(start))
		}
	}
	// What the scanner marks is as costly as what differs.
	for name, page := range map[string]string{
		"equal":                 "<form><form><p>" + strings.Repeat("<b>", 480) + strings.Repeat("<p>x", 1<<17),
		"equal with attributes": "<form><form><p>" + strings.Repeat("<b a=1>", 480) + strings.Repeat("<p>x", 1<<17),
	} {
		start := time.Now()
		used := allocated(func() { new(Scanner).Scan([]byte(page), scan.Options{}) })
		if used > 256<<20 || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %d MB, %v", name, used>>20, time.Since(start))
		}
	}
	for name, page := range map[string]string{
		"identifiers": numbered(`<tr><td><code id="a.%d"><a href="b">c</a></code>`, 10_000),
		"names":       numbered(`<p><b class=x><i>%d</i></b> and <code>x</code>`, 20_000),
		"colors":      strings.Repeat(numbered(`<font color=%d><p>x</p></font>`, 10), 2_000),
		"not closed":  strings.Repeat("<p><b><i>x", 100),
		"script":      "<script>for (i = 0; i<b && i<s ; i++) x</script>",
	} {
		if _, err := Parse([]byte(page), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTextOf: white space is folded as in HTML, and the text of scripts does not count.
func TestTextOf(t *testing.T) {
	root := testkit.Must(Parse([]byte("<title> a\n b </title><p>\n<script>1</script><style>2</style><noscript>3</noscript><p>\u00a0c  d\t<b>e</b> &amp;&#32; f<!-- g -->h"), true))(t)
	var got []string
	Each(root, func(n *html.Node) bool {
		if text := TextOf(n); text != "" {
			got = append(got, text)
		}
		return true
	})
	if want := []string{"a b", "\u00a0c d", "e", "& f", "h"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
