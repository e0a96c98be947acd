//go:build integration && linux

package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestIssue4Item7Dot: Graphviz itself reads the picture of a site with names
// that are hard to quote, and has the nodes and the colours that were meant.
func TestIssue4Item7Dot(t *testing.T) {
	t.Parallel()
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("no Graphviz here")
	}
	site := t.TempDir()
	for name, content := range map[string]string{
		`a "b" \N \.html`: `<title>t</title><a href="<c>.html">1</a><a href="no%22ne%5C">2</a><a href="<c>.html#x">3</a>`,
		`<c>.html`:        `<title>t</title><a href="{d|e};.html">1</a><a href="https://x.example/&lt;b&gt;?a=%22">2</a>`,
		`{d|e};.html`:     `<title>t</title><a href="mailto:x@y.example">1</a><a href="&#10;{d|e};.html">2</a>`,
		"graph.html":      "<title>t</title>",
	} {
		testkit.Check(t, os.WriteFile(filepath.Join(site, name), []byte(content), 0o644))
	}
	graph := testkit.Must(exec.Command(sitelinkProgram(t), "links", site, "--format", "dot").Output())(t)
	cmd := exec.Command(dot, "-Tjson")
	cmd.Stdin = bytes.NewReader(graph)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("dot: %v\n%s\n%s", err, stderr.Bytes(), graph)
	}
	var drawn struct {
		Objects []struct {
			Name  string
			LDraw []struct {
				Op, Text string
			} `json:"_ldraw_"`
		}
		Edges []struct {
			Tail, Head int
			Color      string
		}
	}
	testkit.Check(t, json.Unmarshal(out, &drawn))
	label := func(i int) string {
		for _, op := range drawn.Objects[i].LDraw {
			if op.Op == "T" {
				return op.Text
			}
		}
		return ""
	}
	var got []string
	for _, e := range drawn.Edges {
		got = append(got, strings.TrimSpace(label(e.Tail)+" -> "+label(e.Head)+" "+e.Color))
	}
	slices.Sort(got)
	want := []string{
		`<c>.html -> {d|e};.html`,
		`a "b" \N \.html -> /no%22ne%5C red`,
		`a "b" \N \.html -> <c>.html red`,
		`{d|e};.html -> {d|e};.html`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s\nfrom\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), graph)
	}
}
