//go:build integration && linux

package main_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// minCorpusLinks and minCorpusTargets keep TestNginxCorpus from passing on
// nothing; python3.11-doc 3.11.2 has 168,380 links to 555 targets.
const (
	minCorpusLinks   = 100_000
	minCorpusTargets = 400
)

// TestNginxCorpus: on the Python documentation the status and the answering
// path that sitelink predicts for every internal link are those of nginx.
func TestNginxCorpus(t *testing.T) {
	corpora := os.Getenv("SITELINK_CORPORA")
	if corpora == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds python3.11-doc/ as unpacked by dpkg -x")
	}
	docroot := htmlDir(t, filepath.Join(corpora, "python3.11-doc"))
	server := nginxServer.start(t, site{docroot: docroot})

	var links, unknown int
	unknownByCode := map[string]int{}
	predicted := map[string]prediction{}
	eachLink(t, docroot, nil, func(r *row) {
		if !r.isInternal() || r.isFault() {
			return
		}
		if r.Status == 0 {
			if r.Verdict != "unchecked" {
				t.Errorf("%s:%d: %s: verdict %s (%s) without a status", r.Page, r.Line, r.Target, r.Verdict, r.Code)
			}
			unknown++
			unknownByCode[r.Code]++
			return
		}
		links++
		p := prediction{r.Status, r.answeringPath()}
		if old, ok := predicted[r.Target]; ok && old != p {
			t.Errorf("%s:%d: %s: predicted %v, elsewhere %v", r.Page, r.Line, r.Target, p, old)
		}
		predicted[r.Target] = p
	})
	for _, target := range slices.Sorted(maps.Keys(predicted)) {
		a := server.ask(t, target, patience)
		if want := (prediction{a.Status, a.Final}); predicted[target] != want {
			t.Errorf("%s: got %v, nginx says %v", target, predicted[target], want)
		}
	}
	t.Logf("compared %d links to %d targets; status not predicted for %d: %v", links, len(predicted), unknown, unknownByCode)
	if links < minCorpusLinks || len(predicted) < minCorpusTargets {
		t.Errorf("compared %d links and %d targets, want at least %d and %d", links, len(predicted), minCorpusLinks, minCorpusTargets)
	}
}

// prediction is the part of a row that a server can confirm.
type prediction struct {
	status int
	final  string
}

// htmlDir finds the directory html below a package's tree that holds the
// documentation: a real one with an index page.
func htmlDir(t *testing.T, root string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "html" {
			if _, err := os.Stat(filepath.Join(name, "index.html")); err == nil {
				found = name
				return fs.SkipAll
			}
		}
		return nil
	})
	if err != nil || found == "" {
		t.Fatalf("no html directory with an index page in %s: %v", root, err)
	}
	return found
}
