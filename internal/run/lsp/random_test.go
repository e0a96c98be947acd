package lsp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/sitelink/sitelink/internal/testkit"
)

// model is a text as a list of UTF-16 units: another way to apply the changes of a
// client.
type model []uint16

// position returns the position of a unit.
func (m model) position(at int) position {
	p := position{}
	for i := 0; i < at; i++ {
		if m[i] == '\n' || m[i] == '\r' && (i+1 == len(m) || m[i+1] != '\n') {
			p.Line++
			p.Character = 0
		} else if m[i] != '\r' {
			p.Character++
		}
	}
	return p
}

// boundary returns the next unit from at on that begins a character, and is not
// inside of a line end.
func (m model) boundary(at int) int {
	for at < len(m) && (m[at] >= 0xDC00 && m[at] < 0xE000 || at > 0 && m[at] == '\n' && m[at-1] == '\r') {
		at++
	}
	return at
}

// TestRandomEdits makes 10,000 random edits in two documents, and compares what the
// server knows after each with a fresh analysis of the text that the model has.
func TestRandomEdits(t *testing.T) {
	dir := t.TempDir()
	blog().write(t, dir)
	t.Setenv("PATH", "")
	a := testkit.Must(openIn(t.Context(), dir, ""))(t)
	snap := testkit.Must(NewSnapshot(t.Context(), a, AnalysisOptions{}))(t)
	defer snap.Close()
	random := rand.New(rand.NewPCG(7, 16))
	pieces := []string{"[a](/posts/one/)", "](", ")", "[", "\n", "\r\n", "## ", "Deep\n", "é", "😀", "{{< ref \"", "\" >}}", "/posts/", "#deep", "![x](cat.png)",
		"<a href=\"/old/\">", "`", "[r]: /gallery/\n", "[r]", "---\n", "title: T\n", "../three/#deep", " ", "    ", "> ", "<https://example.org/posts/two/>", "\\", "&amp;"}
	names := []string{"content/posts/one.md", "content/posts/three.md"}
	texts, models := map[string]*editorText{}, map[string]model{}
	var o *Overlay
	for _, name := range names {
		b := blog()[name]
		texts[name], models[name] = newText([]byte(b), utf16Units), utf16.Encode([]rune(b))
		o = snap.With(t.Context(), o, name, []byte(b))
	}
	rounds := testkit.Longer(300, 10_000)
	for i := range rounds {
		name := names[random.IntN(len(names))]
		m := models[name]
		start := m.boundary(random.IntN(len(m) + 1))
		end := m.boundary(min(len(m), start+random.IntN(4)*random.IntN(12)))
		piece := pieces[random.IntN(len(pieces))]
		if len(m) > 500 {
			piece, end = "", m.boundary(min(len(m), start+250))
		}
		r := textRange{Start: m.position(start), End: m.position(end)}
		texts[name] = texts[name].edit(change{Range: &r, Text: piece})
		models[name] = slices.Concat(m[:start], utf16.Encode([]rune(piece)), m[end:])
		want := string(utf16.Decode(models[name]))
		if got := string(texts[name].bytes); got != want {
			t.Fatalf("edit %d of %v: %q, want %q", i, r, got, want)
		}
		o = snap.With(t.Context(), o, name, texts[name].bytes)
		fresh := snap.With(t.Context(), nil, names[1], []byte(string(utf16.Decode(models[names[1]]))))
		fresh = snap.With(t.Context(), fresh, names[0], []byte(string(utf16.Decode(models[names[0]]))))
		if got, want := known(t, snap, o, name, texts[name].bytes), known(t, snap, fresh, name, []byte(want)); got != want {
			t.Fatalf("edit %d: text %q\nthe server knows\n%s\na fresh analysis\n%s", i, texts[name].bytes, got, want)
		}
	}
}

// known is all that an analysis says about a file.
func known(t *testing.T, snap *Snapshot, o *Overlay, name string, b []byte) string {
	f := testkit.Must(snap.Analyze(t.Context(), o, name, b))(t)
	all := fmt.Sprintf("%+v\n", f.Headings)
	for _, l := range f.Links {
		all += fmt.Sprintf("%d-%d %q %v %q %v %s %s\n", l.Start, l.End, l.Value, l.Target.Node, l.Target.Fragment, l.Target.Judged, l.Target.Verdict, l.Target.Code)
	}
	if p, ok := snap.SubjectAt(f, 0); ok {
		all += fmt.Sprintln(snap.References(o, Subject{Node: p.Node}), snap.Lenses(o, f))
	}
	return all
}
