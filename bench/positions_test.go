package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSpots: destinations, and none in code, comments, shortcodes and front matter.
func TestSpots(t *testing.T) {
	text := "---\nurl: \"/no/\"\n---\n[a](/one/) ![b](<two.png> \"t\") \\](no) `[c](/no/)`\n\n" +
		"```\n[d](/no/)\n```\n\n    [e](/no/)\n<!-- [f](/no/) --> {{< g href=\"/no/\" >}}\n<a href=\"/three/\">x</a> <https://four.example/>\n\n[r]: /five/ 'x'\n"
	var got []string
	for _, s := range spotsOf("a.md", text) {
		got = append(got, text[s.from:s.to])
	}
	if s := strings.Join(got, " "); s != "/one/ two.png /three/ https://four.example/ /five/" {
		t.Errorf("got %s", s)
	}
}

// TestBreakAt: the places are those of the file as it is written, whatever the
// length of the values before them.
func TestBreakAt(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, dir := range []string{from, to} {
		if err := os.MkdirAll(filepath.Join(dir, "content", "p"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := "ä [a](/one/) [b](/two/)\n[c](/three/)\n"
	if err := os.WriteFile(filepath.Join(from, "content", "p", "a.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	spots, err := chooseSpots(from, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	places, err := breakAt(from, to, spots, func(i int) string { return fmt.Sprintf("/long-broken-%d/", i) })
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(to, "content", "p", "a.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(written), "\n")
	for i, p := range places {
		rest := string([]rune(lines[p.Line-1])[p.Column-1:])
		if p.File != "content/p/a.md" || !strings.HasPrefix(rest, fmt.Sprintf("/long-broken-%d/)", i)) {
			t.Errorf("break %d at %v is %q", i, &p, rest)
		}
	}
	if _, err := chooseSpots(from, 4, 1); err == nil || !strings.Contains(err.Error(), "3 links") {
		t.Errorf("more than there are: %v", err)
	}
}

// TestScore compares findings with the breaks of their page, in order.
func TestScore(t *testing.T) {
	places := []broken{{"a.md", 1, 5}, {"a.md", 2, 5}, {"b.md", 3, 1}, {"b.md", 4, 1}, {"b.md", 5, 1}}
	truth := map[string][]int{"a": {1, 0}, "b": {2, 3, 4}}
	at := func(file string, line, column int) *broken { return &broken{file, line, column} }
	c, err := score([]breakFinding{
		{Page: "a", Source: at("a.md", 2, 5)}, {Page: "a", Source: at("a.md", 1, 6)},
		{Page: "b"}, {Page: "b", Source: at("a.md", 4, 1)}, {Page: "b", Source: at("b.md", 4, 1)},
	}, truth, places)
	if err != nil {
		t.Fatal(err)
	}
	if c.findings != 5 || c.exact != 1 || c.sameLine != 1 || c.none != 1 || c.wrongFile != 1 || c.otherLine != 1 || c.found != 1 || len(c.mistakes) != 4 || c.share() != 0.2 {
		t.Errorf("got %+v", c)
	}
	for _, findings := range [][]breakFinding{{{Page: "a"}}, {{Page: "a"}, {Page: "a"}, {Page: "a"}}, {{Page: "none"}}} {
		if _, err := score(findings, truth, places); err == nil {
			t.Errorf("%v: no error", findings)
		}
	}
}
