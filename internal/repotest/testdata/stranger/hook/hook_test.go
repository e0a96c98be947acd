// Package hook_test uses package hook as a program outside of this repository
// would.
package hook_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
)

// site writes a page and returns its docroot.
func site(t *testing.T, page string) (docroot string) {
	t.Helper()
	docroot = t.TempDir()
	if err := os.WriteFile(filepath.Join(docroot, "index.html"), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return docroot
}

func TestCheck(t *testing.T) {
	docroot := site(t, `<a href="/gone/">x</a>`)
	result, err := hook.Check(context.Background(), hook.Site{Docroot: docroot, BaseURL: "https://blog.example/"})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings) != 1 || result.Findings[0].Code != check.MissingDirectory {
		t.Errorf("findings: %+v, want one %s", result.Findings, check.MissingDirectory)
	}
}

// TestSources: a program with a renderer of its own says where it found the
// links.
func TestSources(t *testing.T) {
	const body = `<p><a href="gone.html">x</a></p>`
	source := hook.Source{
		Links: []hook.Link{{Destination: "gone.html", Position: check.Position{File: "notes/a.txt", Line: 3, Column: 5}}},
		HTML:  hook.DigestOf([]byte(body)),
	}
	result, err := hook.Check(context.Background(), hook.Site{
		Docroot: site(t, `<a href="gone.html">in a menu</a>`+body),
		Options: check.Options{Ignore: []check.Ignore{{URL: "/ignored/**"}}},
		Sources: func(page string) []hook.Source {
			if page != "index.html" {
				t.Errorf("asked for the sources of %s", page)
			}
			return []hook.Source{source}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings) != 2 || result.Findings[0].Source != nil || result.Findings[1].Source == nil {
		t.Fatalf("findings: %+v, want two, the second with a source", result.Findings)
	}
	if got := *result.Findings[1].Source; got != source.Links[0].Position {
		t.Errorf("source %+v, want %+v", got, source.Links[0].Position)
	}
	var text bytes.Buffer
	if err := result.Write(&text, "text"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "notes/a.txt:3:5: error: ") {
		t.Errorf("the report does not name the position in the source:\n%s", text.String())
	}
}
