package html

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestCorpora compares the scanner with golang.org/x/net/html on every page of
// real documentation: the directories in SITELINK_CORPORA, one for each Debian
// package. It logs how many pages needed the slow path.
func TestCorpora(t *testing.T) {
	root := os.Getenv("SITELINK_CORPORA")
	if root == "" {
		t.Skip("set SITELINK_CORPORA to a directory of unpacked documentation packages")
	}
	dirs := testkit.Must(os.ReadDir(root))(t)
	files := 0
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		t.Run(d.Name(), func(t *testing.T) {
			c := corpus{t: t}
			testkit.Check(t, filepath.WalkDir(filepath.Join(root, d.Name()), c.visit))
			t.Logf("%d files (%d MB) compared, %d links and %d anchors, %d files irregular (slow path), %d nested too deep for the oracle",
				c.files, c.bytes>>20, c.links, c.anchors, c.irregular, c.deep)
			files += c.files
		})
	}
	if files == 0 {
		t.Errorf("no HTML file below %s", root)
	}
}

type corpus struct {
	t       *testing.T
	scanner Scanner

	files, irregular, deep int
	links, anchors         int
	bytes                  int64
	failed                 int
}

func (c *corpus) visit(name string, d fs.DirEntry, err error) error {
	if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(name, ".html") && !strings.HasSuffix(name, ".htm") {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p := c.scanner.Scan(text, scan.Options{})
	c.files++
	c.bytes += int64(len(text))
	c.links += len(p.Links)
	c.anchors += len(p.Anchors)
	if p.Irregular {
		c.irregular++
	}
	testkit.CheckPage(c.t, p)
	checkPlaces(c.t, p)
	// The oracle reads bytes, so it gets the page as UTF-8.
	want, err := oracle(scan.AppendUTF8(nil, p.Text))
	if err != nil {
		c.deep++
		return nil
	}
	got, want := foldForeign(ours(p)), foldForeign(want)
	if !slices.Equal(got, want) {
		c.t.Errorf("%s (irregular=%v)\n only ours %q\n only oracle's %q", name, p.Irregular, diff(got, want), diff(want, got))
		if c.failed++; c.failed == 20 {
			c.t.Fatal("too many differences")
		}
	}
	return nil
}

// BenchmarkHTML reads pages in the style of rustdoc and Sphinx. The third page
// is the first one with a nested form, so the slow path reads it.
func BenchmarkHTML(b *testing.B) {
	rustdoc := testkit.RustdocPage(200)
	for _, c := range []struct {
		name string
		page []byte
	}{
		{"rustdoc", rustdoc},
		{"sphinx", testkit.SphinxPage(200)},
		{"irregular", append([]byte("<form><form>"), rustdoc...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var s Scanner
			if p := s.Scan(c.page, scan.Options{}); len(p.Links) < 200 || len(p.Anchors) < 200 {
				b.Fatalf("%d links, %d anchors", len(p.Links), len(p.Anchors))
			}
			b.SetBytes(int64(len(c.page)))
			b.ReportAllocs()
			for b.Loop() {
				s.Scan(c.page, scan.Options{})
			}
		})
	}
}
