package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// FuzzFormats: whatever a page contains, each format stays valid: JSON that can
// be read, well-formed XML, one command per line, Markdown of bounded size, and
// no control character except the line end.
func FuzzFormats(f *testing.F) {
	f.Add("a.html", "b.html", "/b.html", "x", "file not found", "c.html", "src/a.md", uint8(0))
	f.Add("a\nb:,%\xff", "\x1b[31m`]]><!--", "[x](y){0}", "\u202e\ufffe\u2028", "::error::x", "", "", uint8(1))
	f.Add("C:/x", "", "", "", "", "", "\"&'<>", uint8(7))
	f.Fuzz(func(t *testing.T, page, raw, target, fragment, message, suggestion, source string, kind uint8) {
		fd := check.Finding{Page: page, Line: int(kind) % 3, Column: int(kind) % 2, Raw: raw, Target: target, Fragment: fragment,
			Message: message, Suggestion: suggestion, Verdict: check.Error, Code: check.Code(rules()[int(kind)%len(rules())].Name), Count: 1}
		if kind%2 == 1 {
			fd.Verdict, fd.Element, fd.Attribute = check.Warning, "a", "href"
		}
		if source != "" {
			fd.Source = &check.Position{File: source, Line: int(kind) % 5}
		}
		r := check.Result{Findings: []check.Finding{fd, fd}, Summary: check.Summary{Docroot: page, Profile: raw, UnusedIgnores: []string{raw}}}
		for _, format := range Formats {
			for by := GroupCause; by <= GroupOwner; by++ {
				if by != GroupCause && !format.Groups {
					continue
				}
				var b bytes.Buffer
				opt := Options{Base: "public", GroupBy: by, Version: message, Owners: func(string) string { return raw }}
				testkit.Check(t, format.Write(&b, &r, opt))
				sane(t, format.Name, b.Bytes())
			}
		}
	})
}

func sane(t *testing.T, format string, text []byte) {
	t.Helper()
	if i := bytes.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' }); i >= 0 {
		t.Errorf("%s: %q", format, text[i:min(len(text), i+20)])
	}
	switch format {
	case "json", "sarif", "gitlab":
		if !json.Valid(text) {
			t.Errorf("%s: no JSON: %s", format, text)
		}
	case "junit", "checkstyle":
		for d := xml.NewDecoder(bytes.NewReader(text)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v: %s", format, err, text)
			}
		}
	case "github":
		for line := range strings.Lines(string(text)) {
			if command.FindString(strings.TrimSuffix(line, "\n")) == "" {
				t.Errorf("no command: %q", line)
			}
		}
	case "markdown":
		if len(text) > markdownMaxBytes {
			t.Errorf("markdown: %d bytes", len(text))
		}
	}
}
