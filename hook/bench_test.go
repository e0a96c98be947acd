package hook

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// benchText is a page of some 60 KB with 1,500 links of all kinds.
var benchText = []byte(strings.Repeat("A line with [a link](../notes/b.md#part), an ![image](/img/c.png) and <a href=\"d.html\">HTML</a>.\n"+
	"Then a [reference][r] and some words that are not a link, as most words are.\n\n", 375) + "[r]: ../r.md\n")

// BenchmarkConvert measures what recording costs; plain is goldmark alone.
func BenchmarkConvert(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		md := newMarkdown()
		b.SetBytes(int64(len(benchText)))
		for b.Loop() {
			var html bytes.Buffer
			testkit.Check(b, md.Convert(benchText, &html))
		}
	})
	b.Run("recorded", func(b *testing.B) {
		var r Recorder
		md := newMarkdown(&r)
		b.SetBytes(int64(len(benchText)))
		for b.Loop() {
			var html bytes.Buffer
			testkit.Must(r.Convert(md, Input{File: "a.md", Text: benchText}, &html))(b)
		}
	})
}
