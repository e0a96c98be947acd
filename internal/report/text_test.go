package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

// gnuLine is the pattern of VS Code's $gcc problem matcher, the strictest
// reader of the text format.
var gnuLine = regexp.MustCompile(`^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$`)

// TestTextGNU: each cause with a position is exactly one line that editors
// recognise, and they recognise no other line.
func TestTextGNU(t *testing.T) {
	for _, c := range results() {
		if c.name == "hostile" {
			continue // a page may well write "x:1:1: error:" into its links
		}
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			c.opt.All = true
			testkit.Check(t, Text(&b, &c.result, c.opt))
			want := 0
			for _, cause := range check.Causes(c.result.Findings) {
				f := &c.result.Findings[cause.First]
				if f.Source == nil && f.Line > 0 || f.Source != nil && f.Source.Line > 0 {
					want++
				}
			}
			got := 0
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if gnuLine.MatchString(line) {
					got++
					if strings.HasPrefix(line, " ") {
						t.Errorf("context is read as a finding: %q", line)
					}
				}
			}
			if got != want {
				t.Errorf("%d lines are read by editors, want %d", got, want)
			}
		})
	}
}

func TestTextPrefix(t *testing.T) {
	f := check.Finding{Page: "a.html", Line: 1, Column: 2, Verdict: check.Error, Code: check.MissingFile, Message: "gone"}
	for prefix, want := range map[string]string{
		"":          "a.html:1:2: error: gone [missing-file]\n",
		".":         "a.html:1:2: error: gone [missing-file]\n",
		"public":    "public/a.html:1:2: error: gone [missing-file]\n",
		"../site/":  "../site/a.html:1:2: error: gone [missing-file]\n",
		"pub\x1b[m": "pub\\x1b[m/a.html:1:2: error: gone [missing-file]\n",
		"/":         "/a.html:1:2: error: gone [missing-file]\n",
	} {
		if got := string(AppendText(nil, &f, TextOptions{Prefix: prefix})); got != want {
			t.Errorf("prefix %q: got %q, want %q", prefix, got, want)
		}
	}
}

func TestAppendCut(t *testing.T) {
	for _, c := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"at the limit", "12345678", 8, "12345678"},
		{"above the limit", "123456789", 8, "123456… (9 bytes)"},
		{"never inside a character", "12345äöü", 8, "12345… (11 bytes)"},
		{"bytes that are not UTF-8", "\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf", 8, `\xbf\xbf\xbf… (9 bytes)`},
		{"thousands", strings.Repeat("x", 1234567), 4, "xxx… (1,234,567 bytes)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(appendCut(nil, c.in, c.limit)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzText: whatever a page contains, the output is printable UTF-8: one line
// for the finding and indented lines after it, all of bounded length.
func FuzzText(f *testing.F) {
	seeds := 0
	for _, c := range results() {
		for _, x := range c.result.Findings {
			f.Add(x.Page, x.Raw, x.Target, x.Message, x.Suggestion, x.Line, uint8(x.Verdict))
			seeds++
		}
	}
	f.Add("a.html", "b", "/b", "m", "", 1, uint8(107)) // a verdict that does not exist
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, page, raw, target, message, suggestion string, line int, verdict uint8) {
		x := check.Finding{Page: page, Line: line, Column: line, Element: raw, Attribute: target, Raw: raw, Target: target,
			Fragment: message, Final: suggestion, Message: message, Suggestion: suggestion, Code: check.Code(message),
			Verdict: check.Verdict(verdict), Count: line}
		if line%2 == 0 {
			x.Source = &check.Position{File: page, Line: line, Column: line}
		}
		r := check.Result{Findings: []check.Finding{x}, Summary: check.Summary{Docroot: page, Profile: raw, Links: line,
			Reasons: []check.CodeCount{{Code: check.Code(raw), Count: line}}, UnusedIgnores: []string{target}}}
		got := AppendText(nil, &x, TextOptions{Prefix: page})
		for i, l := range strings.Split(strings.TrimSuffix(string(got), "\n"), "\n") {
			if i > 0 && !strings.HasPrefix(l, indent) {
				t.Errorf("line %d is not indented: %q", i+1, l)
			}
		}
		var b bytes.Buffer
		testkit.Check(t, Text(&b, &r, TextOptions{}))
		got = append(got, b.Bytes()...)
		if !utf8.Valid(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, c := range string(got) {
			if c != '\n' && (c < 0x20 || 0x7f <= c && c < 0xa0 || c == '\u202e' || c == '\u2028') {
				t.Errorf("%U reaches the terminal: %q", c, got)
			}
		}
		if limit := 12*(len(page)+len(raw)) + // raw is the profile, too
			40*4*(maxValueBytes+maxMessageBytes); len(got) > limit {
			t.Errorf("%d bytes of text, at most %d expected", len(got), limit)
		}
	})
}
