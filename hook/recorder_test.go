package hook

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/internal/scan/markdown"
	"github.com/sitelink/sitelink/internal/testkit"
)

// rewrite is an extension that changes the destination of every link and adds a
// link.
type rewrite struct{}

func (rewrite) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(rewrite{}, 500)))
}

func (rewrite) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	markdown.EachLink(doc, func(n ast.Node) {
		if l, ok := n.(*ast.Link); ok {
			l.Destination = []byte("/new/" + strings.TrimSuffix(string(l.Destination), ".md"))
		}
	})
	added := ast.NewLink()
	added.Destination = []byte("/added")
	doc.InsertBefore(doc, doc.FirstChild(), added)
}

// TestOtherExtensions: the position is that of the destination as written, the
// value is the rendered one, and a link that an extension adds has no position.
func TestOtherExtensions(t *testing.T) {
	for _, order := range []string{"before", "after"} {
		var r Recorder
		extensions := []goldmark.Extender{&r, rewrite{}}
		if order == "after" {
			extensions = []goldmark.Extender{rewrite{}, &r}
		}
		var html bytes.Buffer
		doc := testkit.Must(r.Convert(newMarkdown(extensions...), Input{File: "a.md", Line: 4, Text: []byte("x\n[a](b.md)")}, &html))(t)
		if got, want := fmt.Sprint(doc.Links()), "[{/added {a.md 0 0  }} {/new/b {a.md 5 5  }}]"; got != want {
			t.Errorf("%s: got %s, want %s", order, got, want)
		}
		if !strings.Contains(html.String(), `href="/new/b"`) {
			t.Errorf("rendered %s", html.String())
		}
	}
}

func TestConvertErrors(t *testing.T) {
	var r Recorder
	src := Input{File: "a.md", Text: []byte("x")}
	if _, err := r.Convert(goldmark.New(), src, &bytes.Buffer{}); !errors.Is(err, ErrNoExtension) || !strings.Contains(err.Error(), "a.md") {
		t.Errorf("without the extension: %v", err)
	}
	full := errors.New("disk full")
	if _, err := r.Convert(newMarkdown(&r), src, failing{full}); !errors.Is(err, full) || !strings.Contains(err.Error(), "a.md") {
		t.Errorf("writer fails: %v", err)
	}
	if parts := r.Sources("a.html"); parts != nil {
		t.Errorf("parts of an unknown page: %v", parts)
	}
	// Without Convert, Markdown with the extension renders as usual.
	var html bytes.Buffer
	if err := newMarkdown(&r, Relative{}).Convert([]byte("[a](b)"), &html); err != nil || html.String() != "<p><a href=\"b\">a</a></p>\n" {
		t.Errorf("plain Convert: %v, %q", err, html.String())
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestOwnContext: Convert uses the context of the caller.
func TestOwnContext(t *testing.T) {
	var r Recorder
	pc := parser.NewContext()
	testkit.Must(r.Convert(newMarkdown(&r), Input{Text: []byte("[x]: /y")}, &bytes.Buffer{}, parser.WithContext(pc)))(t)
	if len(pc.References()) != 1 {
		t.Error("the caller's context saw nothing")
	}
}

// TestConcurrent: many goroutines render with one Markdown and one recorder
// (run with -race).
func TestConcurrent(t *testing.T) {
	var r Recorder
	md := newMarkdown(&r)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			doc, err := r.Convert(md, Input{File: fmt.Sprint(i), Text: fmt.Appendf(nil, "[a](%d)", i)}, &bytes.Buffer{})
			if err != nil {
				t.Error(err)
				return
			}
			doc.Page(fmt.Sprint(i))
		})
	}
	wg.Wait()
	for i := range 50 {
		parts := r.Sources(fmt.Sprint(i))
		if len(parts) != 1 || len(parts[0].Links) != 1 || parts[0].Links[0].Destination != fmt.Sprint(i) {
			t.Errorf("page %d: %+v", i, parts)
		}
	}
}

// TestKnownBreaks: 40 pages with 1,200 broken links at recorded places, many of
// them with the same destination, around them a menu and a footer with the same
// destinations again. All of those in the Markdown are reported at their line
// and column, and nothing else has a place.
func TestKnownBreaks(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 1200))
	dir := t.TempDir()
	var r Recorder
	md := newMarkdown(&r)
	want := map[string][]string{} // places by page, in order
	const menu = `<!doctype html><meta charset=utf-8><nav><a href="gone1">a</a> <a href="gone2">b</a></nav>`
	for p := range 40 {
		var source strings.Builder
		file, page := fmt.Sprintf("content/%d.md", p), fmt.Sprintf("%d.html", p)
		line := 1 + random.IntN(9)
		first := line
		for range 30 {
			for range random.IntN(3) {
				source.WriteString("Some words, `[code](gone1)` and [a page](0.html).\n\n")
				line += 2
			}
			before := []string{"> é [text](", "- ![漢](", "1. **bold** [x", "\\[ <b>y</b> [*z*]("}[random.IntN(4)]
			if strings.HasSuffix(before, "[x") {
				before += strings.Repeat("y", random.IntN(5)) + "]("
			} else if !strings.HasSuffix(before, "](") {
				before += "]("
			}
			before = strings.Replace(before, "text(", "text](", 1)
			destination := fmt.Sprintf("gone%d", random.IntN(6))
			want[page] = append(want[page], fmt.Sprintf("%s:%d:%d %s", file, line, len([]rune(before))+1, destination))
			source.WriteString(before + destination + ")\n\n")
			line += 2
		}
		var html bytes.Buffer
		doc := testkit.Must(r.Convert(md, Input{File: file, Line: first, Text: []byte(source.String())}, &html))(t)
		doc.Page(page)
		testkit.Check(t, os.WriteFile(filepath.Join(dir, page), []byte(menu+html.String()+menu), 0o644))
	}
	result := testkit.Must(Check(t.Context(), Site{Docroot: dir, Sources: r.Sources}))(t)
	got := map[string][]string{}
	placed := 0
	for _, f := range result.Findings {
		if f.Source != nil {
			placed++
			got[f.Page] = append(got[f.Page], fmt.Sprintf("%s:%d:%d %s", f.Source.File, f.Source.Line, f.Source.Column, f.Raw))
		}
	}
	for page, places := range want {
		if strings.Join(got[page], "\n") != strings.Join(places, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", page, strings.Join(got[page], "\n"), strings.Join(places, "\n"))
		}
	}
	if placed != 40*30 || len(result.Findings) != 40*(30+4) {
		t.Errorf("%d of %d findings have a place", placed, len(result.Findings))
	}
}
