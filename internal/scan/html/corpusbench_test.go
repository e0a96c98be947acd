package html

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/scan"
)

// BenchmarkCorpus reads every 29th page of each corpus below the directory
// SITELINK_CORPORA, copied as a read would into a buffer that stays in the
// processor's cache.
func BenchmarkCorpus(b *testing.B) {
	root := os.Getenv("SITELINK_CORPORA")
	if root == "" {
		b.Skip("SITELINK_CORPORA names no directory of corpora")
	}
	dirs, err := os.ReadDir(root)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range dirs {
		var pages [][]byte
		var size int64
		nth := 0
		err := filepath.WalkDir(filepath.Join(root, d.Name()), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".html" {
				return err
			}
			if nth++; nth%29 != 1 {
				return nil
			}
			page, err := os.ReadFile(path)
			pages, size = append(pages, page), size+int64(len(page))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(d.Name(), func(b *testing.B) {
			var s Scanner
			var buf []byte
			links := 0
			b.SetBytes(size)
			for b.Loop() {
				for _, page := range pages {
					buf = append(buf[:0], page...)
					links += len(s.Scan(buf, scan.Options{}).Links)
				}
			}
			if links == 0 {
				b.Fatal("no links")
			}
		})
	}
}
