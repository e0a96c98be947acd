package hook

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHostile: recording changes nothing of what is rendered of texts that could take
// long to parse.
func TestHostile(t *testing.T) {
	n := testkit.Longer(1000, 20000) // so that quadratic work would take minutes
	for name, source := range map[string]string{
		"raw HTML":                      strings.Repeat("<a href=x>", n),
		"a block of HTML":               "<div>\n" + strings.Repeat("<img src=x>\n", n),
		"empty links":                   strings.Repeat("[a]()", n),
		"tabs before links":             "-\tx\n" + strings.Repeat("\t\t [a](b)\n", n),
		"tabs before references":        "-\t[r]: x\n\n" + strings.Repeat("\t[r]\n", n),
		"one long line of wide letters": strings.Repeat("漢[a](b)", n),
		"images in images":              strings.Repeat("![", 2000) + strings.Repeat("](a)", 2000),
		"definitions":                   strings.Repeat("[r]: x\n", n) + "\n[r]",
	} {
		t.Run(name, func(t *testing.T) {
			var plain, html bytes.Buffer
			testkit.Check(t, newMarkdown().Convert([]byte(source), &plain))
			var r Recorder
			testkit.Must(r.Convert(newMarkdown(&r), Input{File: "a.md", Text: []byte(source)}, &html))(t)
			if !bytes.Equal(plain.Bytes(), html.Bytes()) {
				t.Error("recording changes what is rendered")
			}
		})
	}
}
