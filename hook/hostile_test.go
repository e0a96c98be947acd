package hook

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestHostile: texts that could take long to parse take less than a second
// each; the test allows ten.
func TestHostile(t *testing.T) {
	const n = 20000
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
			var plain bytes.Buffer
			start := time.Now()
			if err := newMarkdown().Convert([]byte(source), &plain); err != nil {
				t.Fatal(err)
			}
			alone := time.Since(start)
			var r Recorder
			start = time.Now()
			var html bytes.Buffer
			doc, err := r.Convert(newMarkdown(&r), Input{File: "a.md", Text: []byte(source)}, &html)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 10*time.Second+4*alone {
				t.Errorf("%d links took %v, goldmark alone %v", len(doc.Links()), took, alone)
			} else {
				t.Logf("%d links took %v, goldmark alone %v", len(doc.Links()), took, alone)
			}
			if !bytes.Equal(plain.Bytes(), html.Bytes()) {
				t.Error("recording changes what is rendered")
			}
		})
	}
}
