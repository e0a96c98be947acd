//go:build integration && linux

package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// corpora are the docroots in Debian's documentation packages. minTargets keeps
// a test from passing on nothing. Where need is false, a package is
// compared only with SITELINK_LONG, if it is there: together they take minutes.
var corpora = []struct {
	pkg, docroot string
	minTargets   int
	need         bool
}{
	{"python3.11-doc", "usr/share/doc/python3.11/html", 500, true},
	{"postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", 1_000, true},
	{"linux-doc-6.1", "usr/share/doc/linux-doc-6.1/html", 3_000, false},
	{"openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless", 5_000, false},
	{"rust-doc", "usr/share/doc/rust-doc/html", 20_000, false},
}

// TestServerCorpora: on real documentation the status and the answering path
// that a profile predicts for every internal link are those of its server, on
// the smaller ones with listings of directories as well.
func TestServerCorpora(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SITELINK_CORPORA")
	if dir == "" {
		t.Skip("SITELINK_CORPORA is not set: it names a directory that holds python3.11-doc/ as unpacked by dpkg -x")
	}
	compared, differ := 0, 0
	for _, c := range corpora {
		docroot := filepath.Join(dir, c.pkg, filepath.FromSlash(c.docroot))
		if _, err := os.Stat(docroot); err != nil || !c.need && testkit.Longer(true, false) {
			if c.need {
				t.Errorf("%v; unpack the package %s", err, c.pkg)
			}
			continue
		}
		for i := range 2 * len(servers) {
			w, list := servers[i/2], i%2 == 1
			if list && !c.need {
				continue
			}
			t.Run(c.pkg+"/"+w.profile+pick(list, "/listing", ""), func(t *testing.T) {
				predicted := predictions(t, docroot, w.profile, list)
				wrong := 0
				// lighttpd keeps files open for some seconds and answers 403 when
				// it may open no more: a new server now and then.
				for targets := range slices.Chunk(slices.Sorted(maps.Keys(predicted)), 10_000) {
					server := w.start(t, site{docroot: docroot, list: list})
					for _, target := range targets {
						a := server.ask(t, target, patience)
						got := predicted[target]
						if !testkit.HostAgrees(w.profile, target, testkit.HostAnswer{Status: got.status, Final: got.final}, a) {
							if wrong++; wrong <= 50 {
								t.Errorf("%s: got %v, %s says %v", target, got, w.profile, a)
							}
						}
					}
				}
				t.Logf("%d targets compared, %d differ", len(predicted), wrong)
				if len(predicted) < c.minTargets {
					t.Errorf("%d targets, want at least %d", len(predicted), c.minTargets)
				}
				if !list { // the same links: counted once
					compared += len(predicted)
				}
				differ += wrong
			})
		}
	}
	t.Logf("%d links compared with their servers, %d differ", compared, differ)
}

// prediction is the part of a row that a server can confirm.
type prediction struct {
	status int
	final  string
}

func (p prediction) String() string { return fmt.Sprintf("%d %s", p.status, clip(p.final)) }

// predictions are what sitelink says about each distinct target on the site.
func predictions(t *testing.T, docroot, profile string, list bool) map[string]prediction {
	t.Helper()
	predicted := map[string]prediction{}
	links, unknown := 0, map[string]int{}
	eachLink(t, docroot, []string{"--profile", profile, "--autoindex", pick(list, "list", "error")}, func(r *row) {
		switch {
		case !r.isInternal() || r.isFault():
			return
		case r.Status == 0:
			if r.Verdict != "unchecked" {
				t.Errorf("%s:%d: %s: verdict %s (%s) without a status", r.Page, r.Line, r.Target, r.Verdict, r.Code)
			}
			unknown[r.Code]++
			return
		}
		links++
		p := prediction{r.Status, r.answeringPath()}
		if old, ok := predicted[r.Target]; ok && old != p {
			t.Errorf("%s:%d: %s: predicted %v, elsewhere %v", r.Page, r.Line, r.Target, p, old)
		}
		predicted[r.Target] = p
	})
	t.Logf("%d links; status not predicted for %v", links, unknown)
	return predicted
}
