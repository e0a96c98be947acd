package html

import (
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/scantest"
)

// BenchmarkHTML reads pages like those that rustdoc and Sphinx write. The
// third one is the first with a nested form, which the slow path reads.
func BenchmarkHTML(b *testing.B) {
	rustdoc := scantest.RustdocPage(200)
	for _, c := range []struct {
		name string
		page []byte
	}{
		{"rustdoc", rustdoc},
		{"sphinx", scantest.SphinxPage(200)},
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
